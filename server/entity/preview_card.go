package entity

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strings"

	"svc/internal/text"
	"svc/store"
)

// cardMembers are the members of a preview card. Its type is always link, and html is empty, because remote HTML is not embedded
// (client API 3.9).
type cardMembers struct {
	URL              string  `json:"url"`
	Title            string  `json:"title"`
	Description      string  `json:"description"`
	Type             string  `json:"type"`
	AuthorName       string  `json:"author_name"`
	AuthorURL        string  `json:"author_url"`
	ProviderName     string  `json:"provider_name"`
	ProviderURL      string  `json:"provider_url"`
	HTML             string  `json:"html"`
	Width            int     `json:"width"`
	Height           int     `json:"height"`
	Image            *string `json:"image"`
	ImageDescription string  `json:"image_description"`
	EmbedURL         string  `json:"embed_url"`
	Authors          []any   `json:"authors"` // empty; appendCard adds the author
}

// cachedCard is the JSON of a card without its author, because that account changes without the status.
type cachedCard struct {
	json   object
	host   string          // of the page
	author store.AccountID // named by the page; 0: unknown
}

// size returns the memory that a card takes, in bytes.
func (c *cachedCard) size() int {
	if c == nil {
		return 0
	}
	return len(c.json) + len(c.host)
}

// authoredCard is a card with its author.
type authoredCard struct {
	*cachedCard
	author Account
}

// cardExtension is the svc object of a card: the Open Graph properties of the page (extension API 14).
type cardExtension struct {
	OpenGraph map[string]string `json:"opengraph"`
}

// maxCard is how many bytes of JSON a card with the properties of its page may have. Without them its texts bound it.
const maxCard = 20_000

// StatusCard returns the card of a status that is no boost, nil if it has none.
func (b *Builder) StatusCard(ctx context.Context, st *store.Status) (Appender, error) {
	if st.CardID == nil {
		return nil, nil
	}
	rows, err := b.db.Cards(ctx, []store.CardID{*st.CardID})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return b.shownCard(ctx, rows[0])
}

// shownCard renders a card with its author, nil if it has nothing to show.
func (b *Builder) shownCard(ctx context.Context, row *store.Card) (Appender, error) {
	card, err := b.card(row)
	if err != nil || card == nil {
		return nil, err
	}
	accounts, err := b.loadAccounts(ctx, []store.AccountID{card.author})
	if author := card.authorAmong(accounts); author.cachedAccount != nil {
		return authoredCard{card, author}, nil
	}
	return card.json, err
}

// authorAmong returns the account of the author of a card if it is available and lists the host of the page, or a domain above it.
func (c *cachedCard) authorAmong(accounts map[store.AccountID]Account) Account {
	if c == nil || c.author == 0 {
		return Account{}
	}
	a := accounts[c.author]
	lists := func(domain string) bool { return c.host == domain || strings.HasSuffix(c.host, "."+domain) }
	if a.cachedAccount == nil || a.unavailable || !slices.ContainsFunc(a.attributionDomains, lists) {
		return Account{}
	}
	return a
}

// AppendJSON appends the card with its author.
func (c authoredCard) AppendJSON(dst []byte) []byte {
	before, after, _ := bytes.Cut(c.json, []byte(`"authors":[]`)) // no text contains it, because quotes are escaped
	dst = append(append(dst, before...), `"authors":[{"name":`...)
	dst = append(appendValue(dst, c.author.name), `,"url":`...)
	dst = append(appendValue(dst, c.author.url), `,"account":`...)
	return append(append(c.author.AppendJSON(dst), "}]"...), after...)
}

// appendCard appends the card of a status whose author is shown.
func (s *Status) appendCard(dst []byte) []byte {
	o := s.original()
	return authoredCard{o.card, o.cardAuthor}.AppendJSON(dst)
}

// loadCards loads the cards of the rows.
func (b *Builder) loadCards(ctx context.Context, p *statusParts) error {
	var ids []store.CardID
	for _, row := range p.rows {
		if row.CardID != nil {
			ids = append(ids, *row.CardID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := b.db.Cards(ctx, unique(ids))
	if err != nil {
		return err
	}
	return b.addCards(rows, p)
}

func (r *renderer) addCards(rows []*store.Card, p *statusParts) error {
	for _, row := range rows {
		card, err := r.card(row)
		if err != nil {
			return err
		}
		p.cards[row.ID] = card
	}
	return nil
}

// card renders a card. It returns nil for an empty one.
func (r *renderer) card(row *store.Card) (*cachedCard, error) {
	c := row.Card
	at, err := url.Parse(c.URL)
	if c.Empty() || err != nil {
		return nil, nil
	}
	properties := c.Properties
	if properties == nil {
		properties = map[string]string{}
	}
	var picture *string
	if c.Image != "" {
		shown := r.proxied(c.Image)
		picture = &shown
	}
	members := cardMembers{
		URL: c.URL, Title: c.Title, Description: c.Description, Type: "link",
		ProviderName: at.Hostname(), ProviderURL: (&url.URL{Scheme: at.Scheme, Host: at.Host}).String(),
		Width: c.Width, Height: c.Height, Image: picture, ImageDescription: c.ImageDescription,
		Authors: []any{},
	}
	o, err := r.extended(members, cardExtension{properties})
	if err == nil && len(o) > maxCard {
		o, err = r.extended(members, cardExtension{map[string]string{}})
	}
	return &cachedCard{json: o, host: text.NormalizeDomain(at.Hostname()), author: c.AuthorID}, err
}
