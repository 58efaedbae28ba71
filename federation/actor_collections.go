package federation

import (
	"context"
	"time"

	"svc/internal/activity"
	"svc/store"
)

const (
	maxPinsRead     = 20 // of an account (federation 3.9)
	maxFeaturedPage = 5
	readers         = 2 // accounts whose collections are read at a time
	collectionsTime = 2 * time.Minute
)

// Seen queues a look at what an account elsewhere shows beside its profile, because somebody here looks at it: its counters, its pins, and
// where it has moved. Nobody is asked for what is known since a few hours ago.
func (s *Service) Seen(ctx context.Context, a *store.Account) error {
	now := s.now()
	if a.Local() || a.Withheld || !s.looked.begin(lookedKey{id: a.ID, counts: true}, now) {
		return nil
	}
	actor, err := s.db.Actor(ctx, a.ID)
	if err != nil || now.Sub(actor.CountedAt.Time()) < countsAge {
		return ignoreMissing(err)
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		return tx.EnqueueOnce(ctx, now, "collections:"+a.ID.String(), store.ReadCollections{AccountID: a.ID})
	})
	if err != nil {
		return err
	}
	return s.refreshIfOld(ctx, a)
}

// readCollections is the job that does so. What cannot be read is left as it is: the next time will come.
func (s *Service) readCollections(ctx context.Context, w store.ReadCollections) error {
	ctx, cancel := context.WithTimeout(ctx, collectionsTime)
	defer cancel()
	account, err := s.db.Account(ctx, w.AccountID)
	if err != nil || account.Local() || account.Withheld {
		return ignoreMissing(err)
	}
	actor, err := s.db.Actor(ctx, account.ID)
	if err != nil {
		return ignoreMissing(err)
	}
	if err := s.noteTry(ctx, account.ID, func(a *store.Actor) { a.TriedAt, a.CountedAt = actor.TriedAt, store.At(s.now()) }); err != nil {
		return err
	}
	if err := s.readCounts(ctx, account, actor); err != nil {
		return err
	}
	if err := s.readPins(ctx, account, actor); err != nil {
		return err
	}
	if err := s.readTarget(ctx, account, actor); err != nil {
		return err
	}
	return s.queueHostCheck(ctx, account.URI)
}

// readCounts reads how many follow an account, how many it follows, and how much it has posted.
func (s *Service) readCounts(ctx context.Context, account *store.Account, actor *store.Actor) error {
	var c store.RemoteCounts
	var hidden bool
	c.Followers, c.HideFollowers = s.collectionSize(ctx, actor.Followers)
	c.Following, c.HideFollows = s.collectionSize(ctx, actor.Following)
	if c.Statuses, hidden = s.collectionSize(ctx, actor.Outbox); hidden && c.Statuses != nil && *c.Statuses == 0 {
		c.Statuses = nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.db.Update(ctx, func(tx *store.Tx) error { return tx.SetRemoteCounts(ctx, account.ID, c) })
}

// collectionSize returns how much a collection has, nil if that is not told, and whether what it has is kept from us: its first page cannot
// be read (federation 1.9).
func (s *Service) collectionSize(ctx context.Context, uri string) (n *int, hidden bool) {
	if uri == "" {
		return nil, false
	}
	doc, err := s.document(ctx, uri)
	if err != nil {
		return nil, forbidden(err)
	}
	if _, told := doc["totalItems"].(float64); told {
		total := doc.Count("totalItems")
		n = &total
	}
	switch first := doc["first"].(type) {
	case nil:
		hidden = doc["items"] == nil && doc["orderedItems"] == nil
	case string:
		if !activity.SameHost(first, uri, s.Trial) {
			return n, true
		}
		_, err := s.document(ctx, first)
		hidden = forbidden(err)
	}
	if hidden && n != nil && *n == 0 { // so some say that they do not tell
		n = nil
	}
	return n, hidden
}

// forbidden tells whether a server refuses to show something.
func forbidden(err error) bool {
	switch statusOf(err) {
	case 401, 403, 404, 410:
		return true
	}
	return false
}

// readPins reads what an account has pinned to its profile, and has it pinned here.
func (s *Service) readPins(ctx context.Context, account *store.Account, actor *store.Actor) error {
	if actor.Featured == "" {
		return nil
	}
	items, err := s.itemsOf(ctx, actor.Featured, maxFeaturedPage, maxPinsRead)
	if err != nil {
		return ctx.Err()
	}
	var pins []store.StatusID
	for _, uri := range items {
		if !activity.SameHost(uri, account.URI, s.Trial) {
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
	return s.social.SetPins(ctx, account.ID, pins)
}

// itemsOf returns the ids of what is in a collection: of so many pages, and no more than so many. All pages are of one host.
func (s *Service) itemsOf(ctx context.Context, uri string, pages, most int) ([]string, error) {
	var items []string
	seen := map[string]bool{uri: true}
	page, err := s.document(ctx, uri)
	for err == nil && page != nil {
		for _, key := range []string{"orderedItems", "items"} {
			items = append(items, page.Refs(key, most-len(items))...)
		}
		next := page.Object("first")
		ref := page.Ref("first")
		if next == nil && ref == "" {
			next, ref = page.Object("next"), page.Ref("next")
		}
		if len(items) == most || pages == 0 || ref != "" && (seen[ref] || !activity.SameHost(ref, uri, s.Trial)) {
			break
		}
		seen[ref] = true
		pages--
		switch {
		case next != nil:
			page = next
		case ref != "":
			page, err = s.document(ctx, ref)
		default:
			page = nil
		}
	}
	return items, err
}

// readTarget notes the account to which one has moved. It may have to be asked for first.
func (s *Service) readTarget(ctx context.Context, account *store.Account, actor *store.Actor) error {
	if actor.MovedTo == "" || account.MovedToID != nil {
		return nil
	}
	if _, err := s.Actor(ctx, actor.MovedTo); err != nil {
		s.log.Debug("account to which another has moved not found", "account", account.Acct(), "err", err)
		return ctx.Err()
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Account(ctx, account.ID)
		if err != nil || row.Withheld {
			return ignoreMissing(err)
		}
		if row.MovedToID, err = movedTo(ctx, tx, row, actor.MovedTo); err != nil || row.MovedToID == nil {
			return err
		}
		return tx.SaveAccount(ctx, row)
	})
}
