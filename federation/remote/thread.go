package remote

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/limit"
	"svc/social"
	"svc/store"
)

// Limits of fetching what a status refers to (federation 3.9), and polls.
const (
	maxCompleteAttempts   = 3
	completeRetryInterval = 2 * time.Minute
	quoteFetchBudget      = 2           // nested quotes
	pollInterval          = time.Minute // between refreshes of a poll
	maxStatusViews        = 10_000
)

// Backfill fetches what belongs to stored accounts and statuses in the background: counters, pins, parents, replies, polls.
type Backfill struct {
	Settings    *config.Live
	reader      *Reader
	fetcher     *Fetcher
	actors      *Actors
	statuses    *Statuses
	db          *store.DB
	social      *social.Service
	log         *slog.Logger
	statusViews *limit.Window[statusViewKey]   // so that not each view costs a query
	profiles    *limit.Window[store.AccountID] // opened by a user

	profileSlots chan struct{} // one for each profile that is being filled

	threads      *threadFetches
	threadPace   *limit.Pace[string]            // of requests, by host
	threadUsers  *limit.Window[store.AccountID] // that have caused a fetch
	threadSlice  time.Duration
	threadCutOff time.Duration
}

// completeStatus is the job that fetches what a status refers to: mentioned accounts, the quoted status, and the parent (federation
// 3.9). Each parent is a job of its own, so that long threads do not block others.
func (b *Backfill) completeStatus(ctx context.Context, w store.FetchReferences) error {
	origin, err := b.db.RemoteStatus(ctx, w.StatusID)
	if err != nil {
		return err
	}
	exists, err := b.db.StatusExists(ctx, w.StatusID)
	if err != nil || !exists {
		return err
	}
	w.FetchBudget -= len(w.Mentions) // each costs a fetch
	retry := false
	if retry, err = b.fetchMentioned(ctx, &w); err != nil {
		return err
	}
	for uri, budget := range relatedURIs(origin, w.FetchBudget) {
		st, err := b.statuses.FetchStatus(ctx, uri, FetchOptions{Budget: budget - 1})
		if err == nil && !st.Local() { // it may have been received meanwhile, or be stored under another id
			err = b.social.LinkWaitingStatuses(ctx, uri, st.ID)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			b.log.Debug("status could not be fetched", "uri", uri, "for", w.StatusID, "err", err)
			retry = retry || !IsFinal(err)
		}
	}
	if w.Attempts++; !retry || w.Attempts == maxCompleteAttempts {
		return nil
	}
	return b.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnique(ctx, b.db.Now().Add(withJitter(completeRetryInterval<<(2*w.Attempts))), "complete:"+w.StatusID.String(), w)
	})
}

// withJitter varies a duration by up to a fifth, so that retries spread.
func withJitter(d time.Duration) time.Duration { return d - d/5 + rand.N(2*d/5) }

// relatedURIs returns the unknown parent and quoted status of a status, with the share of each in the fetch budget. Their sum is
// bounded by budget, or threads that branch with each status would never end.
func relatedURIs(origin *store.RemoteStatus, budget int) map[string]int {
	parts := make(map[string]int)
	if origin == nil {
		return parts
	}
	if origin.QuoteURI != "" {
		limit := budget
		if origin.ParentURI != "" {
			limit = budget / 2
		}
		if quote := min(quoteFetchBudget, limit); quote > 0 {
			parts[origin.QuoteURI] = quote
			budget -= quote
		}
	}
	if origin.ParentURI != "" && budget > 0 {
		parts[origin.ParentURI] = budget
	}
	return parts
}

// fetchMentioned fetches unknown mentioned accounts. retry is true if some have to be retried.
func (b *Backfill) fetchMentioned(ctx context.Context, w *store.FetchReferences) (retry bool, err error) {
	var ids []store.AccountID
	var remaining []string
	for _, uri := range w.Mentions {
		if _, err := b.fetcher.FetchableHost(uri); err != nil {
			continue
		}
		account, err := b.actors.Actor(ctx, uri)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err == nil:
			ids = append(ids, account.ID)
		case !IsFinal(err):
			remaining = append(remaining, uri)
		}
	}
	w.Mentions = remaining
	if len(ids) == 0 {
		return len(remaining) > 0, nil
	}
	return len(remaining) > 0, b.social.AddMentions(ctx, w.StatusID, ids)
}

// statusViewKey is a viewed status, its poll, or the context of a thread.
type statusViewKey struct {
	id      store.StatusID
	poll    bool
	context store.ConversationID
}

// PollViewed queues a refresh of the poll of a viewed remote status.
func (b *Backfill) PollViewed(ctx context.Context, id store.StatusID) error {
	if !allowOnce(b.statusViews, statusViewKey{id: id, poll: true}, pollInterval, b.db.Now()) {
		return nil
	}
	p, err := b.db.PollOf(ctx, id)
	if err != nil || p == nil || !b.isPollStale(p) {
		return err
	}
	return b.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnique(ctx, b.db.Now(), "poll-refresh:"+id.String(), store.RefreshPoll{StatusID: id})
	})
}

// isPollStale returns whether the counts of a poll may have changed.
func (b *Backfill) isPollStale(p *store.Poll) bool {
	if p.FetchedAt == nil || p.FetchedAt.Age(b.db.Now()) < pollInterval {
		return false
	}
	return p.ExpiresAt == nil || p.FetchedAt.Time().Before(p.ExpiresAt.Time())
}

// refreshPoll is the job that fetches the counts of a poll.
func (b *Backfill) refreshPoll(ctx context.Context, w store.RefreshPoll) error {
	st, err := b.db.Status(ctx, w.StatusID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	p, err := b.db.PollOf(ctx, st.ID)
	if err != nil || p == nil || !b.isPollStale(p) {
		return err
	}
	if err := b.statuses.RefreshStatus(ctx, st); err != nil {
		b.log.Debug("poll could not be refreshed", "uri", st.URI, "err", err)
	}
	return ctx.Err() // the next view retries
}
