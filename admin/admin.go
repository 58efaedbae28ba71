// Package admin is the operations of staff, for commands and the admin API alike: accounts, announcements, backups, and the daily
// removal of expired rows. Operations on the own account are those of package social.
//
// Each method that changes something is one transaction with its consequences. It does not check who calls: routes of the admin API
// say who may, and who can run commands owns the data. It adds an entry to the moderation log in the same transaction; As says whose.
//
// Limits: 100 announcements of 10 000 characters, 500 accounts in a page.
package admin

import (
	"context"
	"log/slog"
	"strconv"
	"strings"

	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

// Service runs the operations.
type Service struct {
	db      *store.DB
	social  *social.Service
	stored  *Settings
	apiName string
	log     *slog.Logger
	actor   *store.Account // whom the moderation log names; nil: the command line
}

// New returns a Service. stored are the settings in the database, apiName is the api.name setting.
func New(db *store.DB, soc *social.Service, stored *Settings, apiName string, log *slog.Logger) *Service {
	return &Service{db: db, social: soc, stored: stored, apiName: apiName, log: log}
}

// accountReader is what finding accounts needs, from the database or in a transaction.
type accountReader interface {
	AccountByName(ctx context.Context, nickname, domain string) (*store.Account, error)
	Account(context.Context, store.AccountID) (*store.Account, error)
	User(context.Context, store.AccountID) (*store.User, error)
}

// findAccount returns the account of a nickname, handle, or id as the API or the log show it: a flake or an integer. Deleted accounts are
// not found.
func (s *Service) findAccount(ctx context.Context, r accountReader, name string) (*store.Account, error) {
	nick, domain, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(name), "@"), "@")
	if strings.EqualFold(domain, s.social.Domain) {
		domain = ""
	}
	id := store.ParseID[store.AccountID](nick)
	if n, err := strconv.ParseInt(nick, 10, 64); err == nil && n > maxNumericNickname {
		id = store.AccountID(n)
	}
	if id != 0 && domain == "" {
		account, err := r.Account(ctx, id)
		if err == nil && account.DeletedAt == nil || err != nil && !errs.IsNotFound(err) {
			return account, err
		}
	}
	account, err := r.AccountByName(ctx, nick, domain)
	if errs.IsNotFound(err) || err == nil && account.DeletedAt != nil {
		return nil, errs.NotFound("There is no account %q", name)
	}
	return account, err
}

// maxNumericNickname separates nicknames from integer ids, which have sixteen digits.
const maxNumericNickname = 999_999_999_999_999

// findUser returns the local account of a nickname, @nickname, full handle, or id as apps and the log show it.
func (s *Service) findUser(ctx context.Context, r accountReader, name string) (*store.Account, *store.User, error) {
	account, err := s.findAccount(ctx, r, name)
	if errs.IsNotFound(err) || err == nil && !account.Local() {
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
