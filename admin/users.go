package admin

import (
	"cmp"
	"context"
	"crypto/rand"
	"time"

	"svc/social"
	"svc/store"
)

// User is a local account as staff see it.
type User struct {
	ID           int64     `json:"id"`        // the integer id of the admin API
	PublicID     string    `json:"public_id"` // the id that apps and the log show
	Nickname     string    `json:"nickname"`
	Email        string    `json:"email"`
	DisplayName  string    `json:"display_name"`
	URL          string    `json:"url"`
	Admin        bool      `json:"admin"`
	Moderator    bool      `json:"moderator"`
	Locked       bool      `json:"locked"`
	Confirmed    bool      `json:"confirmed"`
	Approved     bool      `json:"approved"`
	Deactivated  bool      `json:"deactivated"`
	Reason       string    `json:"reason"` // of the registration
	CreatedAt    time.Time `json:"created_at"`
	LastActiveAt time.Time `json:"last_active_at"` // zero: never
	Followers    int       `json:"followers"`
	Following    int       `json:"following"`
	Statuses     int       `json:"statuses"`
}

func newUser(a *store.Account, u *store.User) *User {
	user := &User{
		ID:          int64(a.ID),
		PublicID:    a.ID.String(),
		Nickname:    a.Nickname,
		Email:       u.Email,
		DisplayName: a.DisplayName,
		URL:         a.URL,
		Admin:       u.IsAdmin,
		Moderator:   u.IsModerator,
		Locked:      a.Locked,
		Confirmed:   u.ConfirmedAt != nil,
		Approved:    u.ApprovedAt != nil,
		Deactivated: u.DeactivatedAt != nil,
		Reason:      u.RegistrationReason,
		CreatedAt:   a.CreatedAt.Time(),
		Followers:   a.FollowersCount,
		Following:   a.FollowingCount,
		Statuses:    a.StatusesCount,
	}
	if u.LastActiveAt != 0 {
		user.LastActiveAt = u.LastActiveAt.Time()
	}
	return user
}

// NewUser is an account to create.
type NewUser struct {
	Nickname  string `json:"nickname"`
	Email     string `json:"email"`
	Password  string `json:"password"` // "": generate one
	Admin     bool   `json:"admin"`
	Moderator bool   `json:"moderator"`
}

// CreatedUser is a created account, with its password if that was generated.
type CreatedUser struct {
	*User
	Password string `json:"password"`
}

// CreateUser creates a confirmed and approved account.
func (s *Service) CreateUser(ctx context.Context, n NewUser) (*CreatedUser, error) {
	created := new(CreatedUser)
	if n.Password == "" {
		n.Password = rand.Text()
		created.Password = n.Password
	}
	account, user, err := s.social.SignUp(ctx, social.Registration{
		Nickname: n.Nickname, Email: n.Email, Password: n.Password, Admin: n.Admin, Moderator: n.Moderator, Confirmed: true, Approved: true,
	})
	if err != nil {
		return nil, err
	}
	created.User = newUser(account, user)
	s.log.Info("account created", "account", account.ID, "admin", n.Admin, "moderator", n.Moderator)
	return created, nil
}

// UserPage selects a page of the list of accounts.
type UserPage struct {
	After int64 `json:"after"` // id of the last account of the page before; 0: the first page
	Limit int   `json:"limit"`
}

// Users returns local accounts, the oldest first.
func (s *Service) Users(ctx context.Context, p UserPage) ([]*User, error) {
	accounts, err := s.db.LocalAccounts(ctx, store.AccountID(p.After), min(max(p.Limit, 1), 500))
	if err != nil {
		return nil, err
	}
	ids := make([]store.AccountID, len(accounts))
	for i, a := range accounts {
		ids[i] = a.ID
	}
	rows, err := s.db.Users(ctx, ids)
	if err != nil {
		return nil, err
	}
	userOf := make(map[store.AccountID]*store.User, len(rows))
	for _, u := range rows {
		userOf[u.AccountID] = u
	}
	list := make([]*User, 0, len(accounts))
	for _, a := range accounts {
		if u := userOf[a.ID]; u != nil {
			list = append(list, newUser(a, u))
		}
	}
	return list, nil
}

