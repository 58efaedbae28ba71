package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc/store"
)

// TestParallel enqueues jobs of a limited kind before jobs of another kind: few of the first run at a time, and the second run meanwhile.
func TestParallel(t *testing.T) {
	db := open(t)
	few, many := store.SendMail{}.Kind().Parallel, 6
	w := store.NewWorker(db, 4, slog.New(slog.DiscardHandler))
	var mu sync.Mutex
	running, most, done := 0, 0, 0
	release, others := make(chan struct{}), make(chan struct{}, many)
	store.Handle(w, func(ctx context.Context, _ store.SendMail) error {
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
	store.Handle(w, func(context.Context, store.ClosePoll) error {
		others <- struct{}{}
		return nil
	})
	enqueue(t, db, time.Unix(1, 0), many, store.SendMail{})
	enqueue(t, db, time.Unix(2, 0), many, store.ClosePoll{})
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		w.Run(ctx)
		close(stopped)
	}()
	for range many {
		<-others // while the limited ones hold their slots
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

// TestTimeLimits checks that an attempt has the deadline of its kind, or none if the handler bounds its time itself.
func TestTimeLimits(t *testing.T) {
	db := open(t)
	w := store.NewWorker(db, 1, slog.New(slog.DiscardHandler))
	limits := make(map[string]time.Duration) // 0: none
	note := func(ctx context.Context, p store.JobPayload) error {
		limits[p.Kind().Name] = 0
		if until, ok := ctx.Deadline(); ok {
			limits[p.Kind().Name] = time.Until(until).Round(time.Minute)
		}
		return nil
	}
	store.Handle(w, func(ctx context.Context, p store.ClosePoll) error { return note(ctx, p) })
	store.Handle(w, func(ctx context.Context, p store.Prune) error { return note(ctx, p) })
	store.Handle(w, func(ctx context.Context, p store.MakeBackup) error { return note(ctx, p) })
	enqueue(t, db, time.Unix(1, 0), 1, store.ClosePoll{})
	enqueue(t, db, time.Unix(1, 0), 1, store.Prune{})
	enqueue(t, db, time.Unix(1, 0), 1, store.MakeBackup{})
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := map[string]time.Duration{"close_poll": time.Minute, "prune": 10 * time.Minute, "make_backup": 0}; !maps.Equal(limits, want) {
		t.Errorf("got %v, want %v", limits, want)
	}
}

func enqueue(t *testing.T, db *store.DB, at time.Time, n int, payload store.JobPayload) {
	t.Helper()
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		for range n {
			if err := tx.EnqueueAt(t.Context(), at, payload); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRetryAfter checks that a job is not retried before the time of its RetryAfterError.
func TestRetryAfter(t *testing.T) {
	db := open(t)
	w := store.NewWorker(db, 1, slog.New(slog.DiscardHandler))
	failure := error(&store.RetryAfterError{At: time.Now().Add(3 * time.Hour), Err: errors.New("busy")})
	store.Handle(w, func(context.Context, store.ClosePoll) error { return failure })
	enqueue(t, db, time.Now(), 1, store.ClosePoll{})
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
		t.Error("the next attempt is at another time")
	}
}

// A job with a PermanentError is parked after its first attempt.
func TestPermanentError(t *testing.T) {
	db := open(t)
	w := store.NewWorker(db, 1, slog.New(slog.DiscardHandler))
	store.Handle(w, func(context.Context, store.ClosePoll) error {
		return fmt.Errorf("sweep: %w", &store.PermanentError{Err: errors.New("no such mailbox")})
	})
	enqueue(t, db, time.Now(), 1, store.ClosePoll{})
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	parked, err := db.ParkedJobs(t.Context(), 0, 10)
	if err != nil || len(parked) != 1 || parked[0].Attempts != 1 || parked[0].LastError != "sweep: no such mailbox" {
		t.Errorf("got %v, %v", parked, err)
	}
}

// TestDueBetweenReadings checks that a job that becomes due between two readings of the clock runs at once, not at the next poll.
func TestDueBetweenReadings(t *testing.T) {
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	due := start.Add(time.Hour)
	var started atomic.Bool
	var readings atomic.Int64
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Schema: string(schema), Now: func() time.Time {
		switch {
		case !started.Load():
			return start
		case readings.Add(1) == 1:
			return due.Add(-time.Millisecond)
		}
		return due.Add(time.Millisecond)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w := store.NewWorker(db, 1, slog.New(slog.DiscardHandler))
	ran := make(chan struct{})
	store.Handle(w, func(context.Context, store.ClosePoll) error {
		close(ran)
		return nil
	})
	enqueue(t, db, due, 1, store.ClosePoll{})
	db.TakeWake()
	started.Store(true)
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() { w.Run(ctx); close(stopped) }()
	defer func() { stop(); <-stopped }()
	select {
	case <-ran:
	case <-time.After(20 * time.Second):
		t.Error("the job did not run")
	}
}

// TestParkedJobs lists, retries and drops parked jobs.
func TestParkedJobs(t *testing.T) {
	db := open(t)
	w := store.NewWorker(db, 1, slog.New(slog.DiscardHandler))
	store.Handle(w, func(context.Context, store.ClosePoll) error { return errors.New("disk full") })
	enqueue(t, db, time.Now(), 3, store.ClosePoll{})
	var parked []*store.Job
	for range 12 {
		mustUpdate(t, db, func(tx *store.Tx) error { return tx.Exec(t.Context(), `UPDATE jobs SET run_at = 1`) })
		if err := w.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := func(n int) {
		t.Helper()
		var err error
		if parked, err = db.ParkedJobs(t.Context(), 0, 10); err != nil || len(parked) != n {
			t.Fatalf("got %d parked jobs, %v, want %d", len(parked), err, n)
		}
	}
	change := func(fn func(*store.Tx, context.Context, store.JobID) (int64, error), id store.JobID, want int64) {
		t.Helper()
		mustUpdate(t, db, func(tx *store.Tx) error {
			if n, err := fn(tx, t.Context(), id); n != want || err != nil {
				t.Errorf("changed %d jobs, %v, want %d", n, err, want)
			}
			return nil
		})
	}
	want(3)
	if j := parked[0]; j.Kind != "close_poll" || j.Attempts != 12 || j.LastError != "disk full" {
		t.Errorf("got %+v", j)
	}
	change((*store.Tx).DropParkedJobs, parked[0].ID, 1)
	change((*store.Tx).DropParkedJobs, parked[0].ID, 0)
	want(2)
	change((*store.Tx).RetryParkedJobs, parked[0].ID, 1)
	change((*store.Tx).DropParkedJobs, parked[0].ID, 0) // it is queued again
	want(1)
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if failed, err := db.Has(t.Context(), `SELECT 1 FROM jobs WHERE parked = 0 AND attempts = 1`); !failed || err != nil {
		t.Errorf("the retried job has not run: %v", err)
	}
	change((*store.Tx).RetryParkedJobs, 0, 1)
	change((*store.Tx).DropParkedJobs, 0, 0)
	want(0)
}

// TestRecurring checks that a recurring job is queued at the first start, and again after each run.
func TestRecurring(t *testing.T) {
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
		store.Handle(w, func(context.Context, hourlyJob) error {
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
		if err != nil || len(counts) != 1 || counts[0] != (store.JobCount{Kind: "hourly_test", N: 1}) {
			t.Errorf("got jobs %v, %v", counts, err)
		}
	}

	want(start(), 0)
	ahead.Add(int64(59 * time.Minute))
	w := start() // a restart does not delay it
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

	// A parked recurring job is retried at the next start.
	failure = errors.New("never")
	for range 20 {
		ahead.Add(int64(24 * time.Hour))
		if err := w.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	counts, err := db.JobCounts(t.Context())
	if err != nil || len(counts) != 1 || counts[0].Parked != 1 {
		t.Fatalf("got jobs %v, %v", counts, err)
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
