package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

const (
	maxFollowedTags = 500 // of one account
	backfillOnTag   = 20  // posts with a newly followed hashtag that are added to the follower's home timeline
)

// FollowTag adds public posts with a hashtag to actor's home timeline, beginning with the latest. name is in lower case. Following twice
// is not an error.
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
			return errs.Invalid("Validation failed: You cannot follow more than %d hashtags", maxFollowedTags)
		}
		return tx.BackfillTag(ctx, actor.ID, id, backfillOnTag)
	})
}

// UnfollowTag removes posts that only the hashtag brought from actor's home timeline. Not following it is not an error.
func (s *Service) UnfollowTag(ctx context.Context, actor *store.Account, name string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		id, err := tx.RemoveTagFollow(ctx, actor.ID, name)
		if err != nil || id == 0 {
			return err
		}
		return tx.ClearTag(ctx, actor.ID, id)
	})
}
