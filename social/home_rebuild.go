package social

import (
	"context"

	"svc/store"
)

// Limits of a rebuild.
const (
	rebuildOwnStatuses = 2000 // own statuses and direct ones
	rebuildBatch       = 20   // follows in one transaction
)

// RebuildHome rebuilds a home timeline from the newest posts of each followed account and hashtag. It can run at any time, and keeps
// posts that arrive meanwhile.
func (s *Service) RebuildHome(ctx context.Context, account store.AccountID) error {
	if err := s.db.Update(ctx, func(tx *store.Tx) error { return tx.ResetHome(ctx, account, rebuildOwnStatuses) }); err != nil {
		return err
	}
	var lastFollow store.AccountID
	err := s.inBatches(ctx, rebuildBatch, func(tx *store.Tx) (int64, error) {
		follows, err := tx.FollowsAfter(ctx, account, lastFollow, rebuildBatch)
		for _, f := range follows {
			if err := tx.BackfillHome(ctx, f, backfillOnFollow); err != nil {
				return 0, err
			}
			lastFollow = f.TargetID
		}
		return int64(len(follows)), err
	})
	if err != nil {
		return err
	}
	var lastTag store.TagID
	return s.inBatches(ctx, rebuildBatch, func(tx *store.Tx) (int64, error) {
		tags, err := tx.TagFollowsAfter(ctx, account, lastTag, rebuildBatch)
		for _, tag := range tags {
			if err := tx.BackfillTag(ctx, account, tag, backfillOnTag); err != nil {
				return 0, err
			}
			lastTag = tag
		}
		return int64(len(tags)), err
	})
}
