package social

import (
	"context"

	"svc/store"
)

// What is looked at when a home is made anew.
const (
	rebuildOwn     = 2000 // own posts, and those addressed to few
	rebuildFollows = 20   // follows of one transaction, so that others can write in between
)

// RebuildHome makes somebody's home timeline anew, of what they follow now: the newest posts of each. It may be called at any time;
// what is posted meanwhile is not lost.
func (s *Service) RebuildHome(ctx context.Context, account store.AccountID) error {
	err := s.db.Update(ctx, func(tx *store.Tx) error { return tx.RestartHome(ctx, account, rebuildOwn) })
	for after := store.AccountID(0); err == nil; {
		var n int
		err = s.db.Update(ctx, func(tx *store.Tx) error {
			follows, err := tx.FollowsAfter(ctx, account, after, rebuildFollows)
			if err != nil {
				return err
			}
			n = len(follows)
			for _, f := range follows {
				if err := tx.BackfillHome(ctx, f, s.BackfillOnFollow); err != nil {
					return err
				}
				after = f.TargetID
			}
			return nil
		})
		if n < rebuildFollows {
			break
		}
	}
	return err
}
