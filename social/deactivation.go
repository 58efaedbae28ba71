package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// ErrLastAdmin is returned for what would leave the server without an admin.
var ErrLastAdmin = errs.Conflict("This is the last admin: make another account an admin first")

func checkNotLastAdmin(ctx context.Context, tx *store.Tx, id store.AccountID) error {
	last, err := tx.IsLastAdmin(ctx, id)
	if err == nil && last {
		err = ErrLastAdmin
	}
	return err
}

// Deactivate deactivates a local account (admin API 4.6). Its tokens are revoked and it becomes invisible. Its follows and follow
// requests end; followers and statuses stay for its activation. The last admin cannot be deactivated. It returns false if the account was
// deactivated before.
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
		user.DeactivatedAt = new(store.At(s.db.Now()))
		if err := tx.SaveUser(ctx, user); err != nil {
			return err
		}
		if err := tx.SetUnavailable(ctx, id, true); err != nil {
			return err
		}
		if err := tx.DropOneTimeTokens(ctx, id, ""); err != nil {
			return err
		}
		follows, err := tx.LocalFollowsBy(ctx, id)
		if err != nil {
			return err
		}
		requests, err := tx.RemoteFollowRequests(ctx, id) // which have to be undone on their servers
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
		return tx.RevokeTokens(ctx, id)
	})
	return changed, err
}

// Activate reactivates an account. It becomes visible if it is confirmed and approved. It returns false if the account was not
// deactivated.
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
