package federation_test

import (
	"slices"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// TestIncomingMove checks that followers are notified of a Move and follow the new account if they chose that. Both accounts must refer
// to each other (case 102).
func TestIncomingMove(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, stays := srv.SignUp("alice"), srv.SignUp("stays")
	stays.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"allow_following_move": false}).Want(200)
	there := apptest.StartFake(t)
	bob := peer.AddActor("bob")
	second := there.URL + "/users/second"
	follow := func(m *apptest.User) {
		t.Helper()
		peer.ClearDelivered()
		m.AccountAction(srv.FetchActor(bob), "follow")
		apptest.Settle(srv)
		peer.PostAndSettle(srv, peer.Activity("Accept", bob, peer.OneDelivered("Follow")["id"]))
		m.Relationship(srv.KnownID(bob)).WantTrue(apptest.RelationshipFlags, "following")
	}
	follow(alice)
	follow(stays)
	move := func(changes ...apptest.Doc) apptest.Doc {
		return peer.Activity("Move", bob, bob, append([]apptest.Doc{{"target": second, "to": []any{bob + "/followers"}}}, changes...)...)
	}
	refused := func(what string, d apptest.Doc) {
		t.Helper()
		peer.PostAndSettle(srv, d)
		if got := alice.NotificationTypes(); slices.Contains(got, "move") {
			t.Fatalf("%s counts", what)
		}
		alice.Relationship(srv.KnownID(bob)).WantTrue(apptest.RelationshipFlags, "following")
	}
	there.AddActor("second")
	refused("a move that neither account knows of", move())
	peer.AddActor("bob", apptest.Doc{"movedTo": second})
	refused("a move that the new account does not know of", move())
	there.AddActor("second", apptest.Doc{"alsoKnownAs": []any{bob}})
	peer.AddActor("bob", apptest.Doc{"movedTo": there.URL + "/users/third"})
	refused("a move to another account than the profile says", move())
	peer.AddActor("bob", apptest.Doc{"movedTo": second})
	refused("a move of another account", move(apptest.Doc{"object": second}))
	refused("a move to nowhere", move(apptest.Doc{"target": nil}))
	refused("a move to oneself", move(apptest.Doc{"target": bob}))
	there.AddActor("second", apptest.Doc{"alsoKnownAs": []any{bob}, "movedTo": bob})
	refused("a move to a moved account", move())

	there.AddActor("second", apptest.Doc{"alsoKnownAs": []any{bob}})
	peer.ClearDelivered()
	peer.PostAndSettle(srv, move())
	target := srv.KnownID(second)
	for _, m := range []*apptest.User{alice, stays} {
		apptest.WantList(t, "notifications of "+m.Nickname, m.NotificationTypes(), "move")
		n := m.Get("/api/v1/notifications").List()[0]
		if n.Str("target.id") != target || n.Str("account.id") != srv.KnownID(bob) {
			t.Errorf("the notification is %v", n.Fields)
		}
	}
	alice.Relationship(target).WantTrue(apptest.RelationshipFlags, "requested")
	alice.Relationship(srv.KnownID(bob)).WantTrue(apptest.RelationshipFlags)
	stays.Relationship(target).WantTrue(apptest.RelationshipFlags)
	stays.Relationship(srv.KnownID(bob)).WantTrue(apptest.RelationshipFlags, "following")
	apptest.WantField(t, there.OneDelivered("Follow"), second, "object")
	apptest.WantField(t, peer.OneDelivered("Undo"), alice.URI(), "object", "actor")
	if got := alice.Get("/api/v1/accounts/" + srv.KnownID(bob)).Want(200).Object().Str("moved.id"); got != target {
		t.Errorf("bob has moved to %s, want %s", got, target)
	}

	// Within a week no other move counts; then it does.
	third := there.AddActor("third", apptest.Doc{"alsoKnownAs": []any{bob, second}})
	peer.AddActor("bob", apptest.Doc{"movedTo": third})
	peer.PostAndSettle(srv, move(apptest.Doc{"target": third}))
	peer.PostAndSettle(srv, move())
	apptest.WantList(t, "notifications of stays", stays.NotificationTypes(), "move")
	srv.Exec(`UPDATE actors SET moved_at = moved_at - 8 * 24 * 3600 * 1000`)
	peer.PostAndSettle(srv, move(apptest.Doc{"target": third}))
	apptest.WantList(t, "notifications of stays after a week", stays.NotificationTypes(), "move", "move")
}

