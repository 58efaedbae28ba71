package admin

import (
	"context"
	"time"

	"svc/store"
)

const pruneEvery = 24 * time.Hour

// Register tells the worker which jobs this package does.
func (s *Service) Register(w *store.Worker) {
	store.HandleEvery(w, pruneEvery, s.prune)
}

// prune is the job that removes what has outlived its use: codes and links whose time is over, forgotten apps, old idempotency
// keys, what waits for servers that are gone, servers of which nothing was heard for long, accounts of others that nothing here has to do
// with. It works in small transactions, so that others can write in between.
func (s *Service) prune(ctx context.Context, _ store.Prune) error {
	for _, prune := range []func(*store.Tx, context.Context) (bool, error){(*store.Tx).PruneExpired, (*store.Tx).PruneDeliveries, (*store.Tx).PruneReceived, (*store.Tx).PruneHeard} {
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
	for from, more := "", true; more; {
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			var err error
			from, err = tx.PruneHosts(ctx, from)
			more = from != ""
			return err
		})
		if err != nil {
			return err
		}
	}
	for from, more := store.AccountID(0), true; more; {
		err := s.db.Update(ctx, func(tx *store.Tx) error {
			var err error
			from, more, err = tx.PruneStrangers(ctx, from)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
