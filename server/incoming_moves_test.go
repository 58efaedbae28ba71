package server_test

import (
	"slices"
	"testing"

	"svc/store"
)

// Case 102: followers are told that somebody has moved, and led on if they want that. Both accounts must say so.
func TestIncomingMove(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, stays := srv.signUp("alice"), srv.signUp("stays")
	stays.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"allow_following_move": false}).want(200)
	there := startFake(t)
	bob := peer.actor("bob")
	second := there.url + "/users/second"
	follow := func(m *member) {
		t.Helper()
		peer.forget()
		m.to(srv.meet(bob), "follow")
		settle(srv)
		peer.receive(srv, peer.activity("Accept", bob, peer.only("Follow")["id"]))
		m.relationship(srv.known(bob)).wantTruths(relations, "following")
	}
	follow(alice)
	follow(stays)
	move := func(changes ...doc) doc {
		return peer.activity("Move", bob, bob, append([]doc{{"target": second, "to": []any{bob + "/followers"}}}, changes...)...)
	}
	refused := func(what string, d doc) {
		t.Helper()
		peer.receive(srv, d)
		if got := alice.told(); slices.Contains(got, "move") {
			t.Fatalf("%s counts", what)
		}
		alice.relationship(srv.known(bob)).wantTruths(relations, "following")
	}
	there.actor("second")
	refused("a move that neither account knows of", move())
	peer.actor("bob", doc{"movedTo": second})
	refused("a move that the new account does not know of", move())
	there.actor("second", doc{"alsoKnownAs": []any{bob}})
	peer.actor("bob")
	refused("a move that the old account does not know of", move())
	peer.actor("bob", doc{"movedTo": second})
	refused("a move of somebody else", move(doc{"object": second}))
	refused("a move to nowhere", move(doc{"target": nil}))
	refused("a move to oneself", move(doc{"target": bob}))
	there.actor("second", doc{"alsoKnownAs": []any{bob}, "movedTo": bob})
	refused("a move to who has moved", move())

	there.actor("second", doc{"alsoKnownAs": []any{bob}})
	peer.forget()
	peer.receive(srv, move())
	target := srv.known(second)
	for _, m := range []*member{alice, stays} {
		wantList(t, m.nick+" is told", m.told(), "move")
		n := m.get("/api/v1/notifications").list()[0]
		if n.str("target.id") != target || n.str("account.id") != srv.known(bob) {
			t.Errorf("the notification is %v", n.m)
		}
	}
	alice.relationship(target).wantTruths(relations, "requested")
	alice.relationship(srv.known(bob)).wantTruths(relations)
	stays.relationship(target).wantTruths(relations)
	stays.relationship(srv.known(bob)).wantTruths(relations, "following")
	wantMember(t, there.only("Follow"), second, "object")
	wantMember(t, peer.only("Undo"), alice.uri(), "object", "actor")
	if got := alice.get("/api/v1/accounts/" + srv.known(bob)).want(200).object().str("moved.id"); got != target {
		t.Errorf("bob has moved to %s, want %s", got, target)
	}

	// Within a week no other move counts; then it does.
	third := there.actor("third", doc{"alsoKnownAs": []any{bob, second}})
	peer.actor("bob", doc{"movedTo": third})
	peer.receive(srv, move(doc{"target": third}))
	peer.receive(srv, move())
	wantList(t, "stays is told", stays.told(), "move")
	srv.insert(`UPDATE actors SET moved_at = moved_at - 8 * 24 * 3600 * 1000`)
	peer.receive(srv, move(doc{"target": third}))
	wantList(t, "stays is told after a week", stays.told(), "move", "move")
}

// Somebody moves to an account of this server.
func TestMoveHere(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, second := srv.signUp("alice"), srv.signUp("second")
	bob := peer.actor("bob")
	alice.to(srv.meet(bob), "follow")
	settle(srv)
	peer.receive(srv, peer.activity("Accept", bob, peer.only("Follow")["id"]))
	peer.actor("bob", doc{"movedTo": second.uri()})
	move := peer.activity("Move", bob, bob, doc{"target": second.uri()})
	peer.receive(srv, move)
	wantList(t, "alice is told", alice.told())
	srv.changeAccount(second, func(a *store.Account) { a.AlsoKnownAs.V = []string{bob} })
	peer.receive(srv, peer.activity("Move", bob, bob, doc{"target": second.uri()}))
	wantList(t, "alice is told", alice.told(), "move")
	alice.relationship(second.id).wantTruths(relations, "following")
	wantList(t, "second is told", second.told(), "follow")
}

// An account that was looked for before it came into being can be moved to.
func TestMoveToWhoWasNotThere(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	there := startFake(t)
	second := there.url + "/users/second"
	bob := peer.actor("bob", doc{"movedTo": second})
	alice.follows(bob)
	alice.get("/api/v2/search", "q", second, "resolve", "true").want(200)
	there.actor("second", doc{"alsoKnownAs": []any{bob}})
	peer.receive(srv, peer.activity("Move", bob, bob, doc{"target": second}))
	wantList(t, "alice is told", alice.told())
	if _, err := srv.fed.Explain(t.Context(), second); err != nil { // which asks for it in any case
		t.Fatal(err)
	}
	srv.insert(`UPDATE inbox SET run_at = 1`)
	settle(srv)
	wantList(t, "alice is told later", alice.told(), "move")
}

