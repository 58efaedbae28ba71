package admin

import (
	"context"
	"log/slog"
	"time"

	"svc/store"
)

const (
	pruneEvery = 24 * time.Hour
	pruneKey   = "prune"
)

// Prune removes what has outlived its use: codes and links whose time is over, forgotten apps, old idempotency keys. It works in
// small transactions, so that others can write in between.
func Prune(ctx context.Context, db *store.DB) (removed int64, err error) {
	for more := true; more; {
		var n int64
		err := db.Update(ctx, func(tx *store.Tx) error {
			var err error
			n, more, err = tx.PruneExpired(ctx)
			return err
		})
		if err != nil {
			return removed, err
		}
		removed += n
	}
	for from := store.AppID(1); from != 0; {
		var n int64
		err := db.Update(ctx, func(tx *store.Tx) error {
			var err error
			n, from, err = tx.PruneApps(ctx, from)
			return err
		})
		if err != nil {
			return removed, err
		}
		removed += n
	}
	return removed, nil
}

// PruneDaily has the worker prune now and then every day.
func PruneDaily(ctx context.Context, db *store.DB, w *store.Worker, log *slog.Logger) error {
	again := func(ctx context.Context, at time.Time) error {
		return db.Update(ctx, func(tx *store.Tx) error { return tx.EnqueueOnce(ctx, at, pruneKey, store.Prune{}) })
	}
	store.Handle(w, func(ctx context.Context, _ store.Prune) error {
		removed, err := Prune(ctx, db)
		if err != nil {
			return err
		}
		log.Debug("pruned", "rows", removed)
		return again(ctx, db.Now().Add(pruneEvery))
	})
	return again(ctx, db.Now())
}
