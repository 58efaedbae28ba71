package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// Job is a row of the job queue.
type Job struct {
	ID        JobID
	Kind      string
	Payload   string
	UniqueKey *string
	Domain    string // of the server that it waits for, "" if it waits for none (JobKind.Server)
	RunAt     Time
	Delayed   bool // it was queued for a later time
	Attempts  int
	Parked    bool
	LastError string
}

// JobPayload is the payload of a job: a small struct that is stored as JSON. Kind describes its jobs.
type JobPayload interface{ Kind() JobKind }

// Enqueue adds a job that is due at once.
func (tx *Tx) Enqueue(ctx context.Context, p JobPayload) error {
	return tx.EnqueueAt(ctx, tx.db.now(), p)
}

// EnqueueAt adds a job that is due at a time.
func (tx *Tx) EnqueueAt(ctx context.Context, at time.Time, p JobPayload) error {
	return tx.enqueue(ctx, at, p, nil, replaceQueued) // NULL keys do not conflict
}

// EnqueueUnique adds a job. A queued job with the same key gets the new time and payload instead.
func (tx *Tx) EnqueueUnique(ctx context.Context, at time.Time, key string, p JobPayload) error {
	return tx.enqueue(ctx, at, p, &key, replaceQueued)
}

// EnqueueUnlessQueued adds a job unless one with the same key is queued. A parked one is retried.
func (tx *Tx) EnqueueUnlessQueued(ctx context.Context, at time.Time, key string, p JobPayload) error {
	return tx.enqueue(ctx, at, p, &key, retryParked)
}

// What becomes of the job that has the key already.
const (
	replaceQueued = `run_at = excluded.run_at, delayed = excluded.delayed, payload = excluded.payload, domain = excluded.domain, parked = 0, attempts = 0`
	retryParked   = `run_at = excluded.run_at, delayed = excluded.delayed, parked = 0, attempts = 0 WHERE parked = 1`
)

func (tx *Tx) enqueue(ctx context.Context, at time.Time, p JobPayload, key *string, conflict string) error {
	kind, address := p.Kind(), ""
	payload, err := json.Marshal(p)
	if err == nil && kind.Server != nil {
		address, err = kind.Server(ctx, tx)
	}
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", kind.Name, err)
	}
	domain := domainOf(address)
	tx.newJobs = true
	err = tx.exec(ctx, "enqueue "+kind.Name, `
		INSERT INTO jobs (id, kind, payload, unique_key, domain, run_at, delayed)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (unique_key) DO UPDATE SET `+conflict, tx.newID(), kind.Name, string(payload), key, domain, At(at), at.After(tx.db.now()))
	if err != nil || domain == "" || rand.IntN(trimJobsEvery) > 0 {
		return err
	}
	return tx.trimJobs(ctx, domain)
}

// HasJob returns true if a job with a key is queued or runs. A parked one is not.
func (r reader) HasJob(ctx context.Context, key string) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM jobs WHERE unique_key = ? AND parked = 0`, key)
}

// DropJob removes the queued job that has a key, if there is one.
func (tx *Tx) DropJob(ctx context.Context, key string) error {
	return tx.exec(ctx, "drop job", `DELETE FROM jobs WHERE unique_key = ?`, key)
}

// JobCount is how many jobs of a kind are in the queue.
type JobCount struct {
	Kind   string
	N      int
	Parked int // of these
}

// JobCounts counts the jobs of each kind.
func (r reader) JobCounts(ctx context.Context) ([]JobCount, error) {
	return list[JobCount](ctx, r, "count jobs", `
		SELECT kind, count(*) AS n, sum(parked) AS parked
		FROM jobs
		GROUP BY kind`)
}

// OldestDueJobAge returns how long ago the oldest due job became due, 0 if none is due. A job that runs is still due.
func (r reader) OldestDueJobAge(ctx context.Context) (time.Duration, error) {
	next, err := r.nextJobAt(ctx, 0)
	if err != nil || next == nil {
		return 0, err
	}
	return max(0, r.db.now().Sub(next.Time())), nil
}

// nextJobAt returns when the first job is due after a time, nil if none is.
func (r reader) nextJobAt(ctx context.Context, after Time) (*Time, error) {
	local, err := one[Time](ctx, r, "next job", `
		SELECT run_at
		FROM jobs
		WHERE parked = 0 AND domain = '' AND run_at > ?
		ORDER BY run_at
		LIMIT 1`, after)
	if err != nil {
		return nil, err
	}
	remote, err := one[Time](ctx, r, "next job of another server", `
		SELECT run_at
		FROM jobs INDEXED BY jobs_remote
		WHERE parked = 0 AND domain <> '' AND run_at > ?
		ORDER BY run_at
		LIMIT 1`, after)
	if err != nil || local == nil || remote != nil && *remote < *local {
		return remote, err
	}
	return local, nil
}

// ParkedJobs returns jobs that failed at their last attempt, newest first: those before an id, or all if it is 0.
func (r reader) ParkedJobs(ctx context.Context, before JobID, limit int) ([]*Job, error) {
	return list[*Job](ctx, r, "parked jobs", `
		SELECT *
		FROM jobs
		WHERE parked = 1 AND id < iif(?1 = 0, 9223372036854775807, ?1)
		ORDER BY id DESC
		LIMIT ?2`, before, limit)
}

// RetryParkedJobs makes a parked job due now, or all of them if id is 0, with all its attempts. It returns how many jobs those are.
func (tx *Tx) RetryParkedJobs(ctx context.Context, id JobID) (int64, error) {
	tx.newJobs = true
	return tx.execRows(ctx, "retry parked jobs", `
		UPDATE jobs
		SET parked = 0, attempts = 0, run_at = ?2, delayed = 0
		WHERE parked = 1 AND (?1 = 0 OR id = ?1)`, id, At(tx.db.now()))
}

// DropParkedJobs deletes a parked job, or all of them if id is 0. It returns how many jobs those are.
func (tx *Tx) DropParkedJobs(ctx context.Context, id JobID) (int64, error) {
	return tx.execRows(ctx, "drop parked jobs", `DELETE FROM jobs WHERE parked = 1 AND (?1 = 0 OR id = ?1)`, id)
}
