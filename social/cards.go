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
	cardTime   = 24 * time.Hour // how long what a page said is good, also if that was nothing
	cardDelay  = time.Minute    // within this a page is looked at that a post from elsewhere links to: many servers got that post
	cardTries  = 3              // times that a page is tried to be reached
	cardPause  = 2 * time.Minute
	cardFetch  = 10 * time.Second
	cardBody   = 16 << 20 // bytes of a page; most of it is not read
	cardHops   = 5        // redirects: links are often shortened
	maxLink    = 2048     // bytes
	cardEvents = 20       // posts of which the open streams hear that their card has come

	cardsAtOnce = 2 // pages that are looked at at the same time: slow ones must not keep other jobs waiting
	cardTurn    = 5 * time.Second
)

// link returns the address whose page a status shows a card of, "" if none. Posts that are not for everybody have none: asking for
// the page would tell of them.
func (s *Service) link(c *Composed) string {
	if !s.Cards || s.Fetch == nil || c.Visibility > store.Unlisted {
		return ""
	}
	shown := func(u *url.URL) bool { return s.showsCard(c, u) }
	if u, err := url.Parse(c.Link); err == nil && c.Link != "" && shown(u) {
		return c.Link
	}
	return text.FirstLink(c.Content, shown)
}

// showsCard tells whether a link of a status is to something that a card adds to it.
func (s *Service) showsCard(c *Composed, u *url.URL) bool {
	if !c.Local() && u.String() == c.URL {
		return false // it is the post itself
	}
	if q := c.Quoted; q != nil && (u.String() == q.URL || u.String() == q.URI) {
		return false // it is shown already
	}
	for _, a := range c.People {
		if a.URL == u.String() {
			return false
		}
	}
	return len(u.String()) <= maxLink && !strings.EqualFold(u.Host, s.Domain) && !s.ignoresHost(u.Hostname())
}

func (s *Service) ignoresHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	for _, ignored := range s.NoCardsOf {
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
	link := s.link(c)
	if link == "" {
		return nil
	}
	var delay time.Duration
	if !c.Local() {
		delay = rand.N(cardDelay)
	}
	card, err := tx.WantCard(ctx, link, cardTime, delay)
	if err != nil {
		return err
	}
	c.CardID, c.Card = &card.ID, card
	return nil
}

// fetchCard is the job that looks at the page of a card. A page that cannot be reached is tried again; after that the card is what it
// was, and the next try is left to a post in a day or later.
func (s *Service) fetchCard(ctx context.Context, w store.FetchCard) error {
	card, err := s.wantedCard(ctx, w.CardID)
	if err != nil || card == nil {
		return err
	}
	select {
	case s.looks <- struct{}{}:
	default:
		return s.db.Update(ctx, func(tx *store.Tx) error { return tx.RetryCard(ctx, w, cardTurn+rand.N(2*cardTurn)) })
	}
	content, failure := func() (store.CardContent, error) {
		defer func() { <-s.looks }() // also after a panic, which the worker survives
		return s.look(ctx, card.URL)
	}()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failure != nil {
		s.log.Debug("no preview", "url", card.URL, "tried", w.Tried+1, "err", failure)
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if failure != nil && passing(failure) {
			if w.Tried++; w.Tried < cardTries {
				return tx.RetryCard(ctx, w, cardPause<<w.Tried)
			}
			content = card.Card
		}
		return saveCard(ctx, tx, card, content)
	})
}

// wantedCard returns a card that posts wait for, nil if none does.
func (s *Service) wantedCard(ctx context.Context, id store.CardID) (*store.Card, error) {
	if !s.Cards || s.Fetch == nil {
		return nil, nil
	}
	cards, err := s.db.Cards(ctx, []store.CardID{id})
	if err != nil || len(cards) == 0 || s.db.Now().Sub(cards[0].FetchedAt.Time()) < cardTime {
		return nil, err
	}
	posts, err := s.db.StatusesWithCard(ctx, id, 1)
	if err != nil || len(posts) == 0 {
		return nil, err
	}
	return cards[0], nil
}

// look makes a card of the page at an address. It is empty if the page says nothing of itself.
func (s *Service) look(ctx context.Context, link string) (store.CardContent, error) {
	address, err := url.Parse(link)
	if err != nil {
		return store.CardContent{}, fetch.ErrRefused
	}
	asked := *address
	if asked.Scheme == "http" && !s.Fetch.PlainHTTP() {
		asked.Scheme = "https"
		asked.Host = strings.TrimSuffix(asked.Host, ":80")
	}
	resp, err := s.Fetch.Open(ctx, asked.String(), fetch.Limits{
		Body: cardBody, Time: cardFetch, Redirects: cardHops,
		Accept: "text/html, application/xhtml+xml;q=0.9", Types: []string{"text/html", "application/xhtml+xml"},
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
	if shown := withoutWWW(at); shown != withoutWWW(address) {
		link = at.String()
	}
	return store.CardContent{
		URL: link, Title: page.Title, Description: page.Description, Image: page.Image, ImageDescription: page.ImageText,
		Width: page.Width, Height: page.Height, Properties: page.Properties,
	}, nil
}

func withoutWWW(u *url.URL) string { return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") }

// passing tells whether another try at a page may go better.
func passing(err error) bool {
	for _, lasting := range []error{fetch.ErrRefused, fetch.ErrType, fetch.ErrTooLarge, fetch.ErrRedirects} {
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
	ids, err := tx.StatusesWithCard(ctx, card.ID, cardEvents)
	if err != nil {
		return err
	}
	waited, err := tx.Statuses(ctx, ids)
	for _, st := range waited {
		tx.Emit(store.StatusEdited{Status: st})
	}
	return err
}

// sweepCards is the job that removes the cards that no post has any more.
func (s *Service) sweepCards(ctx context.Context, _ store.SweepCards) error {
	var last store.CardID
	for {
		err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
			last, err = tx.DropUnusedCards(ctx, last, cardTime)
			return err
		})
		if err != nil || last == 0 {
			return err
		}
	}
}
