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

// Deactivate is DeactivateIn in a transaction of its own.
func (s *Service) Deactivate(ctx context.Context, id store.AccountID) (changed bool, err error) {
	return update(ctx, s.db, func(tx *store.Tx) (bool, error) { return s.DeactivateIn(ctx, tx, id) })
}

// DeactivateIn deactivates a local account (admin API 4.6). Its tokens are revoked and it becomes invisible. Its follows and follow
// requests end; followers and statuses stay for its activation. The last admin cannot be deactivated. It returns false if the account was
// deactivated before.
func (s *Service) DeactivateIn(ctx context.Context, tx *store.Tx, id store.AccountID) (changed bool, err error) {
	user, err := tx.User(ctx, id)
	if err != nil || user.DeactivatedAt != nil {
		return false, err
	}
	if err := checkNotLastAdmin(ctx, tx, id); err != nil {
		return false, err
	}
	user.DeactivatedAt = new(store.At(s.db.Now()))
	if err := tx.SaveUser(ctx, user); err != nil {
		return false, err
	}
	if err := tx.SetUnavailable(ctx, id, true); err != nil {
		return false, err
	}
	if err := tx.DropOneTimeTokens(ctx, id, ""); err != nil {
		return false, err
	}
	follows, err := tx.LocalFollowsBy(ctx, id)
	if err != nil {
		return false, err
	}
	requests, err := tx.RemoteFollowRequests(ctx, id) // which have to be undone on their servers
	if err != nil {
		return false, err
	}
	for _, f := range append(follows, requests...) {
		if err := endFollow(ctx, tx, f, false); err != nil {
			return false, err
		}
	}
	if err := tx.DropFollowRequests(ctx, id); err != nil {
		return false, err
	}
	return true, tx.RevokeTokens(ctx, id)
}

// ActivateIn reactivates an account. It becomes visible if it is confirmed and approved. It returns false if the account was not
// deactivated.
func (s *Service) ActivateIn(ctx context.Context, tx *store.Tx, id store.AccountID) (changed bool, err error) {
	user, err := tx.User(ctx, id)
	if err != nil || user.DeactivatedAt == nil {
		return false, err
	}
	user.DeactivatedAt = nil
	if err := tx.SaveUser(ctx, user); err != nil {
		return false, err
	}
	return true, tx.SetUnavailable(ctx, id, !user.CanSignIn())
}

// SuspendIn suspends a remote account, or ends that: it becomes invisible, and its activities are ignored. It returns false if that was so
// before.
func (s *Service) SuspendIn(ctx context.Context, tx *store.Tx, a *store.Account, suspended bool) (changed bool, err error) {
	if suspended == (a.SuspendedAt != nil) {
		return false, nil
	}
	a.SuspendedAt = nil
	if suspended {
		a.SuspendedAt = new(store.At(s.db.Now()))
	}
	if err := tx.SetSuspended(ctx, a.ID, a.SuspendedAt); err != nil {
		return false, err
	}
	actor, err := tx.Actor(ctx, a.ID)
	if err := errs.IgnoreNotFound(err); err != nil {
		return false, err
	}
	a.Unavailable = suspended || a.Rejected || actor != nil && actor.Suspended // its own server may have suspended it, too
	return true, tx.SetUnavailable(ctx, a.ID, a.Unavailable)
}
