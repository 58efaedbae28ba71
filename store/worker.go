package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"
)

const (
	maxJobAttempts = 12 // about two days with the backoff below
	firstBackoff   = 30 * time.Second
	jobTimeout     = 10 * time.Minute // of one attempt, except for kinds of HandleLong
	maxPoll        = time.Minute      // the longest sleep between two looks into the queue
)

// RetryAfterError is the error of a job that must not be retried before a time. It counts as an attempt.
type RetryAfterError struct {
	At  time.Time
	Err error
}

func (e *RetryAfterError) Error() string { return e.Err.Error() }

func (e *RetryAfterError) Unwrap() error { return e.Err }

// PermanentError is the error of a job that would fail again: the job is parked at once.
type PermanentError struct{ Err error }

func (e *PermanentError) Error() string { return e.Err.Error() }

func (e *PermanentError) Unwrap() error { return e.Err }

// Worker runs the jobs of a database: each at least once, several in parallel, with exponential backoff after an error.
type Worker struct {
	db        *DB
	handlers  map[string]func(context.Context, []byte) error
	limits    map[string]int  // how many jobs of a kind run in parallel; other kinds may use all slots
	long      map[string]bool // kinds without jobTimeout
	parallel  int
	log       *slog.Logger
	recurring []recurring

	mu      sync.Mutex
	running map[JobID]string // their kinds
}

// NewWorker returns a worker that runs up to parallel jobs at a time. Register the kinds with Handle, then call Run.
func NewWorker(db *DB, parallel int, log *slog.Logger) *Worker {
	return &Worker{
		db: db, parallel: parallel, log: log,
		handlers: make(map[string]func(context.Context, []byte) error),
		limits:   make(map[string]int),
		long:     make(map[string]bool),
		running:  make(map[JobID]string),
	}
}

// Handle registers the function that runs jobs with payload P. After a crash, fn may run again for a job that it has completed.
func Handle[P JobPayload](w *Worker, fn func(context.Context, P) error) {
	var zero P
	w.handlers[zero.Kind()] = func(ctx context.Context, data []byte) error {
		var payload P
		if err := json.Unmarshal(data, &payload); err != nil {
			return fmt.Errorf("payload: %w", err)
		}
		return fn(ctx, payload)
	}
}

// HandleLimited is Handle for jobs that wait for other servers: at most limit of them run at a time, so that other kinds have slots.
func HandleLimited[P JobPayload](w *Worker, limit int, fn func(context.Context, P) error) {
	var zero P
	w.limits[zero.Kind()] = limit
	Handle(w, fn)
}

// HandleLong is HandleLimited for jobs that may take longer than ten minutes: fn bounds its time itself.
func HandleLong[P JobPayload](w *Worker, limit int, fn func(context.Context, P) error) {
	var zero P
	w.long[zero.Kind()] = true
	HandleLimited(w, limit, fn)
}

// recurring is a job that runs at an interval.
type recurring struct {
	payload JobPayload
	every   time.Duration
}

func (r recurring) key() string { return "every:" + r.payload.Kind() }

// HandleRecurring is Handle for a job that runs at an interval: first one interval after the first start, then one interval after each run.
func HandleRecurring[P JobPayload](w *Worker, every time.Duration, fn func(context.Context, P) error) {
	var zero P
	r := recurring{zero, every}
	w.recurring = append(w.recurring, r)
	Handle(w, func(ctx context.Context, payload P) error {
		if err := fn(ctx, payload); err != nil {
			return err
		}
		return w.db.Update(ctx, func(tx *Tx) error {
			return tx.EnqueueUnique(ctx, tx.db.now().Add(every), r.key(), payload)
		})
	})
}

// enqueueRecurring enqueues the recurring jobs that are not in the queue.
func (w *Worker) enqueueRecurring(ctx context.Context) error {
	return w.db.Update(ctx, func(tx *Tx) error {
		for _, r := range w.recurring {
			if err := tx.EnqueueUnlessQueued(ctx, tx.db.now().Add(r.every), r.key(), r.payload); err != nil {
				return err
			}
		}
		return nil
	})
}

