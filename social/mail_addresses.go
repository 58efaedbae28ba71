package social

import (
	"context"
	"net/http"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/keys"
	"svc/internal/text"
	"svc/store"
)

// ConfirmationLifetime is how long a link is valid that confirms a mail address.
const ConfirmationLifetime = 24 * time.Hour

var (
	// ErrConfirmationToken is returned for a confirmation token that is used, expired or unknown.
	ErrConfirmationToken = errs.New(http.StatusNotFound, "This link was used already, is too old, or was replaced by a newer one.")

	errEmailTaken   = errs.Conflict("Email has already been taken.")
	errEmailInvalid = errs.Invalid("Email has invalid format.")
	errEmailBlank   = errs.Invalid("Email can't be blank.")

	errEmailBlacklisted = errs.Invalid("Invalid email.")
)

// ResendConfirmation sends the confirmation mail of a new account again. It does nothing if the account needs none.
func (s *Service) ResendConfirmation(ctx context.Context, id store.AccountID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		_, err := s.ResendConfirmationIn(ctx, tx, id)
		return errs.IgnoreNotFound(err)
	})
}

// ResendConfirmationIn sends the confirmation mail of a new account again on behalf of staff. It returns false if the account needs none.
func (s *Service) ResendConfirmationIn(ctx context.Context, tx *store.Tx, id store.AccountID) (sent bool, err error) {
	user, err := tx.User(ctx, id)
	if err != nil || !awaitsConfirmation(user) {
		return false, err
	}
	return true, s.sendMail(ctx, tx, store.SendMail{Mail: store.MailConfirmation, AccountID: id})
}

// awaitsConfirmation returns true if the address of a new account must be confirmed.
func awaitsConfirmation(u *store.User) bool {
	return u.ConfirmedAt == nil && u.DeactivatedAt == nil && u.Email != ""
}

// StartConfirmation returns a new token that confirms the address of a new account, "" if it needs none. Earlier ones become invalid.
func (s *Service) StartConfirmation(ctx context.Context, id store.AccountID) (token string, err error) {
	return s.startToken(ctx, id, store.ConfirmAddress, ConfirmationLifetime, awaitsConfirmation)
}

// StartAddressChange returns a new token that confirms the pending address of an account, "" if there is none. Earlier ones become
// invalid.
func (s *Service) StartAddressChange(ctx context.Context, id store.AccountID) (token string, err error) {
	return s.startToken(ctx, id, store.ChangeAddress, ConfirmationLifetime, func(u *store.User) bool {
		return u.PendingEmail != "" && u.DeactivatedAt == nil
	})
}

// ResendAddressChange sends the mail that confirms the pending address of a user again. It returns false if there is none.
func (s *Service) ResendAddressChange(ctx context.Context, id store.AccountID) (sent bool, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		user, err := tx.User(ctx, id)
		if err != nil || user.PendingEmail == "" || user.DeactivatedAt != nil {
			return err
		}
		sent = true
		return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailAddressChange, AccountID: id})
	})
	return sent, err
}

// startToken replaces the one-time token of a kind. It returns "" unless the user meets the condition.
func (s *Service) startToken(ctx context.Context, id store.AccountID, kind store.OneTimeKind, lifetime time.Duration, condition func(*store.User) bool) (token string, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		user, err := tx.User(ctx, id)
		if err != nil || !condition(user) {
			return errs.IgnoreNotFound(err)
		}
		token = keys.NewToken()
		return tx.SetOneTimeToken(ctx, &store.OneTimeToken{
			Hash: keys.HashToken(token), Kind: kind, AccountID: id, ExpiresAt: store.At(s.db.Now().Add(lifetime)),
		})
	})
	return token, err
}

// ConfirmedAddress is the result of a confirmation link.
type ConfirmedAddress struct {
	Account *store.Account
	User    *store.User
	Changed bool // it was the new address of an account that had another
}

