package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

const (
	maxFollowedTags = 500 // of one account
	backfillOnTag   = 20  // posts with a newly followed hashtag that are put into the follower's home
)

// FollowTag has actor's home show public posts with a hashtag, by whomever, and puts the latest there. name is in lower case. It is no
// error if actor follows it already.
func (s *Service) FollowTag(ctx context.Context, actor *store.Account, name string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		id, added, err := tx.AddTagFollow(ctx, actor.ID, name)
		if err != nil || !added {
			return err
		}
		n, err := tx.CountFollowedTags(ctx, actor.ID)
		if err != nil {
			return err
		}
		if n > maxFollowedTags {
			return errs.Invalid("Validation failed: You follow as many hashtags as one can")
		}
		return tx.BackfillTag(ctx, actor.ID, id, backfillOnTag)
	})
}

// UnfollowTag ends that, and takes what came by the hashtag only out of actor's home. It is no error if actor does not follow it.
func (s *Service) UnfollowTag(ctx context.Context, actor *store.Account, name string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		id, err := tx.RemoveTagFollow(ctx, actor.ID, name)
		if err != nil || id == 0 {
			return err
		}
		return tx.ClearTag(ctx, actor.ID, id)
	})
}
