package server_test

import (
	"fmt"
	"svc/app/apptest"
	"sync"
	"testing"
)

// TestCountersAreCurrent posts, follows, and changes the profile while the account is read. After each response, and at the end, the
// account entity has the counters of its row.
func TestCountersAreCurrent(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	const posts = 60
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range posts {
			alice.Publish(fmt.Sprint("post ", i))
			if n := alice.Get("/api/v1/accounts/alice").Object().Int("statuses_count"); n != i+1 {
				t.Errorf("after %d posts, statuses_count is %v", i+1, n)
			}
		}
	})
	wg.Go(func() {
		for i := range posts {
			alice.Post("/api/v1/statuses").Want(422) // fails, maybe in the same group of transactions as a post
			alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"display_name": fmt.Sprint("alice ", i)}).Want(200)
			if got, want := bob.Get("/api/v1/accounts/alice").Object().Str("display_name"), fmt.Sprint("alice ", i); got != want {
				t.Errorf("display_name is %q, want %q", got, want)
			}
		}
	})
	wg.Go(func() {
		for range posts / 2 {
			for want, do := range []string{"unfollow", "follow"} {
				bob.Post("/api/v1/accounts/" + alice.ID + "/" + do).Want(200)
				if n := bob.Get("/api/v1/accounts/alice").Object().Int("followers_count"); n != want {
					t.Errorf("after %s, followers_count is %v", do, n)
				}
			}
		}
	})
	wg.Wait()
	o := bob.Get("/api/v1/accounts/alice").Object()
	if o.Int("statuses_count") != posts || o.Int("followers_count") != 1 || o.Str("last_status_at") == "" {
		t.Errorf("at the end, the account is %v", o)
	}
}
