package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// MaxEndorsements is how many accounts one can recommend.
const MaxEndorsements = 20

// Endorse has actor recommend target, which actor must follow, on its profile. Doing it twice is no error.
func (s *Service) Endorse(ctx context.Context, actor *store.Account, target store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		to, err := otherAccount(ctx, tx, actor, target)
		if err != nil {
			return err
		}
		follows, err := tx.Follows(ctx, actor.ID, to.ID)
		if err != nil {
			return err
		}
		if !follows {
			return errs.Invalid("Could not endorse: You are not following %s", to.Acct())
		}
		ok, err := tx.AddEndorsement(ctx, actor.ID, to.ID, MaxEndorsements)
		if err == nil && !ok {
			err = errs.Invalid("You have already pinned the maximum number of users")
		}
		return err
	})
}

// Unendorse ends that. It is no error if target was not recommended.
func (s *Service) Unendorse(ctx context.Context, actor *store.Account, target store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		to, err := otherAccount(ctx, tx, actor, target)
		if err != nil {
			return err
		}
		return tx.RemoveEndorsement(ctx, actor.ID, to.ID)
	})
}
