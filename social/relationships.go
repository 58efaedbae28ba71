package social

import (
	"context"
	"strings"

	"svc/internal/text"

	"svc/internal/errs"
	"svc/store"
)

const maxAccountNote = 2000 // characters

// MaxEndorsements is how many accounts an account can endorse.
const MaxEndorsements = 20

// Endorse features target, which actor must follow, on actor's profile. Endorsing twice is not an error.
func (s *Service) Endorse(ctx context.Context, actor *store.Account, target store.AccountID) error {
	return s.updateOther(ctx, actor, target, func(tx *store.Tx, to *store.Account) error {
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

// Unendorse removes an endorsement. A missing one is not an error.
func (s *Service) Unendorse(ctx context.Context, actor *store.Account, target store.AccountID) error {
	return s.updateOther(ctx, actor, target, func(tx *store.Tx, to *store.Account) error {
		return tx.RemoveEndorsement(ctx, actor.ID, to.ID)
	})
}

// Subscribe notifies actor of each post of target. It needs no follow, but fails across a block.
func (s *Service) Subscribe(ctx context.Context, actor *store.Account, target store.AccountID) error {
	return s.updateOther(ctx, actor, target, func(tx *store.Tx, to *store.Account) error {
		blocked, err := tx.Blocks(ctx, to.ID, actor.ID)
		if err != nil {
			return err
		}
		if blocked {
			return errs.Forbidden("Could not subscribe: %s is blocking you", to.Acct())
		}
		if blocked, err = tx.Blocks(ctx, actor.ID, to.ID); err != nil {
			return err
		}
		if blocked {
			return errNotAllowed
		}
		return tx.AddSubscription(ctx, actor.ID, to.ID)
	})
}

// Unsubscribe removes a subscription. A missing one is not an error.
func (s *Service) Unsubscribe(ctx context.Context, actor *store.Account, target store.AccountID) error {
	return s.updateOther(ctx, actor, target, func(tx *store.Tx, to *store.Account) error {
		return tx.RemoveSubscription(ctx, actor.ID, to.ID)
	})
}

// updateOther runs fn in a transaction on an available account that is not actor's own.
func (s *Service) updateOther(ctx context.Context, actor *store.Account, id store.AccountID, fn func(*store.Tx, *store.Account) error) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		other, err := otherAccount(ctx, tx, actor, id)
		if err != nil {
			return err
		}
		return fn(tx, other)
	})
}

// otherAccount returns an available account that is not actor's own.
func otherAccount(ctx context.Context, tx *store.Tx, actor *store.Account, id store.AccountID) (*store.Account, error) {
	if id == actor.ID {
		return nil, errSelf
	}
	return availableAccount(ctx, tx, id)
}

// availableAccount returns an account, or not found if it is unavailable.
func availableAccount(ctx context.Context, tx *store.Tx, id store.AccountID) (*store.Account, error) {
	a, err := tx.Account(ctx, id)
	if err == nil && a.Unavailable {
		err = errs.ErrRecordNotFound
	}
	return a, err
}

// SetAccountNote stores actor's private note about another account. An empty note removes it.
func (s *Service) SetAccountNote(ctx context.Context, actor *store.Account, target store.AccountID, comment string) error {
	if text.Length(comment, "") > maxAccountNote {
		return errs.Invalid("Validation failed: Comment is too long (maximum is %d characters)", maxAccountNote)
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		about, err := availableAccount(ctx, tx, target)
		if err != nil {
			return err
		}
		return tx.SetNote(ctx, actor.ID, about.ID, strings.TrimSpace(comment))
	})
}
