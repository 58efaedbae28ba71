package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// MaxFeaturedTags is how many hashtags an account can feature.
const MaxFeaturedTags = 10

// FeatureTag shows a hashtag on actor's profile. name is in lower case. Featuring it twice is not an error, even at the limit.
func (s *Service) FeatureTag(ctx context.Context, actor *store.Account, name string) (store.FeaturedTagID, error) {
	return update(ctx, s.db, func(tx *store.Tx) (store.FeaturedTagID, error) {
		id, err := tx.AddFeaturedTag(ctx, actor.ID, name, MaxFeaturedTags)
		if err == nil && id == 0 {
			err = errs.Invalid("Validation failed: You cannot feature more than %d hashtags", MaxFeaturedTags)
		}
		return id, err
	})
}

// UnfeatureTagByName removes a hashtag from actor's profile. It is not an error if it is not there.
func (s *Service) UnfeatureTagByName(ctx context.Context, actor *store.Account, name string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		id, err := tx.FeaturedTagID(ctx, actor.ID, name)
		if err == nil && id != 0 {
			_, err = tx.RemoveFeaturedTag(ctx, actor.ID, id)
		}
		return err
	})
}

// UnfeatureTag removes a hashtag from actor's profile.
func (s *Service) UnfeatureTag(ctx context.Context, actor *store.Account, id store.FeaturedTagID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		removed, err := tx.RemoveFeaturedTag(ctx, actor.ID, id)
		if err == nil && !removed {
			err = errs.ErrRecordNotFound
		}
		return err
	})
}
