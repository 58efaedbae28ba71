package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

var errApproved = errs.Conflict("The account is approved already: deactivate or delete it instead")

// Confirm confirms the address of a new account on behalf of staff. It returns false if it was confirmed before.
func (s *Service) Confirm(ctx context.Context, id store.AccountID) (changed bool, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		user, err := tx.User(ctx, id)
		if err != nil || user.ConfirmedAt != nil {
			return err
		}
		changed = true
		return s.confirmNewUser(ctx, tx, user)
	})
	return changed, err
}

// Approve approves a new account on behalf of staff, and tells its user if that makes the account available. It returns false if it was
// approved before.
func (s *Service) Approve(ctx context.Context, id store.AccountID) (changed bool, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		user, err := tx.User(ctx, id)
		if err != nil || user.ApprovedAt != nil {
			return err
		}
		changed = true
		now := store.At(s.db.Now())
		user.ApprovedAt = &now
		if err := tx.SaveUser(ctx, user); err != nil {
			return err
		}
		if err := tx.SetUnavailable(ctx, id, !user.CanSignIn()); err != nil {
			return err
		}
		if err := s.enqueueWelcome(ctx, tx, user); err != nil || !user.CanSignIn() || user.Email == "" {
			return err
		}
		return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailApproved, AccountID: id})
	})
	return changed, err
}

// Reject deletes an account that awaits approval, and tells its user if the address is confirmed. The nickname and the address can be used
// again.
func (s *Service) Reject(ctx context.Context, id store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		user, err := tx.User(ctx, id)
		if err != nil {
			return err
		}
		if user.ApprovedAt != nil {
			return errApproved
		}
		account, err := tx.Account(ctx, id)
		if err != nil {
			return err
		}
		tx.Emit(store.TokensRevoked{AccountID: id})
		if err := tx.RemoveAccount(ctx, id); err != nil {
			return err
		}
		if user.ConfirmedAt == nil || user.Email == "" {
			return nil
		}
		return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailRejected, To: user.Email, Values: map[string]string{"nickname": account.Nickname}})
	})
}
