package entity

import (
	"context"
	"strconv"
	"time"

	"svc/store"
)

// TrendDays is how many days the history of a trend has.
const TrendDays = 7

// TrendDay is how often a hashtag or link was used on a day.
type TrendDay struct {
	Day      string `json:"day"` // Unix time of its beginning
	Uses     string `json:"uses"`
	Accounts string `json:"accounts"`
}

// NewTrendDay returns a day of a history.
func NewTrendDay(day time.Time, uses, accounts int) TrendDay {
	return TrendDay{strconv.FormatInt(day.Unix(), 10), strconv.Itoa(uses), strconv.Itoa(accounts)}
}

// TrendingTags returns hashtags with their histories for the viewer (nil: anonymous), in the order of names.
func (b *Builder) TrendingTags(ctx context.Context, viewer *store.Account, names []string, history func(i int) []TrendDay) (List[Tag], error) {
	tags, err := b.Tags(ctx, viewer, names)
	for i := range tags {
		tags[i].History = history(i)
	}
	return tags, err
}

// TrendingLink is a card with its history.
type TrendingLink struct {
	card    Appender
	history []TrendDay
}

// AppendJSON renders the card, and the history as its last member.
func (l TrendingLink) AppendJSON(dst []byte) []byte {
	dst = l.card.AppendJSON(dst)
	dst = appendValue(append(dst[:len(dst)-1], `,"history":`...), l.history)
	return append(dst, '}')
}

// MarshalJSON is AppendJSON for links inside of other values.
func (l TrendingLink) MarshalJSON() ([]byte, error) { return l.AppendJSON(nil), nil }

// TrendingLinks returns cards with their histories, in the order of ids. Cards without content are left out.
func (b *Builder) TrendingLinks(ctx context.Context, ids []store.CardID, history func(i int) []TrendDay) ([]TrendingLink, error) {
	rows, err := b.db.Cards(ctx, ids)
	if err != nil {
		return nil, err
	}
	rowOf := byID(rows, func(c *store.Card) store.CardID { return c.ID })
	links := make([]TrendingLink, 0, len(ids))
	for i, id := range ids {
		if rowOf[id] == nil {
			continue
		}
		card, err := b.shownCard(ctx, rowOf[id])
		if err != nil {
			return nil, err
		}
		if card != nil {
			links = append(links, TrendingLink{card, history(i)})
		}
	}
	return links, nil
}
