package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

var errApproved = errs.Conflict("The account is approved already: deactivate or delete it instead")

// ConfirmIn confirms the address of a new account on behalf of staff. It returns false if it was confirmed before.
func (s *Service) ConfirmIn(ctx context.Context, tx *store.Tx, id store.AccountID) (changed bool, err error) {
	user, err := tx.User(ctx, id)
	if err != nil || user.ConfirmedAt != nil {
		return false, err
	}
	return true, s.confirmNewUser(ctx, tx, user)
}

// ApproveIn approves a new account on behalf of staff, and tells its user if that makes the account available. It returns false if it was
// approved before.
func (s *Service) ApproveIn(ctx context.Context, tx *store.Tx, id store.AccountID) (changed bool, err error) {
	user, err := tx.User(ctx, id)
	if err != nil || user.ApprovedAt != nil {
		return false, err
	}
	now := store.At(s.db.Now())
	user.ApprovedAt = &now
	if err := tx.SaveUser(ctx, user); err != nil {
		return false, err
	}
	if err := tx.SetUnavailable(ctx, id, !user.CanSignIn()); err != nil {
		return false, err
	}
	if err := s.enqueueWelcome(ctx, tx, user); err != nil || !user.CanSignIn() || user.Email == "" {
		return true, err
	}
	return true, s.sendMail(ctx, tx, store.SendMail{Mail: store.MailApproved, AccountID: id})
}

// RejectIn deletes an account that awaits approval, and tells its user if the address is confirmed. The nickname and the address can be used
// again.
func (s *Service) RejectIn(ctx context.Context, tx *store.Tx, account *store.Account) error {
	user, err := tx.User(ctx, account.ID)
	if err != nil {
		return err
	}
	if user.ApprovedAt != nil {
		return errApproved
	}
	tx.Emit(store.TokensRevoked{AccountID: account.ID})
	if err := tx.RemoveAccount(ctx, account.ID); err != nil {
		return err
	}
	if user.ConfirmedAt == nil || user.Email == "" {
		return nil
	}
	return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailRejected, To: user.Email, Values: map[string]string{"nickname": account.Nickname, "language": user.Locale}})
}
