package admin

import (
	"context"
	"math"

	"svc/social"
	"svc/store"
)

// Register registers the jobs of this package with the worker.
func (s *Service) Register(w *store.Worker) {
	store.Handle(w, s.prune)
	store.Handle(w, s.pruneRemotePosts)
	store.Handle(w, s.purgeInstance)
	store.Handle(w, s.applyHostRules)
	store.Handle(w, s.limitHostPosts)
	store.Handle(w, s.backUp)
}

// prune is the recurring job that removes expired and unused data: codes and tokens, unconfirmed accounts, apps, idempotency keys, deliveries to dead hosts,
// queued and seen activities, results of imports, old entries of the moderation log, old reports, interactions that were not approved, remote accounts, hosts, threads and tombstones.
func (s *Service) prune(ctx context.Context, _ store.Prune) error {
	for _, prune := range []func(*store.Tx, context.Context) (bool, error){
		(*store.Tx).PruneExpired, (*store.Tx).PruneDeliveries, (*store.Tx).PruneQueuedActivities, (*store.Tx).PruneSeenActivities,
		(*store.Tx).PruneImports, (*store.Tx).PruneLog, (*store.Tx).PruneReports, (*store.Tx).PruneIPBlocks,
	} {
		err := pruneInBatches(ctx, s, struct{}{}, func(tx *store.Tx, ctx context.Context, from struct{}) (struct{}, bool, error) {
			more, err := prune(tx, ctx)
			return from, more, err
		})
		if err != nil {
			return err
		}
	}
	if err := s.db.LoadSeen(ctx); err != nil { // without those that were pruned
		return err
	}
	err := pruneInBatches(ctx, s, struct{}{}, func(tx *store.Tx, ctx context.Context, from struct{}) (struct{}, bool, error) {
		more, err := social.PruneInteractionRequests(tx, ctx, s.db.Now())
		return from, more, err
	})
	if err != nil {
		return err
	}
	if lifetime := s.social.Settings.Load().Accounts.UnconfirmedLifetime; lifetime > 0 {
		before := s.db.Now().Add(-lifetime)
		err := pruneInBatches(ctx, s, struct{}{}, func(tx *store.Tx, ctx context.Context, from struct{}) (struct{}, bool, error) {
			more, err := tx.PruneUnconfirmed(ctx, before)
			return from, more, err
		})
		if err != nil {
			return err
		}
	}
	if age := s.storage.limits().RemotePostsMaxAge; age > 0 { // before accounts, which posts keep
		s.pruned.moveTo(0)
		if _, _, err := s.deleteRemotePosts(ctx, s.db.Now().Add(-age), math.MaxInt64); err != nil {
			return err
		}
	}
	err = pruneInBatches(ctx, s, store.AppID(1), func(tx *store.Tx, ctx context.Context, from store.AppID) (store.AppID, bool, error) {
		next, err := tx.PruneApps(ctx, from)
		return next, next != 0, err
	})
	if err != nil {
		return err
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
		return tx.PruneTombstones(ctx, s.social.Settings.BaseURL+"/", from)
	})
}

// pruneInBatches calls prune until it has finished a table, each time in a transaction of its own so that others can write in between.
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
