package remote

import (
	"context"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/limit"
	"svc/store"
)

// Limits of fetching the posts of a profile that a user opens.
const (
	maxProfilePosts   = 20 // newest posts
	maxProfileFetches = 12 // documents, if the outbox has only ids
	maxOutboxItems    = 100
	maxProfilesFilled = 4              // at a time
	profileRetryDelay = time.Second    // of a job that finds no free slot
	profileInterval   = 24 * time.Hour // between fetches for an account
	maxProfileUsers   = 10_000
)

// profilesPerUser is how many profiles one user fills.
var profilesPerUser = limit.Rate{Count: 30, Window: time.Hour}

// ProfileOpened queues a fetch of the newest public posts of a remote account that a user opens or follows, because a server knows only
// posts that were sent to it. It does nothing if the account was done within a day, or if the user has opened too many.
func (b *Backfill) ProfileOpened(ctx context.Context, a *store.Account, user store.AccountID) error {
	now := b.db.Now()
	checked := accountCheckKey{id: a.ID, posts: true}
	if a.Local() || a.Unavailable || !b.Settings.Load().Federation.FetchProfiles || !b.mayCheck(checked, profileInterval, now) {
		return nil
	}
	if _, ok := b.profiles.Allow(user, profilesPerUser, now); !ok {
		return nil
	}
	allowOnce(b.actors.accountChecks, checked, profileInterval, now)
	return b.enqueueProfile(ctx, a.ID, now)
}

func (b *Backfill) enqueueProfile(ctx context.Context, id store.AccountID, at time.Time) error {
	return b.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnique(ctx, at, "profile:"+id.String(), store.FetchProfilePosts{AccountID: id})
	})
}

// mayCheck returns whether a check of an account was not made within interval.
func (b *Backfill) mayCheck(key accountCheckKey, interval time.Duration, now time.Time) bool {
	return b.actors.accountChecks.Peek(key, limit.Rate{Count: 1, Window: interval}, now).Remaining > 0
}

// fetchProfilePosts is the job that fetches the newest public posts of an account: the outbox and its first page, and where that has only
// ids, the objects. Boosts are skipped. The posts cause no notifications and are not in home timelines.
func (b *Backfill) fetchProfilePosts(ctx context.Context, w store.FetchProfilePosts) error {
	account, err := b.db.Account(ctx, w.AccountID)
	if err != nil || account.Local() || account.Unavailable || account.DeletedAt != nil {
		return errs.IgnoreNotFound(err)
	}
	actor, err := b.db.Actor(ctx, account.ID)
	if err != nil || actor.Outbox == "" {
		return errs.IgnoreNotFound(err)
	}
	select {
	case b.profileSlots <- struct{}{}:
		defer func() { <-b.profileSlots }()
	default: // a job that waited would keep the worker from other jobs, and its server would count as slow
		return b.enqueueProfile(ctx, w.AccountID, b.db.Now().Add(profileRetryDelay))
	}
	items, err := b.outboxItems(ctx, actor.Outbox)
	if err != nil {
		b.log.Debug("outbox could not be fetched", "account", account.Acct(), "err", err)
		return ctx.Err() // the next day retries
	}
	posts, fetches := 0, 0
	for _, item := range items {
		if posts == maxProfilePosts || fetches == maxProfileFetches {
			break
		}
		fetched, stored, err := b.storeOutboxItem(ctx, account, item)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			b.log.Debug("post of a profile could not be fetched", "account", account.Acct(), "err", err)
		}
		if fetched {
			fetches++
		}
		if stored {
			posts++
		}
	}
	return nil
}

// outboxItems returns the items of the first page of an outbox, the newest first.
func (b *Backfill) outboxItems(ctx context.Context, outbox string) ([]any, error) {
	b.fetcher.failures.remove(outbox)
	page, err := b.fetcher.Document(ctx, outbox)
	if err != nil {
		return nil, err
	}
	if first := page.Object("first"); first != nil {
		page = first
	} else if ref := page.Ref("first"); ref != "" && len(page.Values("orderedItems")) == 0 {
		if !activity.SameHost(ref, outbox, b.Settings.AllowLoopback) {
			return nil, Refuse("page of the outbox is on another host")
		}
		b.fetcher.failures.remove(ref)
		if page, err = b.fetcher.Document(ctx, ref); err != nil {
			return nil, err
		}
	}
	items := page.Values("orderedItems")
	if len(items) == 0 {
		items = page.Values("items")
	}
	return items[:min(len(items), maxOutboxItems)], nil
}

// storeOutboxItem stores the post of an item of an account's outbox. An embedded object counts as fetched from its origin if its id is
// there and it is the account's, because the outbox is the one that the actor document names. fetched is true if the item cost a request.
func (b *Backfill) storeOutboxItem(ctx context.Context, account *store.Account, item any) (fetched, stored bool, err error) {
	ref := activity.Reference(item)
	if m, ok := item.(map[string]any); ok {
		o := activity.Object(m)
		if !o.Is(append([]string{"Create"}, NoteTypes...)...) {
			return false, false, nil // a boost or similar
		}
		if o.Is("Create") {
			ref = o.Ref("object")
			o = o.Object("object")
		}
		if o.Is(NoteTypes...) && o.ID() == ref {
			return b.storeEmbedded(ctx, account, o)
		}
	}
	if ref == "" || !activity.SameHost(ref, account.URI, b.Settings.AllowLoopback) {
		return false, false, nil
	}
	if st, err := b.statuses.KnownStatus(ctx, ref); st != nil || err != nil {
		return false, st != nil, err
	}
	_, err = b.statuses.FetchStatus(ctx, ref, FetchOptions{Author: account.URI, Accept: isPublic, Quiet: true})
	return true, err == nil, err
}

func (b *Backfill) storeEmbedded(ctx context.Context, account *store.Account, o activity.Object) (fetched, stored bool, err error) {
	if !activity.SameHost(o.ID(), account.URI, b.Settings.AllowLoopback) || o.Ref("attributedTo") != account.URI {
		return false, false, nil
	}
	if st, err := b.statuses.KnownStatus(ctx, o.ID()); st != nil || err != nil {
		return false, st != nil, err
	}
	_, err = b.statuses.receiveFetched(ctx, o, FetchOptions{Author: account.URI, Accept: isPublic, Quiet: true})
	return false, err == nil, err
}

// isPublic returns whether everybody may read a status.
func isPublic(n *Note) bool { return n.Visibility <= store.Unlisted }
