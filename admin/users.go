package admin

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/mail"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// User is a local account as staff see it.
type User struct {
	ID           int64     `json:"id"` // the integer by which staff know an account
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
	Reason       string    `json:"reason"` // given for wanting to join
	CreatedAt    time.Time `json:"created_at"`
	LastActiveAt time.Time `json:"last_active_at"` // zero: never
	Followers    int       `json:"followers"`
	Following    int       `json:"following"`
	Statuses     int       `json:"statuses"`
}

func newUser(a *store.Account, u *store.User) *User {
	user := &User{
		ID:          int64(a.ID),
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

// NewUser is an account to be made.
type NewUser struct {
	Nickname  string `json:"nickname"`
	Email     string `json:"email"`
	Password  string `json:"password"` // "": one is made up
	Admin     bool   `json:"admin"`
	Moderator bool   `json:"moderator"`
}

// CreatedUser is an account that was made, with its password if that was made up.
type CreatedUser struct {
	*User
	Password string `json:"password"`
}

// CreateUser makes an account that can be used at once: whoever makes it has confirmed and approved it.
func (s *Service) CreateUser(ctx context.Context, n NewUser) (*CreatedUser, error) {
	if !text.ValidNickname(n.Nickname, s.ExtendedNicknames) {
		return nil, errs.BadRequest("nickname has invalid format")
	}
	if text.IsReserved(n.Nickname, s.Reserved) {
		return nil, errs.BadRequest("nickname is reserved")
	}
	email, err := parseEmail(n.Email)
	if err != nil {
		return nil, err
	}
	created := new(CreatedUser)
	if n.Password == "" {
		n.Password = rand.Text()
		created.Password = n.Password
	}
	hash, err := s.hash(ctx, n.Password) // takes its time: not within the transaction
	if err != nil {
		return nil, err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		now := store.At(s.db.Now())
		a := &store.Account{ID: tx.NewAccountID(), Nickname: n.Nickname, DisplayName: n.Nickname, ActorType: "Person", CreatedAt: now}
		a.URI = s.BaseURL + "/users/" + a.ID.String()
		a.URL = s.BaseURL + "/@" + a.Nickname
		u := &store.User{
			AccountID: a.ID, Email: email, PasswordHash: hash, IsAdmin: n.Admin, IsModerator: n.Moderator,
			ConfirmedAt: &now, ApprovedAt: &now, ShowRole: true, AllowFollowingMove: true,
		}
		if err := nicknameFree(ctx, tx, n.Nickname); err != nil {
			return err
		}
		if err := emailFree(ctx, tx, email, a.ID); err != nil {
			return err
		}
		if err := tx.AddAccount(ctx, a); err != nil {
			return err
		}
		if err := tx.AddUser(ctx, u); err != nil {
			return err
		}
		created.User = newUser(a, u)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.log.Info("account created", "account", created.ID, "admin", n.Admin, "moderator", n.Moderator)
	return created, nil
}

// nicknameFree fails if somebody has, or had, the nickname.
func nicknameFree(ctx context.Context, tx *store.Tx, nick string) error {
	_, err := tx.AccountByName(ctx, nick, "")
	if err == nil {
		return errs.Conflict("nickname has already been taken")
	}
	if !errs.IsNotFound(err) {
		return err
	}
	return nil
}

// emailFree fails if somebody else than id has the address.
func emailFree(ctx context.Context, tx *store.Tx, email string, id store.AccountID) error {
	if email == "" {
		return nil
	}
	u, err := tx.UserByEmail(ctx, email)
	if errs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if u.AccountID != id {
		return errs.Conflict("email has already been taken")
	}
	return nil
}

// parseEmail accepts plain addresses only: what a mail program could read in two ways is refused.
func parseEmail(email string) (string, error) {
	email = strings.TrimSpace(email)
	a, err := mail.ParseAddress(email)
	if err != nil || a.Address != email || strings.ContainsAny(email, "\"%!()<>[]:;, \t\r\n") || len(email) > 254 {
		return "", errs.BadRequest("email has invalid format")
	}
	return email, nil
}

// UserPage asks for a part of the list of accounts.
type UserPage struct {
	After int64 `json:"after"` // id of the last one of the part before; 0: from the beginning
	Limit int   `json:"limit"`
}

// Users lists the accounts here, the oldest first.
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
	account, user, err := s.find(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	return newUser(account, user), nil
}

// UserChange is what to change of an account; nil stays as it is.
type UserChange struct {
	Name      string  `json:"name"`
	Admin     *bool   `json:"admin"`
	Moderator *bool   `json:"moderator"`
	Locked    *bool   `json:"locked"`
	Email     *string `json:"email"`
}

// SetUser changes roles and settings of an account. A new e-mail address counts at once, and links sent to the old one stop
// working. The last admin stays one.
func (s *Service) SetUser(ctx context.Context, c UserChange) (*User, error) {
	u, err := s.change(ctx, c.Name, func(tx *store.Tx, a *store.Account, u *store.User) error {
		if c.Locked != nil {
			a.Locked = *c.Locked
			if err := tx.SaveAccount(ctx, a); err != nil {
				return err
			}
		}
		if c.Admin != nil {
			if !*c.Admin {
				if last, err := tx.LastAdmin(ctx, a.ID); last || err != nil {
					return cmp.Or(err, error(social.ErrLastAdmin))
				}
			}
			u.IsAdmin = *c.Admin
		}
		if c.Moderator != nil {
			u.IsModerator = *c.Moderator
		}
		if c.Email != nil {
			email, err := parseEmail(*c.Email)
			if err != nil {
				return err
			}
			if err := emailFree(ctx, tx, email, a.ID); err != nil {
				return err
			}
			u.Email = email
			if err := tx.DropOneTimeTokens(ctx, a.ID); err != nil {
				return err
			}
		}
		return tx.SaveUser(ctx, u)
	})
	if err == nil {
		s.log.Info("account changed", "account", u.ID, "admin", u.Admin, "moderator", u.Moderator)
	}
	return u, err
}

// password returns the hash of a password that staff choose for somebody.
func (s *Service) password(ctx context.Context, password string) (string, error) {
	hash, err := s.hash(ctx, password)
	if err != nil {
		return "", fmt.Errorf("password: %w", err)
	}
	return hash, nil
}
