package social

import (
	"context"
	"slices"

	"svc/internal/errs"
	"svc/store"
)

// refoldedRows is how many accounts or statuses one transaction indexes again.
const refoldedRows = 100

// refold is the job that stores again what an earlier version compared in another form. It goes on where it was stopped.
func (s *Service) refold(ctx context.Context, w store.Refold) error {
	table, rows, next, err := s.db.RefoldBatch(ctx, w)
	if err != nil {
		return err
	}
	switch table {
	case store.RefoldAccounts:
		err = s.indexAgain(ctx, rows, func(tx *store.Tx, id int64) error { return tx.ReindexAccount(ctx, store.AccountID(id)) })
	case store.RefoldStatuses:
		err = s.indexAgain(ctx, rows, func(tx *store.Tx, id int64) error { return reindexStatus(ctx, tx, store.StatusID(id)) })
	default:
		err = s.refoldTags(ctx, rows)
	}
	if err != nil || next == nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.Enqueue(ctx, *next) })
}

// indexAgain indexes rows again, some in each transaction. Rows that are gone are skipped.
func (s *Service) indexAgain(ctx context.Context, rows []int64, index func(*store.Tx, int64) error) error {
	for some := range slices.Chunk(rows, refoldedRows) {
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			for _, id := range some {
				if err := index(tx, id); errs.IgnoreNotFound(err) != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// refoldTags gives hashtags their keys, and merges those that have become one.
func (s *Service) refoldTags(ctx context.Context, rows []int64) error {
	for _, id := range rows {
		for more := true; more; {
			err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
				more, err = tx.RefoldTag(ctx, store.TagID(id))
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
