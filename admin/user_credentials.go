package admin

import (
	"context"
	"errors"
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// UserUpdate is a change to an account. Nil fields stay as they are.
type UserUpdate struct {
	Name      string  `json:"name"`
	Admin     *bool   `json:"admin"`
	Moderator *bool   `json:"moderator"`
	Locked    *bool   `json:"locked"`
	Email     *string `json:"email"`
}

// UpdateUser changes roles and settings of an account. A new e-mail address counts at once and invalidates links sent to the old one. The
// last admin keeps its role.
func (s *Service) UpdateUser(ctx context.Context, c UserUpdate) (*User, error) {
	var u *User
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		targets, err := s.targets(ctx, tx, []string{c.Name}, true)
		if err != nil {
			return err
		}
		t := targets[0]
		for _, change := range []struct {
			role Role
			want *bool
		}{{AdminRole, c.Admin}, {ModeratorRole, c.Moderator}} {
			if change.want == nil {
				continue
			}
			changed, err := s.setRole(ctx, tx, t, change.role, *change.want)
			if err != nil {
				return err
			}
			if changed {
				if err := s.recordRole(ctx, tx, change.role, *change.want, t.account); err != nil {
					return err
				}
			}
		}
		if c.Locked != nil {
			t.account.Locked = *c.Locked
			if err := tx.SaveAccount(ctx, t.account); err != nil {
				return err
			}
		}
		if c.Email != nil {
			if err := s.social.SetEmailIn(ctx, tx, t.user, *c.Email); err != nil {
				return err
			}
		}
		u = newUser(t.account, t.user)
		if c.Locked == nil && c.Email == nil {
			return nil
		}
		return s.recordUsers(ctx, tx, "updated_users", "updated users", t.account)
	})
	return u, err
}

// Credentials are a change of an account by staff. Nil fields stay as they are.
type Credentials struct {
	Email    *string
	Password *string
	Profile  social.ProfileChange
}

// CredentialErrors are validation errors by field (admin API 4.11).
type CredentialErrors map[string]string

func (e CredentialErrors) Error() string {
	var texts []string
	for field, message := range e {
		texts = append(texts, field+" "+message)
	}
	slices.Sort(texts)
	return strings.Join(texts, "; ")
}

// ShowCredentials returns the rows of a local account.
func (s *Service) ShowCredentials(ctx context.Context, name string) (*store.Account, *store.User, error) {
	return s.findUser(ctx, s.db, name)
}

// UpdateCredentials changes address, password and profile of a local account, all or nothing. Validation errors are returned as
// CredentialErrors. A new password revokes all tokens.
func (s *Service) UpdateCredentials(ctx context.Context, name string, c Credentials) error {
	faults := s.checkCredentials(&c)
	hash, err := s.hashCredentials(ctx, name, &c, faults)
	if err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		targets, err := s.targets(ctx, tx, []string{name}, true)
		if err != nil {
			return err
		}
		account, user, err := s.social.UpdateProfileIn(ctx, tx, targets[0].account.ID, &c.Profile)
		if err != nil {
			return err
		}
		if c.Email != nil {
			var e *errs.Error
			if err := s.social.SetEmailIn(ctx, tx, user, *c.Email); errors.As(err, &e) && e.Status < 500 {
				return CredentialErrors{"email": "has already been taken"}
			} else if err != nil {
				return err
			}
		}
		if hash != "" {
			if err := s.social.SetPasswordIn(ctx, tx, account.ID, hash); err != nil {
				return err
			}
		}
		return s.recordUsers(ctx, tx, "updated_users", "updated users", account)
	})
}

// hashCredentials validates the new password, if there is one, and returns its hash. It fails with faults if there are any.
func (s *Service) hashCredentials(ctx context.Context, name string, c *Credentials, faults CredentialErrors) (hash string, err error) {
	if c.Password == nil {
		if len(faults) > 0 {
			return "", faults
		}
		return "", nil
	}
	account, user, err := s.findUser(ctx, s.db, name)
	if err != nil {
		return "", err
	}
	email := user.Email
	if c.Email != nil {
		email = strings.TrimSpace(*c.Email)
	}
	if err := s.social.CheckPassword(*c.Password, account.Nickname, email); err != nil {
		faults["password"] = err.Error()
	}
	if len(faults) > 0 {
		return "", faults
	}
	return s.social.HashPassword(ctx, account, user, *c.Password)
}

// checkCredentials validates what does not depend on the account.
func (s *Service) checkCredentials(c *Credentials) CredentialErrors {
	faults, p := CredentialErrors{}, &c.Profile
	if c.Email != nil && !text.ValidEmail(strings.TrimSpace(*c.Email)) {
		faults["email"] = "has invalid format"
	}
	if p.ActorType != nil && *p.ActorType != "Person" && *p.ActorType != "Service" {
		faults["actor_type"] = "is invalid"
	}
	limits := s.social.Settings.Load().Accounts
	checkLength(faults, "name", p.DisplayName, limits.NameLength)
	checkLength(faults, "bio", p.Note, limits.BioLength)
	if len(p.Fields) > limits.MaxFields {
		faults["fields"] = "should have at most " + text.Count(limits.MaxFields, "item")
	}
	if len(faults) == 0 {
		if err := s.social.CheckProfile(p); err != nil { // the remaining checks are lengths of fields
			faults["fields"] = "invalid"
		}
	}
	return faults
}

func checkLength(faults CredentialErrors, field string, value *string, most int) {
	switch {
	case value == nil:
	case field == "name" && strings.TrimSpace(*value) == "":
		faults[field] = "should be at least 1 character"
	case text.Length(*value, "") > most:
		faults[field] = "should be at most " + text.Count(most, "character")
	}
}

// PasswordReset selects an account and its new password.
type PasswordReset struct {
	Name     string `json:"name"`
	Password string `json:"password"` // "": create a reset link
}

// ResetLink is a password reset link, which works once.
type ResetLink struct {
	*User
	Token string `json:"token"` // "": the password was set
	Link  string `json:"link"`
}

// ResetPassword sets a password and revokes all tokens, or creates a reset link.
func (s *Service) ResetPassword(ctx context.Context, p PasswordReset) (*ResetLink, error) {
	reset, hash := new(ResetLink), ""
	if p.Password != "" {
		account, user, err := s.findUser(ctx, s.db, p.Name)
		if err != nil {
			return nil, err
		}
		if hash, err = s.social.HashPassword(ctx, account, user, p.Password); err != nil {
			return nil, err
		}
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		targets, err := s.targets(ctx, tx, []string{p.Name}, true)
		if err != nil {
			return err
		}
		account := targets[0].account
		reset.User = newUser(account, targets[0].user)
		if hash != "" {
			if err := s.social.SetPasswordIn(ctx, tx, account.ID, hash); err != nil {
				return err
			}
			return s.recordUsers(ctx, tx, "set_password", "set the password of users", account)
		}
		if reset.Token, err = s.social.StartPasswordResetIn(ctx, tx, account.ID); err != nil {
			return err
		}
		reset.Link = s.social.Settings.BaseURL + "/api/v1/" + s.apiName + "/password_reset/" + reset.Token
		return s.recordUsers(ctx, tx, "password_reset_link", "created a password reset link for users", account)
	})
	return reset, err
}