// TestMoveWithoutMovedTo checks that a signed Move counts if the new account lists the old one, whose document never says that it moved, as
// that of snac, or is not served any more. The account stays moved when its document is fetched again.
func TestMoveWithoutMovedTo(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	there := apptest.StartFake(t)
	alice := srv.SignUp("alice")
	for _, tt := range []struct {
		name string
		old  func(bob string)
	}{
		{"silent", func(string) {}},
		{"forbidden", func(bob string) { peer.Remove(bob, 403) }},
		{"broken", func(bob string) { peer.Remove(bob, 500) }},
		{"gone", func(bob string) { peer.Remove(bob, 404) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bob := peer.AddActor(tt.name)
			second := there.AddActor(tt.name, apptest.Doc{"alsoKnownAs": []any{bob}})
			alice.FollowRemote(bob)
			tt.old(bob)
			peer.PostAndSettle(srv, peer.Activity("Move", bob, bob, apptest.Doc{"target": second, "to": []any{bob + "/followers"}}))
			apptest.WantList(t, "notifications of alice", alice.NotificationTypes(), "move")
			alice.Post("/api/v1/notifications/clear").Want(200)
			alice.Relationship(srv.KnownID(second)).WantTrue(apptest.RelationshipFlags, "requested")
			peer.AddActor(tt.name, apptest.Doc{"summary": "old"})
			peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.Doc{
				"id": bob, "type": "Person", "preferredUsername": tt.name, "inbox": bob + "/inbox", "outbox": bob + "/outbox", "summary": "moved",
			}))
			if got := alice.Get("/api/v1/accounts/" + srv.KnownID(bob)).Want(200).Object().At("moved.id"); got != srv.KnownID(second) {
				t.Errorf("after an Update bob has moved to %v", got)
			}
		})
	}
}

// TestMoveToLocalAccount covers a remote account that moves to a local one.
func TestMoveToLocalAccount(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, second := srv.SignUp("alice"), srv.SignUp("second")
	bob := peer.AddActor("bob")
	alice.AccountAction(srv.FetchActor(bob), "follow")
	apptest.Settle(srv)
	peer.PostAndSettle(srv, peer.Activity("Accept", bob, peer.OneDelivered("Follow")["id"]))
	peer.AddActor("bob", apptest.Doc{"movedTo": second.URI()})
	move := peer.Activity("Move", bob, bob, apptest.Doc{"target": second.URI()})
	peer.PostAndSettle(srv, move)
	apptest.WantList(t, "notifications of alice", alice.NotificationTypes())
	srv.ChangeAccount(second, func(a *store.Account) { a.AlsoKnownAs.V = []string{bob} })
	peer.PostAndSettle(srv, peer.Activity("Move", bob, bob, apptest.Doc{"target": second.URI()}))
	apptest.WantList(t, "notifications of alice", alice.NotificationTypes(), "move")
	alice.Relationship(second.ID).WantTrue(apptest.RelationshipFlags, "following")
	apptest.WantList(t, "notifications of second", second.NotificationTypes(), "follow")
}

// TestMoveToFormerlyMissingAccount checks a Move to an account that was looked up before it existed.
func TestMoveToFormerlyMissingAccount(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	there := apptest.StartFake(t)
	second := there.URL + "/users/second"
	bob := peer.AddActor("bob", apptest.Doc{"movedTo": second})
	alice.FollowRemote(bob)
	alice.Get("/api/v2/search", "q", second, "resolve", "true").Want(200)
	there.AddActor("second", apptest.Doc{"alsoKnownAs": []any{bob}})
	peer.PostAndSettle(srv, peer.Activity("Move", bob, bob, apptest.Doc{"target": second}))
	apptest.WantList(t, "notifications of alice", alice.NotificationTypes())
	if _, err := srv.Federation.Operator.Explain(t.Context(), second); err != nil { // which fetches it in any case
		t.Fatal(err)
	}
	srv.Exec(`UPDATE queued_activities SET run_at = 1`)
	apptest.Settle(srv)
	apptest.WantList(t, "later notifications of alice", alice.NotificationTypes(), "move")
}

