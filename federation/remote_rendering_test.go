package federation_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// TestIncomingChatMessageEmojis checks that a message is rendered with its own custom emoji, not with local ones of the same names.
func TestIncomingChatMessageEmojis(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	picture := peer.URL + "/emoji/cat.png"
	peer.PostAndSettle(srv, peer.ChatMessage(bob, alice.URI(), apptest.Doc{
		"content": "hello :cat: and :dog:",
		"tag":     []any{apptest.Doc{"type": "Emoji", "name": ":cat:", "icon": apptest.Doc{"type": "Image", "url": picture}}},
	}))
	chat := alice.Get("/api/v2/svc/chats").Want(200).List()[0]
	messages := alice.Get("/api/v1/svc/chats/" + chat.ID() + "/messages").Want(200).List()
	want := srv.Proxy.URL(picture)
	if got := apptest.ListField(messages[0], "emojis", "shortcode"); strings.Join(got, " ") != "cat" {
		t.Fatalf("the emoji are %q", got)
	}
	if got := apptest.ListField(messages[0], "emojis", "url"); got[0] != want {
		t.Errorf("the picture is %s, want %s", got[0], want)
	}
	if got := chat.At("last_message.emojis").([]any); len(got) != 1 {
		t.Errorf("the last message has the emoji %v", got)
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

// TestFollowMovedAccount checks that a moved account gets no new followers, and that existing follows can be changed.
func TestFollowMovedAccount(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, early, here, there := srv.SignUp("alice"), srv.SignUp("early"), srv.SignUp("here"), srv.SignUp("there")
	early.AccountAction(here.ID, "follow")
	old := peer.URL + "/users/old"
	target := peer.AddActor("target", apptest.Doc{"alsoKnownAs": []any{old}})
	srv.FetchActor(target)
	peer.AddActor("old", apptest.Doc{"movedTo": target})
	srv.ChangeAccount(here, func(a *store.Account) { id := there.AccountID(); a.MovedToID = &id })
	for _, id := range []string{here.ID, srv.FetchActor(old)} {
		alice.Post("/api/v1/accounts/"+id+"/follow").WantError(403, "This action is not allowed")
		alice.Relationship(id).WantTrue(apptest.RelationshipFlags)
	}
	apptest.Settle(srv)
	if got := peer.Delivered(); len(got) > 0 {
		t.Errorf("it received %v", got)
	}
	// The new account need not be known.
	gone := srv.FetchActor(peer.AddActor("gone", apptest.Doc{"movedTo": "https://elsewhere.example/users/gone"}))
	alice.Post("/api/v1/accounts/"+gone+"/follow").WantError(403, "This action is not allowed")
	early.AccountAction(here.ID, "follow", "reblogs", "false").WantTrue(apptest.RelationshipFlags, "following")
	alice.AccountAction(srv.FetchActor(target), "follow")
}

// TestFollowSentAgain checks that a Follow unanswered for a day is sent again with the same id when the user follows again.
func TestFollowSentAgain(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	id := srv.FetchActor(peer.AddActor("bob"))
	alice.AccountAction(id, "follow")
	apptest.Settle(srv)
	first := peer.OneDelivered("Follow")
	alice.AccountAction(id, "follow")
	apptest.Settle(srv)
	peer.OneDelivered("Follow")
	srv.Exec(`UPDATE follows SET id = id - (25 * 3600 * 1000 << 10)`)
	alice.AccountAction(id, "follow").WantTrue(apptest.RelationshipFlags, "requested")
	apptest.Settle(srv)
	again := apptest.LastDelivered(t, peer, "Follow")
	if len(peer.Delivered("Follow")) != 2 || again["object"] != first["object"] {
		t.Fatalf("its Follow is %v", peer.Delivered())
	}
	peer.PostAndSettle(srv, peer.Activity("Accept", first["object"].(string), again["id"]))
	alice.Relationship(id).WantTrue(apptest.RelationshipFlags, "following")
	alice.AccountAction(id, "follow")
	apptest.Settle(srv)
	if got := peer.Delivered("Follow"); len(got) != 2 {
		t.Errorf("a second Follow is %v", got)
	}
}

// TestFollowDisappearedAccount checks that an account that its inbox reports as gone is deleted if it is still gone the next day.
func TestFollowDisappearedAccount(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob", apptest.Doc{"endpoints": nil})
	id := srv.FetchActor(bob)
	peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI()))
	peer.Remove(bob, http.StatusNotFound)
	peer.RefuseDeliveries(http.StatusNotFound)
	alice.AccountAction(id, "follow")
	apptest.Settle(srv)
	alice.Get("/api/v1/accounts/" + id).Want(200)
	srv.Exec(`UPDATE jobs SET run_at = 1 WHERE unique_key LIKE 'refresh:%'`)
	apptest.Settle(srv)
	alice.Get("/api/v1/accounts/" + id).Want(200) // it is the same day
	srv.Exec(`UPDATE actors SET attempted_at = attempted_at - 26 * 3600 * 1000`)
	srv.Exec(`UPDATE jobs SET run_at = 1 WHERE unique_key LIKE 'refresh:%'`)
	apptest.Settle(srv)
	alice.Get("/api/v1/accounts/" + id).Want(404)
	me := alice.Get("/api/v1/accounts/" + alice.ID).Want(200).Object()
	if me.Int("followers_count") != 0 || me.Int("following_count") != 0 || srv.Count(`SELECT count(*) FROM follows`) != 0 {
		t.Errorf("alice is left with %v followers, and follows %v", me.Int("followers_count"), me.Int("following_count"))
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

// TestDomainBlockOfRemoteHost checks that a domain block ends the follows in both directions and hides later activities.
func TestDomainBlockOfRemoteHost(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	other := apptest.StartFake(t)
	bob, carol := peer.AddActor("bob"), other.AddActor("carol")
	for _, p := range []*apptest.FakeServer{peer, other} {
		name := map[*apptest.FakeServer]string{peer: bob, other: carol}[p]
		p.PostAndSettle(srv, p.Activity("Follow", name, alice.URI()))
		alice.AccountAction(srv.KnownID(name), "follow")
		apptest.Settle(srv)
		p.PostAndSettle(srv, p.Activity("Accept", name, p.OneDelivered("Follow")["id"]))
		alice.Relationship(srv.KnownID(name)).WantTrue(apptest.RelationshipFlags, "following", "followed_by")
		p.ClearDelivered()
	}
	alice.Post("/api/v1/domain_blocks", "domain", strings.ToUpper(peer.Host)).Want(200)
	apptest.Settle(srv)
	alice.Relationship(srv.KnownID(bob)).WantTrue(apptest.RelationshipFlags, "domain_blocking")
	alice.Relationship(srv.KnownID(carol)).WantTrue(apptest.RelationshipFlags, "following", "followed_by")
	apptest.WantField(t, peer.OneDelivered("Undo"), bob, "object", "object")
	apptest.WantField(t, peer.OneDelivered("Reject"), bob, "object", "actor")
	if got := other.Delivered(); len(got) > 0 {
		t.Errorf("the other server received %v", got)
	}
	mention := apptest.Doc{"cc": []any{alice.URI()}, "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}}}
	peer.PostAndSettle(srv, peer.Create(peer.Note(bob, "<p>hello?</p>", mention)))
	st := alice.Publish("mine")
	peer.PostAndSettle(srv, peer.Activity("Like", bob, st.Str("uri")))
	peer.PostAndSettle(srv, peer.Activity("Announce", bob, st.Str("uri"), apptest.Doc{"to": []any{apptest.Public}}))
	message := peer.ChatMessage(bob, alice.URI())
	peer.PostAndSettle(srv, message)
	peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI()))
	apptest.WantList(t, "notifications of alice, by carol only", alice.NotificationTypes(), "follow")
	if n := len(alice.Get("/api/v2/svc/chats").Want(200).List()); n > 0 {
		t.Error("the message is stored")
	}
	alice.Relationship(srv.KnownID(bob)).WantTrue(apptest.RelationshipFlags, "domain_blocking")
	if n := len(peer.Delivered("Reject")); n != 2 {
		t.Errorf("%d rejects were sent, want 2", n)
	}
	alice.Do("DELETE", "/api/v1/domain_blocks?domain="+peer.Host, "", nil).Want(200)
	peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI()))
	alice.Relationship(srv.KnownID(bob)).WantTrue(apptest.RelationshipFlags, "followed_by")
}
