package server_test

import (
	"slices"
	"strconv"
	"testing"

	"svc/internal/config"
)

func TestFavourite(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	hello := alice.publish("hello")
	secret := alice.publish("psst", "visibility", "direct")
	for _, tt := range []struct {
		name  string
		as    *member
		id    string
		want  int
		count int
	}{
		{"a public status", bob, hello.id(), 200, 1},
		{"again", bob, hello.id(), 200, 1},
		{"one's own", alice, hello.id(), 200, 2},
		{"one bob cannot see", bob, secret.id(), 404, 0},
		{"one that is not there", bob, "0000000000000000AA", 404, 0},
		{"without a token", nil, hello.id(), 401, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.as(tt.as).post("/api/v1/statuses/" + tt.id + "/favourite").want(tt.want)
			if tt.want == 200 {
				if n := a.object().num("favourites_count"); n != tt.count {
					t.Errorf("favourites_count is %d, want %d", n, tt.count)
				}
				if !a.object().truth("favourited") {
					t.Error("not favourited")
				}
			}
		})
	}
	if got := alice.notified(); !slices.Equal(got, []string{"favourite bob"}) {
		t.Errorf("alice is told %v", got)
	}
	for range 2 {
		o := bob.post("/api/v1/statuses/" + hello.id() + "/unfavourite").want(200).object()
		if o.truth("favourited") || o.num("favourites_count") != 1 {
			t.Errorf("still a favourite: %v", o.m)
		}
	}
	if got := alice.notified(); len(got) != 0 {
		t.Errorf("alice is still told %v", got)
	}
}

func TestFavouritedBy(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	st := alice.publish("hello").id()
	people := crowdOf(srv, 9)
	var want []string
	for _, m := range people {
		m.post("/api/v1/statuses/" + st + "/favourite").want(200)
		want = append([]string{m.id}, want...)
	}
	path := "/api/v1/statuses/" + st + "/favourited_by"
	wantPages(t, bob, path+"?limit=4", want)
	wantIDs(t, "the anonymous", srv.as(nil).get(path), want...)
	srv.letBlock(bob, people[8])
	srv.letBlock(people[7], bob)
	srv.withhold(people[6])
	wantPages(t, bob, path+"?limit=2", want[3:])
	wantPages(t, alice, path+"?limit=5", append(slices.Clone(want[:2]), want[3:]...))
	alice.get("/api/v1/statuses/nothing/favourited_by").wantError(404, "Record not found")
}

// A favourite may be set and taken back three times a minute, for each status apart.
func TestSameActionIsLimited(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.StatusActions.Count = 100
	})
	alice := srv.signUp("alice")
	one, two := alice.publish("one").id(), alice.publish("two").id()
	for _, kind := range []string{"favourite", "reblog"} {
		do := func(id, deed string) *answer { return alice.post("/api/v1/statuses/" + id + "/" + deed) }
		do(one, kind).want(200)
		do(one, "un"+kind).want(200)
		do(one, kind).want(200)
		do(one, "un"+kind).wantError(429, "Throttled")
		do(two, kind).want(200)
	}
}

// Favourites and bookmarks are lists in the order in which they were made, without what has become invisible.
func TestSavedStatuses(t *testing.T) {
	for _, kind := range []struct{ path, do, undo, flag string }{
		{"/api/v1/favourites", "/favourite", "/unfavourite", "favourited"},
		{"/api/v1/bookmarks", "/bookmark", "/unbookmark", "bookmarked"},
	} {
		t.Run(kind.path, func(t *testing.T) {
			srv := startAPI(t)
			alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
			srv.letFollow(carol, bob)
			save := func(id string) {
				if !carol.post("/api/v1/statuses/" + id + kind.do).want(200).object().truth(kind.flag) {
					t.Errorf("not %s", kind.flag)
				}
			}
			var ids []string
			for _, v := range []string{"public", "unlisted", "local", "private"} {
				ids = append(ids, alice.publish("by alice @carol", "visibility", v).id(), bob.publish("by bob", "visibility", v).id())
			}
			slices.Reverse(ids)
			for _, id := range ids {
				save(id)
				save(id)
			}
			slices.Reverse(ids)
			wantPages(t, carol, kind.path+"?limit=3", ids)
			a := carol.get(kind.path, "limit", "3")
			for rel, link := range a.links() {
				if _, cursor, ok := cutLast(link, "="); !ok || !isDecimal(cursor) {
					t.Errorf("%s is no decimal cursor: %s", rel, link)
				}
			}
			for _, o := range a.list() {
				if !o.truth(kind.flag) {
					t.Errorf("not %s in the list", kind.flag)
				}
			}
			wantIDs(t, "others have none", alice.get(kind.path))
			srv.as(nil).get(kind.path).wantError(401, "The access token is invalid")

			// What has become invisible leaves no hole: ids are of alice and bob in turn, four of them the last private.
			srv.insert(`DELETE FROM follows`)
			visible := slices.Delete(slices.Clone(ids), 7, 8)
			wantPages(t, carol, kind.path+"?limit=3", visible)
			srv.letBlock(alice, carol)
			wantPages(t, carol, kind.path+"?limit=1", []string{ids[1], ids[3], ids[5]})
			srv.withhold(bob)
			wantIDs(t, "nothing visible", carol.get(kind.path))
			srv.insert(`UPDATE accounts SET withheld = 0; DELETE FROM blocks`)

			carol.post("/api/v1/statuses/" + ids[0] + kind.undo).want(200)
			if carol.post("/api/v1/statuses/" + ids[0] + kind.undo).want(200).object().truth(kind.flag) {
				t.Errorf("still %s", kind.flag)
			}
			wantIDs(t, "one less", carol.get(kind.path), visible[1:]...)
			save(ids[0])
			wantIDs(t, "saved again", carol.get(kind.path), visible...)
			carol.post("/api/v1/statuses/nothing"+kind.do).wantError(404, "Record not found")
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
