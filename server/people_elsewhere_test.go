package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"svc/store"
)

// The custom emoji of a message are those that came with it, not those of the same names here.
func TestIncomingMessageEmojis(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	picture := peer.url + "/emoji/cat.png"
	peer.receive(srv, peer.message(bob, alice.uri(), doc{
		"content": "hello :cat: and :dog:",
		"tag":     []any{doc{"type": "Emoji", "name": ":cat:", "icon": doc{"type": "Image", "url": picture}}},
	}))
	chat := alice.get("/api/v2/svc/chats").want(200).list()[0]
	messages := alice.get("/api/v1/svc/chats/" + chat.id() + "/messages").want(200).list()
	want := srv.proxy.URL(picture)
	if got := members(messages[0], "emojis", "shortcode"); strings.Join(got, " ") != "cat" {
		t.Fatalf("the emoji are %q", got)
	}
	if got := members(messages[0], "emojis", "url"); got[0] != want {
		t.Errorf("the picture is %s, want %s", got[0], want)
	}
	if got := chat.at("last_message.emojis").([]any); len(got) != 1 {
		t.Errorf("the last message has the emoji %v", got)
	}
}

// Somebody moves to an account that has become an alias since it was seen here last, and of which nobody here is told anything.
func TestMoveToWhoHasChanged(t *testing.T) {
	peers := startPeers(t, 2)
	here, there := peers[0], peers[1]
	alice, second := here.signUp("alice"), there.signUp("second")
	alice.find(second)
	settle(here, there)
	target := "second@" + mustHost(t, there.url)
	move := func() *object {
		t.Helper()
		return alice.post("/api/v1/svc/move_account", "password", testPassword, "target_account", target).want(200).object()
	}
	if o := move(); o.at("error") == nil {
		t.Fatalf("a move to who knows nothing of it: %v", o.m)
	}
	second.send("PUT", "/api/v1/svc/aliases", map[string]any{"alias": "alice@" + mustHost(t, here.url)}).want(200)
	settle(here, there)
	if o := move(); o.m["status"] != "success" {
		t.Errorf("the move: %v", o.m)
	}
}

// Who has moved away gets no new followers; those who follow already may change how.
func TestFollowOfTheMoved(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, early, here, there := srv.signUp("alice"), srv.signUp("early"), srv.signUp("here"), srv.signUp("there")
	early.to(here.id, "follow")
	old := peer.url + "/users/old"
	target := peer.actor("target", doc{"alsoKnownAs": []any{old}})
	srv.meet(target)
	peer.actor("old", doc{"movedTo": target})
	srv.changeAccount(here, func(a *store.Account) { id := there.accountID(); a.MovedToID = &id })
	for _, id := range []string{here.id, srv.meet(old)} {
		alice.post("/api/v1/accounts/"+id+"/follow").wantError(403, "This action is not allowed")
		alice.relationship(id).wantTruths(relations)
	}
	settle(srv)
	if got := peer.delivered(); len(got) > 0 {
		t.Errorf("it was told %v", got)
	}
	// Where to need not be known here.
	gone := srv.meet(peer.actor("gone", doc{"movedTo": "https://elsewhere.example/users/gone"}))
	alice.post("/api/v1/accounts/"+gone+"/follow").wantError(403, "This action is not allowed")
	early.to(here.id, "follow", "reblogs", "false").wantTruths(relations, "following")
	alice.to(srv.meet(target), "follow")
}

// Who has not answered for a day is asked again when the follower wants it: by the same Follow.
func TestFollowAskedAgain(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	id := srv.meet(peer.actor("bob"))
	alice.to(id, "follow")
	settle(srv)
	first := peer.only("Follow")
	alice.to(id, "follow")
	settle(srv)
	peer.only("Follow")
	srv.insert(`UPDATE follows SET id = id - (25 * 3600 * 1000 << 10)`)
	alice.to(id, "follow").wantTruths(relations, "requested")
	settle(srv)
	again := lastOf(t, peer, "Follow")
	if len(peer.delivered("Follow")) != 2 || again["object"] != first["object"] {
		t.Fatalf("asked by %v", peer.delivered())
	}
	peer.receive(srv, peer.activity("Accept", first["object"].(string), again["id"]))
	alice.relationship(id).wantTruths(relations, "following")
	alice.to(id, "follow")
	settle(srv)
	if got := peer.delivered("Follow"); len(got) != 2 {
		t.Errorf("who is followed was asked by %v", got)
	}
}

