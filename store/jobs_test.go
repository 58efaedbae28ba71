package store_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"svc/store"
)

// TestHandleFew has jobs of two kinds wait, those of the one before those of the other: of the first, only few run at a time, and the
// others do not wait for them.
func TestHandleFew(t *testing.T) {
	db := open(t)
	const few, many = 2, 6
	w := store.NewWorker(db, 4, slog.New(slog.DiscardHandler))
	var mu sync.Mutex
	running, most, done := 0, 0, 0
	release, others := make(chan struct{}), make(chan struct{}, many)
	store.HandleLimited(w, few, func(ctx context.Context, _ store.PushNotification) error {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		<-release
		mu.Lock()
		running--
		done++
		mu.Unlock()
		return nil
	})
	store.Handle(w, func(context.Context, store.SweepMedia) error {
		others <- struct{}{}
		return nil
	})
	enqueue(t, db, time.Unix(1, 0), many, store.PushNotification{})
	enqueue(t, db, time.Unix(2, 0), many, store.SweepMedia{})
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		w.Run(ctx)
		close(stopped)
	}()
	for range many {
		<-others // while those that wait hold their places
	}
	close(release)
	for waiting := many; waiting > 0; {
		counts, err := db.JobCounts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		waiting = 0
		for _, c := range counts {
			waiting += c.N
		}
	}
	stop()
	<-stopped
	if most != few || done != many {
		t.Errorf("%d ran at a time, %d in all, want %d and %d", most, done, few, many)
	}
}

func enqueue(t *testing.T, db *store.DB, at time.Time, n int, work store.JobPayload) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		for range n {
			if err := tx.EnqueueAt(t.Context(), at, work); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A job is not tried again before the time that it asks for.
func TestLater(t *testing.T) {
	db := open(t)
	w := store.NewWorker(db, 1, slog.New(slog.DiscardHandler))
	failure := error(&store.RetryAfterError{At: time.Now().Add(3 * time.Hour), Err: errors.New("busy")})
	store.Handle(w, func(context.Context, store.SweepMedia) error { return failure })
	enqueue(t, db, time.Now(), 1, store.SweepMedia{})
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	due := func(in time.Duration) bool {
		found, err := db.Has(t.Context(), `SELECT 1 FROM jobs WHERE parked = 0 AND attempts = 1 AND last_error = 'busy' AND run_at <= ?`, store.At(time.Now().Add(in)))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if due(3*time.Hour-time.Minute) || !due(3*time.Hour+time.Minute) {
		t.Error("it is put off to another time")
	}
}
