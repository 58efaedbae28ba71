package social

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc/internal/fetch"
	"svc/internal/preview"
	"svc/internal/text"
	"svc/store"
)

const (
	cardTTL          = 24 * time.Hour // how long what a page said is good, also if that was nothing
	maxCardDelay     = time.Minute    // within this a page is looked at that a post from elsewhere links to: many servers got that post
	maxCardAttempts  = 3              // times that a page is tried to be reached
	cardRetryDelay   = 2 * time.Minute
	cardFetchTimeout = 10 * time.Second
	maxCardBody      = 16 << 20 // bytes of a page; most of it is not read
	maxCardRedirects = 5        // redirects: links are often shortened
	maxCardURL       = 2048     // bytes
	maxCardEvents    = 20       // posts of which the open streams hear that their card has come

	maxCardFetches = 2 // pages that are looked at at the same time: slow ones must not keep other jobs waiting
	cardBusyDelay  = 5 * time.Second
)

// cardLink returns the address whose page a status shows a card of, "" if none. Posts that are not for everybody have none: asking for
// the page would tell of them.
func (s *Service) cardLink(c *Composed) string {
	if !s.CardsEnabled || s.Fetch == nil || c.Visibility > store.Unlisted {
		return ""
	}
	shown := func(u *url.URL) bool { return s.allowsCard(c, u) }
	if u, err := url.Parse(c.Link); err == nil && c.Link != "" && shown(u) {
		return c.Link
	}
	return text.FirstLink(c.Content, shown)
}

// allowsCard tells whether a link of a status is to something that a card adds to it.
func (s *Service) allowsCard(c *Composed, u *url.URL) bool {
	if !c.Local() && u.String() == c.URL {
		return false // it is the post itself
	}
	if q := c.Quoted; q != nil && (u.String() == q.URL || u.String() == q.URI) {
		return false // it is shown already
	}
	for _, a := range c.MentionedAccounts {
		if a.URL == u.String() {
			return false
		}
	}
	return len(u.String()) <= maxCardURL && !strings.EqualFold(u.Host, s.Domain) && !s.isIgnoredCardHost(u.Hostname())
}

func (s *Service) isIgnoredCardHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	for _, ignored := range s.CardIgnoredHosts {
		ignored = strings.ToLower(ignored)
		if host == ignored || strings.HasSuffix(host, "."+ignored) {
			return true
		}
	}
	return false
}

// addCard gives a composed status the card of its link. If its page is not known, or has not been looked at for long, that is left
// as a job, which all posts with the link share.
func (s *Service) addCard(ctx context.Context, tx *store.Tx, c *Composed) error {
	c.CardID, c.Card = nil, nil
	link := s.cardLink(c)
	if link == "" {
		return nil
	}
	var delay time.Duration
	if !c.Local() {
		delay = rand.N(maxCardDelay)
	}
	card, err := tx.EnsureCard(ctx, link, cardTTL, delay)
	if err != nil {
		return err
	}
	c.CardID, c.Card = &card.ID, card
	return nil
}

// fetchCard is the job that looks at the page of a card. A page that cannot be reached is tried again; after that the card is what it
// was, and the next try is left to a post in a day or later.
func (s *Service) fetchCard(ctx context.Context, w store.FetchCard) error {
	card, err := s.dueCard(ctx, w.CardID)
	if err != nil || card == nil {
		return err
	}
	select {
	case s.cardSlots <- struct{}{}:
	default:
		return s.db.Update(ctx, func(tx *store.Tx) error { return tx.RetryCard(ctx, w, cardBusyDelay+rand.N(2*cardBusyDelay)) })
	}
	content, failure := func() (store.CardContent, error) {
		defer func() { <-s.cardSlots }() // also after a panic, which the worker survives
		return s.fetchPreview(ctx, card.URL)
	}()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failure != nil {
		s.log.Debug("no preview", "url", card.URL, "tried", w.Attempts+1, "err", failure)
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if failure != nil && isTemporary(failure) {
			if w.Attempts++; w.Attempts < maxCardAttempts {
				return tx.RetryCard(ctx, w, cardRetryDelay<<w.Attempts)
			}
			content = card.Card
		}
		return saveCard(ctx, tx, card, content)
	})
}

