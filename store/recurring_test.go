package store_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"svc/store"
)

// A job that comes again waits in the queue from the first start on, and after each time it was done for the next.
func TestHandleEvery(t *testing.T) {
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	var ahead atomic.Int64
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Schema: string(schema), Now: func() time.Time {
		return time.Now().Add(time.Duration(ahead.Load()))
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var done int
	var failure error
	newWorker := func() *store.Worker {
		w := store.NewWorker(db, 1, slog.New(slog.DiscardHandler))
		store.HandleRecurring(w, time.Hour, func(context.Context, store.SweepMedia) error {
			done++
			return failure
		})
		return w
	}
	start := func() *store.Worker { // and stop at once
		w := newWorker()
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() { w.Run(ctx); close(stopped) }()
		for waiting := 0; waiting == 0; {
			counts, err := db.JobCounts(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range counts {
				waiting = c.N
			}
		}
		cancel()
		<-stopped
		return w
	}
	want := func(w *store.Worker, times int) {
		t.Helper()
		if err := w.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if done != times {
			t.Errorf("done %d times, want %d", done, times)
		}
		counts, err := db.JobCounts(t.Context())
		if err != nil || len(counts) != 1 || counts[0] != (store.JobCount{Kind: "sweep_media", N: 1}) {
			t.Errorf("in the queue are %v, %v", counts, err)
		}
	}

	want(start(), 0)
	ahead.Add(int64(59 * time.Minute))
	w := start() // again, which does not put it off
	want(w, 0)
	ahead.Add(int64(2 * time.Minute))
	if overdue, err := db.OldestDueJobAge(t.Context()); err != nil || overdue < time.Minute/2 || overdue > 2*time.Minute {
		t.Errorf("overdue for %v, %v", overdue, err)
	}
	want(w, 1)
	want(w, 1)
	if overdue, err := db.OldestDueJobAge(t.Context()); err != nil || overdue != 0 {
		t.Errorf("overdue for %v, %v", overdue, err)
	}
	ahead.Add(int64(61 * time.Minute))
	failure = errors.New("not now")
	want(w, 2)
	failure = nil
	ahead.Add(int64(10 * time.Minute))
	want(w, 3)

	// One that was given up is taken up again at the next start.
	failure = errors.New("never")
	for range 20 {
		ahead.Add(int64(24 * time.Hour))
		if err := w.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	counts, err := db.JobCounts(t.Context())
	if err != nil || len(counts) != 1 || counts[0].Parked != 1 {
		t.Fatalf("in the queue are %v, %v", counts, err)
	}
	failure, done = nil, 0
	w = newWorker()
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() { w.Run(ctx); close(stopped) }()
	for counts[0].Parked == 1 {
		if counts, err = db.JobCounts(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	<-stopped
	ahead.Add(int64(61 * time.Minute))
	want(w, 1)
}
