package remote

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/limit"
	"svc/social"
	"svc/store"
)

// Limits of what is fetched for a thread (federation 3.9).
const (
	threadWorkers         = 4 // posts that are completed at a time
	maxCompleteAttempts   = 3
	completeRetryInterval = 2 * time.Minute
	repliesInterval       = 10 * time.Minute // between two looks at the replies to a post
	maxRepliesFetched     = 100              // that one look can bring
	maxRepliesPerHost     = 5                // of them, of each other host than the post's
	replyFetchBudget      = 5                // posts above a reply that it may lead to
	quoteFetchBudget      = 2                // posts that are fetched because one quotes: nobody is shown quotes of quotes of quotes
	maxReplyPages         = 10
	pollInterval          = time.Minute // between two looks at a poll
	maxStatusViews        = 10_000
)

// Backfill fetches what belongs to stored accounts and statuses in the background: counters, pins, parents, replies, polls.
type Backfill struct {
	AllowLoopback bool
	reader        *Reader
	fetcher       *Fetcher
	actors        *Actors
	statuses      *Statuses
	db            *store.DB
	social        *social.Service
	log           *slog.Logger
	statusViews   *statusViews
}

// completeStatus is the job that fetches what a post speaks of: whom it mentions, what it quotes, and what it replies to, which may lead to
// another post above (federation 3.9). Each is a job of its own, so that no thread, however long, keeps others waiting.
func (b *Backfill) completeStatus(ctx context.Context, w store.FetchReferences) error {
	origin, err := b.db.RemoteStatus(ctx, w.StatusID)
	if err != nil {
		return err
	}
	there, err := b.db.StatusExists(ctx, w.StatusID)
	if err != nil || !there {
		return err
	}
	w.FetchBudget -= len(w.Mentions) // who are asked for as well
	again := false
	if again, err = b.fetchMentioned(ctx, &w); err != nil {
		return err
	}
	for uri, reach := range relatedURIs(origin, w.FetchBudget) {
		st, err := b.statuses.FetchStatus(ctx, uri, FetchOptions{Budget: reach - 1})
		if err == nil && !st.Local() { // it may have come meanwhile, or be known by another id
			err = b.social.LinkWaitingStatuses(ctx, uri, st.ID)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			b.log.Debug("post not found", "uri", uri, "for", w.StatusID, "err", err)
			again = again || !IsFinal(err)
		}
	}
	if w.Attempts++; !again || w.Attempts == maxCompleteAttempts {
		return nil
	}
	return b.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnique(ctx, b.db.Now().Add(withJitter(completeRetryInterval<<(2*w.Attempts))), completeJobKey(w.StatusID), w)
	})
}

// withJitter varies a duration by up to a fifth, so that retries do not come all at once.
func withJitter(d time.Duration) time.Duration { return d - d/5 + rand.N(2*d/5) }

// relatedURIs returns what a post replies to and what it quotes, as far as that is not here, each with its part of how many posts may be fetched:
// together no more than reach, or a thread that branches with every post would never end.
func relatedURIs(origin *store.RemoteStatus, reach int) map[string]int {
	parts := make(map[string]int)
	if origin == nil {
		return parts
	}
	if origin.QuoteURI != "" {
		most := reach
		if origin.ParentURI != "" {
			most = reach / 2
		}
		if quote := min(quoteFetchBudget, most); quote > 0 {
			parts[origin.QuoteURI] = quote
			reach -= quote
		}
	}
	if origin.ParentURI != "" && reach > 0 {
		parts[origin.ParentURI] = reach
	}
	return parts
}

// completeJobKey is that of the job.
func completeJobKey(id store.StatusID) string { return "complete:" + id.String() }

// fetchMentioned asks for those whom a post mentions and who are not known. again tells whether some are left for another try.
func (b *Backfill) fetchMentioned(ctx context.Context, w *store.FetchReferences) (again bool, err error) {
	var met []store.AccountID
	var left []string
	for _, uri := range w.Mentions {
		if _, err := b.fetcher.FetchableHost(uri); err != nil {
			continue
		}
		account, err := b.actors.Actor(ctx, uri)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err == nil:
			met = append(met, account.ID)
		case !IsFinal(err):
			left = append(left, uri)
		}
	}
	w.Mentions = left
	if len(met) == 0 {
		return len(left) > 0, nil
	}
	return len(left) > 0, b.social.AddMentions(ctx, w.StatusID, met)
}

