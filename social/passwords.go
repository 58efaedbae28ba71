package social

import (
	"context"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/internal/password"
	"svc/store"
)

// ErrResetToken is returned for a password reset token that is used, expired or unknown.
var ErrResetToken = errs.BadRequest("Invalid Token")

// ErrPasswordChanged is returned if the password changed while another change was processed.
var ErrPasswordChanged = errs.Conflict("Invalid password.")

// ChangePassword replaces the password of user, whose old one the caller has checked, and revokes all tokens.
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
		return s.setPassword(ctx, tx, user.AccountID, hash)
	})
}

// HashPassword validates and hashes a new password for SetPassword, before the transaction because that takes long.
func (s *Service) HashPassword(ctx context.Context, newPassword string) (hash string, err error) {
	return s.hashNewPassword(ctx, newPassword)
}

// SetPassword replaces a password on behalf of staff and revokes all tokens.
func (s *Service) SetPassword(ctx context.Context, tx *store.Tx, id store.AccountID, hash string) error {
	return s.setPassword(ctx, tx, id, hash)
}

// RequirePasswordReset makes a user set a new password before the next sign-in, and revokes all tokens. It returns false if that was so
// before.
func (s *Service) RequirePasswordReset(ctx context.Context, tx *store.Tx, id store.AccountID) (changed bool, err error) {
	user, err := tx.User(ctx, id)
	if err != nil || user.ResetRequired {
		return false, err
	}
	user.ResetRequired = true
	if err := tx.SaveUser(ctx, user); err != nil {
		return false, err
	}
	return true, tx.RevokeTokens(ctx, id)
}

// RequestPasswordReset sends mail with a password reset link. It does nothing for an account whose user cannot sign in or has no address.
func (s *Service) RequestPasswordReset(ctx context.Context, id store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		user, err := tx.User(ctx, id)
		if err != nil || !user.CanSignIn() || user.Email == "" {
			return errs.IgnoreNotFound(err)
		}
		return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailPasswordReset, AccountID: id})
	})
}

// StartPasswordReset is StartPasswordResetIn in a transaction of its own.
func (s *Service) StartPasswordReset(ctx context.Context, id store.AccountID) (token string, err error) {
	return update(ctx, s.db, func(tx *store.Tx) (string, error) { return s.StartPasswordResetIn(ctx, tx, id) })
}

// StartPasswordResetIn returns a new password reset token. Earlier ones become invalid.
func (s *Service) StartPasswordResetIn(ctx context.Context, tx *store.Tx, id store.AccountID) (token string, err error) {
	if _, err := tx.User(ctx, id); err != nil {
		return "", err
	}
	token = keys.NewToken()
	return token, tx.SetOneTimeToken(ctx, &store.OneTimeToken{
		Hash: keys.HashToken(token), Kind: store.ResetPassword, AccountID: id,
		ExpiresAt: store.At(s.db.Now().Add(s.Settings().ResetLifetime)),
	})
}

// PasswordResetAccount returns the account of a password reset token, or ErrResetToken.
func (s *Service) PasswordResetAccount(ctx context.Context, token string) (*store.Account, error) {
	t, err := resetToken(ctx, s.db, token)
	if err != nil {
		return nil, err
	}
	return s.db.Account(ctx, t.AccountID)
}

// ResetPassword consumes a token, replaces the password and revokes all tokens.
func (s *Service) ResetPassword(ctx context.Context, token, newPassword string) error {
	if _, err := resetToken(ctx, s.db, token); err != nil { // before hashing, which is expensive
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
		return s.setPassword(ctx, tx, t.AccountID, hash)
	})
}

// hashNewPassword validates and hashes a new password.
func (s *Service) hashNewPassword(ctx context.Context, newPassword string) (string, error) {
	if err := password.Check(newPassword); err != nil {
		return "", errs.Invalid("New password %v.", err)
	}
	return s.Passwords.Hash(ctx, newPassword)
}

// setPassword stores a password hash, revokes what the old password gave access to, and tells the user.
func (s *Service) setPassword(ctx context.Context, tx *store.Tx, id store.AccountID, hash string) error {
	if err := tx.SetPasswordHash(ctx, id, hash); err != nil {
		return err
	}
	for _, kind := range []store.OneTimeKind{store.ResetPassword, store.ChangeAddress} {
		if err := tx.DropOneTimeTokens(ctx, id, kind); err != nil {
			return err
		}
	}
	if err := tx.RevokeTokens(ctx, id); err != nil {
		return err
	}
	return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailPasswordChanged, AccountID: id})
}

// resetToken looks up a password reset token. Tokens of deactivated accounts are invalid.
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
