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

// Job is a row of the queue.
type Job struct {
	ID        JobID
	Kind      string
	Payload   string
	UniqueKey *string
	RunAt     Time
	Attempts  int
	Parked    bool
	LastError string
}

// JobPayload is the payload of a job: a small struct, kept as JSON, with the name of its kind.
type JobPayload interface{ Kind() string }

// Enqueue adds a job that is due at once.
func (tx *Tx) Enqueue(ctx context.Context, w JobPayload) error {
	return tx.EnqueueAt(ctx, tx.db.now(), w)
}

// EnqueueAt adds a job that is due at a time.
func (tx *Tx) EnqueueAt(ctx context.Context, at time.Time, w JobPayload) error {
	return tx.enqueue(ctx, at, w, nil)
}

// EnqueueUnique adds a job unless one of the same key waits; if one does, it is put off or brought forward to at.
func (tx *Tx) EnqueueUnique(ctx context.Context, at time.Time, key string, w JobPayload) error {
	return tx.enqueue(ctx, at, w, &key)
}

func (tx *Tx) enqueue(ctx context.Context, at time.Time, w JobPayload, key *string) error {
	payload, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", w.Kind(), err)
	}
	_, err = tx.exec(ctx, "enqueue "+w.Kind(), `
		INSERT INTO jobs (id, kind, payload, unique_key, run_at)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (unique_key) DO UPDATE SET run_at = excluded.run_at, payload = excluded.payload, parked = 0, attempts = 0`,
		tx.newID(), w.Kind(), string(payload), key, At(at))
	tx.newJobs = true
	return err
}

// enqueueUnlessQueued adds a job unless one of the same key waits already. One that had been given up is taken up again.
func (tx *Tx) enqueueUnlessQueued(ctx context.Context, at time.Time, key string, w JobPayload) error {
	payload, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", w.Kind(), err)
	}
	_, err = tx.exec(ctx, "enqueue "+w.Kind(), `
		INSERT INTO jobs (id, kind, payload, unique_key, run_at)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (unique_key) DO UPDATE SET run_at = excluded.run_at, parked = 0, attempts = 0 WHERE parked = 1`,
		tx.newID(), w.Kind(), string(payload), key, At(at))
	tx.newJobs = true
	return err
}

// DropJob takes back the job that waits under a key.
func (tx *Tx) DropJob(ctx context.Context, key string) error {
	_, err := tx.exec(ctx, "drop job", `DELETE FROM jobs WHERE unique_key = ?`, key)
	return err
}

// JobCount is how many jobs of a kind are in the queue.
type JobCount struct {
	Kind   string
	N      int
	Parked int // of them, given up
}

// JobCounts counts the jobs of each kind.
func (r reader) JobCounts(ctx context.Context) ([]JobCount, error) {
	return list[JobCount](ctx, r, "count jobs", `
		SELECT kind, count(*) AS n, sum(parked) AS parked
		FROM jobs
		GROUP BY kind`)
}

// OldestDueJobAge returns how long the job that is due for longest has been due, 0 if none is. A job counts until it is done or put off.
func (r reader) OldestDueJobAge(ctx context.Context) (time.Duration, error) {
	next, err := one[Time](ctx, r, "oldest job", `
		SELECT run_at
		FROM jobs
		WHERE parked = 0
		ORDER BY run_at
		LIMIT 1`)
	if err != nil || next == nil {
		return 0, err
	}
	return max(0, r.db.now().Sub(next.Time())), nil
}

// ParkedJobs returns jobs that failed for the last time, newest first.
func (r reader) ParkedJobs(ctx context.Context, limit int) ([]*Job, error) {
	return list[*Job](ctx, r, "parked jobs", `SELECT * FROM jobs WHERE parked = 1 ORDER BY id DESC LIMIT ?`, limit)
}

const (
	maxJobAttempts = 12 // with the pauses below about two days
	firstBackoff   = 30 * time.Second
	jobTimeout     = 10 * time.Minute // what one try may take
)

// RetryAfterError is the error of a job that is not to be tried again before a certain time. It counts as a try like any other error.
type RetryAfterError struct {
	At  time.Time
	Err error
}

