package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"svc/store"
)

// runWorker runs a worker until the test ends.
func runWorker(t *testing.T, w *store.Worker) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
}

// enqueueFor enqueues n jobs of a domain.
func enqueueFor(t *testing.T, db *store.DB, domain string, n int) {
	t.Helper()
	mustUpdate(t, db, func(tx *store.Tx) error {
		for i := range n {
			if err := tx.Enqueue(t.Context(), store.FetchNodeInfo{Domain: fmt.Sprintf("host%d.%s", i, domain)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestDomainsTakeTurns has thousands of jobs of one domain wait, which does not answer. Two of them run at a time, on whatever host names, and jobs
// of other domains run at once.
func TestDomainsTakeTurns(t *testing.T) {
	db := open(t)
	w := store.NewWorker(db, 1, slog.New(slog.DiscardHandler))
	w.SetDemoteAfter(time.Hour)
	release, others := make(chan struct{}), make(chan struct{}, 300)
	var mu sync.Mutex
	running, most := 0, 0
	store.Handle(w, func(ctx context.Context, job store.FetchNodeInfo) error {
		if job.Domain[len(job.Domain)-len("bad.example"):] != "bad.example" {
			others <- struct{}{}
			return nil
		}
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		select {
		case <-release:
		case <-ctx.Done():
		}
		mu.Lock()
		running--
		mu.Unlock()
		return nil
	})
	local := make(chan struct{}, 1)
	store.Handle(w, func(context.Context, store.ClosePoll) error { local <- struct{}{}; return nil })
	enqueueFor(t, db, "bad.example", 5000)
	for i := range 300 { // more than are read at a time
		enqueueFor(t, db, fmt.Sprintf("good%d.example", i), 1)
	}
	enqueue(t, db, time.Now(), 1, store.ClosePoll{})
	began := time.Now()
	runWorker(t, w)
	for i := range 300 {
		select {
		case <-others:
		case <-time.After(time.Minute):
			t.Fatalf("%d of 300 jobs of other domains have run", i)
		}
	}
	<-local
	t.Logf("300 jobs of other domains took %v", time.Since(began).Round(time.Millisecond))
	mu.Lock()
	defer mu.Unlock()
	if running != 2 || most != 2 {
		t.Errorf("%d jobs of one domain run, at most %d, want 2", running, most)
	}
	close(release)
}

// TestSlowDomainsAreDemoted has more slow domains than there are slots. Jobs of other domains run soon, and slow jobs end and are dropped after three
// attempts.
func TestSlowDomainsAreDemoted(t *testing.T) {
	db := open(t)
	w := store.NewWorker(db, 1, slog.New(slog.DiscardHandler))
	w.SetDemoteAfter(100 * time.Millisecond)
	good := make(chan struct{}, 1)
	store.Handle(w, func(ctx context.Context, job store.FetchNodeInfo) error {
		if job.Domain == "host0.good.example" {
			good <- struct{}{}
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
	for i := range 12 {
		enqueueFor(t, db, fmt.Sprintf("a%d.example", i), 4)
	}
	enqueueFor(t, db, "good.example", 1)
	runWorker(t, w)
	select {
	case <-good:
	case <-time.After(30 * time.Second):
		t.Fatal("slow domains delay another")
	}
	ended := func() int {
		n, err := store.CountRows(t.Context(), db, `SELECT count(*) FROM jobs WHERE attempts = 1 AND last_error LIKE 'the other server is slow%'`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for until := time.Now().Add(30 * time.Second); ended() == 0; {
		if time.Now().After(until) {
			t.Fatal("no slow attempt has ended")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestSlowJobsAreDropped checks that a job which another server keeps waiting is dropped after three attempts, and another one parked.
func TestSlowJobsAreDropped(t *testing.T) {
	db := open(t)
	w := store.NewWorker(db, 1, slog.New(slog.DiscardHandler))
	slow := errors.New("fails")
	store.Handle(w, func(ctx context.Context, job store.FetchNodeInfo) error { return slow })
	enqueueFor(t, db, "bad.example", 1)
	left := func() int {
		n, err := store.CountRows(t.Context(), db, `SELECT count(*) FROM jobs WHERE parked = 0`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for attempt := range 3 {
		if left() != 1 {
			t.Fatalf("the job is gone after %d attempts", attempt)
		}
		slow = store.ErrSlow
		mustUpdate(t, db, func(tx *store.Tx) error { return tx.Exec(t.Context(), `UPDATE jobs SET run_at = 1`) })
		if err := w.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if left() != 0 {
		t.Error("the job is kept after three attempts")
	}
}

// TestJobsOfDomainAreBounded checks that the oldest waiting jobs of a domain are dropped, and no others.
func TestJobsOfDomainAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long with -short")
	}
	db := open(t)
	enqueueFor(t, db, "good.example", 1)
	const rounds, batch = 30, 1000
	for range rounds {
		enqueueFor(t, db, "bad.example", batch)
	}
	count := func(domain string) int {
		n, err := store.CountRows(t.Context(), db, fmt.Sprintf(`SELECT count(*) FROM jobs WHERE domain = '%s'`, domain))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count("bad.example"); n < store.MaxJobsPerDomain || n > store.MaxJobsPerDomain*3/2 {
		t.Errorf("%d jobs of a domain wait, want about %d", n, store.MaxJobsPerDomain)
	}
	if n := count("good.example"); n != 1 {
		t.Errorf("%d jobs of another domain wait, want 1", n)
	}
}

// BenchmarkDueJobs finds the jobs of other domains while many of one wait.
func BenchmarkDueJobs(b *testing.B) {
	for _, waiting := range []int{100, 100_000} {
		b.Run(fmt.Sprint(waiting), func(b *testing.B) {
			db := open(b)
			mustUpdate(b, db, func(tx *store.Tx) error {
				return tx.Exec(b.Context(), fmt.Sprintf(`
					WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
					INSERT INTO jobs (id, kind, payload, domain, run_at)
					SELECT i, 'fetch_nodeinfo', '{"domain":"x.bad.example"}', 'bad.example', i FROM n`, waiting))
			})
			w := store.NewWorker(db, 1, slog.New(slog.DiscardHandler))
			for b.Loop() {
				if err := w.LookForJobs(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