// statusViews limits how often a viewed status is refreshed, so that not each view costs a query.
type statusViews struct{ window *limit.Window[statusViewKey] }

type statusViewKey struct {
	id   store.StatusID
	poll bool
}

func newStatusViews() *statusViews {
	return &statusViews{limit.NewWindow[statusViewKey](maxStatusViews)}
}

// allow returns false if the last refresh was within interval.
func (v *statusViews) allow(key statusViewKey, now time.Time, interval time.Duration) bool {
	_, ok := v.window.Allow(key, limit.Rate{Count: 1, Window: interval}, now)
	return ok
}

// ThreadViewed has the replies to a post from elsewhere looked for in the background, because somebody looks at its thread; and how its
// poll stands.
func (b *Backfill) ThreadViewed(ctx context.Context, st *store.Status) error {
	if st.Local() {
		return nil
	}
	if err := b.PollViewed(ctx, st.ID); err != nil {
		return err
	}
	if st.Visibility > store.Unlisted || !b.statusViews.allow(statusViewKey{id: st.ID}, b.db.Now(), repliesInterval) {
		return nil
	}
	origin, err := b.db.RemoteStatus(ctx, st.ID)
	if err != nil || origin == nil || origin.RepliesURI == "" || b.db.Now().Sub(origin.RepliesAt.Time()) < repliesInterval {
		return err
	}
	return b.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnique(ctx, b.db.Now(), "replies:"+st.ID.String(), store.FetchReplies{StatusID: st.ID})
	})
}

// PollViewed has it asked in the background how the poll of a post from elsewhere stands, because somebody looks at it.
func (b *Backfill) PollViewed(ctx context.Context, id store.StatusID) error {
	if !b.statusViews.allow(statusViewKey{id, true}, b.db.Now(), pollInterval) {
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

// isPollStale tells whether the counts of a poll may be others by now.
func (b *Backfill) isPollStale(p *store.Poll) bool {
	if p.FetchedAt == nil || b.db.Now().Sub(p.FetchedAt.Time()) < pollInterval {
		return false
	}
	return p.ExpiresAt == nil || p.FetchedAt.Time().Before(p.ExpiresAt.Time())
}

// refreshPoll is the job that asks how a poll stands.
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
		b.log.Debug("poll not refreshed", "uri", st.URI, "err", err)
	}
	return ctx.Err() // the next view is another try
}

// fetchReplies is the job that reads which replies a post from elsewhere has, and fetches those that are not here. They come from all
// kinds of hosts: no list can have us ask one of them for much.
func (b *Backfill) fetchReplies(ctx context.Context, w store.FetchReplies) error {
	st, err := b.db.Status(ctx, w.StatusID)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	origin, err := b.db.RemoteStatus(ctx, st.ID)
	if err != nil || origin == nil || b.db.Now().Sub(origin.RepliesAt.Time()) < repliesInterval {
		return err
	}
	err = b.db.Update(ctx, func(tx *store.Tx) error {
		if origin, err = tx.RemoteStatus(ctx, st.ID); origin == nil || err != nil {
			return err
		}
		origin.RepliesAt = store.At(b.db.Now())
		return tx.SaveRemoteStatus(ctx, origin)
	})
	if origin == nil || err != nil {
		return err
	}
	asked := make(map[string]int)
	fits := func(n *Note) bool { return n.ParentURI == st.URI }
	items, err := b.fetcher.fetchItems(ctx, origin.RepliesURI, maxReplyPages, maxRepliesFetched)
	if err != nil {
		b.log.Debug("replies not read", "uri", origin.RepliesURI, "err", err)
	}
	for _, uri := range items {
		host, err := b.fetcher.FetchableHost(uri)
		if err != nil {
			continue
		}
		if known, err := b.db.StatusByURI(ctx, uri); err != nil {
			return err
		} else if known != nil {
			continue
		}
		if asked[host]++; asked[host] > maxRepliesPerHost && !activity.SameHost(uri, st.URI, b.AllowLoopback) {
			continue
		}
		if _, err := b.statuses.FetchStatus(ctx, uri, FetchOptions{Accept: fits, Budget: replyFetchBudget}); err != nil {
			b.log.Debug("reply not fetched", "uri", uri, "err", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