func (l *RetryAfterError) Error() string { return l.Err.Error() }
func (l *RetryAfterError) Unwrap() error { return l.Err }

// Worker runs the jobs of a database: at least once each, several at a time, again with growing pauses after an error.
type Worker struct {
	db        *DB
	handlers  map[string]func(context.Context, []byte) error
	limits    map[string]int // how many jobs of a kind run at a time; those of the others as many as there are slots
	parallel  int
	log       *slog.Logger
	recurring []recurring

	mu      sync.Mutex
	running map[JobID]string // their kinds
}

// NewWorker makes a worker that runs up to parallel jobs at a time. Register the kinds with Handle, then call Run.
func NewWorker(db *DB, parallel int, log *slog.Logger) *Worker {
	return &Worker{
		db: db, parallel: parallel, log: log,
		handlers: make(map[string]func(context.Context, []byte) error),
		limits:   make(map[string]int),
		running:  make(map[JobID]string),
	}
}

// Handle says who does the jobs of type W. fn may be called again for a job it has done, after a crash.
func Handle[W JobPayload](w *Worker, fn func(context.Context, W) error) {
	var zero W
	w.handlers[zero.Kind()] = func(ctx context.Context, payload []byte) error {
		var work W
		if err := json.Unmarshal(payload, &work); err != nil {
			return fmt.Errorf("payload: %w", err)
		}
		return fn(ctx, work)
	}
}

// HandleLimited is Handle for jobs that wait for others: no more than most of them run at a time, so that they leave room for the rest.
func HandleLimited[W JobPayload](w *Worker, most int, fn func(context.Context, W) error) {
	var zero W
	w.limits[zero.Kind()] = most
	Handle(w, fn)
}

// recurring is a job that comes again and again.
type recurring struct {
	payload JobPayload
	every   time.Duration
}

func (r recurring) key() string { return "every:" + r.payload.Kind() }

// HandleRecurring is Handle for a job that nobody enqueues: it comes again that long after it was done, for the first time that long
// after the first start.
func HandleRecurring[W JobPayload](w *Worker, every time.Duration, fn func(context.Context, W) error) {
	var zero W
	r := recurring{zero, every}
	w.recurring = append(w.recurring, r)
	Handle(w, func(ctx context.Context, work W) error {
		if err := fn(ctx, work); err != nil {
			return err
		}
		return w.db.Update(ctx, func(tx *Tx) error {
			return tx.EnqueueUnique(ctx, tx.db.now().Add(every), r.key(), work)
		})
	})
}

// enqueueRecurring makes sure that the jobs that come again are in the queue.
func (w *Worker) enqueueRecurring(ctx context.Context) error {
	return w.db.Update(ctx, func(tx *Tx) error {
		for _, r := range w.recurring {
			if err := tx.enqueueUnlessQueued(ctx, tx.db.now().Add(r.every), r.key(), r.payload); err != nil {
				return err
			}
		}
		return nil
	})
}