// dueCard returns a card that posts wait for, nil if none does.
func (s *Service) dueCard(ctx context.Context, id store.CardID) (*store.Card, error) {
	if !s.CardsEnabled || s.Fetch == nil {
		return nil, nil
	}
	cards, err := s.db.Cards(ctx, []store.CardID{id})
	if err != nil || len(cards) == 0 || s.db.Now().Sub(cards[0].FetchedAt.Time()) < cardTTL {
		return nil, err
	}
	posts, err := s.db.StatusesWithCard(ctx, id, 1)
	if err != nil || len(posts) == 0 {
		return nil, err
	}
	return cards[0], nil
}

// fetchPreview makes a card of the page at an address. It is empty if the page says nothing of itself.
func (s *Service) fetchPreview(ctx context.Context, link string) (store.CardContent, error) {
	address, err := url.Parse(link)
	if err != nil {
		return store.CardContent{}, fetch.ErrRefused
	}
	asked := *address
	if asked.Scheme == "http" && !s.Fetch.AllowsHTTP() {
		asked.Scheme = "https"
		asked.Host = strings.TrimSuffix(asked.Host, ":80")
	}
	resp, err := s.Fetch.Open(ctx, asked.String(), fetch.Limits{
		MaxBody: maxCardBody, Timeout: cardFetchTimeout, MaxRedirects: maxCardRedirects,
		Accept: "text/html, application/xhtml+xml;q=0.9", ContentTypes: []string{"text/html", "application/xhtml+xml"},
	})
	if err != nil {
		return store.CardContent{}, err
	}
	defer resp.Body.Close()
	at := resp.Request.URL
	page, err := preview.Read(resp.Body, resp.Header.Get("Content-Type"), at)
	if err != nil {
		return store.CardContent{}, err
	}
	// A page elsewhere is shown under its own address: it may be another page that people are sent to than the one we were.
	if shown := hostWithoutWWW(at); shown != hostWithoutWWW(address) {
		link = at.String()
	}
	return store.CardContent{
		URL: link, Title: page.Title, Description: page.Description, Image: page.Image, ImageDescription: page.ImageAlt,
		Width: page.Width, Height: page.Height, Properties: page.Properties,
	}, nil
}

func hostWithoutWWW(u *url.URL) string {
	return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
}

// isTemporary tells whether another try at a page may go better.
func isTemporary(err error) bool {
	for _, lasting := range []error{fetch.ErrRefused, fetch.ErrContentType, fetch.ErrTooLarge, fetch.ErrRedirects} {
		if errors.Is(err, lasting) {
			return false
		}
	}
	var status *fetch.StatusError
	if errors.As(err, &status) {
		return status.Status >= 500 || status.Status == http.StatusTooManyRequests || status.Status == http.StatusRequestTimeout
	}
	var name *net.DNSError
	return !errors.As(err, &name) || !name.IsNotFound
}

// saveCard writes a card. Where it is the first time that there is something to show, the open streams hear of the posts that waited
// for it; that is no edit.
func saveCard(ctx context.Context, tx *store.Tx, card *store.Card, content store.CardContent) error {
	first := card.FetchedAt == 0 && !content.Empty()
	card.Card = content
	if err := tx.SaveCard(ctx, card); err != nil || !first {
		return err
	}
	ids, err := tx.StatusesWithCard(ctx, card.ID, maxCardEvents)
	if err != nil {
		return err
	}
	waited, err := tx.Statuses(ctx, ids)
	for _, st := range waited {
		tx.Emit(store.StatusEdited{Status: st})
	}
	return err
}

// removeUnusedCards is the job that removes the cards that no post has any more.
func (s *Service) removeUnusedCards(ctx context.Context, _ store.SweepCards) error {
	var last store.CardID
	for {
		err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
			last, err = tx.DropUnusedCards(ctx, last, cardTTL)
			return err
		})
		if err != nil || last == 0 {
			return err
		}
	}
}
