package server_test

import (
	"slices"
	"strconv"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

func TestFavourite(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	hello := alice.Publish("hello")
	secret := alice.Publish("psst", "visibility", "direct")
	for _, tt := range []struct {
		name  string
		as    *apptest.User
		id    string
		want  int
		count int
	}{
		{"a public status", bob, hello.ID(), 200, 1},
		{"again", bob, hello.ID(), 200, 1},
		{"of the viewer", alice, hello.ID(), 200, 2},
		{"an invisible status", bob, secret.ID(), 404, 0},
		{"an unknown status", bob, "0000000000000000AA", 404, 0},
		{"without a token", nil, hello.ID(), 401, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.As(tt.as).Post("/api/v1/statuses/" + tt.id + "/favourite").Want(tt.want)
			if tt.want == 200 {
				if n := a.Object().Int("favourites_count"); n != tt.count {
					t.Errorf("favourites_count is %d, want %d", n, tt.count)
				}
				if !a.Object().Bool("favourited") {
					t.Error("not favourited")
				}
			}
		})
	}
	if got := alice.Notifications(); !slices.Equal(got, []string{"favourite bob"}) {
		t.Errorf("alice has the notifications %v", got)
	}
	for range 2 {
		o := bob.Post("/api/v1/statuses/" + hello.ID() + "/unfavourite").Want(200).Object()
		if o.Bool("favourited") || o.Int("favourites_count") != 1 {
			t.Errorf("it is still a favourite: %v", o.Fields)
		}
	}
	if got := alice.Notifications(); len(got) != 0 {
		t.Errorf("alice still has the notifications %v", got)
	}
}

func TestFavouritedBy(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st := alice.Publish("hello").ID()
	people := apptest.SignUpMany(srv, 9)
	var want []string
	for _, m := range people {
		m.Post("/api/v1/statuses/" + st + "/favourite").Want(200)
		want = append([]string{m.ID}, want...)
	}
	path := "/api/v1/statuses/" + st + "/favourited_by"
	apptest.WantPages(t, bob, path+"?limit=4", want)
	apptest.WantIDs(t, "an anonymous client", srv.As(nil).Get(path), want...)
	srv.AddBlock(bob, people[8])
	srv.AddBlock(people[7], bob)
	srv.MakeUnavailable(people[6])
	apptest.WantPages(t, bob, path+"?limit=2", want[3:])
	apptest.WantPages(t, alice, path+"?limit=5", append(slices.Clone(want[:2]), want[3:]...))
	alice.Get("/api/v1/statuses/nothing/favourited_by").WantError(404, "Record not found")
}

// TestSameActionIsLimited checks the rate limit on repeating an action and its undo on one status.
func TestSameActionIsLimited(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.StatusActions.Count = 100
	})
	alice := srv.SignUp("alice")
	one, two := alice.Publish("one").ID(), alice.Publish("two").ID()
	for _, kind := range []string{"favourite", "reblog"} {
		do := func(id, action string) *apptest.Response { return alice.Post("/api/v1/statuses/" + id + "/" + action) }
		do(one, kind).Want(200)
		do(one, "un"+kind).Want(200)
		do(one, kind).Want(200)
		do(one, "un"+kind).WantError(429, "Throttled")
		do(two, kind).Want(200)
	}
}

// TestSavedStatuses checks that favourites and bookmarks are listed in the order of their creation, without invisible statuses.
func TestSavedStatuses(t *testing.T) {
	for _, kind := range []struct{ path, do, undo, flag string }{
		{"/api/v1/favourites", "/favourite", "/unfavourite", "favourited"},
		{"/api/v1/bookmarks", "/bookmark", "/unbookmark", "bookmarked"},
	} {
		t.Run(kind.path, func(t *testing.T) {
			srv := apptest.Start(t)
			alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
			srv.AddFollow(carol, bob)
			save := func(id string) {
				if !carol.Post("/api/v1/statuses/" + id + kind.do).Want(200).Object().Bool(kind.flag) {
					t.Errorf("not %s", kind.flag)
				}
			}
			var ids []string
			for _, v := range []string{"public", "unlisted", "local", "private"} {
				ids = append(ids, alice.Publish("by alice @carol", "visibility", v).ID(), bob.Publish("by bob", "visibility", v).ID())
			}
			slices.Reverse(ids)
			for _, id := range ids {
				save(id)
				save(id)
			}
			slices.Reverse(ids)
			apptest.WantPages(t, carol, kind.path+"?limit=3", ids)
			a := carol.Get(kind.path, "limit", "3")
			for rel, link := range a.Links() {
				if _, cursor, ok := cutLast(link, "="); !ok || !isDecimal(cursor) {
					t.Errorf("%s has no decimal cursor: %s", rel, link)
				}
			}
			for _, o := range a.List() {
				if !o.Bool(kind.flag) {
					t.Errorf("not %s in the list", kind.flag)
				}
			}
			apptest.WantIDs(t, "others have none", alice.Get(kind.path))
			srv.As(nil).Get(kind.path).WantError(401, "The access token is invalid")

			// Statuses that became invisible do not shorten pages. The ids are of alice and bob in turn.
			srv.Exec(`DELETE FROM follows`)
			visible := slices.Delete(slices.Clone(ids), 7, 8)
			apptest.WantPages(t, carol, kind.path+"?limit=3", visible)
			srv.AddBlock(alice, carol)
			apptest.WantPages(t, carol, kind.path+"?limit=1", []string{ids[1], ids[3], ids[5]})
			srv.MakeUnavailable(bob)
			apptest.WantIDs(t, "none visible", carol.Get(kind.path))
			srv.Exec(`UPDATE accounts SET unavailable = 0; DELETE FROM blocks`)

			carol.Post("/api/v1/statuses/" + ids[0] + kind.undo).Want(200)
			if carol.Post("/api/v1/statuses/" + ids[0] + kind.undo).Want(200).Object().Bool(kind.flag) {
				t.Errorf("still %s", kind.flag)
			}
			apptest.WantIDs(t, "one less", carol.Get(kind.path), visible[1:]...)
			save(ids[0])
			apptest.WantIDs(t, "saved again", carol.Get(kind.path), visible...)
			carol.Post("/api/v1/statuses/nothing"+kind.do).WantError(404, "Record not found")
		})
	}
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	for i := len(s) - len(sep); i >= 0; i-- {
		if s[i:i+len(sep)] == sep {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}

func isDecimal(s string) bool {
	_, err := strconv.ParseUint(s, 10, 63)
	return err == nil
}
