package federation_test

import (
	"net/http"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// TestIncomingFollow checks that a Follow is accepted at once or becomes a request, and that a repeated Follow is answered again (case
// 96).
func TestIncomingFollow(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, locked := srv.SignUp("alice"), srv.SignUp("locked")
	locked.Lock()
	bob := peer.AddActor("bob")
	stream := srv.OpenStream(alice.Client, "stream", "user")

	first := peer.Activity("Follow", bob, alice.URI())
	peer.PostAndSettle(srv, first)
	id := srv.KnownID(bob)
	alice.Relationship(id).WantTrue(apptest.RelationshipFlags, "followed_by")
	apptest.WantList(t, "notifications of alice", alice.NotificationTypes(), "follow")
	accept := peer.OneDelivered("Accept")
	apptest.WantField(t, accept, alice.URI(), "actor")
	apptest.WantField(t, accept, first["id"], "object", "id")
	apptest.WantField(t, accept, "Follow", "object", "type")
	apptest.WantField(t, accept, bob, "object", "actor")
	apptest.WantField(t, accept, alice.URI(), "object", "object")
	stream.WantEvent("user: notification follow")

	peer.ClearDelivered()
	peer.PostAndSettle(srv, first) // the response was lost
	again := peer.Activity("Follow", bob, alice.URI())
	peer.PostAndSettle(srv, again)
	accepts := peer.Delivered("Accept")
	if len(accepts) != 2 || accepts[0]["id"] == accepts[1]["id"] || accepts[0]["id"] == accept["id"] {
		t.Fatalf("a repeated follow is accepted by %v, want two Accepts with different ids", accepts)
	}
	apptest.WantField(t, accepts[1], again["id"], "object", "id")
	apptest.WantList(t, "notifications of alice again", alice.NotificationTypes(), "follow")
	if n := alice.Get("/api/v1/accounts/" + alice.ID).Want(200).Object().Int("followers_count"); n != 1 {
		t.Errorf("%d followers, want 1", n)
	}

	peer.ClearDelivered()
	request := peer.Activity("Follow", bob, apptest.Doc{"type": "Person", "id": locked.URI()})
	peer.PostAndSettle(srv, request)
	locked.Relationship(id).WantTrue(apptest.RelationshipFlags, "requested_by")
	apptest.WantList(t, "notifications of locked", locked.NotificationTypes(), "follow_request")
	newer := peer.Activity("Follow", bob, locked.URI())
	peer.PostAndSettle(srv, newer)
	if got := peer.Delivered(); len(got) > 0 {
		t.Errorf("a request was answered with %v", got)
	}
	locked.Post("/api/v1/follow_requests/" + id + "/authorize").Want(200)
	apptest.Settle(srv)
	apptest.WantField(t, peer.OneDelivered("Accept"), newer["id"], "object", "id")

	// A rejected account may send the same Follow again, as some servers do.
	peer.ClearDelivered()
	carol := peer.AddActor("carol")
	follow := peer.Activity("Follow", carol, locked.URI())
	peer.PostAndSettle(srv, follow)
	locked.Post("/api/v1/follow_requests/" + srv.KnownID(carol) + "/reject").Want(200)
	apptest.Settle(srv)
	apptest.WantField(t, peer.OneDelivered("Reject"), follow["id"], "object", "id")
	peer.PostAndSettle(srv, follow)
	locked.Relationship(srv.KnownID(carol)).WantTrue(apptest.RelationshipFlags, "requested_by")
}

// TestIncomingFollowRefused covers follows that are rejected, and those that are ignored (cases 96 and 105).
func TestIncomingFollowRefused(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, gone, moved, wary := srv.SignUp("alice"), srv.SignUp("gone"), srv.SignUp("moved"), srv.SignUp("wary")
	bob := peer.AddActor("bob")
	id := srv.FetchActor(bob)
	alice.AccountAction(id, "block")
	wary.Post("/api/v1/domain_blocks", "domain", peer.Host).Want(200)
	srv.MakeUnavailable(gone)
	srv.ChangeAccount(moved, func(a *store.Account) { target := alice.AccountID(); a.MovedToID = &target })
	for _, tt := range []struct {
		name     string
		object   any
		rejected bool
	}{
		{"by a block", alice.URI(), true},
		{"by a block of the domain", wary.URI(), true},
		{"a moved account", moved.URI(), true},
		{"a deactivated account", gone.URI(), false},
		{"the actor that fetches", srv.URL + "/internal/fetch", false},
		{"an unknown account", srv.URL + "/users/nobody", false},
		{"a remote account", peer.URL + "/users/carol", false},
		{"a post", srv.URL + "/objects/1", false},
		{"nothing", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			peer.ClearDelivered()
			follow := peer.Activity("Follow", bob, tt.object)
			peer.PostAndSettle(srv, follow)
			if rejects := peer.Delivered(); !tt.rejected && len(rejects) > 0 {
				t.Errorf("answered with %v", rejects)
			} else if tt.rejected {
				apptest.WantField(t, peer.OneDelivered("Reject"), follow["id"], "object", "id")
			}
			if got, err := srv.HasRow(`SELECT 1 FROM follows`); got || err != nil {
				t.Errorf("there is a follow: %v %v", got, err)
			}
		})
	}
	apptest.WantList(t, "notifications of alice", alice.NotificationTypes())

	// A Follow with the id of another follow is refused.
	carol, dave := peer.AddActor("carol"), peer.AddActor("dave")
	alice.AccountAction(id, "unblock")
	follow := peer.Activity("Follow", carol, alice.URI())
	peer.PostAndSettle(srv, follow)
	follow["actor"] = dave
	peer.PostAndSettle(srv, follow)
	alice.Relationship(srv.KnownID(dave)).WantTrue(apptest.RelationshipFlags)
	alice.Relationship(srv.KnownID(carol)).WantTrue(apptest.RelationshipFlags, "followed_by")
	if n := srv.Count(`SELECT count(*) FROM queued_activities`); n > 0 {
		t.Errorf("%d activities are queued for a retry", n)
	}
}

