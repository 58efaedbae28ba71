package social

import (
	"context"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/internal/password"
	"svc/store"
)

// ErrResetToken is what a link to set a new password says that was used, is too old, or never was one.
var ErrResetToken = errs.BadRequest("Invalid Token")

// ErrPasswordChanged is the answer to who changes a password that somebody else has changed in the meantime.
var ErrPasswordChanged = errs.Conflict("Invalid password.")

// ChangePassword gives user, whose old password has been checked, another one, and signs them out everywhere.
func (s *Service) ChangePassword(ctx context.Context, user *store.User, newPassword string) error {
	hash, err := s.hashNewPassword(ctx, newPassword)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		is, err := tx.PasswordIs(ctx, user.AccountID, user.PasswordHash)
		if err == nil && !is {
			err = ErrPasswordChanged
		}
		if err != nil {
			return err
		}
		return setPassword(ctx, tx, user.AccountID, hash)
	})
}

// SetPassword gives somebody another password and signs them out everywhere. It is for those who run the server.
func (s *Service) SetPassword(ctx context.Context, id store.AccountID, newPassword string) error {
	hash, err := s.hashNewPassword(ctx, newPassword)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return setPassword(ctx, tx, id, hash) })
}

// StartPasswordReset returns the token of a link with which somebody can set a new password, once. Earlier links are void.
func (s *Service) StartPasswordReset(ctx context.Context, id store.AccountID) (token string, err error) {
	token = keys.NewToken()
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if _, err := tx.User(ctx, id); err != nil {
			return err
		}
		return tx.SetOneTimeToken(ctx, &store.OneTimeToken{
			Hash: keys.HashToken(token), Kind: store.ResetPassword, AccountID: id,
			ExpiresAt: store.At(s.db.Now().Add(s.ResetLifetime)),
		})
	})
	return token, err
}

// PasswordResetAccount returns the account whose password the token can set, and ErrResetToken if there is none.
func (s *Service) PasswordResetAccount(ctx context.Context, token string) (*store.Account, error) {
	t, err := resetToken(ctx, s.db, token)
	if err != nil {
		return nil, err
	}
	return s.db.Account(ctx, t.AccountID)
}

// ResetPassword sets a new password by the token of a link, which is spent by that, and signs the account out everywhere.
func (s *Service) ResetPassword(ctx context.Context, token, newPassword string) error {
	if _, err := resetToken(ctx, s.db, token); err != nil { // before the work of hashing the password
		return err
	}
	hash, err := s.hashNewPassword(ctx, newPassword)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		t, err := resetToken(ctx, tx, token)
		if err != nil {
			return err
		}
		return setPassword(ctx, tx, t.AccountID, hash)
	})
}

// hashNewPassword hashes a new password, if it is one that may be chosen.
func (s *Service) hashNewPassword(ctx context.Context, newPassword string) (string, error) {
	if err := password.Check(newPassword); err != nil {
		return "", errs.Invalid("New password %v.", err)
	}
	return s.Passwords.Hash(ctx, newPassword)
}

// setPassword stores the hash of a new password. All that was obtained by the old one is void.
func setPassword(ctx context.Context, tx *store.Tx, id store.AccountID, hash string) error {
	if err := tx.SetPasswordHash(ctx, id, hash); err != nil {
		return err
	}
	if err := tx.DropOneTimeTokens(ctx, id, store.ResetPassword); err != nil {
		return err
	}
	return tx.RevokeTokens(ctx, id)
}

// resetToken finds the token of a link. Those of deactivated accounts count for nothing.
func resetToken(ctx context.Context, r interface {
	OneTimeToken(context.Context, store.OneTimeKind, []byte) (*store.OneTimeToken, error)
	User(context.Context, store.AccountID) (*store.User, error)
}, token string) (*store.OneTimeToken, error) {
	t, err := r.OneTimeToken(ctx, store.ResetPassword, keys.HashToken(token))
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, ErrResetToken
	}
	u, err := r.User(ctx, t.AccountID)
	if err != nil {
		return nil, err
	}
	if u.DeactivatedAt != nil {
		return nil, ErrResetToken
	}
	return t, nil
}
