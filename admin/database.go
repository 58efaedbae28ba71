package admin

import (
	"context"

	"svc/store"
)

// DatabaseCheck is the result of CheckDatabase.
type DatabaseCheck struct {
	Damage []string `json:"damage"` // empty: the database is intact
}

// CheckDatabase looks for damage in the database. If the file is damaged, nothing more is written.
func (s *Service) CheckDatabase(ctx context.Context, _ struct{}) (*DatabaseCheck, error) {
	found, err := s.db.FindDamage(ctx)
	v := NewVerification()
	for _, text := range found {
		v.Add(databaseFinding(text))
	}
	if problem := v.FileDamage(); problem != "" {
		s.db.ReportDamage(problem)
	}
	return &DatabaseCheck{append([]string{}, found...)}, err
}

// ReportDamage stops writing, because a verification by another process has found a problem of the database.
func (s *Service) ReportDamage(_ context.Context, problem string) (struct{}, error) {
	s.db.ReportDamage(problem)
	return struct{}{}, nil
}

// DatabaseSizes measures the tables of the database.
func (s *Service) DatabaseSizes(ctx context.Context, _ struct{}) (*store.Sizes, error) {
	return s.db.Sizes(ctx)
}

// DatabaseChange is how the size of the database has changed.
type DatabaseChange struct {
	Before int64 `json:"before"` // bytes
	After  int64 `json:"after"`
	Free   int64 `json:"free"` // of these, in pages without content
}

// VacuumDatabase returns the space of deleted rows to the file system and updates the statistics of the query planner, in small steps.
func (s *Service) VacuumDatabase(ctx context.Context, _ struct{}) (*DatabaseChange, error) {
	return s.resize(ctx, func() error {
		if err := s.db.ReleaseAllSpace(ctx); err != nil {
			return err
		}
		return s.db.Optimize(ctx)
	})
}

// PruneDatabase deletes what the daily job deletes: expired tokens, old entries of queues and logs, and what of other servers nothing refers to.
func (s *Service) PruneDatabase(ctx context.Context, _ struct{}) (*DatabaseChange, error) {
	return s.resize(ctx, func() error { return s.prune(ctx, store.Prune{}) })
}

func (s *Service) resize(ctx context.Context, change func() error) (*DatabaseChange, error) {
	before, err := s.db.FileSize(ctx)
	if err != nil {
		return nil, err
	}
	if err := change(); err != nil {
		return nil, err
	}
	after, err := s.db.FileSize(ctx)
	return &DatabaseChange{Before: before.Bytes, After: after.Bytes, Free: after.Free}, err
}
