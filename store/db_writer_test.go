package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"svc/store"
)

func addAccount(t testing.TB, db *store.DB, nick string) *store.Account {
	t.Helper()
	a := &store.Account{Nickname: nick, ActorType: "Person", URI: "https://example.org/users/" + nick, URL: "https://example.org/@" + nick}
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		if err := tx.AddAccount(t.Context(), a); err != nil {
			return err
		}
		return tx.AddUser(t.Context(), &store.User{AccountID: a.ID, ShowRole: true})
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestUpdateFailsAlone checks that only a function that fails or panics is rolled back.
func TestUpdateFailsAlone(t *testing.T) {
	db := open(t)
	a := addAccount(t, db, "alice")
	var wg sync.WaitGroup
	var stored, failed atomic.Int64
	for i := range 60 {
		wg.Go(func() {
			defer func() {
				if recover() != nil {
					failed.Add(1)
				}
			}()
			err := db.Update(context.Background(), func(tx *store.Tx) error {
				st := &store.Status{ID: tx.NewStatusID(), AccountID: a.ID, ContentType: "text/plain"}
				st.URI = fmt.Sprint("https://example.org/", i)
				if err := tx.AddStatus(context.Background(), st); err != nil {
					return err
				}
				switch i % 3 {
				case 1:
					return errors.New("no")
				case 2:
					panic("oh no")
				}
				return nil
			})
			if err != nil {
				failed.Add(1)
			} else {
				stored.Add(1)
			}
		})
	}
	wg.Wait()
	if stored.Load() != 20 || failed.Load() != 40 {
		t.Errorf("stored %d, failed %d; want 20 and 40", stored.Load(), failed.Load())
	}
	got, err := db.Account(t.Context(), a.ID)
	if err != nil || got.StatusesCount != 20 {
		t.Errorf("%d statuses counted (%v), want 20", got.StatusesCount, err)
	}
}

// TestEvents checks that events are sent after the commit, in order, and none of a function that failed.
func TestEvents(t *testing.T) {
	db := open(t)
	var got []store.Event
	db.Subscribe(func(events []store.Event) { got = append(got, events...) })
	a := addAccount(t, db, "alice")
	got = nil
	for _, fails := range []bool{false, true, false} {
		db.Update(t.Context(), func(tx *store.Tx) error {
			tx.Emit(store.TokensRevoked{AccountID: a.ID})
			if fails {
				return errors.New("no")
			}
			return tx.SaveAccount(t.Context(), a)
		})
	}
	var kinds []string
	for _, e := range got {
		kinds = append(kinds, fmt.Sprintf("%T", e))
	}
	want := []string{"store.RowsChanged", "store.TokensRevoked", "store.RowsChanged", "store.TokensRevoked"}
	if !slices.Equal(kinds, want) {
		t.Errorf("got %v, want %v", kinds, want)
	}
}

func TestClosedAndSecondProcess(t *testing.T) {
	dir := t.TempDir()
	db := openDir(t, dir)
	if _, err := openIn(dir); !errors.Is(err, store.ErrInUse) {
		t.Errorf("a second process got %v, want ErrInUse", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Update(t.Context(), func(*store.Tx) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("after Close got %v, want ErrClosed", err)
	}
	again, err := openIn(dir)
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	again.Close()
}

// BenchmarkGroupCommit measures group commit: statuses per second, each acknowledged when it is on disk
// (synchronous=FULL), for one writer and for many.
func BenchmarkGroupCommit(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			db := open(b)
			a := addAccount(b, db, "alice")
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			var wg sync.WaitGroup
			for range writers {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						if _, err := addStatus(context.Background(), db, a); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "statuses/s")
		})
	}
}

// BenchmarkHomeTimeline reads the ids of a page.
func BenchmarkHomeTimeline(b *testing.B) {
	db := open(b)
	a := addAccount(b, db, "alice")
	for range 400 {
		if _, err := addStatus(b.Context(), db, a); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := db.HomeTimeline(b.Context(), a.ID, store.Filter{}, store.Page{Limit: 20}); err != nil {
			b.Fatal(err)
		}
	}
}