// Run runs jobs until ctx ends, then waits for the running ones. Jobs that did not complete stay in the queue.
func (w *Worker) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		if !w.db.WaitWritable(ctx) {
			return
		}
		if err := w.enqueueRecurring(ctx); err != nil && ctx.Err() == nil {
			w.log.Error("recurring jobs could not be enqueued", "err", err)
		}
	})
	slots := make(chan struct{}, w.parallel)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if state := w.db.Condition().State; state != Writable && state != DiskFull && !w.db.WaitWritable(ctx) {
			return
		}
		now := w.db.now() // one reading for both, so that no job becomes due between them
		jobs, err := w.due(ctx, now, cap(slots)-len(slots))
		if err != nil {
			w.log.Error("job queue could not be read", "err", err)
		}
		for _, j := range jobs {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() {
					w.release(j.ID)
					<-slots
					w.db.wakeWorker()
				}()
				w.run(ctx, j)
			})
		}
		timer.Reset(w.untilNext(ctx, now))
		select {
		case <-ctx.Done():
			return
		case <-w.db.workerWake:
		case <-timer.C:
		}
	}
}

// Settle runs jobs one after another until none is due. Tests use it instead of waiting.
func (w *Worker) Settle(ctx context.Context) error {
	for {
		jobs, err := w.due(ctx, w.db.now(), 1)
		if err != nil || len(jobs) == 0 {
			return err
		}
		w.run(ctx, jobs[0])
		w.release(jobs[0].ID)
		if err := ctx.Err(); err != nil { // the job is still due
			return err
		}
	}
}

// due returns up to n jobs that are due at a time and not running, and marks them as running.
func (w *Worker) due(ctx context.Context, now time.Time, n int) ([]*Job, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var jobs []*Job
	for len(jobs) < n {
		left, full := w.capacity()
		rows, err := list[*Job](ctx, w.db.reader, "due jobs", `
			SELECT *
			FROM jobs
			WHERE parked = 0 AND run_at <= ? AND kind NOT IN (SELECT value FROM json_each(?))
			ORDER BY run_at
			LIMIT ?`, At(now), JSON[[]string]{full}, n+len(w.running))
		if err != nil {
			return jobs, err
		}
		skipped := false // jobs of a kind at its limit: jobs of other kinds may stand behind them
		for _, j := range rows {
			slots, limited := left[j.Kind]
			switch {
			case len(jobs) == n || w.running[j.ID] != "":
			case limited && slots == 0:
				skipped = true
			default:
				if limited {
					left[j.Kind]--
				}
				w.running[j.ID] = j.Kind
				jobs = append(jobs, j)
			}
		}
		if !skipped {
			break
		}
	}
	return jobs, nil
}

// capacity returns how many more jobs of each limited kind may run, and the kinds of which none may.
func (w *Worker) capacity() (left map[string]int, full []string) {
	left, full = maps.Clone(w.limits), []string{}
	for _, kind := range w.running {
		if left[kind] > 0 {
			left[kind]--
		}
	}
	for kind, n := range left {
		if n == 0 {
			full = append(full, kind)
		}
	}
	if w.db.Condition().State == DiskFull { // the others could not even record that they have run
		for kind := range w.handlers {
			if !deletingJobs[kind] {
				full = append(full, kind)
			}
		}
	}
	return left, full
}

// Running returns how many jobs of each kind are running. Kinds without any are missing.
func (w *Worker) Running() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := make(map[string]int)
	for _, kind := range w.running {
		n[kind]++
	}
	return n
}

func (w *Worker) release(id JobID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, id)
}

