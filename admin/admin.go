// Package admin is what the people who run the server do: they make accounts, change, confirm, deactivate and delete them, and keep
// copies of everything. The commands and the admin API both end here.
//
// Each method that changes something is one transaction with its consequences. Whether the caller may do it is not asked here:
// the admin API's routes say who may, and whoever can run the commands owns the data.
package admin

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// Config are the settings that this package goes by.
type Config struct {
	BaseURL           string // https://example.org
	Domain            string // the part of handles after the @
	APIName           string
	ExtendedNicknames bool          // _ and - are allowed
	Reserved          []string      // nicknames that nobody can have
	ResetLifetime     time.Duration // of a link to set a new password
}

// FromSettings takes what this package needs from the settings.
func FromSettings(c *config.Config) Config {
	return Config{
		BaseURL:           c.URL().String(),
		Domain:            c.Host(),
		APIName:           c.API.Name,
		ExtendedNicknames: c.Accounts.ExtendedNicknameFormat,
		Reserved:          append(text.ReservedNicknames(), c.Accounts.RestrictedNicknames...),
		ResetLifetime:     c.Accounts.PasswordResetLifetime,
	}
}

// Service has what staff can do.
type Service struct {
	Config
	db     *store.DB
	social *social.Service
	hash   func(ctx context.Context, password string) (string, error)
	log    *slog.Logger
}

// New makes a service. hash makes of a password what is kept of it.
func New(db *store.DB, soc *social.Service, c Config, hash func(context.Context, string) (string, error), log *slog.Logger) *Service {
	return &Service{Config: c, db: db, social: soc, hash: hash, log: log}
}

// reads is what finding accounts needs: the database, or the transaction.
type reads interface {
	AccountByName(ctx context.Context, nickname, domain string) (*store.Account, error)
	User(context.Context, store.AccountID) (*store.User, error)
}

// find returns the local account that a person names: nick, @nick, or the whole handle.
func (s *Service) find(ctx context.Context, r reads, name string) (*store.Account, *store.User, error) {
	nick := strings.TrimPrefix(strings.TrimSpace(name), "@")
	if n, domain, ok := strings.Cut(nick, "@"); ok && strings.EqualFold(domain, s.Domain) {
		nick = n
	}
	account, err := r.AccountByName(ctx, nick, "")
	if errs.IsNotFound(err) || err == nil && account.DeletedAt != nil {
		return nil, nil, errs.NotFound("there is no account %q on this server", name)
	}
	if err != nil {
		return nil, nil, err
	}
	user, err := r.User(ctx, account.ID)
	return account, user, err
}

// change runs fn on an account in a transaction and returns the account as it is then.
func (s *Service) change(ctx context.Context, name string, fn func(*store.Tx, *store.Account, *store.User) error) (*User, error) {
	var u *User
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		account, user, err := s.find(ctx, tx, name)
		if err != nil {
			return err
		}
		if err := fn(tx, account, user); err != nil {
			return err
		}
		u = newUser(account, user)
		return nil
	})
	return u, err
}
