package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"svc/store"
)

// TestAudience compares VisibleTo with the timelines of many viewers on random data, and SawRemoved with the timelines before a deletion.
func TestAudience(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long with -short")
	}
	for range 5 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			db := open(t)
			w := newWorld(t, db, rand.New(rand.NewPCG(seed, 0)))
			unavailable := make(map[store.AccountID]bool)
			for _, id := range w.accounts {
				a, err := db.Account(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				unavailable[id] = a.Unavailable
			}
			var events []store.StatusRemoved
			db.Subscribe(func(list []store.Event) {
				for _, e := range list {
					if e, ok := e.(store.StatusRemoved); ok {
						events = append(events, e)
					}
				}
			})
			db.KeepDeletedAudiences(true)
			shown := w.shown(t)
			for _, id := range w.statuses {
				got, err := db.VisibleTo(t.Context(), w.rows[id], w.viewers)
				if err != nil {
					t.Fatal(err)
				}
				if slices.Sort(got); !slices.Equal(got, shown[id]) {
					t.Fatalf("%+v is visible to %v, but in the timelines of %v", w.rows[id], got, shown[id])
				}
			}
			for _, id := range w.statuses {
				err := db.Update(t.Context(), func(tx *store.Tx) error {
					st, err := tx.Status(t.Context(), id)
					if err != nil {
						return nil // it was deleted with the boosted status
					}
					_, err = tx.DeleteStatus(t.Context(), st)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if len(events) != len(w.statuses) {
				t.Fatalf("got %d deletions of %d statuses", len(events), len(w.statuses))
			}
			for _, e := range events {
				got, err := db.SawRemoved(t.Context(), e, w.viewers)
				if err != nil {
					t.Fatal(err)
				}
				author := unavailable[e.Status.AccountID] || e.Original != nil && unavailable[e.Original.AccountID]
				if slices.Sort(got); !slices.Equal(got, shown[e.Status.ID]) && !author {
					t.Fatalf("the deletion of %+v is sent to %v; the status was in the timelines of %v", e.Status, got, shown[e.Status.ID])
				}
				if want := slices.DeleteFunc(slices.Clone(w.viewers), func(v store.AccountID) bool { return v == 0 }); !sameAccounts(e.Audience.Homes, want) {
					t.Errorf("homes are %v, want %v", e.Audience.Homes, want)
				}
				if len(e.Audience.Lists) != len(w.lists) || (e.Status.ReblogOfID == nil) != slices.Equal(e.Audience.Tags, []string{"tag"}) {
					t.Errorf("the audience is %+v", e.Audience)
				}
			}
		})
	}
}

func sameAccounts(a, b []store.AccountID) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// shown returns the viewers that have each status in a timeline. All viewers have all statuses in home.
func (w *world) shown(t *testing.T) map[store.StatusID][]store.AccountID {
	t.Helper()
	shown := make(map[store.StatusID][]store.AccountID)
	for _, viewer := range w.viewers { // in order
		var found []store.StatusID
		var err error
		if viewer == 0 {
			rows, e := w.db.VisibleStatuses(t.Context(), 0, w.statuses)
			for _, row := range rows {
				found = append(found, row.ID)
			}
			err = e
		} else {
			home, e := w.db.HomeTimeline(t.Context(), viewer, store.Filter{}, store.Page{Limit: 1000})
			found, err = home.Rows, e
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range found {
			shown[id] = append(shown[id], viewer)
		}
	}
	return shown
}

// TestAudienceWithoutStreams checks that no audience is computed for events without streams.
func TestAudienceWithoutStreams(t *testing.T) {
	db := open(t)
	w := newWorld(t, db, rand.New(rand.NewPCG(1, 0)))
	var events []store.StatusRemoved
	db.Subscribe(func(list []store.Event) {
		for _, e := range list {
			if e, ok := e.(store.StatusRemoved); ok {
				events = append(events, e)
			}
		}
	})
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.DeleteStatus(t.Context(), w.rows[w.statuses[0]])
		return err
	})
	if err != nil || len(events) == 0 || events[0].Audience != nil {
		t.Errorf("got %v, %+v", err, events)
	}
}
