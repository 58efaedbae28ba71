package server_test

import "testing"

func TestStreamSmoke(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	bob.to(alice.id, "follow")
	l := srv.listen(bob.caller, "stream", "user")
	l.subscribe("public")
	id := alice.publish("hello").id()
	l.wantHeard("post", "user: update "+id, "public: update "+id)
}