// untilNext returns how long to sleep unless a job is enqueued: until the first job that becomes due after now.
func (w *Worker) untilNext(ctx context.Context, now time.Time) time.Duration {
	next, err := one[Time](ctx, w.db.reader, "next job", `
		SELECT run_at
		FROM jobs
		WHERE parked = 0 AND run_at > ?
		ORDER BY run_at
		LIMIT 1`, At(now))
	if err != nil || next == nil {
		return maxPoll
	}
	return min(max(next.Time().Sub(w.db.now()), time.Millisecond), maxPoll)
}

// run runs a job once and records the result.
func (w *Worker) run(ctx context.Context, j *Job) {
	err := w.attempt(ctx, j)
	if err != nil && (ctx.Err() != nil || isRefusedWrite(err) && !deletingJobs[j.Kind]) {
		return // stopped, or the database accepts no writes: it has not failed and stays due
	}
	w.storeResult(ctx, j, err)
	if err != nil {
		w.log.Warn("job failed", "kind", j.Kind, "job", j.ID, "attempt", j.Attempts+1, "err", err)
	}
}

// Bounds of storing the result of a job. Without it, the job runs again.
const (
	maxResultAttempts = 6 // while the disk accepts writes
	firstResultPause  = time.Second
)

// storeResult records the result of a job. While the disk accepts no writes it waits, because the job would run again and again otherwise.
func (w *Worker) storeResult(ctx context.Context, j *Job, failure error) {
	writing := AllowWhenFull(context.WithoutCancel(ctx))
	for attempt := 0; ; attempt++ {
		err := w.db.Update(writing, func(tx *Tx) error { return tx.finish(ctx, j, failure) })
		if err == nil {
			return
		}
		w.log.Error("result of a job could not be stored", "kind", j.Kind, "job", j.ID, "err", err)
		switch {
		case errors.Is(err, ErrClosed), attempt == maxResultAttempts:
			return
		case w.db.Condition().State != Writable:
			if !w.db.WaitWritable(ctx) {
				return
			}
		case sleep(ctx, firstResultPause<<attempt) != nil:
			return
		}
	}
}

func (w *Worker) attempt(ctx context.Context, j *Job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			w.log.Error("panic in a job", "kind", j.Kind, "job", j.ID, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	fn := w.handlers[j.Kind]
	if fn == nil {
		return fmt.Errorf("no handler for jobs of kind %q", j.Kind)
	}
	if deletingJobs[j.Kind] {
		ctx = AllowWhenFull(ctx)
	}
	if !w.long[j.Kind] {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, jobTimeout)
		defer cancel()
	}
	return fn(ctx, []byte(j.Payload))
}

// finish deletes a completed job; a failed one is retried later or parked. A job that was enqueued again under its key while it ran
// has another run_at or payload, and stays.
func (tx *Tx) finish(ctx context.Context, j *Job, failure error) error {
	if failure == nil {
		return tx.exec(ctx, "finish job", `DELETE FROM jobs WHERE id = ? AND run_at = ? AND payload = ?`, j.ID, j.RunAt, j.Payload)
	}
	attempts := j.Attempts + 1
	backoff := firstBackoff << min(attempts-1, 11)
	backoff += time.Duration(rand.Int64N(int64(backoff / 2)))
	var retry *RetryAfterError
	if errors.As(failure, &retry) {
		backoff = max(backoff, retry.At.Sub(tx.db.now()))
	}
	var permanent *PermanentError
	parked := attempts >= maxJobAttempts || errors.As(failure, &permanent)
	return tx.exec(ctx, "retry job later", `
		UPDATE jobs
		SET attempts = ?, parked = ?, last_error = ?, run_at = ?
		WHERE id = ? AND run_at = ?`,
		attempts, parked, truncate(failure.Error(), 1000), At(tx.db.now().Add(backoff)), j.ID, j.RunAt)
}

func (db *DB) wakeWorker() { wake(db.workerWake) }

// wake adds an element to a channel of length one, unless there is one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func truncate(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
