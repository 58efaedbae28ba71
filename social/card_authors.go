package social

import (
	"context"
	"net/url"
	"strings"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/limit"
	"svc/internal/preview"
	"svc/internal/text"
	"svc/store"
)

// cardAuthorsPerDomain is the rate limit for unknown authors on the pages of a registrable domain: each is looked up on another server.
var cardAuthorsPerDomain = limit.Rate{Count: 10, Window: time.Hour}

// maxCardAuthorCounters is how many domains the limit counts at a time.
const maxCardAuthorCounters = 10_000

// creatorOf returns the handle of the author of a page, with its domain, "" if there is none.
func creatorOf(page *preview.Page) string {
	nick, domain, ok := text.SplitHandle(page.Creator)
	if !ok || domain == "" {
		return ""
	}
	return nick + "@" + domain
}

// findCardAuthor sets the account of the author of a card if it is known.
func (s *Service) findCardAuthor(ctx context.Context, tx *store.Tx, c *store.CardContent) error {
	c.AuthorID = 0
	nick, domain, ok := strings.Cut(c.Creator, "@")
	if !ok || c.Empty() {
		return nil
	}
	a, err := s.accountByHandle(ctx, tx, nick, domain)
	if err != nil {
		return errs.IgnoreNotFound(err)
	}
	c.AuthorID = a.ID
	return nil
}

// enqueueCardAuthor has the unknown author of a card looked up, unless pages of its domain had too many looked up.
func (s *Service) enqueueCardAuthor(ctx context.Context, tx *store.Tx, card *store.Card) error {
	page, err := url.Parse(card.Card.URL)
	if _, domain, _ := strings.Cut(card.Card.Creator, "@"); err != nil || card.Card.Empty() || s.Settings.IsOwnHost(domain) {
		return nil
	}
	domain := activity.RegisteredDomain(strings.ToLower(page.Host))
	if _, ok := s.cardAuthors.Allow(domain, cardAuthorsPerDomain, s.db.Now()); !ok {
		return nil
	}
	return tx.EnqueueCardAuthor(ctx, card)
}
