package federation

import (
	"context"
	"sync"
	"time"

	"svc/internal/activity"
	"svc/store"
)

// Limits of what is fetched for a thread (federation 3.9).
const (
	completers     = 4 // posts that are completed at a time
	completeTries  = 3
	completePause  = 2 * time.Minute
	repliesPause   = 10 * time.Minute // between two looks at the replies to a post
	maxRepliesRead = 100              // that one look can bring
	maxRepliesHost = 5                // of them, of each other host than the post's
	replyReach     = 5                // posts above a reply that it may lead to
	quoteReach     = 2                // posts that are fetched because one quotes: nobody is shown quotes of quotes of quotes
	maxPages       = 10
	pollPause      = time.Minute // between two looks at a poll
	maxWatched     = 10_000
)

// complete is the job that fetches what a post speaks of: whom it mentions, what it quotes, and what it replies to, which may lead to
// another post above (federation 3.9). Each is a job of its own, so that no thread, however long, keeps others waiting.
func (s *Service) complete(ctx context.Context, w store.CompleteStatus) error {
	origin, err := s.db.Origin(ctx, w.StatusID)
	if err != nil {
		return err
	}
	there, err := s.db.HasStatus(ctx, w.StatusID)
	if err != nil || !there {
		return err
	}
	w.Reach -= len(w.People) // who are asked for as well
	again := false
	if again, err = s.meetMentioned(ctx, &w); err != nil {
		return err
	}
	for uri, reach := range leads(origin, w.Reach) {
		st, err := s.fetchStatus(ctx, uri, fetching{reach: reach - 1})
		if err == nil && !st.Local() { // it may have come meanwhile, or be known by another id
			err = s.social.Found(ctx, uri, st.ID)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			s.log.Debug("post not found", "uri", uri, "for", w.StatusID, "err", err)
			again = again || !lasting(err)
		}
	}
	if w.Tried++; !again || w.Tried == completeTries {
		return nil
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueOnce(ctx, s.now().Add(jittered(completePause<<(2*w.Tried))), completeKey(w.StatusID), w)
	})
}

// leads returns what a post replies to and what it quotes, as far as that is not here, each with its part of how many posts may be fetched:
// together no more than reach, or a thread that branches with every post would never end.
func leads(origin *store.Origin, reach int) map[string]int {
	parts := make(map[string]int)
	if origin == nil {
		return parts
	}
	if origin.QuoteURI != "" {
		most := reach
		if origin.ParentURI != "" {
			most = reach / 2
		}
		if quote := min(quoteReach, most); quote > 0 {
			parts[origin.QuoteURI] = quote
			reach -= quote
		}
	}
	if origin.ParentURI != "" && reach > 0 {
		parts[origin.ParentURI] = reach
	}
	return parts
}

// completeKey is that of the job.
func completeKey(id store.StatusID) string { return "complete:" + id.String() }

// meetMentioned asks for those whom a post mentions and who are not known. again tells whether some are left for another try.
func (s *Service) meetMentioned(ctx context.Context, w *store.CompleteStatus) (again bool, err error) {
	var met []store.AccountID
	var left []string
	for _, uri := range w.People {
		if _, err := s.hostToAsk(uri); err != nil {
			continue
		}
		account, err := s.Actor(ctx, uri)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err == nil:
			met = append(met, account.ID)
		case !lasting(err):
			left = append(left, uri)
		}
	}
	w.People = left
	if len(met) == 0 {
		return len(left) > 0, nil
	}
	return len(left) > 0, s.social.Acquaint(ctx, w.StatusID, met)
}

// watched remembers which posts were looked after a moment ago, so that not each view costs a query.
type watched struct {
	mu sync.Mutex
	at map[watchedKey]time.Time
}

type watchedKey struct {
	id   store.StatusID
	poll bool
}

func newWatched() *watched { return &watched{at: make(map[watchedKey]time.Time)} }

// begin tells whether it is time to look after a post, and notes that it is done.
func (w *watched) begin(key watchedKey, now time.Time, pause time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at, ok := w.at[key]; ok && now.Sub(at) < pause {
		return false
	}
	for other := range w.at {
		if len(w.at) < maxWatched {
			break
		}
		delete(w.at, other)
	}
	w.at[key] = now
	return true
}

