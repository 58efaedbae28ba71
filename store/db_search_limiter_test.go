package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// TestSearchLimiter starts more searches than may run: they wait for a slot, and other queries do not.
func TestSearchLimiter(t *testing.T) {
	db := open(t) // with three readers, of which one is for searches
	seed(t, db, 2000)
	for name, search := range map[string]func(context.Context, store.AccountID) error{
		"statuses": func(ctx context.Context, viewer store.AccountID) error {
			_, err := db.SearchStatuses(ctx, store.StatusSearch{Text: "words", Viewer: viewer, Page: store.Page{Limit: 20}})
			return err
		},
		"tags": func(ctx context.Context, viewer store.AccountID) error {
			_, err := db.SearchTags(ctx, viewer, "tag", 20)
			return err
		},
		"accounts": func(ctx context.Context, viewer store.AccountID) error {
			_, err := db.SearchAccounts(ctx, store.AccountSearch{Text: "a", Viewer: viewer, Limit: 20})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			end, err := db.BeginSearch(t.Context(), 3)
			if err != nil {
				t.Fatal(err)
			}
			db.SetSearchTimeout(time.Millisecond)
			var refusal *errs.Error
			for _, viewer := range []store.AccountID{3, 4, 0} {
				if err := search(t.Context(), viewer); !errors.As(err, &refusal) || refusal.Status != 429 {
					t.Errorf("while a search runs, %d gets %v", viewer, err)
				}
			}
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			if err := search(gone, 4); !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled search gets %v", err)
			}
			if home, err := db.HomeTimeline(t.Context(), 6, store.Filter{}, store.Page{Limit: 10}); err != nil || len(home.Rows) == 0 {
				t.Errorf("home has %d posts: %v", len(home.Rows), err)
			}
			db.SetSearchTimeout(time.Minute)
			waits := make(chan error)
			go func() { waits <- search(t.Context(), 4) }()
			for db.Searching() < 2 {
				time.Sleep(time.Millisecond)
			}
			end()
			if err := <-waits; err != nil {
				t.Errorf("the search that waited gets %v", err)
			}
			if n := db.Searching(); n != 0 {
				t.Errorf("%d searches run in the end", n)
			}
		})
	}
}

// TestSearchesOfOneViewer runs the searches of one viewer one after another, without delay for other viewers.
func TestSearchesOfOneViewer(t *testing.T) {
	db := open(t)
	ends := make(chan func(), 20)
	for range 20 {
		go func() {
			end, err := db.BeginSearch(t.Context(), 3)
			if err != nil {
				t.Error(err)
			}
			ends <- end
		}()
	}
	first := <-ends
	other := make(chan func())
	go func() {
		end, err := db.BeginSearch(t.Context(), 4)
		if err != nil {
			t.Error(err)
		}
		other <- end
	}()
	for db.Searching() < 21 {
		time.Sleep(time.Millisecond)
	}
	first()
	turns := 0
	for end := (func())(nil); end == nil; {
		select {
		case end = <-other:
			end()
		case next := <-ends:
			turns++
			next()
		}
	}
	if turns > 10 {
		t.Errorf("the search of another viewer waited for %d searches of a viewer with twenty", turns)
	}
	for range 19 - turns {
		(<-ends)()
	}
}