// Run works until ctx ends, then waits for the jobs under way; what is not done stays in the queue.
func (w *Worker) Run(ctx context.Context) {
	if err := w.enqueueRecurring(ctx); err != nil && ctx.Err() == nil {
		w.log.Error("enqueueing the jobs that come again", "err", err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, w.parallel)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		jobs, err := w.due(ctx, cap(slots)-len(slots))
		if err != nil {
			w.log.Error("reading the job queue", "err", err)
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
		timer.Reset(w.untilNext(ctx))
		select {
		case <-ctx.Done():
			return
		case <-w.db.workerWake:
		case <-timer.C:
		}
	}
}

// Settle runs jobs until none is due, one after another. Tests use it instead of waiting.
func (w *Worker) Settle(ctx context.Context) error {
	for {
		jobs, err := w.due(ctx, 1)
		if err != nil || len(jobs) == 0 {
			return err
		}
		w.run(ctx, jobs[0])
		w.release(jobs[0].ID)
	}
}

// due returns up to n jobs whose time has come and that are not under way, and marks them as under way.
func (w *Worker) due(ctx context.Context, n int) ([]*Job, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var jobs []*Job
	for len(jobs) < n {
		room, full := w.capacity()
		rows, err := list[*Job](ctx, w.db.reader, "due jobs", `
			SELECT *
			FROM jobs
			WHERE parked = 0 AND run_at <= ? AND kind NOT IN (SELECT value FROM json_each(?))
			ORDER BY run_at
			LIMIT ?`, At(w.db.now()), JSON[[]string]{full}, n+len(w.running))
		if err != nil {
			return jobs, err
		}
		passed := false // over jobs for which there is no room: others may wait behind them
		for _, j := range rows {
			left, limited := room[j.Kind]
			switch {
			case len(jobs) == n || w.running[j.ID] != "":
			case limited && left == 0:
				passed = true
			default:
				if limited {
					room[j.Kind]--
				}
				w.running[j.ID] = j.Kind
				jobs = append(jobs, j)
			}
		}
		if !passed {
			break
		}
	}
	return jobs, nil
}

// capacity returns how many more jobs of the limited kinds may run now, and those kinds of which none may.
func (w *Worker) capacity() (room map[string]int, full []string) {
	room, full = maps.Clone(w.limits), []string{}
	for _, kind := range w.running {
		if room[kind] > 0 {
			room[kind]--
		}
	}
	for kind, n := range room {
		if n == 0 {
			full = append(full, kind)
		}
	}
	return room, full
}

func (w *Worker) release(id JobID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, id)
}

// untilNext returns how long to sleep if nothing is enqueued meanwhile.
func (w *Worker) untilNext(ctx context.Context) time.Duration {
	const longest = time.Minute
	next, err := one[Time](ctx, w.db.reader, "next job", `
		SELECT run_at
		FROM jobs
		WHERE parked = 0 AND run_at > ?
		ORDER BY run_at
		LIMIT 1`, At(w.db.now()))
	if err != nil || next == nil {
		return longest
	}
	return min(max(next.Time().Sub(w.db.now()), time.Millisecond), longest)
}

// run runs a job once and records how it went.
func (w *Worker) run(ctx context.Context, j *Job) {
	err := w.attempt(ctx, j)
	if err != nil && ctx.Err() != nil {
		return // stopped, not failed: it stays due
	}
	if err := w.db.Update(context.WithoutCancel(ctx), func(tx *Tx) error { return tx.finish(ctx, j, err) }); err != nil {
		w.log.Error("recording a job's end", "kind", j.Kind, "job", j.ID, "err", err)
	}
	if err != nil {
		w.log.Warn("job failed", "kind", j.Kind, "job", j.ID, "attempt", j.Attempts+1, "err", err)
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
		return fmt.Errorf("nobody does jobs of kind %q", j.Kind)
	}
	ctx, cancel := context.WithTimeout(ctx, jobTimeout)
	defer cancel()
	return fn(ctx, []byte(j.Payload))
}

// finish removes a job that is done; one that failed is tried again later, or parked. A job that was enqueued anew under the
// same key while it ran has another run_at or payload and is left for that.
func (tx *Tx) finish(ctx context.Context, j *Job, failure error) error {
	if failure == nil {
		_, err := tx.exec(ctx, "finish job", `DELETE FROM jobs WHERE id = ? AND run_at = ? AND payload = ?`, j.ID, j.RunAt, j.Payload)
		return err
	}
	attempts := j.Attempts + 1
	pause := firstBackoff << min(attempts-1, 11)
	pause += time.Duration(rand.Int64N(int64(pause / 2)))
	var later *RetryAfterError
	if errors.As(failure, &later) {
		pause = max(pause, later.At.Sub(tx.db.now()))
	}
	_, err := tx.exec(ctx, "put off job", `
		UPDATE jobs
		SET attempts = ?, parked = ?, last_error = ?, run_at = ?
		WHERE id = ? AND run_at = ?`,
		attempts, attempts >= maxJobAttempts, truncate(failure.Error(), 1000), At(tx.db.now().Add(pause)), j.ID, j.RunAt)
	return err
}

func (db *DB) wakeWorker() {
	select {
	case db.workerWake <- struct{}{}:
	default:
	}
}

func truncate(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
