package admin

import (
	"context"

	"svc/store"
)

// ChangedUser is an account after a change of its state.
type ChangedUser struct {
	*User
	Changed bool `json:"changed"` // false: it was so before
}

// ConfirmUser takes an account's e-mail address as confirmed.
func (s *Service) ConfirmUser(ctx context.Context, name string) (*ChangedUser, error) {
	return s.setUserTime(ctx, name, func(u *store.User) **store.Time { return &u.ConfirmedAt })
}

// ApproveUser lets an account in that waits for approval.
func (s *Service) ApproveUser(ctx context.Context, name string) (*ChangedUser, error) {
	return s.setUserTime(ctx, name, func(u *store.User) **store.Time { return &u.ApprovedAt })
}

// ResetMFA lets somebody who has lost their second factor sign in with the password alone, and signs them out everywhere.
func (s *Service) ResetMFA(ctx context.Context, name string) (*ChangedUser, error) {
	account, user, err := s.findUser(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	if user.HasMFA() {
		if err := s.social.DisableMFA(ctx, account.ID, 0); err != nil {
			return nil, err
		}
	}
	u, err := s.ShowUser(ctx, name)
	return s.userChanged("second factor reset", u, user.HasMFA(), err)
}

// RebuildHome makes an account's home timeline anew, of what it follows.
func (s *Service) RebuildHome(ctx context.Context, name string) (*ChangedUser, error) {
	u, err := s.ShowUser(ctx, name)
	if err != nil {
		return nil, err
	}
	return &ChangedUser{User: u, Changed: true}, s.social.RebuildHome(ctx, store.AccountID(u.ID))
}

// setUserTime sets one of the times that an account needs to be usable.
func (s *Service) setUserTime(ctx context.Context, name string, field func(*store.User) **store.Time) (*ChangedUser, error) {
	changed := false
	u, err := s.updateUser(ctx, name, func(tx *store.Tx, a *store.Account, u *store.User) error {
		if *field(u) != nil {
			return nil
		}
		changed = true
		now := store.At(s.db.Now())
		*field(u) = &now
		if err := tx.SaveUser(ctx, u); err != nil {
			return err
		}
		return tx.SetUnavailable(ctx, a.ID, !u.CanSignIn())
	})
	return s.userChanged("account let in", u, changed, err)
}

// ActivateUser brings a deactivated account back.
func (s *Service) ActivateUser(ctx context.Context, name string) (*ChangedUser, error) {
	return s.setActive(ctx, name, "account activated", s.social.Activate)
}

// DeactivateUser takes an account out of service, as social.Deactivate does.
func (s *Service) DeactivateUser(ctx context.Context, name string) (*ChangedUser, error) {
	return s.setActive(ctx, name, "account deactivated", s.social.Deactivate)
}

func (s *Service) setActive(ctx context.Context, name, done string, set func(context.Context, store.AccountID) (bool, error)) (*ChangedUser, error) {
	account, _, err := s.findUser(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	changed, err := set(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	u, err := s.ShowUser(ctx, name)
	return s.userChanged(done, u, changed, err)
}

func (s *Service) userChanged(done string, u *User, changed bool, err error) (*ChangedUser, error) {
	if err != nil {
		return nil, err
	}
	if changed {
		s.log.Info(done, "account", store.AccountID(u.ID))
	}
	return &ChangedUser{User: u, Changed: changed}, nil
}

// DeleteUser deletes an account for good, as social.DeleteAccount does. It returns what the account was.
func (s *Service) DeleteUser(ctx context.Context, name string) (*User, error) {
	account, user, err := s.findUser(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	if err := s.social.DeleteAccount(ctx, account.ID); err != nil {
		return nil, err
	}
	u := newUser(account, user)
	s.log.Info("account deleted", "account", store.AccountID(u.ID))
	return u, nil
}

// PasswordReset is a password to set, or to let somebody set.
type PasswordReset struct {
	Name     string `json:"name"`
	Password string `json:"password"` // "": make a link with which one can be chosen
}

// ResetLink is where somebody can choose a new password, once.
type ResetLink struct {
	*User
	Link string `json:"link"` // "": the password was set
}

// ResetPassword sets a password, which signs the account out everywhere, or makes a link for setting one.
func (s *Service) ResetPassword(ctx context.Context, p PasswordReset) (*ResetLink, error) {
	account, user, err := s.findUser(ctx, s.db, p.Name)
	if err != nil {
		return nil, err
	}
	reset := &ResetLink{User: newUser(account, user)}
	if p.Password != "" {
		if err := s.social.SetPassword(ctx, account.ID, p.Password); err != nil {
			return nil, err
		}
		s.log.Info("password set, all apps signed out", "account", account.ID)
		return reset, nil
	}
	token, err := s.social.StartPasswordReset(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	reset.Link = s.social.BaseURL + "/api/v1/" + s.apiName + "/password_reset/" + token
	s.log.Info("link for a new password made", "account", account.ID)
	return reset, nil
}
