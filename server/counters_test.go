package server_test

import (
	"fmt"
	"sync"
	"testing"
)

// TestCountersAreOfToday posts, follows, and changes the profile at the same time as it is read: after each answer, and at the end, an
// account is shown with the counters that its row has.
func TestCountersAreOfToday(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	const posts = 60
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range posts {
			alice.publish(fmt.Sprint("post ", i))
			if n := alice.get("/api/v1/accounts/alice").object().num("statuses_count"); n != i+1 {
				t.Errorf("after %d posts, %v are counted", i+1, n)
			}
		}
	})
	wg.Go(func() {
		for i := range posts {
			alice.post("/api/v1/statuses").want(422) // fails, maybe in the same group of transactions as a post
			alice.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"display_name": fmt.Sprint("alice ", i)}).want(200)
			if got, want := bob.get("/api/v1/accounts/alice").object().str("display_name"), fmt.Sprint("alice ", i); got != want {
				t.Errorf("the account is shown as %q, want %q", got, want)
			}
		}
	})
	wg.Go(func() {
		for range posts / 2 {
			for want, do := range []string{"unfollow", "follow"} {
				bob.post("/api/v1/accounts/" + alice.id + "/" + do).want(200)
				if n := bob.get("/api/v1/accounts/alice").object().num("followers_count"); n != want {
					t.Errorf("after %s, %v followers are counted", do, n)
				}
			}
		}
	})
	wg.Wait()
	o := bob.get("/api/v1/accounts/alice").object()
	if o.num("statuses_count") != posts || o.num("followers_count") != 1 || o.str("last_status_at") == "" {
		t.Errorf("at the end, the account is shown as %v", o)
	}
}
