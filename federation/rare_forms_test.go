package federation_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestIgnoredActivities checks that activities of PeerTube, Lemmy and others that mean nothing here are accepted without any effect, trace
// or fetch, as their senders send many (federation 4.19).
func TestIgnoredActivities(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob", apptest.Doc{"type": "Group"})
	alice.FollowRemote(bob)
	st := alice.Publish("watch me")
	before := peer.AllFetches()
	for _, kind := range []string{"View", "Read", "Dislike", "Lock", "Travel", "Join", "Leave", "Offer", "Bite"} {
		a := peer.Activity(kind, bob, st.Str("uri"), apptest.Doc{"to": []any{apptest.Public}})
		peer.PostAndSettle(srv, a)
		if got := srv.Refusals(a["id"]); got != "" {
			t.Errorf("%s is noted as refused: %s", kind, got)
		}
	}
	peer.Keys[peer.URL+"/users/unknown"] = apptest.SharedKey()
	peer.PostAndSettle(srv, peer.Activity("View", peer.URL+"/users/unknown", st.Str("uri"), apptest.Doc{"expires": apptest.FromNow(0), "result": apptest.Doc{"type": "InteractionCounter"}}))
	if n := srv.Count(`SELECT count(*) FROM queued_activities`); n != 0 {
		t.Errorf("%d activities are queued", n)
	}
	if got := peer.AllFetches(); got != before {
		t.Errorf("%d fetches", got-before)
	}
	apptest.WantList(t, "notifications of alice", alice.NotificationTypes())

	// A Listen is a scrobble of its actor, and nothing in timelines.
	listen := peer.Activity("Listen", bob, apptest.Doc{
		"id": peer.NewID("listens"), "type": "Audio", "attributedTo": bob, "title": "Song", "artist": "Band", "length": 180000, "to": []any{apptest.Public},
	}, apptest.Doc{"to": []any{apptest.Public}, "published": apptest.FromNow(0)})
	peer.PostAndSettle(srv, listen)
	if got := srv.Refusals(listen["id"]); got != "" {
		t.Errorf("a Listen is refused: %s", got)
	}
	apptest.WantList(t, "notifications of alice after a Listen", alice.NotificationTypes())
	if got := alice.Get("/api/v1/timelines/home").Want(200).List(); len(got) != 1 {
		t.Errorf("home has %d entries", len(got))
	}
}

// TestGroupBoosts checks that what a group announces shows as its boost: a page by its id, and the Create of a comment on another server,
// addressed as Lemmy and Friendica do (FEP-1b12).
func TestGroupBoosts(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	other := apptest.StartFake(t)
	group, dan := peer.AddActor("cats", apptest.Doc{"type": "Group"}), other.AddActor("dan")
	alice.FollowRemote(group)
	for _, public := range []string{apptest.Public, "as:Public", "Public"} {
		for _, wrapped := range []bool{false, true} {
			page := other.Note(dan, "<p>About cats</p>", apptest.Doc{
				"type": "Page", "name": "Cats", "to": []any{group, public}, "cc": []any{}, "audience": group,
				"attachment": []any{apptest.Doc{"type": "Link", "href": "https://cats.example/"}},
			})
			other.Serve(page)
			object := page["id"]
			if wrapped {
				object = other.Create(page, apptest.Doc{"audience": group})
			}
			peer.PostAndSettle(srv, peer.Activity("Announce", group, object, apptest.Doc{"to": public, "cc": []any{group + "/followers"}}))
			home := alice.Get("/api/v1/timelines/home").Want(200).List()
			if len(home) == 0 || home[0].Find("reblog.uri") != page["id"] || home[0].Str("account.acct") != "cats@"+peer.Host {
				t.Fatalf("%s, wrapped %v: home has %v", public, wrapped, home)
			}
			if got := home[0].Str("reblog.content"); !strings.Contains(got, "Cats") || home[0].Str("reblog.account.acct") != "dan@"+other.Host {
				t.Errorf("%s, wrapped %v: got %q by %v", public, wrapped, got, home[0].Find("reblog.account.acct"))
			}
			if got := home[0].Str("visibility"); got != "public" {
				t.Errorf("%s, wrapped %v: the boost is %s", public, wrapped, got)
			}
		}
	}
}