// ConfirmAddress consumes a token: it confirms the address of a new account, or makes the pending address of an account its address. It
// returns ErrConfirmationToken for a token that is not the account's.
func (s *Service) ConfirmAddress(ctx context.Context, id store.AccountID, token string) (*ConfirmedAddress, error) {
	result := new(ConfirmedAddress)
	hash := keys.HashToken(token)
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		for _, confirm := range []struct {
			kind  store.OneTimeKind
			apply func(context.Context, *store.Tx, *store.User) error
		}{
			{store.ConfirmAddress, s.confirmNewUser},
			{store.ChangeAddress, s.applyPendingAddress},
		} {
			t, err := tx.OneTimeToken(ctx, confirm.kind, hash)
			if err != nil {
				return err
			}
			if t == nil || t.AccountID != id {
				continue
			}
			if result.User, err = tx.User(ctx, id); err != nil {
				return err
			}
			if result.User.DeactivatedAt != nil {
				return ErrConfirmationToken
			}
			result.Changed = confirm.kind == store.ChangeAddress
			if err := confirm.apply(ctx, tx, result.User); err != nil {
				return err
			}
			result.Account, err = tx.Account(ctx, id)
			return err
		}
		return ErrConfirmationToken
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// confirmNewUser confirms the address of a new account. What follows is that of the extension API, 6.3.
func (s *Service) confirmNewUser(ctx context.Context, tx *store.Tx, user *store.User) error {
	if user.ConfirmedAt != nil {
		return ErrConfirmationToken
	}
	now := store.At(s.db.Now())
	user.ConfirmedAt = &now
	if err := tx.SaveUser(ctx, user); err != nil {
		return err
	}
	if err := tx.DropOneTimeTokens(ctx, user.AccountID, store.ConfirmAddress); err != nil {
		return err
	}
	return s.userStateChanged(ctx, tx, user)
}

// userStateChanged sends the mail about the state of a new account (extension API 6.3). Once the account is confirmed and approved, it
// makes it available and welcomes the user.
func (s *Service) userStateChanged(ctx context.Context, tx *store.Tx, user *store.User) error {
	if err := tx.SetUnavailable(ctx, user.AccountID, !user.CanSignIn()); err != nil {
		return err
	}
	if err := s.sendStateMail(ctx, tx, user); err != nil {
		return err
	}
	return s.enqueueWelcome(ctx, tx, user)
}

// sendStateMail sends the mail about what a new account waits for.
func (s *Service) sendStateMail(ctx context.Context, tx *store.Tx, user *store.User) error {
	switch {
	case awaitsConfirmation(user):
		return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailConfirmation, AccountID: user.AccountID})
	case user.ApprovedAt == nil && user.ConfirmedAt != nil:
		if err := s.sendMail(ctx, tx, store.SendMail{Mail: store.MailNewRegistration, AboutID: user.AccountID}); err != nil {
			return err
		}
		if user.Email == "" {
			return nil
		}
		return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailAwaitsApproval, AccountID: user.AccountID})
	}
	return nil
}

// ChangeEmail changes the address of a user, whose password the caller has checked. Where addresses need confirmation, the new one only
// becomes the pending address, until ConfirmAddress. The old address gets mail. An empty address removes the address, unless addresses need
// confirmation.
func (s *Service) ChangeEmail(ctx context.Context, checked *store.User, address string) error {
	address = strings.TrimSpace(address)
	switch {
	case address == "" && s.Settings.Load().Instance.AccountActivationRequired:
		return errEmailBlank
	case address != "" && !text.ValidEmail(address):
		return errEmailInvalid
	case address != "":
		blocked, _, err := s.emailBlocked(ctx, s.db, address)
		if err != nil {
			return err
		}
		if blocked {
			return errEmailBlacklisted
		}
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		user, err := tx.User(ctx, checked.AccountID)
		if err != nil {
			return err
		}
		if user.PasswordHash != checked.PasswordHash {
			return ErrPasswordChanged
		}
		if err := checkEmailFree(ctx, tx, user, address); err != nil {
			return err
		}
		if err := tx.DropOneTimeTokens(ctx, user.AccountID, store.ChangeAddress); err != nil {
			return err
		}
		if address == user.Email { // also ends a change that is pending
			user.PendingEmail = ""
			return tx.SaveUser(ctx, user)
		}
		user.PendingEmail = address
		if c := s.Settings.Load(); !c.Instance.AccountActivationRequired || !c.Mail.Enabled {
			return s.applyPendingAddress(ctx, tx, user)
		}
		if err := tx.SaveUser(ctx, user); err != nil {
			return err
		}
		if err := s.notifyOldAddress(ctx, tx, user, user.Email, map[string]string{"address": address, "pending": "true"}); err != nil {
			return err
		}
		return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailAddressChange, AccountID: user.AccountID})
	})
}

// SetEmailIn changes the address of a user without a confirmation, as staff may, and saves the user. Links that were sent to the old address
// become invalid, a pending change ends, and the old address gets mail.
func (s *Service) SetEmailIn(ctx context.Context, tx *store.Tx, user *store.User, address string) error {
	address = strings.TrimSpace(address)
	if !text.ValidEmail(address) {
		return errEmailInvalid
	}
	if address == user.Email {
		user.PendingEmail = ""
		return tx.SaveUser(ctx, user)
	}
	user.PendingEmail = address
	return s.applyPendingAddress(ctx, tx, user)
}

func checkEmailFree(ctx context.Context, tx *store.Tx, user *store.User, address string) error {
	other, err := tx.UserByEmail(ctx, address)
	if err == nil && other.AccountID != user.AccountID {
		return errEmailTaken
	}
	return errs.IgnoreNotFound(err)
}

// applyPendingAddress makes the pending address of a user the address, and invalidates links sent to the old one.
func (s *Service) applyPendingAddress(ctx context.Context, tx *store.Tx, user *store.User) error {
	if err := checkEmailFree(ctx, tx, user, user.PendingEmail); err != nil {
		return err
	}
	old := user.Email
	user.Email, user.PendingEmail = user.PendingEmail, ""
	if err := tx.SaveUser(ctx, user); err != nil {
		return err
	}
	if err := tx.DropOneTimeTokens(ctx, user.AccountID, ""); err != nil {
		return err
	}
	return s.notifyOldAddress(ctx, tx, user, old, map[string]string{"address": user.Email})
}

func (s *Service) notifyOldAddress(ctx context.Context, tx *store.Tx, user *store.User, old string, values map[string]string) error {
	if old == "" {
		return nil
	}
	return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailAddressChanged, AccountID: user.AccountID, To: old, Values: values})
}
