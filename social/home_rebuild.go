package social

import (
	"context"

	"svc/store"
)

// What is looked at when a home is made anew.
const (
	rebuildOwnStatuses = 2000 // own posts, and those addressed to few
	rebuildBatch       = 20   // follows of one transaction, so that others can write in between
)

// RebuildHome makes somebody's home timeline anew, of what they follow now: the newest posts of each account and hashtag. It may be
// called at any time; what is posted meanwhile is not lost.
func (s *Service) RebuildHome(ctx context.Context, account store.AccountID) error {
	if err := s.db.Update(ctx, func(tx *store.Tx) error { return tx.ResetHome(ctx, account, rebuildOwnStatuses) }); err != nil {
		return err
	}
	var lastFollow store.AccountID
	err := s.inBatches(ctx, rebuildBatch, func(tx *store.Tx) (int64, error) {
		follows, err := tx.FollowsAfter(ctx, account, lastFollow, rebuildBatch)
		for _, f := range follows {
			if err := tx.BackfillHome(ctx, f, s.BackfillOnFollow); err != nil {
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
