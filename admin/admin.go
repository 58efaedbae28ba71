// Package admin is the operations of staff, for commands and the admin API alike: accounts, announcements, backups, and the daily
// removal of expired rows. Operations on the own account are those of package social.
//
// Each method that changes something is one transaction with its consequences. It does not check who calls: routes of the admin API
// say who may, and who can run commands owns the data. It adds an entry to the moderation log in the same transaction; As says whose.
//
// Limits: 100 announcements of 10 000 characters, 100 rules, 500 accounts in a page, 100 accounts in one operation, 100 000 entries of the moderation
// log.
package admin

import (
	"context"
	"log/slog"
	"slices"
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
	storage StorageConfig
	pruned  *prunePosition
	purges  *runningPurges
	updates *updateCheck
	actor   *store.Account // the actor in the moderation log; nil: the command line
}

// New returns a Service. stored are the settings in the database, apiName is the api.name setting.
func New(db *store.DB, soc *social.Service, stored *Settings, storage StorageConfig, apiName string, log *slog.Logger) *Service {
	return &Service{db: db, social: soc, stored: stored, storage: storage, apiName: apiName, log: log, pruned: new(prunePosition), purges: new(runningPurges), updates: new(updateCheck)}
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
	if s.social.Settings.IsOwnHost(domain) {
		domain = ""
	}
	id := store.ParseID[store.AccountID](nick)
	if n := store.ParseDecimal(nick); n > maxNumericNickname {
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

// errAdminOnly keeps moderators with privileges from taking over accounts of admins.
var errAdminOnly = errs.Forbidden("Only an admin may change the account of an admin.")

// maxNames bounds the accounts of one operation.
const maxNames = 100

// targets returns the named accounts, each once and in the order of the names. An unknown one is an error, so that nothing is changed.
// Moderators cannot name admins.
func (s *Service) targets(ctx context.Context, tx *store.Tx, names []string, localOnly bool) ([]*target, error) {
	switch {
	case len(names) == 0:
		return nil, errs.BadRequest("Missing field: nicknames.")
	case len(names) > maxNames:
		return nil, errs.BadRequest("At most %d accounts can be changed at once", maxNames)
	}
	mayChangeAdmins, err := s.mayChangeAdmins(ctx, tx)
	if err != nil {
		return nil, err
	}
	list := make([]*target, 0, len(names))
	for _, name := range names {
		t := new(target)
		if t.account, err = s.findAccount(ctx, tx, name); err != nil {
			return nil, err
		}
		if t.account.Local() {
			if t.user, err = tx.User(ctx, t.account.ID); err != nil {
				return nil, err
			}
		}
		switch {
		case t.user == nil && localOnly:
			return nil, errs.NotFound("There is no account %q on this server", name)
		case t.user != nil && t.user.IsAdmin && !mayChangeAdmins:
			return nil, errAdminOnly
		case slices.ContainsFunc(list, func(other *target) bool { return other.account.ID == t.account.ID }):
			continue
		}
		list = append(list, t)
	}
	return list, nil
}

// mayChangeAdmins returns true for the command line and for admins.
func (s *Service) mayChangeAdmins(ctx context.Context, tx *store.Tx) (bool, error) {
	if s.actor == nil {
		return true, nil
	}
	actor, err := tx.User(ctx, s.actor.ID)
	return err == nil && actor.IsAdmin, err
}

// target is an account that is changed. user is nil if it is remote.
type target struct {
	account *store.Account
	user    *store.User
}

// changeUsers runs change on the named accounts in one transaction. The moderation log has one entry with the accounts that changed.
func (s *Service) changeUsers(
	ctx context.Context, names []string, localOnly bool, action, what string, change func(*store.Tx, *target) (bool, error),
) ([]*ChangedUser, error) {
	var list []*ChangedUser
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		list = nil
		targets, err := s.targets(ctx, tx, names, localOnly)
		if err != nil {
			return err
		}
		var changed []*store.Account
		for _, t := range targets {
			did, err := change(tx, t)
			if err != nil {
				return err
			}
			if did {
				changed = append(changed, t.account)
			}
			if err := t.reload(ctx, tx); err != nil {
				return err
			}
			list = append(list, &ChangedUser{newUser(t.account, t.user), did})
		}
		if len(changed) == 0 {
			return nil
		}
		return s.recordUsers(ctx, tx, action, what, changed...)
	})
	return list, err
}

// reload reads the rows again, unless they are gone.
func (t *target) reload(ctx context.Context, tx *store.Tx) error {
	account, err := tx.Account(ctx, t.account.ID)
	if err != nil || account.DeletedAt != nil {
		return errs.IgnoreNotFound(err)
	}
	t.account = account
	if t.user != nil {
		t.user, err = tx.User(ctx, account.ID)
	}
	return err
}

// only returns the one element of the result of an operation on one account.
func only[T any](list []T, err error) (first T, _ error) {
	if err != nil || len(list) == 0 {
		return first, err
	}
	return list[0], nil
}