// An account whose server does not know it any more is found out by its inbox, and is gone if it is not there the next day either.
func TestFollowOfWhoDisappeared(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob", doc{"endpoints": nil})
	id := srv.meet(bob)
	peer.receive(srv, peer.activity("Follow", bob, alice.uri()))
	peer.remove(bob, http.StatusNotFound)
	peer.refuse(http.StatusNotFound)
	alice.to(id, "follow")
	settle(srv)
	alice.get("/api/v1/accounts/" + id).want(200)
	srv.insert(`UPDATE jobs SET run_at = 1 WHERE unique_key LIKE 'refresh:%'`)
	settle(srv)
	alice.get("/api/v1/accounts/" + id).want(200) // it is the same day
	srv.insert(`UPDATE actors SET tried_at = tried_at - 26 * 3600 * 1000`)
	srv.insert(`UPDATE jobs SET run_at = 1 WHERE unique_key LIKE 'refresh:%'`)
	settle(srv)
	alice.get("/api/v1/accounts/" + id).want(404)
	me := alice.get("/api/v1/accounts/" + alice.id).want(200).object()
	if me.num("followers_count") != 0 || me.num("following_count") != 0 || srv.count(`SELECT count(*) FROM follows`) != 0 {
		t.Errorf("alice is left with %v followers, and follows %v", me.num("followers_count"), me.num("following_count"))
	}
}

// What else somebody is called is in their actor's document, and others hear of it, as long as it is so.
func TestAliasesAreTold(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, old := peer.actor("bob"), peer.actor("old")
	peer.receive(srv, peer.activity("Follow", bob, alice.uri()))
	for _, tt := range []struct {
		method string
		want   []any
	}{{"PUT", []any{old}}, {"DELETE", []any{}}} {
		peer.forget()
		alice.send(tt.method, "/api/v1/svc/aliases", map[string]any{"alias": "@old@" + peer.host}).want(200)
		srv.insert(`UPDATE jobs SET run_at = 1`)
		settle(srv)
		told := peer.only("Update")["object"].(doc)["alsoKnownAs"].([]any)
		shown, _ := srv.document(alice.uri()).want(200).object().at("alsoKnownAs").([]any)
		if !slices.Equal(told, tt.want) || !slices.Equal(shown, tt.want) {
			t.Errorf("after %s: told %v, shown %v, want %v", tt.method, told, shown, tt.want)
		}
	}
}

// Who blocks a domain parts from all there, in both directions, and hears of them no more.
func TestDomainBlockElsewhere(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	other := startFake(t)
	bob, carol := peer.actor("bob"), other.actor("carol")
	for _, p := range []*fakePeer{peer, other} {
		name := map[*fakePeer]string{peer: bob, other: carol}[p]
		p.receive(srv, p.activity("Follow", name, alice.uri()))
		alice.to(srv.known(name), "follow")
		settle(srv)
		p.receive(srv, p.activity("Accept", name, p.only("Follow")["id"]))
		alice.relationship(srv.known(name)).wantTruths(relations, "following", "followed_by")
		p.forget()
	}
	alice.post("/api/v1/domain_blocks", "domain", strings.ToUpper(peer.host)).want(200)
	settle(srv)
	alice.relationship(srv.known(bob)).wantTruths(relations, "domain_blocking")
	alice.relationship(srv.known(carol)).wantTruths(relations, "following", "followed_by")
	wantMember(t, peer.only("Undo"), bob, "object", "object")
	wantMember(t, peer.only("Reject"), bob, "object", "actor")
	if got := other.delivered(); len(got) > 0 {
		t.Errorf("the other server is told %v", got)
	}
	mention := doc{"cc": []any{alice.uri()}, "tag": []any{doc{"type": "Mention", "href": alice.uri()}}}
	peer.receive(srv, peer.create(peer.note(bob, "<p>hello?</p>", mention)))
	st := alice.publish("mine")
	peer.receive(srv, peer.activity("Like", bob, st.str("uri")))
	peer.receive(srv, peer.activity("Announce", bob, st.str("uri"), doc{"to": []any{toPublic}}))
	message := peer.message(bob, alice.uri())
	peer.receive(srv, message)
	peer.receive(srv, peer.activity("Follow", bob, alice.uri()))
	wantList(t, "alice is told, of carol only", alice.told(), "follow")
	if n := len(alice.get("/api/v2/svc/chats").want(200).list()); n > 0 {
		t.Error("the message has come")
	}
	alice.relationship(srv.known(bob)).wantTruths(relations, "domain_blocking")
	if n := len(peer.delivered("Reject")); n != 2 {
		t.Errorf("%d rejects were sent, want 2", n)
	}
	alice.do("DELETE", "/api/v1/domain_blocks?domain="+peer.host, "", nil).want(200)
	peer.receive(srv, peer.activity("Follow", bob, alice.uri()))
	alice.relationship(srv.known(bob)).wantTruths(relations, "followed_by")
}