// TestIncomingAcceptAndReject checks that Accept and Reject are accepted in every form, from the followed account only (cases 97, 98,
// 99).
func TestIncomingAcceptAndReject(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	bob, mallory := peer.AddActor("bob"), peer.AddActor("mallory")
	id := srv.FetchActor(bob)
	srv.FetchActor(mallory)
	ask := func() string {
		t.Helper()
		peer.ClearDelivered()
		if rel := alice.AccountAction(id, "follow"); !rel.Bool("requested") || rel.Bool("following") {
			t.Fatalf("before the answer: %v", rel.Fields)
		}
		apptest.Settle(srv)
		return peer.OneDelivered("Follow")["id"].(string)
	}
	pair := apptest.Doc{"type": "Follow", "actor": alice.URI(), "object": bob}
	for _, tt := range []struct {
		name   string
		actor  string
		object func(follow string) any
		want   string // "" the request stays
	}{
		{"by the id", bob, func(f string) any { return f }, "following"},
		{"with the Follow", bob, func(f string) any { return apptest.Doc{"id": f, "type": "Follow", "actor": alice.URI(), "object": bob} }, "following"},
		{"with a list", bob, func(f string) any { return []any{apptest.Doc{"id": f, "type": "Follow"}} }, "following"},
		{"with a Follow without an id", bob, func(string) any { return pair }, "following"},
		{"with a Follow of an id of its own", bob, func(string) any {
			return apptest.Doc{"id": peer.URL + "/follows/1", "type": "Follow", "actor": alice.URI(), "object": bob}
		}, "following"},
		{"by another", mallory, func(f string) any { return f }, ""},
		{"by another with the Follow", mallory, func(f string) any { return apptest.Doc{"id": f, "type": "Follow", "actor": alice.URI(), "object": bob} }, ""},
		{"by another with the pair", mallory, func(string) any { return pair }, ""},
		{"of an unknown follow", bob, func(string) any { return srv.URL + "/activities/" + alice.ID }, ""},
		{"of an account that did not send it", bob, func(string) any { return apptest.Doc{"type": "Follow", "actor": carol.URI(), "object": bob} }, ""},
		{"of a favourite", bob, func(f string) any {
			return apptest.Doc{"id": f + "0", "type": "Like", "actor": alice.URI(), "object": bob}
		}, ""},
		{"of nothing", bob, func(string) any { return nil }, ""},
	} {
		t.Run("accepted "+tt.name, func(t *testing.T) {
			peer.PostAndSettle(srv, peer.Activity("Accept", tt.actor, tt.object(ask())))
			if tt.want == "" {
				tt.want = "requested"
			}
			alice.Relationship(id).WantTrue(apptest.RelationshipFlags, tt.want)
			carol.Relationship(id).WantTrue(apptest.RelationshipFlags)
			alice.AccountAction(id, "unfollow")
			apptest.Settle(srv)
		})
	}

	// An Accept of an undone Follow has no effect.
	late := ask()
	alice.AccountAction(id, "unfollow")
	peer.PostAndSettle(srv, peer.Activity("Accept", bob, late))
	alice.Relationship(id).WantTrue(apptest.RelationshipFlags)

	stream := srv.OpenStream(alice.Client, "stream", "user")
	for name, end := range map[string]func(follow string) apptest.Doc{
		"a Reject":             func(f string) apptest.Doc { return peer.Activity("Reject", bob, f) },
		"a Reject of the pair": func(string) apptest.Doc { return peer.Activity("Reject", bob, pair) },
		"an Undo of the Accept": func(f string) apptest.Doc {
			return peer.Activity("Undo", bob, apptest.Doc{"type": "Accept", "id": peer.NewID("accepts"), "actor": bob, "object": apptest.Doc{"type": "Follow", "id": f}})
		},
	} {
		follow := ask()
		peer.PostAndSettle(srv, peer.Activity("Accept", bob, follow))
		stream.WantEvent("user: svc:follow_relationships_update follow_accept")
		peer.PostAndSettle(srv, peer.Activity("Reject", mallory, follow))
		alice.Relationship(id).WantTrue(apptest.RelationshipFlags, "following")
		peer.PostAndSettle(srv, end(follow))
		alice.Relationship(id).WantTrue(apptest.RelationshipFlags)
		stream.WantEvent("user: svc:follow_relationships_update follow_reject")
		if t.Failed() {
			t.Fatalf("after %s", name)
		}
	}
	peer.PostAndSettle(srv, peer.Activity("Reject", bob, ask()))
	alice.Relationship(id).WantTrue(apptest.RelationshipFlags)
	if got := peer.Delivered("Accept", "Reject"); len(got) > 0 {
		t.Errorf("an answered Follow got another answer: %v", got)
	}
}

