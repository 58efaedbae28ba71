package server_test

import (
	"slices"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

// TestRebuildHome checks that rebuilding a home timeline restores its statuses.
func TestRebuildHome(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, dave, eve := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("dave"), srv.SignUp("eve")
	for _, m := range []*apptest.User{bob, carol, dave} {
		alice.Post("/api/v1/accounts/" + m.ID + "/follow").Want(200)
	}
	alice.Post("/api/v1/accounts/"+dave.ID+"/follow", "reblogs", "false").Want(200)
	own := alice.Publish("mine")
	st := bob.Publish("for all")
	bob.Publish("for followers", "visibility", "private")
	eve.Publish("for @alice", "visibility", "direct")
	eve.Publish("@alice in passing")
	eves := eve.Publish("boosted by others")
	for _, m := range []*apptest.User{carol, dave} {
		m.Post("/api/v1/statuses/" + eves.ID() + "/reblog").Want(200)
		m.Post("/api/v1/statuses/" + own.ID() + "/reblog").Want(200)
	}
	alice.Post("/api/v1/statuses/" + st.ID() + "/reblog").Want(200)
	before := alice.Get("/api/v1/timelines/home").Want(200).IDs()
	if len(before) != 6 {
		t.Fatalf("home has %d posts, want 6: own, two of bob, one direct, one boost by carol, one own: %v", len(before), before)
	}
	var id store.AccountID
	id.UnmarshalText([]byte(alice.ID))
	srv.Exec(`DELETE FROM home WHERE account_id = ? AND status_id % 2 = 0`, id)
	srv.Exec(`INSERT OR IGNORE INTO home (account_id, status_id) SELECT ?, id FROM statuses`, id)
	if got := alice.Get("/api/v1/timelines/home").Want(200).IDs(); slices.Equal(got, before) {
		t.Fatal("home is unchanged: the test tests nothing")
	}
	for range 2 {
		if err := srv.Social.RebuildHome(t.Context(), id, 100); err != nil {
			t.Fatal(err)
		}
		if got := alice.Get("/api/v1/timelines/home").Want(200).IDs(); !slices.Equal(got, before) {
			t.Errorf("got %v, want %v", got, before)
		}
	}
	if err := srv.Social.RebuildHome(t.Context(), id, 4); err != nil { // of six candidates, one is too old
		t.Fatal(err)
	}
	if got := alice.Get("/api/v1/timelines/home").Want(200).IDs(); len(got) != len(before)-1 || slices.Contains(got, st.ID()) || !slices.Equal(got[:3], before[:3]) {
		t.Errorf("a short home is %v, of %v", got, before)
	}
}
