package social

import (
	"context"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// largeRowsPause is how long others run between two batches of the job that cuts large rows.
const largeRowsPause = time.Second

// cutLargeRows is the job that cuts rows of other servers that an earlier version stored too large, one transaction a row. It goes on where
// it was stopped.
func (s *Service) cutLargeRows(ctx context.Context, w store.CutLargeRows) error {
	large, next, err := s.db.LargeRows(ctx, w)
	if err != nil {
		return err
	}
	for _, id := range large {
		err := s.db.Update(ctx, func(tx *store.Tx) error { return tx.CutLargeRow(ctx, w.Table, id) })
		if errs.IgnoreNotFound(err) != nil {
			return err
		}
	}
	if next == nil {
		return nil
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueAt(ctx, s.db.Now().Add(largeRowsPause), *next)
	})
}
