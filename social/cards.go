package social

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc/internal/fetch"
	"svc/internal/preview"
	"svc/internal/text"
	"svc/store"
)

const (
	cardTTL          = 24 * time.Hour // also of pages without a preview
	maxCardDelay     = time.Minute    // random delay for links in remote posts, because many servers receive the same post
	maxCardAttempts  = 3              // per page and TTL
	cardRetryDelay   = 2 * time.Minute
	cardFetchTimeout = 10 * time.Second
	maxCardBody      = 16 << 20 // bytes of a page; reading stops much earlier
	maxCardRedirects = 5        // redirects: links are often shortened
	maxCardURL       = 2048     // bytes
	maxCardEvents    = 20       // posts that are sent to open streams again when their card arrives
)

// cardLink returns the link of a status that gets a card, "" if none. Restricted statuses have none, because the request would reveal
// them.
func (s *Service) cardLink(c *Composed) string {
	if !s.Settings.Load().Cards.Enabled || s.Fetch == nil || c.Visibility > store.Unlisted {
		return ""
	}
	shown := func(u *url.URL) bool { return s.allowsCard(c, u) }
	if u, err := url.Parse(c.Link); err == nil && c.Link != "" && shown(u) {
		return c.Link
	}
	return text.FirstLink(c.Content, shown)
}

// allowsCard returns false for links to the status itself, to what it quotes, to mentioned accounts, to this server and to ignored hosts.
func (s *Service) allowsCard(c *Composed, u *url.URL) bool {
	if !c.Local() && u.String() == c.URL {
		return false
	}
	if u.String() == c.QuoteURI { // also of a quote that is not fetched yet
		return false
	}
	if q := c.Quoted; q != nil && (u.String() == q.URL || u.String() == q.URI) {
		return false
	}
	if slices.ContainsFunc(c.MentionedAccounts, func(a *store.Account) bool { return a.URL == u.String() }) {
		return false
	}
	return len(u.String()) <= maxCardURL && !strings.EqualFold(u.Host, s.Settings.WebHost) && !s.isIgnoredCardHost(u.Hostname())
}

func (s *Service) isIgnoredCardHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return slices.ContainsFunc(s.Settings.Load().Cards.IgnoredHosts, func(ignored string) bool {
		ignored = strings.ToLower(ignored)
		return host == ignored || strings.HasSuffix(host, "."+ignored)
	})
}

// addCard sets the card of a composed status. If the page is unknown or its TTL has passed, one job for all statuses with the link
// fetches it.
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

// fetchCard is the job that fetches the page of a card. It retries a page that is temporarily unavailable. After the last attempt the
// card stays as it was until its TTL has passed.
func (s *Service) fetchCard(ctx context.Context, w store.FetchCard) error {
	card, err := s.dueCard(ctx, w.CardID)
	if err != nil || card == nil {
		return err
	}
	content, failure := s.fetchPreview(ctx, card.URL)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failure != nil {
		s.log.Debug("no preview", "url", card.URL, "attempt", w.Attempts+1, "err", failure)
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if failure != nil && isTemporary(failure) {
			if w.Attempts++; w.Attempts < maxCardAttempts {
				return tx.RetryCard(ctx, w, cardRetryDelay<<w.Attempts)
			}
			content = card.Card
		}
		if err := s.findCardAuthor(ctx, tx, &content); err != nil {
			return err
		}
		if err := saveCard(ctx, tx, card, content); err != nil || content.Creator == "" || content.AuthorID != 0 {
			return err
		}
		return s.enqueueCardAuthor(ctx, tx, card)
	})
}

// dueCard returns a card that a status uses and whose TTL has passed, else nil.
func (s *Service) dueCard(ctx context.Context, id store.CardID) (*store.Card, error) {
	if !s.Settings.Load().Cards.Enabled || s.Fetch == nil {
		return nil, nil
	}
	cards, err := s.db.Cards(ctx, []store.CardID{id})
	if err != nil || len(cards) == 0 || cards[0].FetchedAt.Age(s.db.Now()) < cardTTL {
		return nil, err
	}
	posts, err := s.db.StatusesWithCard(ctx, id, 1)
	if err != nil || len(posts) == 0 {
		return nil, err
	}
	return cards[0], nil
}

// fetchPreview returns the card of a page. The card is empty if the page has no metadata.
func (s *Service) fetchPreview(ctx context.Context, link string) (store.CardContent, error) {
	address, err := url.Parse(link)
	if err != nil {
		return store.CardContent{}, fetch.ErrRefused
	}
	request := *address
	if request.Scheme == "http" && !s.Fetch.AllowsHTTP() {
		request.Scheme = "https"
		request.Host = strings.TrimSuffix(request.Host, ":80")
	}
	resp, err := s.Fetch.Open(ctx, request.String(), fetch.Limits{
		MaxBody: maxCardBody, Timeout: cardFetchTimeout, MaxRedirects: maxCardRedirects,
		Accept: "text/html, application/xhtml+xml;q=0.9", Accepts: fetch.OneOf("text/html", "application/xhtml+xml"),
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
	// After a redirect to another host, the card shows the final URL, because the link may lead users to another page.
	if shown := hostWithoutWWW(at); shown != hostWithoutWWW(address) {
		link = at.String()
	}
	return store.CardContent{
		URL: link, Title: page.Title, Description: page.Description, Image: page.Image, ImageDescription: page.ImageAlt,
		Width: page.Width, Height: page.Height, Properties: page.Properties, Creator: creatorOf(page),
	}, nil
}

func hostWithoutWWW(u *url.URL) string {
	return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
}

// isTemporary returns true if a later attempt may succeed.
func isTemporary(err error) bool {
	final := []error{fetch.ErrRefused, fetch.ErrContentType, fetch.ErrTooLarge, fetch.ErrRedirects}
	if slices.ContainsFunc(final, func(f error) bool { return errors.Is(err, f) }) {
		return false
	}
	var status *fetch.StatusError
	if errors.As(err, &status) {
		return status.Status >= 500 || status.Status == http.StatusTooManyRequests || status.Status == http.StatusRequestTimeout
	}
	var name *net.DNSError
	return !errors.As(err, &name) || !name.IsNotFound
}

// saveCard stores a card. The first content of a card is sent to open streams with its statuses; that is not an edit.
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
	statuses, err := tx.Statuses(ctx, ids)
	for _, st := range statuses {
		tx.Emit(store.StatusEdited{Status: st})
	}
	return err
}

// removeUnusedCards is the recurring job that removes cards that no status uses.
func (s *Service) removeUnusedCards(ctx context.Context, _ store.SweepCards) error {
	var last store.CardID
	for {
		next, err := update(ctx, s.db, func(tx *store.Tx) (store.CardID, error) { return tx.DropUnusedCards(ctx, last, cardTTL) })
		if last = next; err != nil || last == 0 {
			return err
		}
	}
}