// Who has moved away from here can come back; then the account here has not moved any more, and others hear of that.
func TestMoveBackHere(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, fan := srv.signUp("alice"), srv.signUp("fan")
	bob := peer.actor("bob", doc{"alsoKnownAs": []any{alice.uri()}})
	carol := peer.actor("carol")
	peer.receive(srv, peer.activity("Follow", carol, alice.uri()))
	fan.to(alice.id, "follow")
	alice.send("PUT", "/api/v1/svc/aliases", map[string]any{"alias": "bob@" + peer.host}).want(200)
	o := alice.post("/api/v1/svc/move_account", "password", testPassword, "target_account", "bob@"+peer.host).want(200).object()
	if o.m["status"] != "success" {
		t.Fatalf("the move: %v", o.m)
	}
	settle(srv)
	peer.receive(srv, peer.activity("Accept", bob, peer.only("Follow")["id"]))
	fan.relationship(srv.known(bob)).wantTruths(relations, "following")
	wantMember(t, peer.only("Move"), bob, "target")

	peer.actor("bob", doc{"alsoKnownAs": []any{alice.uri()}, "movedTo": alice.uri()})
	peer.forget()
	peer.receive(srv, peer.activity("Move", bob, bob, doc{"target": alice.uri()}))
	fan.relationship(alice.id).wantTruths(relations, "following")
	fan.relationship(srv.known(bob)).wantTruths(relations)
	if alice.get("/api/v1/accounts/" + alice.id).want(200).object().has("moved") {
		t.Error("alice has moved still")
	}
	srv.insert(`UPDATE jobs SET run_at = 1`)
	settle(srv)
	if _, moved := lastOf(t, peer, "Update")["object"].(doc)["movedTo"]; moved {
		t.Errorf("others hear of %v", peer.delivered("Update"))
	}
	if got := srv.count(`SELECT count(*) FROM inbox`); got > 0 {
		t.Errorf("%d activities are tried again", got)
	}
}

// Case 104: pins come without ids mostly. What is not the actor's own is not pinned.
func TestIncomingPins(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	featured := func(name string) string { return peer.url + "/users/" + name + "/featured" }
	bob := peer.actor("bob", doc{"featured": featured("bob")})
	carol := peer.actor("carol", doc{"featured": featured("carol")})
	id := srv.meet(bob)
	srv.meet(carol)
	own, second, foreign := peer.note(bob, "pinned"), peer.note(bob, "pinned too"), peer.note(carol, "another's")
	secret := peer.note(bob, "secret", doc{"to": []any{bob + "/followers"}, "cc": []any{}})
	for _, n := range []doc{own, second, foreign, secret} {
		peer.serve(n)
	}
	pin := func(verb string, object any, target string) doc {
		return doc{"@context": "https://www.w3.org/ns/activitystreams", "type": verb, "actor": bob, "object": object, "target": target}
	}
	pinned := func() []string {
		t.Helper()
		var texts []string
		for _, st := range alice.get("/api/v1/accounts/"+id+"/statuses", "pinned", "true").want(200).list() {
			texts = append(texts, st.str("content"))
		}
		return texts
	}
	add := pin("Add", own["id"], featured("bob"))
	for name, d := range map[string]doc{
		"to another's collection": pin("Add", own["id"], featured("carol")),
		"to any other":            pin("Add", own["id"], peer.url+"/contexts/1"),
		"to nothing":              pin("Add", own["id"], ""),
		"of another's post":       pin("Add", foreign["id"], featured("bob")),
		"of a post for followers": pin("Add", secret["id"], featured("bob")),
		"of a post of alice":      pin("Add", alice.publish("mine").str("uri"), featured("bob")),
		"of a hashtag":            pin("Add", doc{"type": "Hashtag", "href": peer.url + "/tags/cat", "name": "#cat"}, featured("bob")),
		"of nothing":              pin("Add", nil, featured("bob")),
	} {
		peer.receive(srv, d)
		if got := pinned(); len(got) > 0 {
			t.Fatalf("a pin %s: %q", name, got)
		}
	}
	peer.receive(srv, add)
	peer.receive(srv, add)
	wantList(t, "pinned", pinned(), "pinned")
	peer.receive(srv, pin("Add", doc{"id": second["id"], "type": "Note", "content": "forged"}, featured("bob")))
	if got := pinned(); len(got) != 2 || slices.Contains(got, "forged") {
		t.Errorf("pinned: %q", got)
	}
	peer.receive(srv, pin("Remove", own["id"], featured("carol")))
	if got := pinned(); len(got) != 2 {
		t.Errorf("a pin taken away from another's: %q", got)
	}
	remove := pin("Remove", own["id"], featured("bob"))
	peer.receive(srv, remove)
	peer.receive(srv, remove)
	peer.receive(srv, pin("Remove", peer.url+"/notes/unheard-of", featured("bob")))
	if got := pinned(); len(got) != 1 || got[0] == "pinned" {
		t.Errorf("pinned after one was taken away: %q", got)
	}
	peer.receive(srv, add) // the same text as the first time
	if got := pinned(); len(got) != 2 {
		t.Errorf("pinned again: %q", got)
	}
}
