package admin

import (
	"context"
	"time"

	"svc/store"
)

const pruneEvery = 24 * time.Hour

// Register tells the worker which jobs this package does.
func (s *Service) Register(w *store.Worker) {
	store.HandleRecurring(w, pruneEvery, s.removeExpired)
}

// removeExpired is the job that removes what has outlived its use: codes and links whose time is over, forgotten apps, old idempotency
// keys, what waits for servers that are gone, and what others have left here that has to do with nothing any more. It works in small
// transactions, so that others can write in between.
func (s *Service) removeExpired(ctx context.Context, _ store.Prune) error {
	for _, prune := range []func(*store.Tx, context.Context) (bool, error){(*store.Tx).PruneExpired, (*store.Tx).PruneDeliveries, (*store.Tx).PruneQueuedActivities, (*store.Tx).PruneSeenActivities} {
		for more := true; more; {
			err := s.db.Update(ctx, func(tx *store.Tx) error {
				var err error
				more, err = prune(tx, ctx)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	for from := store.AppID(1); from != 0; {
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			var err error
			from, err = tx.PruneApps(ctx, from)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := pruneInBatches(ctx, s, store.AccountID(0), (*store.Tx).PruneRemoteAccounts); err != nil {
		return err
	}
	if err := pruneInBatches(ctx, s, "", (*store.Tx).PruneHosts); err != nil {
		return err
	}
	if err := pruneInBatches(ctx, s, store.ConversationID(0), (*store.Tx).PruneThreads); err != nil {
		return err
	}
	return pruneInBatches(ctx, s, "", func(tx *store.Tx, ctx context.Context, from string) (string, bool, error) {
		return tx.PruneTombstones(ctx, s.social.BaseURL+"/", from)
	})
}

// pruneInBatches has a table looked through, some rows in one transaction.
func pruneInBatches[T any](ctx context.Context, s *Service, from T, prune func(*store.Tx, context.Context, T) (T, bool, error)) error {
	for more := true; more; {
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			var err error
			from, more, err = prune(tx, ctx, from)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
