package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"svc/internal/limit"
)

const (
	jobTimeout  = time.Minute     // of one attempt of a kind without a Timeout
	demoteAfter = 5 * time.Second // then the domain of a job that still waits for another server is demoted
	maxSlow     = 3               // attempts of a job that another server has kept waiting
	maxPoll     = time.Minute     // the longest sleep between two looks into the queue
)

// errSlow is the error of an attempt that waited for another server for too long.
var errSlow = errors.New("the other server is slow")

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
//
// Jobs that wait for other servers (Job.Domain) do not delay others: 8 of them run at a time besides those of NewWorker, 2 at most for one
// registered domain, and domains take turns. A domain that keeps a job waiting for 5 s shares 4 other slots with its kind for 10 minutes.
type Worker struct {
	db          *DB
	kinds       []JobPayload       // empty ones
	handlers    map[string]handler // by the name of the kind
	parallel    int
	shares      *limit.Shares[string] // of jobs that wait for other servers, by registered domain
	demoteAfter time.Duration
	log         *slog.Logger

	mu      sync.Mutex
	running map[JobID]*runningJob
	turn    string // the last domain whose jobs were started
}

// NewWorker returns a worker that runs up to parallel jobs at a time, and others that wait for other servers. Register the kinds with Handle, then
// call Run.
func NewWorker(db *DB, parallel int, log *slog.Logger) *Worker {
	return &Worker{
		db: db, parallel: parallel, log: log,
		handlers:    make(map[string]handler),
		shares:      limit.NewShares[string](remoteJobs, remoteJobsPerDomain, demotedJobs),
		demoteAfter: demoteAfter,
		running:     make(map[JobID]*runningJob),
	}
}

// handler runs the jobs of a kind.
type handler struct {
	kind JobKind
	run  func(context.Context, []byte) error
}

// Handle registers the function that runs jobs with payload P. After a crash, fn may run again for a job that it has completed.
func Handle[P JobPayload](w *Worker, fn func(context.Context, P) error) {
	var empty P
	kind := empty.Kind()
	w.kinds = append(w.kinds, empty)
	w.handlers[kind.Name] = handler{kind, func(ctx context.Context, data []byte) error {
		var payload P
		if err := json.Unmarshal(data, &payload); err != nil {
			return fmt.Errorf("payload: %w", err)
		}
		if err := fn(ctx, payload); err != nil || kind.Every == 0 {
			return err
		}
		return w.db.Update(ctx, func(tx *Tx) error {
			return tx.EnqueueUnique(ctx, tx.db.now().Add(kind.Every), kind.recurringKey(), payload)
		})
	}}
}

// Kinds returns an empty payload of each registered kind.
func (w *Worker) Kinds() []JobPayload { return w.kinds }

// RunRecurringNow makes a recurring job due now, unless it runs.
func (tx *Tx) RunRecurringNow(ctx context.Context, p JobPayload) error {
	return tx.EnqueueUnique(ctx, tx.db.now(), p.Kind().recurringKey(), p)
}

// enqueueRecurring enqueues the recurring jobs that are not in the queue.
func (w *Worker) enqueueRecurring(ctx context.Context) error {
	return w.db.Update(ctx, func(tx *Tx) error {
		for _, p := range w.kinds {
			kind := p.Kind()
			if kind.Every == 0 {
				continue
			}
			next, key := tx.db.now().Add(kind.Every), kind.recurringKey()
			if err := tx.EnqueueUnlessQueued(ctx, next, key, p); err != nil {
				return err
			}
			// It is later if the clock was ahead when the job ran.
			if err := tx.exec(ctx, "advance recurring job", `UPDATE jobs SET run_at = ?2 WHERE unique_key = ?1 AND run_at > ?2`, key, At(next)); err != nil {
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
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if state := w.db.Condition().State; state != Writable && state != DiskFull && !w.db.WaitWritable(ctx) {
			return
		}
		now := w.db.now() // one reading for both, so that no job becomes due between them
		jobs, err := w.due(ctx, now, w.freeSlots(), remoteJobs+demotedJobs)
		if err != nil {
			w.log.Error("job queue could not be read", "err", err)
		}
		for _, j := range jobs {
			wg.Go(func() {
				defer func() {
					w.release(j.ID)
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
		case <-w.db.clockSetBack:
			if err := w.enqueueRecurring(ctx); err != nil && ctx.Err() == nil {
				w.log.Error("recurring jobs wait until the clock is where it was", "err", err)
			}
		}
	}
}

// Settle runs jobs one after another until none is due. Tests use it instead of waiting.
func (w *Worker) Settle(ctx context.Context) error {
	for {
		jobs, err := w.due(ctx, w.db.now(), 1, 0)
		if err == nil && len(jobs) == 0 {
			jobs, err = w.due(ctx, w.db.now(), 0, 1)
		}
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

// run runs a job once and records the result.
func (w *Worker) run(ctx context.Context, j *Job) {
	err := w.attempt(ctx, j)
	if err != nil && (ctx.Err() != nil || isRefusedWrite(err) && !w.handlers[j.Kind].kind.Deletes) {
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
	h, ok := w.handlers[j.Kind]
	if !ok {
		return fmt.Errorf("no handler for jobs of kind %q", j.Kind)
	}
	if h.kind.Deletes {
		ctx = AllowWhenFull(ctx)
	}
	if h.kind.Timeout != NoTimeout {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cmp.Or(h.kind.Timeout, jobTimeout))
		defer cancel()
	}
	if share := w.shareOf(j.ID); share != nil {
		return w.attemptRemote(ctx, share, func(ctx context.Context) error { return h.run(ctx, []byte(j.Payload)) })
	}
	return h.run(ctx, []byte(j.Payload))
}

// attemptRemote runs a job that waits for another server. If that takes long, the domain is demoted, or the attempt ends.
func (w *Worker) attemptRemote(ctx context.Context, share *limit.Share[string], fn func(context.Context) error) error {
	attempt, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(w.demoteAfter, func() {
		if !share.Demote(w.db.now()) {
			cancel(errSlow)
		}
		w.db.wakeWorker() // a slot may be free
	})
	defer timer.Stop()
	err := fn(attempt)
	if cause := context.Cause(attempt); err != nil && (cause == errSlow || cause == context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", errSlow, err)
	}
	return err
}

// finish deletes a completed job; a failed one is retried later or parked. One that a slow server keeps waiting is dropped after few attempts,
// because other servers could fill the queue otherwise. A job that was enqueued again under its key while it ran has another run_at or payload,
// and stays.
func (tx *Tx) finish(ctx context.Context, j *Job, failure error) error {
	if failure == nil || errors.Is(failure, errSlow) && j.Attempts+1 >= maxSlow {
		return tx.exec(ctx, "finish job", `DELETE FROM jobs WHERE id = ? AND run_at = ? AND payload = ?`, j.ID, j.RunAt, j.Payload)
	}
	attempts := j.Attempts + 1
	delay := RetryDelay(attempts)
	if retry, ok := errors.AsType[*RetryAfterError](failure); ok {
		delay = max(delay, retry.At.Sub(tx.db.now()))
	}
	_, permanent := errors.AsType[*PermanentError](failure)
	parked := permanent || attempts >= MaxAttempts
	return tx.exec(ctx, "retry job later", `
		UPDATE jobs
		SET attempts = ?, parked = ?, last_error = ?, run_at = ?
		WHERE id = ? AND run_at = ?`,
		attempts, parked, truncate(failure.Error(), maxErrorBytes), At(tx.db.now().Add(delay)), j.ID, j.RunAt)
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
