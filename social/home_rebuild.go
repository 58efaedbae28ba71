package social

import (
	"cmp"
	"context"
	"slices"

	"svc/store"
)

// Limits of a rebuild.
const (
	rebuildOwnStatuses = 2000 // own statuses and direct ones
	rebuildBatch       = 20   // follows in one transaction
	rebuildReserve     = 4    // a quarter more is read, because some posts are not visible
)

// RebuildHome rebuilds a home timeline from the newest posts of each followed account and hashtag: about length of them. It can run at any time, and
// keeps posts that arrive meanwhile.
func (s *Service) RebuildHome(ctx context.Context, account store.AccountID, length int) error {
	return s.rebuildHome(ctx, account, length, func(fn func(*store.Tx) error) error { return s.db.Update(ctx, fn) })
}

// RebuildHomeIn is RebuildHome in one transaction, for a database that only one process uses. The followed accounts and their posts must be committed.
func (s *Service) RebuildHomeIn(ctx context.Context, tx *store.Tx, account store.AccountID, length int) error {
	return s.rebuildHome(ctx, account, length, func(fn func(*store.Tx) error) error { return fn(tx) })
}

// rebuildHome is RebuildHome with a function that runs each part in a transaction.
func (s *Service) rebuildHome(ctx context.Context, account store.AccountID, length int, run func(func(*store.Tx) error) error) error {
	if err := run(func(tx *store.Tx) error { return tx.ResetHome(ctx, account, min(rebuildOwnStatuses, length)) }); err != nil {
		return err
	}
	oldest, err := s.oldestInHome(ctx, account, length+length/rebuildReserve)
	if err != nil {
		return err
	}
	var lastFollow store.AccountID
	err = inBatches(run, rebuildBatch, func(tx *store.Tx) (int64, error) {
		follows, err := tx.FollowsAfter(ctx, account, lastFollow, rebuildBatch)
		for _, f := range follows {
			if err := tx.BackfillHome(ctx, f, backfillOnFollow, oldest); err != nil {
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
	return inBatches(run, rebuildBatch, func(tx *store.Tx) (int64, error) {
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

// oldestInHome returns the id of the n-th newest of the posts that a home could have, 0 if there are fewer. Older ones would be trimmed again:
// ids are read quickly, but each row of a home is written at another place of the table.
func (s *Service) oldestInHome(ctx context.Context, account store.AccountID, n int) (store.StatusID, error) {
	var newest []store.StatusID
	keep := func() {
		slices.SortFunc(newest, func(a, b store.StatusID) int { return cmp.Compare(b, a) })
		newest = newest[:min(n, len(newest))]
	}
	for last := store.AccountID(0); ; {
		follows, err := s.db.FollowsAfter(ctx, account, last, rebuildBatch)
		if err != nil {
			return 0, err
		}
		for _, f := range follows {
			ids, err := s.db.NewestStatusIDs(ctx, f.TargetID, backfillOnFollow)
			if err != nil {
				return 0, err
			}
			newest, last = append(newest, ids...), f.TargetID
		}
		if len(newest) > 4*n || len(follows) < rebuildBatch {
			keep()
		}
		switch {
		case len(follows) == rebuildBatch:
		case len(newest) < n:
			return 0, nil
		default:
			return newest[n-1], nil
		}
	}
}
