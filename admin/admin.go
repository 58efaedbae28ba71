// Package admin is what the people who run the server do, by command or through the admin API, and what the server does for them by
// itself: it makes accounts, changes, confirms, deactivates and deletes them, keeps copies of everything, and tidies up.
//
// Each method that changes something is one transaction with its consequences. Whether the caller may do it is not asked here:
// the admin API's routes say who may, and whoever can run the commands owns the data.
package admin

import (
	"context"
	"log/slog"
	"strings"

	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

// Service has what staff can do.
type Service struct {
	db      *store.DB
	social  *social.Service
	apiName string
	log     *slog.Logger
}

// New makes a service. apiName is what the server calls its interface (api.name).
func New(db *store.DB, soc *social.Service, apiName string, log *slog.Logger) *Service {
	return &Service{db: db, social: soc, apiName: apiName, log: log}
}

// accountReader is what finding accounts needs: the database, or the transaction.
type accountReader interface {
	AccountByName(ctx context.Context, nickname, domain string) (*store.Account, error)
	Account(context.Context, store.AccountID) (*store.Account, error)
	User(context.Context, store.AccountID) (*store.User, error)
}

// findUser returns the local account that a person names: nick, @nick, the whole handle, or the id by which apps and the log know it.
func (s *Service) findUser(ctx context.Context, r accountReader, name string) (*store.Account, *store.User, error) {
	nick := strings.TrimPrefix(strings.TrimSpace(name), "@")
	if n, domain, ok := strings.Cut(nick, "@"); ok && strings.EqualFold(domain, s.social.Domain) {
		nick = n
	}
	var id store.AccountID
	id.UnmarshalText([]byte(nick)) // no nickname looks like one
	account, err := r.AccountByName(ctx, nick, "")
	if errs.IsNotFound(err) && id != 0 {
		account, err = r.Account(ctx, id)
	}
	if errs.IsNotFound(err) || err == nil && (account.DeletedAt != nil || !account.Local()) {
		return nil, nil, errs.NotFound("There is no account %q on this server", name)
	}
	if err != nil {
		return nil, nil, err
	}
	user, err := r.User(ctx, account.ID)
	return account, user, err
}

// updateUser runs fn on an account in a transaction and returns the account as it is then.
func (s *Service) updateUser(ctx context.Context, name string, fn func(*store.Tx, *store.Account, *store.User) error) (*User, error) {
	var u *User
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		account, user, err := s.findUser(ctx, tx, name)
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
