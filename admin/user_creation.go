package admin

import (
	"context"
	"crypto/rand"
	"errors"

	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

// NewUser is an account to create. It is confirmed and approved.
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
	generated := ""
	if n.Password == "" {
		generated = rand.Text()
		n.Password = generated
	}
	users, faults, err := s.CreateUsers(ctx, []NewUser{n})
	if err != nil {
		return nil, err
	}
	if faults != nil {
		return nil, s.explainNickname(ctx, n.Nickname, faults[0])
	}
	return &CreatedUser{users[0], generated}, nil
}

// explainNickname says why a nickname cannot be used. Others only learn that it cannot, so that deleted accounts stay unknown to them.
func (s *Service) explainNickname(ctx context.Context, nick string, faults social.FieldErrors) error {
	for _, f := range faults {
		switch {
		case f.Field != "nickname":
			continue
		case f.Code == "ERR_RESERVED":
			return errs.Invalid("The nickname %s is reserved for the server, by accounts.restricted_nicknames, or looks like an id: choose another one", nick)
		case f.Code == "ERR_INVALID":
			return errs.Invalid("nickname has invalid format: it has letters, digits, _ and -, and not only digits")
		case f.Code == "ERR_TAKEN":
			account, err := s.db.AccountByName(ctx, nick, "")
			if err == nil && account.DeletedAt != nil {
				return errs.Conflict("The nickname %s belonged to an account that was deleted, and is never used again: choose another one", nick)
			}
			return errs.Conflict("There is an account %s already: svc user show %s", nick, nick)
		}
	}
	return faults
}

// maxNewUsers bounds the accounts that are created at once, because hashing passwords takes long.
const maxNewUsers = 50

// CreateUsers creates several accounts in one transaction, all or none. If some cannot be created, it returns the errors of all, nil for
// those that could be.
func (s *Service) CreateUsers(ctx context.Context, list []NewUser) (users []*User, faults []social.FieldErrors, err error) {
	switch {
	case len(list) == 0:
		return nil, nil, errs.BadRequest("Missing field: users.")
	case len(list) > maxNewUsers:
		return nil, nil, errs.BadRequest("At most %d accounts can be created at once", maxNewUsers)
	}
	registrations, hashes := make([]social.Registration, len(list)), make([]string, len(list))
	faults = make([]social.FieldErrors, len(list))
	failed := false
	for i, n := range list {
		registrations[i] = social.Registration{
			Nickname: n.Nickname, Email: n.Email, Password: n.Password, Admin: n.Admin, Moderator: n.Moderator, Confirmed: true, Approved: true,
		}
		if failed {
			err = s.social.CheckSignUp(ctx, &registrations[i])
		} else {
			hashes[i], err = s.social.PrepareSignUp(ctx, &registrations[i])
		}
		if errors.As(err, &faults[i]) {
			failed = true
		} else if err != nil {
			return nil, nil, err
		}
	}
	if failed {
		return nil, faults, nil
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		users = nil
		var accounts []*store.Account
		for i := range registrations {
			account, user, err := s.social.SignUpIn(ctx, tx, &registrations[i], hashes[i])
			if errors.As(err, &faults[i]) { // an earlier one in the list, or a registration at the same time, has the name or address
				failed = true
			}
			if err != nil {
				return err
			}
			accounts, users = append(accounts, account), append(users, newUser(account, user))
		}
		return s.recordUsers(ctx, tx, "create", "created users", accounts...)
	})
	switch {
	case failed:
		return nil, faults, nil
	case err != nil:
		return nil, nil, err
	}
	for _, u := range users {
		s.log.Info("account created", "account", store.AccountID(u.ID), "admin", u.Admin, "moderator", u.Moderator)
	}
	return users, nil, nil
}