// ThreadOpened has the replies to a post from elsewhere looked for in the background, because somebody looks at its thread; and how its
// poll stands.
func (s *Service) ThreadOpened(ctx context.Context, st *store.Status) error {
	if st.Local() {
		return nil
	}
	if err := s.PollSeen(ctx, st.ID); err != nil {
		return err
	}
	if st.Visibility > store.Unlisted || !s.watched.begin(watchedKey{id: st.ID}, s.now(), repliesPause) {
		return nil
	}
	origin, err := s.db.Origin(ctx, st.ID)
	if err != nil || origin == nil || origin.RepliesURI == "" || s.now().Sub(origin.RepliesAt.Time()) < repliesPause {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueOnce(ctx, s.now(), "replies:"+st.ID.String(), store.FetchReplies{StatusID: st.ID})
	})
}

// PollSeen has it asked in the background how the poll of a post from elsewhere stands, because somebody looks at it.
func (s *Service) PollSeen(ctx context.Context, id store.StatusID) error {
	if !s.watched.begin(watchedKey{id, true}, s.now(), pollPause) {
		return nil
	}
	p, err := s.db.PollOf(ctx, id)
	if err != nil || p == nil || !s.stale(p) {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueOnce(ctx, s.now(), "poll-refresh:"+id.String(), store.RefreshPoll{StatusID: id})
	})
}

// stale tells whether the counts of a poll may be others by now.
func (s *Service) stale(p *store.Poll) bool {
	if p.FetchedAt == nil || s.now().Sub(p.FetchedAt.Time()) < pollPause {
		return false
	}
	return p.ExpiresAt == nil || p.FetchedAt.Time().Before(p.ExpiresAt.Time())
}

// refreshPoll is the job that asks how a poll stands.
func (s *Service) refreshPoll(ctx context.Context, w store.RefreshPoll) error {
	st, err := s.db.Status(ctx, w.StatusID)
	if err != nil {
		return ignoreMissing(err)
	}
	p, err := s.db.PollOf(ctx, st.ID)
	if err != nil || p == nil || !s.stale(p) {
		return err
	}
	if err := s.lookAnew(ctx, st); err != nil {
		s.log.Debug("poll not refreshed", "uri", st.URI, "err", err)
	}
	return ctx.Err() // the next view is another try
}

// fetchReplies is the job that reads which replies a post from elsewhere has, and fetches those that are not here. They come from all
// kinds of hosts: no list can have us ask one of them for much.
func (s *Service) fetchReplies(ctx context.Context, w store.FetchReplies) error {
	st, err := s.db.Status(ctx, w.StatusID)
	if err != nil {
		return ignoreMissing(err)
	}
	origin, err := s.db.Origin(ctx, st.ID)
	if err != nil || origin == nil || s.now().Sub(origin.RepliesAt.Time()) < repliesPause {
		return err
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		if origin, err = tx.Origin(ctx, st.ID); origin == nil || err != nil {
			return err
		}
		origin.RepliesAt = store.At(s.now())
		return tx.SaveOrigin(ctx, origin)
	})
	if origin == nil || err != nil {
		return err
	}
	asked := make(map[string]int)
	fits := func(n *note) bool { return n.Parent == st.URI }
	items, err := s.itemsOf(ctx, origin.RepliesURI, maxPages, maxRepliesRead)
	if err != nil {
		s.log.Debug("replies not read", "uri", origin.RepliesURI, "err", err)
	}
	for _, uri := range items {
		host, err := s.hostToAsk(uri)
		if err != nil {
			continue
		}
		if known, err := s.db.StatusByURI(ctx, uri); err != nil {
			return err
		} else if known != nil {
			continue
		}
		if asked[host]++; asked[host] > maxRepliesHost && !activity.SameHost(uri, st.URI, s.Trial) {
			continue
		}
		if _, err := s.fetchStatus(ctx, uri, fetching{fits: fits, reach: replyReach}); err != nil {
			s.log.Debug("reply not fetched", "uri", uri, "err", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
