package federation_test

import (
	"net/http"
	"slices"
	"strings"
	"svc/app/apptest"
	"testing"
)

// TestIncomingAnnounce covers boosts (cases 90 to 92).
func TestIncomingAnnounce(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	other := apptest.StartFake(t)
	bob, eve, group := peer.AddActor("bob"), peer.AddActor("eve"), peer.AddActor("group", apptest.Doc{"type": "Group"})
	dan := other.AddActor("dan")
	alice.FollowRemote(bob)
	alice.FollowRemote(group)
	announce := func(by string, object any, changes ...apptest.Doc) apptest.Doc {
		return peer.Activity("Announce", by, object, append([]apptest.Doc{{"to": []any{apptest.Public}, "cc": []any{by + "/followers"}, "published": apptest.FromNow(0)}}, changes...)...)
	}
	boosts := func(m *apptest.User, of any) int {
		n := 0
		for _, st := range m.Get("/api/v1/timelines/home", "limit", "40").List() {
			if st.Find("reblog.uri") == of {
				n++
			}
		}
		return n
	}
	t.Run("of a post that is fetched", func(t *testing.T) {
		note := other.Note(dan, "far away")
		other.Serve(note)
		peer.PostAndSettle(srv, announce(bob, note["id"]))
		peer.PostAndSettle(srv, announce(bob, note["id"]))
		if n := boosts(alice, note["id"]); n != 1 {
			t.Errorf("%d boosts in home, want 1", n)
		}
		if st := alice.WantPost(note["id"]); st.Str("account.acct") != "dan@"+other.Host || st.Int("reblogs_count") != 1 {
			t.Errorf("got %v", st.Fields)
		}
		if n := other.Fetches(note["id"].(string)); n != 1 {
			t.Errorf("it was fetched %d times", n)
		}
	})
	t.Run("of a local post", func(t *testing.T) {
		st := carol.Publish("mine")
		peer.PostAndSettle(srv, announce(eve, st.Str("uri")))
		if got := carol.NotificationTypes(); !slices.Equal(got, []string{"reblog"}) {
			t.Errorf("notifications of the author: %v", got)
		}
		peer.PostAndSettle(srv, announce(bob, apptest.Doc{"id": st.Str("uri"), "type": "Note", "content": "forged"}))
		if n, content := boosts(alice, st.Str("uri")), alice.WantPost(st.Str("uri")).Str("content"); n != 1 || content != st.Str("content") {
			t.Errorf("%d boosts in home, of %q", n, content)
		}
		carol.Post("/api/v1/notifications/clear").Want(200)
	})
	t.Run("by and of accounts that are not followed", func(t *testing.T) {
		note := other.Note(dan, "of no interest")
		other.Serve(note)
		peer.PostAndSettle(srv, announce(eve, note["id"]))
		if alice.FindPost(note["id"]) != nil || other.Fetches(note["id"].(string)) != 0 {
			t.Error("it was fetched")
		}
	})
	t.Run("of a private post", func(t *testing.T) {
		secret := carol.Publish("secret", "visibility", "private")
		note := peer.Note(eve, "for followers", apptest.Doc{"to": []any{eve + "/followers"}, "cc": nil})
		peer.Serve(note)
		for _, uri := range []any{secret.Str("uri"), note["id"]} {
			peer.PostAndSettle(srv, announce(bob, uri))
			if boosts(alice, uri) != 0 {
				t.Errorf("a boost of %v is in home", uri)
			}
		}
		if len(carol.NotificationTypes()) != 0 {
			t.Errorf("notifications: %v", carol.NotificationTypes())
		}
	})
	t.Run("of one's own for followers, sent along", func(t *testing.T) {
		note := peer.Note(bob, "for followers", apptest.Doc{"to": []any{bob + "/followers"}, "cc": nil})
		peer.PostAndSettle(srv, announce(bob, note))
		if n := boosts(alice, note["id"]); n != 1 {
			t.Errorf("%d boosts in the home of a follower, want 1", n)
		}
		if carol.FindPost(note["id"]) != nil {
			t.Error("an account that does not follow sees it")
		}
		if boost := alice.Get("/api/v1/timelines/home", "limit", "1").List()[0]; boost.Str("visibility") != "private" {
			t.Errorf("the boost is %s", boost.Str("visibility"))
		}
	})
	t.Run("by a group, of an activity", func(t *testing.T) {
		page := other.Note(dan, "<p>real</p>", apptest.Doc{"type": "Page", "name": "Title"})
		other.Serve(page)
		forged := apptest.With(page, apptest.Doc{"content": "forged"})
		peer.PostAndSettle(srv, announce(group, apptest.Doc{"id": other.NewID("activities"), "type": "Create", "actor": dan, "object": forged}))
		if boosts(alice, page["id"]) != 1 {
			t.Error("there is no boost by the group")
		}
		if got := alice.WantPost(page["id"]).Str("content"); !strings.Contains(got, "real") || strings.Contains(got, "forged") {
			t.Errorf("got %q", got)
		}
		peer.PostAndSettle(srv, announce(group, apptest.Doc{"id": other.NewID("activities"), "type": "Like", "actor": dan, "object": page["id"]}))
		peer.PostAndSettle(srv, announce(group, apptest.Doc{"id": other.NewID("activities"), "type": "Delete", "actor": dan, "object": page["id"]}))
		if got := alice.WantPost(page["id"]); got.Int("favourites_count") != 0 {
			t.Error("a favourite announced by a group is counted")
		}
		other.Remove(page["id"].(string), http.StatusGone)
		peer.PostAndSettle(srv, announce(group, apptest.Doc{"id": other.NewID("activities"), "type": "Delete", "actor": dan, "object": page["id"]}))
		if alice.FindPost(page["id"]) != nil {
			t.Error("the deleted post is stored")
		}
	})
	t.Run("of an activity", func(t *testing.T) {
		note := other.Note(dan, "behind its Create")
		other.Serve(note)
		created := other.Create(note)
		other.Serve(created)
		peer.PostAndSettle(srv, announce(bob, created["id"]))
		if boosts(alice, note["id"]) != 1 {
			t.Error("there is no boost")
		}
	})
	t.Run("of several", func(t *testing.T) {
		var ids []any
		for range 3 {
			note := other.Note(dan, "one of several")
			other.Serve(note)
			ids = append(ids, note["id"])
		}
		peer.PostAndSettle(srv, announce(bob, ids))
		for _, id := range ids {
			if boosts(alice, id) != 1 {
				t.Errorf("there is no boost of %v", id)
			}
		}
	})
	t.Run("of an account", func(t *testing.T) {
		a := announce(bob, dan)
		peer.PostAndSettle(srv, a)
		if srv.Refusals(a["id"]) == "" {
			t.Error("it is not noted that it was refused")
		}
	})
	t.Run("case 93: undone by another", func(t *testing.T) {
		st := carol.Publish("mine yet")
		a := announce(bob, st.Str("uri"))
		peer.PostAndSettle(srv, a)
		anonymous := apptest.With(a, nil)
		delete(anonymous, "actor")
		for _, undone := range []any{a["id"], a, apptest.With(a, apptest.Doc{"actor": eve}), anonymous} {
			peer.PostAndSettle(srv, peer.Activity("Undo", eve, undone))
			if boosts(alice, st.Str("uri")) != 1 {
				t.Errorf("another has taken it back by %v", undone)
			}
		}
		peer.PostAndSettle(srv, peer.Activity("Undo", bob, a))
		if boosts(alice, st.Str("uri")) != 0 {
			t.Error("the boost is stored")
		}
	})
	t.Run("deleted with its Delete", func(t *testing.T) {
		st := carol.Publish("again")
		a := announce(bob, st.Str("uri"))
		peer.PostAndSettle(srv, a)
		peer.PostAndSettle(srv, peer.Activity("Delete", bob, a["id"]))
		if boosts(alice, st.Str("uri")) != 0 || alice.WantPost(st.Str("uri")).Int("reblogs_count") != 0 {
			t.Error("the boost is stored")
		}
		late := announce(bob, st.Str("uri"))
		peer.PostAndSettle(srv, peer.Activity("Delete", bob, late["id"]))
		peer.PostAndSettle(srv, late)
		if alice.WantPost(st.Str("uri")).Int("reblogs_count") != 0 {
			t.Error("a boost that was deleted before it arrived is stored")
		}
	})
}

