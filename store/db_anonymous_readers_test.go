package store_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// TestAnonymousReaders checks that anonymous requests take at most half of the reading connections, wait for a bounded time, and do not delay
// others.
func TestAnonymousReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := store.ForReaders(4)
		anonymous := store.WithAnonymous(t.Context())
		var releases []func()
		for range 2 {
			release, err := db.Hold(anonymous)
			if err != nil {
				t.Fatal(err)
			}
			releases = append(releases, release)
		}
		start := time.Now()
		_, err := db.Hold(anonymous)
		var e *errs.Error
		if !errors.As(err, &e) || e.Status != 503 || e.RetryAfter == 0 || time.Since(start) != 3*time.Second {
			t.Errorf("after %v, the third anonymous query got %v", time.Since(start), err)
		}
		for range 10 {
			if _, err := db.Hold(t.Context()); err != nil {
				t.Errorf("a query of a user got %v", err)
			}
		}
		cancelled, cancel := context.WithCancel(anonymous)
		cancel()
		if _, err := db.Hold(cancelled); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled query got %v", err)
		}
		go func() {
			time.Sleep(time.Second)
			releases[0]()
		}()
		release, err := db.Hold(anonymous)
		if err != nil {
			t.Fatal(err)
		}
		release()
		releases[1]()
		if n := db.Held(); n != 0 {
			t.Errorf("%d connections are held in the end", n)
		}
	})
}

// TestAnonymousReads checks that every read of the store releases its connection, also if it has no rows.
func TestAnonymousReads(t *testing.T) {
	db := open(t)
	seed(t, db, 1000)
	ctx := store.WithAnonymous(t.Context())
	for range 5 {
		for _, read := range growthReads {
			if _, err := read.read(ctx, db); err != nil {
				t.Fatalf("%s: %v", read.name, err)
			}
		}
		if _, err := db.Relationships(ctx, 3, []store.AccountID{4, 5}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.AccountCounters(ctx, []store.AccountID{4, 5}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.QuotesShown(ctx, 3, []store.StatusID{5}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.SearchStatuses(ctx, store.StatusSearch{Text: "words nowhere", Page: store.Page{Limit: 20}}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Status(ctx, 7777777); !errs.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	if n := db.Held(); n != 0 {
		t.Errorf("%d connections are held in the end", n)
	}
}
