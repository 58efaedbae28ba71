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

// CheckPassword returns a *password.Problem if a new password is not acceptable for an account.
func (s *Service) CheckPassword(newPassword, nickname, email string) error {
	return password.Check(newPassword, s.Settings.Load().Accounts.PasswordMinLength, nickname, nickname+"@"+s.Settings.Host, email)
}

// ChangePassword replaces the password of user, whose old one the caller has checked, and revokes all tokens.
func (s *Service) ChangePassword(ctx context.Context, account *store.Account, user *store.User, newPassword string) error {
	hash, err := s.HashPassword(ctx, account, user, newPassword)
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
func (s *Service) HashPassword(ctx context.Context, account *store.Account, user *store.User, newPassword string) (hash string, err error) {
	if err := s.CheckPassword(newPassword, account.Nickname, user.Email); err != nil {
		return "", errs.Invalid("New password %v.", err)
	}
	return s.Passwords.Hash(ctx, newPassword)
}

// SetPasswordIn replaces a password on behalf of staff and revokes all tokens.
func (s *Service) SetPasswordIn(ctx context.Context, tx *store.Tx, id store.AccountID, hash string) error {
	return s.setPassword(ctx, tx, id, hash)
}

// RequirePasswordResetIn makes a user set a new password before the next sign-in, and revokes all tokens. It returns false if that was so
// before.
func (s *Service) RequirePasswordResetIn(ctx context.Context, tx *store.Tx, id store.AccountID) (changed bool, err error) {
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
		ExpiresAt: store.At(s.db.Now().Add(s.Settings.Load().Accounts.PasswordResetLifetime)),
	})
}

// PasswordResetAccount returns the account of a password reset token, or ErrResetToken.
func (s *Service) PasswordResetAccount(ctx context.Context, token string) (*store.Account, *store.User, error) {
	t, user, err := resetToken(ctx, s.db, token)
	if err != nil {
		return nil, nil, err
	}
	account, err := s.db.Account(ctx, t.AccountID)
	return account, user, err
}

// ResetPassword consumes a token, replaces the password and revokes all tokens.
func (s *Service) ResetPassword(ctx context.Context, token, newPassword string) error {
	account, user, err := s.PasswordResetAccount(ctx, token) // before hashing, which is expensive
	if err != nil {
		return err
	}
	hash, err := s.HashPassword(ctx, account, user, newPassword)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		t, _, err := resetToken(ctx, tx, token)
		if err != nil {
			return err
		}
		return s.setPassword(ctx, tx, t.AccountID, hash)
	})
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

// resetToken looks up a password reset token and its user. Tokens of deactivated accounts are invalid.
func resetToken(ctx context.Context, r interface {
	OneTimeToken(context.Context, store.OneTimeKind, []byte) (*store.OneTimeToken, error)
	User(context.Context, store.AccountID) (*store.User, error)
}, token string) (*store.OneTimeToken, *store.User, error) {
	t, err := r.OneTimeToken(ctx, store.ResetPassword, keys.HashToken(token))
	if err != nil {
		return nil, nil, err
	}
	if t == nil {
		return nil, nil, ErrResetToken
	}
	u, err := r.User(ctx, t.AccountID)
	if err != nil {
		return nil, nil, err
	}
	if u.DeactivatedAt != nil {
		return nil, nil, ErrResetToken
	}
	return t, u, nil
}