// TestMoveBackToLocalAccount checks that a local account that moved away can be moved back to, and that followers receive the change.
func TestMoveBackToLocalAccount(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, fan := srv.SignUp("alice"), srv.SignUp("fan")
	bob := peer.AddActor("bob", apptest.Doc{"alsoKnownAs": []any{alice.URI()}})
	carol := peer.AddActor("carol")
	peer.PostAndSettle(srv, peer.Activity("Follow", carol, alice.URI()))
	fan.AccountAction(alice.ID, "follow")
	alice.SendJSON("PUT", "/api/v1/svc/aliases", map[string]any{"alias": "bob@" + peer.Host}).Want(200)
	o := alice.Post("/api/v1/svc/move_account", "password", apptest.Password, "target_account", "bob@"+peer.Host).Want(200).Object()
	if o.Fields["status"] != "success" {
		t.Fatalf("the move: %v", o.Fields)
	}
	apptest.Settle(srv)
	peer.PostAndSettle(srv, peer.Activity("Accept", bob, peer.OneDelivered("Follow")["id"]))
	fan.Relationship(srv.KnownID(bob)).WantTrue(apptest.RelationshipFlags, "following")
	apptest.WantField(t, peer.OneDelivered("Move"), bob, "target")

	peer.AddActor("bob", apptest.Doc{"alsoKnownAs": []any{alice.URI()}, "movedTo": alice.URI()})
	peer.ClearDelivered()
	peer.PostAndSettle(srv, peer.Activity("Move", bob, bob, apptest.Doc{"target": alice.URI()}))
	fan.Relationship(alice.ID).WantTrue(apptest.RelationshipFlags, "following")
	fan.Relationship(srv.KnownID(bob)).WantTrue(apptest.RelationshipFlags)
	if alice.Get("/api/v1/accounts/" + alice.ID).Want(200).Object().Has("moved") {
		t.Error("alice has moved still")
	}
	srv.Exec(`UPDATE jobs SET run_at = 1`)
	apptest.Settle(srv)
	if _, moved := apptest.LastDelivered(t, peer, "Update")["object"].(apptest.Doc)["movedTo"]; moved {
		t.Errorf("followers received %v", peer.Delivered("Update"))
	}
	if got := srv.Count(`SELECT count(*) FROM queued_activities`); got > 0 {
		t.Errorf("%d activities are queued for a retry", got)
	}
}