// TestRemoveRemoteFollower checks that removing a remote follower sends a Reject of its Follow (case 100).
func TestRemoveRemoteFollower(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	follow := peer.Activity("Follow", bob, alice.URI())
	peer.PostAndSettle(srv, follow)
	alice.AccountAction(srv.KnownID(bob), "remove_from_followers")
	apptest.Settle(srv)
	reject := peer.OneDelivered("Reject")
	apptest.WantField(t, reject, follow["id"], "object", "id")
	apptest.WantField(t, reject, bob, "object", "actor")
}

// TestIncomingBlock checks that a Block ends the follows in both directions and holds until it is undone (case 101).
func TestIncomingBlock(t *testing.T) {
	apptest.SkipIfShort(t)
	for _, form := range []string{"embedded", "by id", "by the pair"} {
		t.Run("undone "+form, func(t *testing.T) {
			srv, peer := apptest.StartWithFake(t)
			alice := srv.SignUp("alice")
			bob := peer.AddActor("bob")
			peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI()))
			id := srv.KnownID(bob)
			alice.AccountAction(id, "follow")
			apptest.Settle(srv)
			peer.PostAndSettle(srv, peer.Activity("Accept", bob, peer.OneDelivered("Follow")["id"]))
			alice.Relationship(id).WantTrue(apptest.RelationshipFlags, "following", "followed_by")
			before := alice.NotificationTypes()

			peer.PostAndSettle(srv, peer.Activity("Block", bob, alice.URI(), apptest.Doc{"target": peer.URL + "/c/cats"})) // of a community
			alice.Relationship(id).WantTrue(apptest.RelationshipFlags, "following", "followed_by")
			block := peer.Activity("Block", bob, alice.URI())
			peer.PostAndSettle(srv, block)
			peer.PostAndSettle(srv, peer.Activity("Block", bob, alice.URI(), apptest.Doc{"id": block["id"]}))
			alice.Relationship(id).WantTrue(apptest.RelationshipFlags, "blocked_by")
			if got := alice.NotificationTypes(); len(got) > len(before) {
				t.Errorf("notifications of alice: %q", got)
			}
			alice.Post("/api/v1/accounts/" + id + "/follow").Want(403)

			mallory := peer.AddActor("mallory")
			srv.FetchActor(mallory)
			peer.PostAndSettle(srv, peer.Activity("Undo", mallory, block["id"]))
			alice.Relationship(id).WantTrue(apptest.RelationshipFlags, "blocked_by")
			undone := map[string]any{"embedded": block, "by id": block["id"], "by the pair": apptest.Doc{"type": "Block", "actor": bob, "object": alice.URI()}}[form]
			peer.PostAndSettle(srv, peer.Activity("Undo", bob, undone))
			alice.Relationship(id).WantTrue(apptest.RelationshipFlags)
			alice.AccountAction(id, "follow").WantTrue(apptest.RelationshipFlags, "requested")
		})
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
	gone := srv.FetchActor(peer.AddActor("gone", apptest.Doc{"movedTo": "https://other.example/users/gone"}))
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