// TestAnnounceBeforeCreate checks that a boost of a post that cannot be fetched is shown once its Create has arrived, and is refused if that
// does not come within an hour.
func TestAnnounceBeforeCreate(t *testing.T) {
	for name, status := range map[string]int{"not found": 404, "forbidden": 403, "unauthorized": 401, "broken": 500} {
		t.Run(name, func(t *testing.T) {
			srv, peer := apptest.StartWithFake(t)
			alice := srv.SignUp("alice")
			bob, dan := peer.AddActor("bob"), peer.AddActor("dan")
			alice.FollowRemote(bob)
			alice.FollowRemote(dan)
			hidden, served := peer.Note(dan, "sent later"), peer.Note(dan, "there")
			peer.Remove(hidden["id"].(string), status)
			peer.Serve(served)
			boosts := func() (uris []string) {
				for _, st := range alice.Get("/api/v1/timelines/home").Want(200).List() {
					if uri, _ := st.Find("reblog.uri").(string); uri != "" {
						uris = append(uris, uri)
					}
				}
				return uris
			}
			retry := func() {
				srv.Exec(`UPDATE queued_activities SET run_at = 1`)
				apptest.Settle(srv)
			}
			of := []any{hidden["id"], served["id"]}
			if status >= 500 {
				of = of[:1] // a temporary error of the first is retried before the others
			}
			announce := peer.Activity("Announce", bob, of, apptest.Doc{"to": []any{apptest.Public}, "published": apptest.FromNow(0)})
			peer.PostAndSettle(srv, announce)
			if status < 500 {
				apptest.WantList(t, "boosts before the Create", boosts(), served["id"].(string))
			}
			retry()
			if got := srv.Refusals(announce["id"]); got != "" {
				t.Errorf("it is refused at once: %s", got)
			}
			peer.PostAndSettle(srv, peer.Create(hidden))
			retry()
			if got := boosts(); !slices.Contains(got, hidden["id"].(string)) {
				t.Errorf("boosts after the Create: %q", got)
			}
			if n := srv.Count(`SELECT count(*) FROM queued_activities`); n != 0 {
				t.Errorf("%d activities are queued", n)
			}
			if status >= 500 {
				return
			}
			never := peer.Note(dan, "never sent")
			peer.Remove(never["id"].(string), status)
			announce = peer.Activity("Announce", bob, never["id"], apptest.Doc{"to": []any{apptest.Public}})
			peer.PostAndSettle(srv, announce)
			srv.Exec(`UPDATE queued_activities SET received_at = received_at - 2 * 3600 * 1000`)
			retry()
			if n := srv.Count(`SELECT count(*) FROM queued_activities`); n != 0 || srv.Refusals(announce["id"]) == "" {
				t.Errorf("after an hour, %d activities are queued, refused: %q", n, srv.Refusals(announce["id"]))
			}
		})
	}
}

