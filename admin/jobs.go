package admin

import (
	"context"
	"fmt"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// ParkedJob is a job that has used all its attempts. It stays until staff retry or drop it.
type ParkedJob struct {
	ID        store.JobID `json:"id"`
	Kind      string      `json:"kind"`
	Attempts  int         `json:"attempts"`
	LastError string      `json:"last_error"`
}

// ParkedJobs returns at most limit parked jobs, newest first.
func (s *Service) ParkedJobs(ctx context.Context, limit int) ([]*ParkedJob, error) {
	return s.parkedJobs(ctx, 0, limit)
}

func (s *Service) parkedJobs(ctx context.Context, before store.JobID, limit int) ([]*ParkedJob, error) {
	rows, err := s.db.ParkedJobs(ctx, before, limit)
	if err != nil {
		return nil, err
	}
	list := make([]*ParkedJob, 0, len(rows))
	for _, j := range rows {
		list = append(list, &ParkedJob{j.ID, j.Kind, j.Attempts, j.LastError})
	}
	return list, nil
}

// JobKind counts the jobs of one kind.
type JobKind struct {
	Kind   string `json:"kind"`
	Queued int    `json:"queued"`
	Parked int    `json:"parked"`
}

// JobQueue is the state of the queue of background jobs.
type JobQueue struct {
	Kinds          []JobKind    `json:"kinds"`
	OverdueSeconds int64        `json:"overdue_seconds"` // since when the oldest due job is due; 0: none is
	Parked         []*ParkedJob `json:"parked"`          // newest first
}

// JobQueue counts the jobs of each kind, and lists at most limit parked ones with an id below before, if that is not 0.
func (s *Service) JobQueue(ctx context.Context, before store.JobID, limit int) (*JobQueue, error) {
	counts, err := s.db.JobCounts(ctx)
	if err != nil {
		return nil, err
	}
	overdue, err := s.db.OldestDueJobAge(ctx)
	if err != nil {
		return nil, err
	}
	q := &JobQueue{Kinds: make([]JobKind, 0, len(counts)), OverdueSeconds: int64(overdue / time.Second)}
	for _, c := range counts {
		q.Kinds = append(q.Kinds, JobKind{c.Kind, c.N - c.Parked, c.Parked})
	}
	q.Parked, err = s.parkedJobs(ctx, before, limit)
	return q, err
}

// RetryParkedJobs makes a parked job due now, or all of them if id is 0, and returns how many those are.
func (s *Service) RetryParkedJobs(ctx context.Context, id store.JobID) (int64, error) {
	return s.changeParkedJobs(ctx, id, "job_retry", "retried", (*store.Tx).RetryParkedJobs)
}

// DropParkedJobs deletes a parked job, or all of them if id is 0, and returns how many those are.
func (s *Service) DropParkedJobs(ctx context.Context, id store.JobID) (int64, error) {
	return s.changeParkedJobs(ctx, id, "job_drop", "dropped", (*store.Tx).DropParkedJobs)
}

func (s *Service) changeParkedJobs(
	ctx context.Context, id store.JobID, action, done string, change func(*store.Tx, context.Context, store.JobID) (int64, error),
) (n int64, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		n, err = change(tx, ctx, id)
		switch {
		case err != nil:
			return err
		case n == 0 && id != 0:
			return errs.NotFound("There is no parked job %d", int64(id))
		case n == 0:
			return nil
		case id != 0:
			return s.record(ctx, tx, action, fmt.Sprintf("%s job #%d", done, int64(id)), nil)
		}
		return s.record(ctx, tx, action, fmt.Sprintf("%s all %d parked jobs", done, n), nil)
	})
	return n, err
}
