package server_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// TestAnonymousReadersBusy lets the disk hang until anonymous requests have all the reading connections that they may have. The next one is
// answered with a 503.
func TestAnonymousReadersBusy(t *testing.T) {
	apptest.SkipIfShort(t) // a request waits for 3 s
	dir, release := t.TempDir(), make(chan struct{})
	var hangs atomic.Bool
	apptest.FaultyDisk(t, dir, func(op apptest.DiskOperation, _ string) int {
		if op == apptest.DiskRead && hangs.Load() {
			<-release
		}
		return 0
	})
	srv := apptest.Start(t, func(c *config.Config) { c.Data.Dir, c.Data.Readers = dir, 4 })
	end := sync.OnceFunc(func() { hangs.Store(false); close(release) })
	t.Cleanup(end)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	addUnavailableAccounts(srv, 3000)
	srv.Exec(`INSERT INTO follows (id, follower_id, target_id, pending, follower_local, show_reblogs)
		SELECT id, id, ?, 0, 0, 1 FROM accounts WHERE domain = 'many.example' OR id = ?`, alice.AccountID(), bob.AccountID())
	hangs.Store(true)
	const requests = 3
	answers := make(chan *apptest.Response, requests)
	for range requests {
		go func() { answers <- srv.As(nil).Get("/api/v1/accounts/" + alice.ID + "/followers") }()
	}
	(<-answers).WantBusy(503, "The server is busy, try again soon")
	end()
	for range requests - 1 {
		(<-answers).Want(200)
	}
}

// TestFiltersTakeTooLong reads posts that take long to filter until the time of the account is used up. Another account is served.
func TestFiltersTakeTooLong(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.RateLimit.Enabled = false })
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		f := &store.UserFilter{AccountID: alice.AccountID(), Title: "f", Action: store.FilterWarn}
		if err := tx.AddFilter(t.Context(), f); err != nil {
			return err
		}
		for i := range 500 {
			k := &store.FilterKeyword{FilterID: f.ID, Keyword: strings.Repeat("ab", 100) + fmt.Sprint("b", i)}
			if err := tx.AddFilterKeyword(t.Context(), alice.AccountID(), k); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	bob.Publish("hello")
	addPosts(srv, bob, 300, "0")
	srv.Exec(`UPDATE statuses SET content = ? WHERE uri LIKE 'https://many.example/%'`, "<p>"+strings.Repeat("ab", 15_000)+"b 0123456789 b0 b1 b2 b3 b4 b5</p>")
	for page, n := "/api/v1/accounts/"+bob.ID+"/statuses?limit=1", 0; ; n++ {
		a := alice.Get(page)
		if a.Status == 429 {
			a.WantBusy(429, "Your filters take too long, try again in a second")
			bob.Get(page).Want(200)
			return
		}
		if page = a.Want(200).Links()["next"]; page == "" || n == 290 {
			t.Fatalf("%d posts are filtered without an end", n)
		}
	}
}
