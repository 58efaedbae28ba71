package federation

import (
	"context"
	"time"

	"svc/internal/activity"
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
func (s *Service) AccountViewed(ctx context.Context, a *store.Account) error {
	now := s.now()
	if a.Local() || a.Unavailable || !s.accountChecks.allow(accountCheckKey{id: a.ID, counts: true}, now) {
		return nil
	}
	actor, err := s.db.Actor(ctx, a.ID)
	if err != nil || now.Sub(actor.CollectionsFetchedAt.Time()) < countsTTL {
		return ignoreNotFound(err)
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueUnique(ctx, now, "collections:"+a.ID.String(), store.RefreshCollections{AccountID: a.ID})
	})
	if err != nil {
		return err
	}
	return s.RefreshIfStale(ctx, a)
}

// fetchCollections is the job that does so. What cannot be read is left as it is: the next time will come.
func (s *Service) fetchCollections(ctx context.Context, w store.RefreshCollections) error {
	ctx, cancel := context.WithTimeout(ctx, collectionsTimeout)
	defer cancel()
	account, err := s.db.Account(ctx, w.AccountID)
	if err != nil || account.Local() || account.Unavailable {
		return ignoreNotFound(err)
	}
	actor, err := s.db.Actor(ctx, account.ID)
	if err != nil {
		return ignoreNotFound(err)
	}
	if err := s.recordAttempt(ctx, account.ID, func(a *store.Actor) { a.AttemptedAt, a.CollectionsFetchedAt = actor.AttemptedAt, store.At(s.now()) }); err != nil {
		return err
	}
	if err := s.fetchCounts(ctx, account, actor); err != nil {
		return err
	}
	if err := s.fetchPins(ctx, account, actor); err != nil {
		return err
	}
	if err := s.fetchMovedTo(ctx, account, actor); err != nil {
		return err
	}
	return s.enqueueNodeInfo(ctx, account.URI)
}

// fetchCounts reads how many follow an account, how many it follows, and how much it has posted.
func (s *Service) fetchCounts(ctx context.Context, account *store.Account, actor *store.Actor) error {
	var c store.RemoteCounts
	var hidden bool
	c.Followers, c.HideFollowers = s.fetchCollectionSize(ctx, actor.Followers)
	c.Following, c.HideFollows = s.fetchCollectionSize(ctx, actor.Following)
	if c.Statuses, hidden = s.fetchCollectionSize(ctx, actor.Outbox); hidden && c.Statuses != nil && *c.Statuses == 0 {
		c.Statuses = nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.SetRemoteCounts(ctx, account.ID, c) })
}

// fetchCollectionSize returns how much a collection has, nil if that is not told, and whether what it has is kept from us: its first page cannot
// be read (federation 1.9).
func (s *Service) fetchCollectionSize(ctx context.Context, uri string) (n *int, hidden bool) {
	if uri == "" {
		return nil, false
	}
	doc, err := s.Document(ctx, uri)
	if err != nil {
		return nil, isAccessDenied(err)
	}
	if _, told := doc["totalItems"].(float64); told {
		total := doc.Count("totalItems")
		n = &total
	}
	switch first := doc["first"].(type) {
	case nil:
		hidden = doc["items"] == nil && doc["orderedItems"] == nil
	case string:
		if !activity.SameHost(first, uri, s.AllowLoopback) {
			return n, true
		}
		_, err := s.Document(ctx, first)
		hidden = isAccessDenied(err)
	}
	if hidden && n != nil && *n == 0 { // so some say that they do not tell
		n = nil
	}
	return n, hidden
}

// isAccessDenied tells whether a server refuses to show something.
func isAccessDenied(err error) bool {
	switch HTTPStatus(err) {
	case 401, 403, 404, 410:
		return true
	}
	return false
}

// fetchPins reads what an account has pinned to its profile, and has it pinned here.
func (s *Service) fetchPins(ctx context.Context, account *store.Account, actor *store.Actor) error {
	if actor.Featured == "" {
		return nil
	}
	items, err := s.fetchItems(ctx, actor.Featured, maxFeaturedPage, maxPinsFetched)
	if err != nil {
		return ctx.Err()
	}
	var pins []store.StatusID
	for _, uri := range items {
		if !activity.SameHost(uri, account.URI, s.AllowLoopback) {
			continue
		}
		st, err := s.Status(ctx, uri)
		if err == nil && st != nil && st.AccountID == account.ID && st.ReblogOfID == nil && st.Visibility <= store.Unlisted {
			pins = append(pins, st.ID)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.social.SetRemotePins(ctx, account.ID, pins)
}

// fetchItems returns the ids of what is in a collection: of so many pages, and no more than so many. All pages are of one host.
func (s *Service) fetchItems(ctx context.Context, uri string, pages, most int) ([]string, error) {
	var items []string
	seen := map[string]bool{uri: true}
	page, err := s.Document(ctx, uri)
	for err == nil && page != nil {
		for _, key := range []string{"orderedItems", "items"} {
			items = append(items, page.Refs(key, most-len(items))...)
		}
		next := page.Object("first")
		ref := page.Ref("first")
		if next == nil && ref == "" {
			next, ref = page.Object("next"), page.Ref("next")
		}
		if len(items) == most || pages == 0 || ref != "" && (seen[ref] || !activity.SameHost(ref, uri, s.AllowLoopback)) {
			break
		}
		seen[ref] = true
		pages--
		switch {
		case next != nil:
			page = next
		case ref != "":
			page, err = s.Document(ctx, ref)
		default:
			page = nil
		}
	}
	return items, err
}

// fetchMovedTo notes the account to which one has moved. It may have to be asked for first.
func (s *Service) fetchMovedTo(ctx context.Context, account *store.Account, actor *store.Actor) error {
	if actor.MovedTo == "" || account.MovedToID != nil {
		return nil
	}
	if _, err := s.Actor(ctx, actor.MovedTo); err != nil {
		s.log.Debug("account to which another has moved not found", "account", account.Acct(), "err", err)
		return ctx.Err()
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Account(ctx, account.ID)
		if err != nil || row.Unavailable {
			return ignoreNotFound(err)
		}
		if row.MovedToID, err = movedToID(ctx, tx, row, actor.MovedTo); err != nil || row.MovedToID == nil {
			return err
		}
		return tx.SaveAccount(ctx, row)
	})
}