// TestBoostAddressing checks who sees a boost, by the forms of its addressing. What cannot be read addresses no one.
func TestBoostAddressing(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol") // carol does not follow bob
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	followers := bob + "/followers"
	for _, tt := range []struct {
		name   string
		to, cc any
		want   string
	}{
		{"public", []any{apptest.Public}, []any{followers}, "public"},
		{"unlisted", []any{followers}, apptest.Public, "unlisted"},
		{"for followers", followers, nil, "private"},
		{"without addressing", nil, nil, "public"},
		{"empty lists", []any{}, []any{}, "private"},
		{"a number", 7, nil, "private"},
		{"an empty text", "", nil, "private"},
		{"an object without an id", apptest.Doc{"type": "Collection"}, nil, "private"},
		{"broken text", apptest.Public + "\x00", nil, "private"},
		{"for some accounts", []any{alice.URI(), bob}, carol.URI(), ""},
		{"for another collection", []any{bob + "/friends"}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			boost := peer.Activity("Announce", bob, alice.Publish(tt.name).Str("uri"), apptest.Doc{"to": tt.to, "cc": tt.cc})
			peer.PostAndSettle(srv, boost)
			if tt.want == "" {
				if alice.FindPost(boost["id"]) != nil || carol.FindPost(boost["id"]) != nil {
					t.Error("it is stored")
				}
				if reasons := srv.Refusals(boost["id"]); !strings.Contains(reasons, "addressed to neither") {
					t.Errorf("it is refused because %q", reasons)
				}
				return
			}
			if got := alice.WantPost(boost["id"]).Str("visibility"); got != tt.want {
				t.Errorf("the boost is %s, want %s", got, tt.want)
			}
			if shown := carol.FindPost(boost["id"]) != nil; shown != (tt.want != "private") {
				t.Errorf("carol sees it: %v", shown)
			}
		})
	}
}
