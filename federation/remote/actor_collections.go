package remote

import (
	"context"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

const (
	maxPinsFetched     = 20 // of an account (federation 3.9)
	maxFeaturedPage    = 5
	collectionWorkers  = 2 // accounts whose collections are read at a time
	collectionsTimeout = 2 * time.Minute
)

// AccountViewed queues a look at what an account elsewhere shows beside its profile, because somebody here looks at it: its counters, its pins, and
// where it has moved. Nobody is asked for what is known since a few hours ago.
func (b *Backfill) AccountViewed(ctx context.Context, a *store.Account) error {
	now := b.db.Now()
	if a.Local() || a.Unavailable || !b.actors.accountChecks.allow(accountCheckKey{id: a.ID, counts: true}, now) {
		return nil
	}
	actor, err := b.db.Actor(ctx, a.ID)
	if err != nil || now.Sub(actor.CollectionsFetchedAt.Time()) < countsTTL {
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

// fetchCollections is the job that does so. What cannot be read is left as it is: the next time will come.
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

// fetchCounts reads how many follow an account, how many it follows, and how much it has posted.
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

// fetchPins reads what an account has pinned to its profile, and has it pinned here.
func (b *Backfill) fetchPins(ctx context.Context, account *store.Account, actor *store.Actor) error {
	if actor.Featured == "" {
		return nil
	}
	items, err := b.fetcher.fetchItems(ctx, actor.Featured, maxFeaturedPage, maxPinsFetched)
	if err != nil {
		return ctx.Err()
	}
	var pins []store.StatusID
	for _, uri := range items {
		if !activity.SameHost(uri, account.URI, b.AllowLoopback) {
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

// fetchMovedTo notes the account to which one has moved. It may have to be asked for first.
func (b *Backfill) fetchMovedTo(ctx context.Context, account *store.Account, actor *store.Actor) error {
	if actor.MovedTo == "" || account.MovedToID != nil {
		return nil
	}
	if _, err := b.actors.Actor(ctx, actor.MovedTo); err != nil {
		b.log.Debug("account to which another has moved not found", "account", account.Acct(), "err", err)
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
