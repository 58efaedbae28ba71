package remote

import (
	"context"
	"net/http"
	"slices"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

// Intervals of refreshing remote accounts (federation 3.9).
const (
	refreshAge           = 24 * time.Hour   // of an account that sends activities
	countsTTL            = 6 * time.Hour    // of counters and pins of a viewed account
	minRefreshInterval   = 10 * time.Minute // between attempts
	minUpdateInterval    = time.Minute      // between attempts because of Updates
	notFoundRecheckDelay = 25 * time.Hour   // before a missing account is checked again and deleted
	maxAccountChecks     = 10_000
)

// accountCheckKey is a kind of check of an account.
type accountCheckKey struct {
	id     store.AccountID
	counts bool
	gone   bool // its key could not be found
	posts  bool // its posts were fetched because a user opened its profile
}

// RefreshIfStale queues a refresh of a remote account that has sent an activity, if its data is old.
func (a *Actors) RefreshIfStale(ctx context.Context, account *store.Account) error {
	now := a.db.Now()
	if account.Local() || !allowOnce(a.accountChecks, accountCheckKey{id: account.ID}, minRefreshInterval, now) {
		return nil
	}
	actor, err := a.db.Actor(ctx, account.ID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	age := refreshAge
	if actor.HandleVerifiedAt == 0 {
		age = time.Hour
	}
	if actor.FetchedAt.Age(now) < age || actor.AttemptedAt.Age(now) < minRefreshInterval {
		return nil
	}
	return a.db.Update(ctx, func(tx *store.Tx) error { return enqueueRefresh(ctx, tx, account.ID, now) })
}

func enqueueRefresh(ctx context.Context, tx *store.Tx, id store.AccountID, at time.Time) error {
	return tx.EnqueueUnique(ctx, at, "refresh:"+id.String(), store.RefreshActor{AccountID: id})
}

// refreshActor is the job that fetches an account again. It deletes an account that is gone (410), and one that is not found on two
// days (federation 3.8). Other failures wait for the next activity of the account.
func (a *Actors) refreshActor(ctx context.Context, w store.RefreshActor) error {
	account, err := a.db.Account(ctx, w.AccountID)
	if err != nil || account.Local() || account.DeletedAt != nil {
		return errs.IgnoreNotFound(err)
	}
	a.fetcher.failures.remove(account.URI)
	_, err = a.FetchActor(ctx, account.URI)
	switch status := HTTPStatus(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case status == 410:
		return a.ActorGone(ctx, account)
	case status == 404:
		return a.ActorNotFound(ctx, account)
	}
	a.log.Debug("account could not be refreshed", "account", account.Acct(), "err", err)
	return a.recordAttempt(ctx, account.ID, func(actor *store.Actor) { actor.Failures = 0 })
}

// ActorNotFound records that an account was not found.
func (a *Actors) ActorNotFound(ctx context.Context, account *store.Account) error {
	confirmed := false
	err := a.db.Update(ctx, func(tx *store.Tx) error {
		actor, err := tx.Actor(ctx, account.ID)
		if err != nil {
			return errs.IgnoreNotFound(err)
		}
		now := a.db.Now()
		if confirmed = actor.Failures > 0 && actor.AttemptedAt.Age(now) >= refreshAge; confirmed {
			return nil
		}
		if actor.Failures == 0 {
			actor.Failures, actor.AttemptedAt = 1, store.At(now)
			if err := tx.SaveActor(ctx, actor); err != nil {
				return err
			}
		}
		return enqueueRefresh(ctx, tx, account.ID, actor.AttemptedAt.Time().Add(notFoundRecheckDelay))
	})
	if err == nil && confirmed {
		return a.ActorGone(ctx, account)
	}
	return err
}

func (a *Actors) recordAttempt(ctx context.Context, id store.AccountID, change func(*store.Actor)) error {
	return a.db.Update(ctx, func(tx *store.Tx) error {
		actor, err := tx.Actor(ctx, id)
		if err != nil {
			return errs.IgnoreNotFound(err)
		}
		actor.AttemptedAt = store.At(a.db.Now())
		change(actor)
		return tx.SaveActor(ctx, actor)
	})
}

// CheckGone fetches an actor whose key is gone, and deletes the account if the actor is gone, too (federation 3.8). It returns false if
// the actor was there recently.
func (a *Actors) CheckGone(ctx context.Context, uri string) (checked bool, err error) {
	account, err := a.db.AccountByURI(ctx, uri)
	if err != nil || account.Local() || account.DeletedAt != nil {
		return true, errs.IgnoreNotFound(err)
	}
	now := a.db.Now()
	if a.fetcher.failures.get(uri, now) == nil && !allowOnce(a.accountChecks, accountCheckKey{id: account.ID, gone: true}, minRefreshInterval, now) {
		return false, nil
	}
	_, err = a.fetcher.Document(ctx, uri)
	switch HTTPStatus(err) {
	case http.StatusGone:
		return true, a.ActorGone(ctx, account)
	case http.StatusNotFound:
		return true, a.ActorNotFound(ctx, account)
	}
	return true, nil
}

// ActorGone deletes a remote account with all its data. Its id and handle stay taken.
func (a *Actors) ActorGone(ctx context.Context, account *store.Account) error {
	if account.Local() {
		return ErrLocal
	}
	keys, err := a.db.ActorKeys(ctx, account.ID)
	if err != nil {
		return err
	}
	if err := a.social.DeleteAccount(ctx, account.ID); err != nil {
		return err
	}
	for _, k := range keys {
		a.keys.invalidate(k.URI)
	}
	return nil
}

// UpdateActor stores the document of an Update of an actor; if that is nil, it fetches it. It fetches the pinned statuses, too.
func (a *Actors) UpdateActor(ctx context.Context, account *store.Account, doc activity.Object) error {
	if err := a.updateActor(ctx, account, doc); err != nil {
		return err
	}
	return a.refreshPins(ctx, account)
}

// updateActor is UpdateActor without collections. Keys and handle are taken only from the document at the actor's id: if they differ, it
// is fetched (federation 4.4).
func (a *Actors) updateActor(ctx context.Context, account *store.Account, doc activity.Object) error {
	if doc == nil {
		return a.refreshAfter(ctx, account, minUpdateInterval)
	}
	p, err := a.reader.parseActor(doc)
	if err != nil {
		a.log.Debug("actor in Update is malformed", "actor", account.URI, "err", err)
		return a.refreshAfter(ctx, account, minUpdateInterval)
	}
	if p.account.URI != account.URI {
		return Refuse("object is another actor")
	}
	row, actor, err := a.storedActor(ctx, account.URI)
	if err != nil || row == nil || actor == nil || row.DeletedAt != nil {
		return err
	}
	known, err := a.db.ActorKeys(ctx, row.ID)
	if err != nil {
		return err
	}
	if !activity.SameHost(actor.Inbox, p.actor.Inbox, a.Settings.AllowLoopback) {
		return Refuse("inbox is on another host than the actor")
	}
	if err := a.applyPoliciesToActor(ctx, p, row.Domain); err != nil {
		return err
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Account(ctx, row.ID)
		if err != nil || row.DeletedAt != nil {
			return errs.IgnoreNotFound(err)
		}
		p.actor.FetchedAt, p.actor.AttemptedAt, p.actor.HandleVerifiedAt = actor.FetchedAt, actor.AttemptedAt, actor.HandleVerifiedAt
		p.actor.Failures = actor.Failures
		return a.saveProfile(ctx, tx, row, p)
	})
	if err != nil {
		return err
	}
	if row.Nickname != p.account.Nickname || !containsKeys(known, p.keys) {
		return a.refreshAfter(ctx, account, minUpdateInterval)
	}
	return nil
}

func containsKeys(known, keys []*store.ActorKey) bool {
	stored := make(map[string]string, len(known))
	for _, k := range known {
		stored[k.URI] = k.Public
	}
	return !slices.ContainsFunc(keys, func(k *store.ActorKey) bool { return stored[k.URI] != k.Public })
}

// RefreshSoon queues a refresh of an account, not earlier than minRefreshInterval after the last.
func (a *Actors) RefreshSoon(ctx context.Context, account *store.Account) error {
	return a.refreshAfter(ctx, account, minRefreshInterval)
}

// refreshAfter queues a refresh of an account, not earlier than a time after the last.
func (a *Actors) refreshAfter(ctx context.Context, account *store.Account, interval time.Duration) error {
	return a.db.Update(ctx, func(tx *store.Tx) error {
		actor, err := tx.Actor(ctx, account.ID)
		if err != nil {
			return errs.IgnoreNotFound(err)
		}
		at := actor.AttemptedAt.Time().Add(interval)
		if now := a.db.Now(); at.Before(now) {
			at = now
		}
		return enqueueRefresh(ctx, tx, account.ID, at)
	})
}

// RefreshAccount fetches a remote account again when its data must be current. If its server does not respond in time, the stored data
// stays. For a deleted account it returns errs.ErrRecordNotFound.
func (a *Actors) RefreshAccount(ctx context.Context, known *store.Account) error {
	if known.Local() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	a.fetcher.failures.remove(known.URI)
	_, err := a.FetchActor(ctx, known.URI)
	if IsNotFoundOrGone(err) {
		return errs.ErrRecordNotFound
	}
	if err != nil {
		a.log.Debug("account could not be refreshed", "account", known.Acct(), "err", err)
	}
	return nil
}
