package server_test

import (
	"fmt"
	"slices"
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
	t.Parallel()
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

// TestSearchesBusy lets a read of the disk hang by which a search keeps the only slot. Other searches wait for it: a search for accounts alone is answered
// with a 429, of one for everything that part is empty. When the disk works again, they find something.
func TestSearchesBusy(t *testing.T) {
	apptest.SkipIfShort(t) // searches wait for 10 s
	t.Parallel()
	dir, hanging, release := t.TempDir(), make(chan struct{}), make(chan struct{})
	var nextHangs atomic.Bool
	apptest.FaultyDisk(t, dir, func(op apptest.DiskOperation, _ string) int {
		if op == apptest.DiskRead && nextHangs.CompareAndSwap(true, false) {
			close(hanging)
			<-release
		}
		return 0
	})
	srv := apptest.Start(t, func(c *config.Config) { c.Data.Dir, c.Data.Readers = dir, 2 })
	end := sync.OnceFunc(func() { close(release) })
	t.Cleanup(end)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	for _, user := range []*apptest.User{alice, bob} {
		user.Get("/api/v1/timelines/home").Want(200) // stores that the user is active
		user.Get("/api/v1/timelines/home").Want(200) // from now on the identity is in memory
	}
	const query = "@@bob" // no handle, so that the first row that it reads is that of a word
	nextHangs.Store(true)
	first := make(chan *apptest.Response)
	go func() { first <- alice.Get("/api/v1/accounts/search", "q", query) }()
	<-hanging
	tests := []struct {
		name, path string
		as         *apptest.User
		want       int
		answer     *apptest.Response
	}{
		{name: "of the same user", path: "/api/v1/accounts/search", as: alice, want: 429},
		{name: "of another user", path: "/api/v1/accounts/search", as: bob, want: 429},
		{name: "of nobody", path: "/api/v1/accounts/search", want: 429},
		{name: "for everything", path: "/api/v2/search", as: bob, want: 200},
		{name: "for everything, as of old", path: "/api/v1/search", as: bob, want: 200},
	}
	var waiting sync.WaitGroup
	for i := range tests {
		waiting.Go(func() { tests[i].answer = srv.As(tests[i].as).Get(tests[i].path, "q", query, "type", "accounts") })
	}
	waiting.Wait()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == 429 {
				tt.answer.WantBusy(429, "Too many searches at once")
			} else if found := apptest.ListField(tt.answer.Want(tt.want).Object(), "accounts", "id"); len(found) > 0 {
				t.Errorf("without a slot it found %v", found)
			}
		})
	}
	end()
	if found := (<-first).Want(200).IDs(); !slices.Equal(found, []string{bob.ID}) {
		t.Errorf("the search with the slot found %v", found)
	}
	if found := bob.Get("/api/v1/accounts/search", "q", query).Want(200).IDs(); !slices.Equal(found, []string{bob.ID}) {
		t.Errorf("a search after it found %v", found)
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