// ShowUser returns one account.
func (s *Service) ShowUser(ctx context.Context, name string) (*User, error) {
	account, user, err := s.findUser(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	return newUser(account, user), nil
}

// UserUpdate is a change to an account. Nil fields stay as they are.
type UserUpdate struct {
	Name      string  `json:"name"`
	Admin     *bool   `json:"admin"`
	Moderator *bool   `json:"moderator"`
	Locked    *bool   `json:"locked"`
	Email     *string `json:"email"`
}

// UpdateUser changes roles and settings of an account. A new e-mail address counts at once, as social.SetEmail says. The last admin
// keeps its role.
func (s *Service) UpdateUser(ctx context.Context, c UserUpdate) (*User, error) {
	u, err := s.updateUser(ctx, c.Name, func(tx *store.Tx, a *store.Account, u *store.User) error {
		if c.Locked != nil {
			a.Locked = *c.Locked
			if err := tx.SaveAccount(ctx, a); err != nil {
				return err
			}
		}
		if c.Admin != nil {
			if !*c.Admin {
				if last, err := tx.IsLastAdmin(ctx, a.ID); last || err != nil {
					return cmp.Or(err, error(social.ErrLastAdmin))
				}
			}
			u.IsAdmin = *c.Admin
		}
		if c.Moderator != nil {
			u.IsModerator = *c.Moderator
		}
		if c.Email != nil {
			return s.social.SetEmail(ctx, tx, u, *c.Email)
		}
		return tx.SaveUser(ctx, u)
	})
	if err == nil {
		s.log.Info("account changed", "account", store.AccountID(u.ID), "admin", u.Admin, "moderator", u.Moderator)
	}
	return u, err
}

// ChangedUser is an account after a change of its state.
type ChangedUser struct {
	*User
	Changed bool `json:"changed"` // false: the account had this state before
}

// ConfirmUser confirms the e-mail address of an account.
func (s *Service) ConfirmUser(ctx context.Context, name string) (*ChangedUser, error) {
	return s.setState(ctx, name, "account confirmed", s.social.Confirm)
}

// ApproveUser approves an account that is pending approval, as social.Approve does.
func (s *Service) ApproveUser(ctx context.Context, name string) (*ChangedUser, error) {
	return s.setState(ctx, name, "account approved", s.social.Approve)
}

// RejectUser deletes an account that is pending approval, as social.Reject does. It returns what the account was.
func (s *Service) RejectUser(ctx context.Context, name string) (*User, error) {
	account, user, err := s.findUser(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	if err := s.social.Reject(ctx, account.ID); err != nil {
		return nil, err
	}
	s.log.Info("account rejected", "account", account.ID)
	return newUser(account, user), nil
}

// ResetMFA disables the second factor of an account and revokes its tokens.
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

// RebuildHome rebuilds the home timeline of an account.
func (s *Service) RebuildHome(ctx context.Context, name string) (*ChangedUser, error) {
	u, err := s.ShowUser(ctx, name)
	if err != nil {
		return nil, err
	}
	return &ChangedUser{User: u, Changed: true}, s.social.RebuildHome(ctx, store.AccountID(u.ID))
}

// ActivateUser reactivates a deactivated account.
func (s *Service) ActivateUser(ctx context.Context, name string) (*ChangedUser, error) {
	return s.setState(ctx, name, "account activated", s.social.Activate)
}

// DeactivateUser deactivates an account, as social.Deactivate does.
func (s *Service) DeactivateUser(ctx context.Context, name string) (*ChangedUser, error) {
	return s.setState(ctx, name, "account deactivated", s.social.Deactivate)
}

func (s *Service) setState(ctx context.Context, name, message string, set func(context.Context, store.AccountID) (bool, error)) (*ChangedUser, error) {
	account, _, err := s.findUser(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	changed, err := set(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	u, err := s.ShowUser(ctx, name)
	return s.userChanged(message, u, changed, err)
}

func (s *Service) userChanged(message string, u *User, changed bool, err error) (*ChangedUser, error) {
	if err != nil {
		return nil, err
	}
	if changed {
		s.log.Info(message, "account", store.AccountID(u.ID))
	}
	return &ChangedUser{User: u, Changed: changed}, nil
}

// DeleteUser deletes an account, as social.DeleteAccount does. It returns what the account was.
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

// PasswordReset selects an account and its new password.
type PasswordReset struct {
	Name     string `json:"name"`
	Password string `json:"password"` // "": create a reset link
}

// ResetLink is a password reset link, which works once.
type ResetLink struct {
	*User
	Link string `json:"link"` // "": the password was set
}

// ResetPassword sets a password and revokes all tokens, or creates a reset link.
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
		s.log.Info("password set, all tokens revoked", "account", account.ID)
		return reset, nil
	}
	token, err := s.social.StartPasswordReset(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	reset.Link = s.social.BaseURL + "/api/v1/" + s.apiName + "/password_reset/" + token
	s.log.Info("password reset link created", "account", account.ID)
	return reset, nil
}
