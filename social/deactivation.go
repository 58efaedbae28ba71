package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// ErrLastAdmin is the answer to what would leave the server without anybody to administer it.
var ErrLastAdmin = errs.Conflict("This is the last admin: make somebody else an admin first")

func checkNotLastAdmin(ctx context.Context, tx *store.Tx, id store.AccountID) error {
	last, err := tx.IsLastAdmin(ctx, id)
	if err == nil && last {
		err = ErrLastAdmin
	}
	return err
}

// Deactivate takes an account out of service: its tokens stop working, nobody sees it any more, the accounts here that it follows
// lose it, and its follow requests are taken back. Its followers and its posts are kept for the day it comes back. It tells
// whether the account was active before; twice is no error. The last admin cannot be deactivated. The rules are those of the admin
// API's reference, 4.6.
func (s *Service) Deactivate(ctx context.Context, id store.AccountID) (changed bool, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		user, err := tx.User(ctx, id)
		if err != nil {
			return err
		}
		if user.DeactivatedAt != nil {
			return nil
		}
		if err := checkNotLastAdmin(ctx, tx, id); err != nil {
			return err
		}
		changed = true
		now := store.At(s.db.Now())
		user.DeactivatedAt = &now
		if err := tx.SaveUser(ctx, user); err != nil {
			return err
		}
		if err := tx.SetUnavailable(ctx, id, true); err != nil {
			return err
		}
		if err := tx.DropAllOneTimeTokens(ctx, id); err != nil {
			return err
		}
		follows, err := tx.LocalFollowsBy(ctx, id)
		if err != nil {
			return err
		}
		requests, err := tx.RemoteFollowRequests(ctx, id) // whose servers know of them
		if err != nil {
			return err
		}
		for _, f := range append(follows, requests...) {
			if err := endFollow(ctx, tx, f, false); err != nil {
				return err
			}
		}
		if err := tx.DropFollowRequests(ctx, id); err != nil {
			return err
		}
		tx.Emit(store.TokensRevoked{AccountID: id})
		return nil
	})
	return changed, err
}

// Activate brings a deactivated account back: its tokens work again, and it is seen again if it is confirmed and approved. It
// tells whether the account was deactivated before.
func (s *Service) Activate(ctx context.Context, id store.AccountID) (changed bool, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		user, err := tx.User(ctx, id)
		if err != nil {
			return err
		}
		if user.DeactivatedAt == nil {
			return nil
		}
		changed = true
		user.DeactivatedAt = nil
		if err := tx.SaveUser(ctx, user); err != nil {
			return err
		}
		return tx.SetUnavailable(ctx, id, !user.CanSignIn())
	})
	return changed, err
}
