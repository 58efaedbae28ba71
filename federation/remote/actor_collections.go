package remote

import (
	"context"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/limit"
	"svc/store"
)

const (
	maxPinsFetched     = 20 // per account (federation 3.9)
	maxFeaturedPage    = 5
	collectionsTimeout = 2 * time.Minute
)

// AccountViewed queues a refresh of a remote account's counters, pins and move when the account is viewed. It does nothing if they are
// recent.
func (b *Backfill) AccountViewed(ctx context.Context, a *store.Account) error {
	now := b.db.Now()
	if a.Local() || a.Unavailable || !allowOnce(b.actors.accountChecks, accountCheckKey{id: a.ID, counts: true}, minRefreshInterval, now) {
		return nil
	}
	actor, err := b.db.Actor(ctx, a.ID)
	if err != nil || actor.CollectionsFetchedAt.Age(now) < countsTTL {
		return errs.IgnoreNotFound(err)
	}
	err = b.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnique(ctx, now, "collections:"+a.ID.String(), store.RefreshCollections{AccountID: a.ID})
	})
	if err != nil {
		return err
	}
	return b.actors.RefreshIfStale(ctx, a)
}

// fetchCollections is the job that refreshes the counters, pins and move of an account. If a fetch fails, the stored data stays until
// the next view.
func (b *Backfill) fetchCollections(ctx context.Context, w store.RefreshCollections) error {
	ctx, cancel := context.WithTimeout(ctx, collectionsTimeout)
	defer cancel()
	account, err := b.db.Account(ctx, w.AccountID)
	if err != nil || account.Local() || account.Unavailable {
		return errs.IgnoreNotFound(err)
	}
	actor, err := b.db.Actor(ctx, account.ID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	if w.OnlyPins {
		return b.fetchPins(ctx, account, actor)
	}
	if err := b.actors.recordAttempt(ctx, account.ID, func(a *store.Actor) { a.AttemptedAt, a.CollectionsFetchedAt = actor.AttemptedAt, store.At(b.db.Now()) }); err != nil {
		return err
	}
	if err := b.fetchCounts(ctx, account, actor); err != nil {
		return err
	}
	if err := b.fetchPins(ctx, account, actor); err != nil {
		return err
	}
	if err := b.fetchMovedTo(ctx, account, actor); err != nil {
		return err
	}
	return b.enqueueNodeInfo(ctx, account.URI)
}

// fetchCounts fetches the numbers of followers, followed accounts and statuses.
func (b *Backfill) fetchCounts(ctx context.Context, account *store.Account, actor *store.Actor) error {
	var c store.RemoteCounts
	var hidden bool
	c.Followers, c.HideFollowers = b.fetcher.fetchCollectionSize(ctx, actor.Followers)
	c.Following, c.HideFollows = b.fetcher.fetchCollectionSize(ctx, actor.Following)
	if c.Statuses, hidden = b.fetcher.fetchCollectionSize(ctx, actor.Outbox); hidden && c.Statuses != nil && *c.Statuses == 0 {
		c.Statuses = nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.db.Update(ctx, func(tx *store.Tx) error { return tx.SetRemoteCounts(ctx, account.ID, c) })
}

// pinRefreshRate is how often the Updates of one account cause its pinned statuses to be fetched at once. Further ones wait for
// minRefreshInterval.
var pinRefreshRate = limit.Rate{Count: 5, Window: minRefreshInterval}

// refreshPins queues a fetch of the pinned statuses of an account after its Update, because some servers announce pins by that alone. An
// account that no user has viewed or follows gets its pins when it is viewed.
func (a *Actors) refreshPins(ctx context.Context, account *store.Account) error {
	actor, err := a.db.Actor(ctx, account.ID)
	if err != nil || actor.Featured == "" {
		return errs.IgnoreNotFound(err)
	}
	if actor.CollectionsFetchedAt == 0 {
		if followed, err := a.db.HasLocalFollower(ctx, account.ID); !followed || err != nil {
			return err
		}
	}
	now := a.db.Now()
	_, atOnce := a.pinRefreshes.Allow(account.ID, pinRefreshRate, now)
	return a.db.Update(ctx, func(tx *store.Tx) error {
		key, job := "pins:"+account.ID.String(), store.RefreshCollections{AccountID: account.ID, OnlyPins: true}
		if atOnce {
			return tx.EnqueueUnique(ctx, now, key, job)
		}
		return tx.EnqueueUnlessQueued(ctx, now.Add(minRefreshInterval), key, job)
	})
}

// fetchPins fetches the pinned statuses of an account and pins them.
func (b *Backfill) fetchPins(ctx context.Context, account *store.Account, actor *store.Actor) error {
	if actor.Featured == "" {
		return nil
	}
	b.fetcher.failures.remove(actor.Featured)
	items, err := b.fetcher.fetchItems(ctx, actor.Featured, maxFeaturedPage, maxPinsFetched)
	if err != nil {
		return ctx.Err()
	}
	var pins []store.StatusID
	for _, uri := range items {
		if !activity.SameHost(uri, account.URI, b.Settings.AllowLoopback) {
			continue
		}
		st, err := b.statuses.Status(ctx, uri)
		if err == nil && st != nil && st.AccountID == account.ID && st.ReblogOfID == nil && st.Visibility <= store.Unlisted {
			pins = append(pins, st.ID)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.social.SetRemotePins(ctx, account.ID, pins)
}

// fetchMovedTo stores the account to which one has moved. It fetches that account if it is unknown.
func (b *Backfill) fetchMovedTo(ctx context.Context, account *store.Account, actor *store.Actor) error {
	if actor.MovedTo == "" || account.MovedToID != nil {
		return nil
	}
	if _, err := b.actors.Actor(ctx, actor.MovedTo); err != nil {
		b.log.Debug("target of a moved account not found", "account", account.Acct(), "err", err)
		return ctx.Err()
	}
	return b.db.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Account(ctx, account.ID)
		if err != nil || row.Unavailable {
			return errs.IgnoreNotFound(err)
		}
		if row.MovedToID, err = movedToID(ctx, tx, row, actor.MovedTo); err != nil || row.MovedToID == nil {
			return err
		}
		return tx.SaveAccount(ctx, row)
	})
}
