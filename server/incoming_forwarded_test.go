package server_test

import (
	"net/http"
	"testing"
)

// Federation 2.4 and case 31: servers pass on to the followers of their people what others answer them. That is taken as a hint to look at
// its origin, from those who are followed here.
func TestIncomingForwarded(t *testing.T) {
	srv, peer := startWithPeer(t)
	other := startFake(t)
	alice := srv.signUp("alice")
	carol, eve := peer.actor("carol"), peer.actor("eve")
	bob := other.actor("bob")
	alice.follows(carol)
	post := peer.note(carol, "what do you think?")
	peer.receive(srv, peer.create(post))
	answer := func(content string) doc {
		n := other.note(bob, content, doc{"inReplyTo": post["id"]})
		other.serve(n)
		return n
	}
	passOn := func(signer string, d doc) {
		t.Helper()
		peer.deliver(srv, "/inbox", signer, d).want(202)
		settle(srv)
	}
	n := answer("real")
	passOn(eve, other.create(with(n, doc{"content": "forged"})))
	if alice.postOf(n["id"]) != nil || other.askedAll() != 0 {
		t.Error("who is not followed has something fetched")
	}
	passOn(carol, other.create(with(n, doc{"content": "forged"})))
	if got := alice.wantPost(n["id"]).str("content"); got != "real" {
		t.Errorf("it says %q", got)
	}
	edited := with(n, doc{"content": "edited", "updated": fromNow(0)})
	other.serve(edited)
	passOn(carol, other.activity("Update", bob, with(edited, doc{"content": "forged"})))
	if got := alice.wantPost(n["id"]).str("content"); got != "edited" {
		t.Errorf("it says %q", got)
	}
	for _, who := range []string{carol, eve} {
		passOn(who, other.activity("Delete", bob, n["id"]))
		alice.wantPost(n["id"])
	}
	other.remove(n["id"].(string), http.StatusGone)
	passOn(carol, other.activity("Delete", bob, n["id"]))
	if alice.postOf(n["id"]) != nil {
		t.Error("it is here though its origin has it no more")
	}
	alone := other.note(bob, "to nobody here")
	other.serve(alone)
	passOn(carol, other.create(alone))
	if alice.postOf(alone["id"]) != nil {
		t.Error("what concerns nobody is kept")
	}
	liked := alice.publish("a post")
	passOn(carol, other.activity("Like", bob, liked.str("uri")))
	passOn(carol, other.activity("Follow", bob, alice.uri()))
	if n := alice.liked(liked.id()); n != 0 {
		t.Errorf("%d favourites on the word of another", n)
	}
	if got := srv.count(`SELECT count(*) FROM follows WHERE follower_local = 0`); got != 0 {
		t.Errorf("%d follows on the word of another", got)
	}
}
