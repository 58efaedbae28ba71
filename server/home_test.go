package server_test

import (
	"slices"
	"testing"

	"svc/store"
)

// A home that is made anew is what it was.
func TestRebuildHome(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol, dave, eve := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol"), srv.signUp("dave"), srv.signUp("eve")
	for _, m := range []*member{bob, carol, dave} {
		alice.post("/api/v1/accounts/" + m.id + "/follow").want(200)
	}
	alice.post("/api/v1/accounts/"+dave.id+"/follow", "reblogs", "false").want(200)
	own := alice.publish("mine")
	st := bob.publish("for all")
	bob.publish("for followers", "visibility", "private")
	eve.publish("for @alice", "visibility", "direct")
	eve.publish("@alice in passing")
	eves := eve.publish("elsewhere")
	for _, m := range []*member{carol, dave} {
		m.post("/api/v1/statuses/" + eves.id() + "/reblog").want(200)
		m.post("/api/v1/statuses/" + own.id() + "/reblog").want(200)
	}
	alice.post("/api/v1/statuses/" + st.id() + "/reblog").want(200)
	before := alice.get("/api/v1/timelines/home").want(200).ids()
	if len(before) != 6 {
		t.Fatalf("home has %d posts, want 6: own, two of bob, one direct, one boost by carol, one own: %v", len(before), before)
	}
	var id store.AccountID
	id.UnmarshalText([]byte(alice.id))
	srv.insert(`DELETE FROM home WHERE account_id = ? AND status_id % 2 = 0`, id)
	srv.insert(`INSERT OR IGNORE INTO home (account_id, status_id) SELECT ?, id FROM statuses`, id)
	if got := alice.get("/api/v1/timelines/home").want(200).ids(); slices.Equal(got, before) {
		t.Fatal("home is not in disorder: nothing is tested")
	}
	for range 2 {
		if err := srv.social.RebuildHome(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if got := alice.get("/api/v1/timelines/home").want(200).ids(); !slices.Equal(got, before) {
			t.Errorf("got %v, want %v", got, before)
		}
	}
}