// TestIncomingPins checks that Add and Remove, mostly without ids, pin only the actor's own posts (case 104).
func TestIncomingPins(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	featured := func(name string) string { return peer.URL + "/users/" + name + "/featured" }
	bob := peer.AddActor("bob", apptest.Doc{"featured": featured("bob")})
	carol := peer.AddActor("carol", apptest.Doc{"featured": featured("carol")})
	id := srv.FetchActor(bob)
	srv.FetchActor(carol)
	own, second, foreign := peer.Note(bob, "pinned"), peer.Note(bob, "pinned too"), peer.Note(carol, "another's")
	secret := peer.Note(bob, "secret", apptest.Doc{"to": []any{bob + "/followers"}, "cc": []any{}})
	for _, n := range []apptest.Doc{own, second, foreign, secret} {
		peer.Serve(n)
	}
	pin := func(verb string, object any, target string) apptest.Doc {
		return apptest.Doc{"@context": "https://www.w3.org/ns/activitystreams", "type": verb, "actor": bob, "object": object, "target": target}
	}
	pinned := func() []string {
		t.Helper()
		var texts []string
		for _, st := range alice.Get("/api/v1/accounts/"+id+"/statuses", "pinned", "true").Want(200).List() {
			texts = append(texts, st.Str("content"))
		}
		return texts
	}
	add := pin("Add", own["id"], featured("bob"))
	for name, d := range map[string]apptest.Doc{
		"to another's collection": pin("Add", own["id"], featured("carol")),
		"to any other":            pin("Add", own["id"], peer.URL+"/contexts/1"),
		"to nothing":              pin("Add", own["id"], ""),
		"of another's post":       pin("Add", foreign["id"], featured("bob")),
		"of a post for followers": pin("Add", secret["id"], featured("bob")),
		"of a post of alice":      pin("Add", alice.Publish("mine").Str("uri"), featured("bob")),
		"of a hashtag":            pin("Add", apptest.Doc{"type": "Hashtag", "href": peer.URL + "/tags/cat", "name": "#cat"}, featured("bob")),
		"of nothing":              pin("Add", nil, featured("bob")),
	} {
		peer.PostAndSettle(srv, d)
		if got := pinned(); len(got) > 0 {
			t.Fatalf("a pin %s: %q", name, got)
		}
	}
	peer.PostAndSettle(srv, add)
	peer.PostAndSettle(srv, add)
	apptest.WantList(t, "pinned", pinned(), "pinned")
	peer.PostAndSettle(srv, pin("Add", apptest.Doc{"id": second["id"], "type": "Note", "content": "forged"}, featured("bob")))
	if got := pinned(); len(got) != 2 || slices.Contains(got, "forged") {
		t.Errorf("pinned: %q", got)
	}
	peer.PostAndSettle(srv, pin("Remove", own["id"], featured("carol")))
	if got := pinned(); len(got) != 2 {
		t.Errorf("a pin taken away from another's: %q", got)
	}
	remove := pin("Remove", own["id"], featured("bob"))
	peer.PostAndSettle(srv, remove)
	peer.PostAndSettle(srv, remove)
	peer.PostAndSettle(srv, pin("Remove", peer.URL+"/notes/unknown", featured("bob")))
	if got := pinned(); len(got) != 1 || got[0] == "pinned" {
		t.Errorf("pinned after one was taken away: %q", got)
	}
	peer.PostAndSettle(srv, add) // the same text as the first time
	if got := pinned(); len(got) != 2 {
		t.Errorf("pinned again: %q", got)
	}
}

// TestMoveToRefreshedAccount checks a Move to an account that added the alias after it was last fetched, and that no local account
// follows.
func TestMoveToRefreshedAccount(t *testing.T) {
	peers := apptest.StartPeers(t, 2)
	here, there := peers[0], peers[1]
	alice, second := here.SignUp("alice"), there.SignUp("second")
	alice.FindRemote(second)
	apptest.Settle(here, there)
	target := "second@" + apptest.MustHost(t, there.URL)
	move := func() *apptest.Object {
		t.Helper()
		return alice.Post("/api/v1/svc/move_account", "password", apptest.Password, "target_account", target).Want(200).Object()
	}
	if o := move(); o.At("error") == nil {
		t.Fatalf("a move to an account without the alias: %v", o.Fields)
	}
	second.SendJSON("PUT", "/api/v1/svc/aliases", map[string]any{"alias": "alice@" + apptest.MustHost(t, here.URL)}).Want(200)
	apptest.Settle(here, there)
	if o := move(); o.Fields["status"] != "success" {
		t.Errorf("the move: %v", o.Fields)
	}
}

// TestAliasesAreSent checks that aliases are in the actor document, and that changes are sent.
func TestAliasesAreSent(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, old := peer.AddActor("bob"), peer.AddActor("old")
	peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI()))
	for _, tt := range []struct {
		method string
		want   []any
	}{{"PUT", []any{old}}, {"DELETE", []any{}}} {
		peer.ClearDelivered()
		alice.SendJSON(tt.method, "/api/v1/svc/aliases", map[string]any{"alias": "@old@" + peer.Host}).Want(200)
		srv.Exec(`UPDATE jobs SET run_at = 1`)
		apptest.Settle(srv)
		sent := peer.OneDelivered("Update")["object"].(apptest.Doc)["alsoKnownAs"].([]any)
		shown, _ := srv.GetDocument(alice.URI()).Want(200).Object().At("alsoKnownAs").([]any)
		if !slices.Equal(sent, tt.want) || !slices.Equal(shown, tt.want) {
			t.Errorf("after %s: sent %v, rendered %v, want %v", tt.method, sent, shown, tt.want)
		}
	}
}
