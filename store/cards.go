package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Card is the preview of a page that statuses link to. Its row exists before the page is fetched; statuses refer to it by card_id.
type Card struct {
	ID        CardID
	URL       string // as it is in statuses
	Card      CardContent
	FetchedAt Time // 0: never
}

// CardContent is the content of a card in plain text. It is empty without a title.
type CardContent struct {
	URL              string            `json:"url"` // of the page
	Title            string            `json:"title"`
	Description      string            `json:"description,omitempty"`
	Image            string            `json:"image,omitempty"`
	ImageDescription string            `json:"image_description,omitempty"`
	Width            int               `json:"width,omitempty"` // of the image
	Height           int               `json:"height,omitempty"`
	Properties       map[string]string `json:"properties,omitempty"` // metadata of the page, unchanged
	Creator          string            `json:"creator,omitempty"`    // handle that the page names as its author
	AuthorID         AccountID         `json:"author_id,omitempty"`  // its account; 0: unknown. It is shown only if the account lists the host of the page
}

// Empty returns true if there is nothing to show.
func (c *CardContent) Empty() bool { return c.Title == "" }

// Value stores JSON, and ” for an empty card.
func (c CardContent) Value() (driver.Value, error) {
	if c.Empty() {
		return "", nil
	}
	b, err := json.Marshal(c)
	return string(b), err
}

// Scan reads the JSON.
func (c *CardContent) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("card from %T", src)
	}
	*c = CardContent{}
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), c)
}

// FetchCard is the job that fetches the page of a card.
type FetchCard struct {
	CardID   CardID `json:"card_id"`
	Attempts int    `json:"attempts,omitempty"` // how often the page could not be fetched
}

func (j FetchCard) Kind() JobKind {
	return JobKind{Name: "fetch_card", Server: serverBy(`SELECT url FROM cards WHERE id = ?`, j.CardID)}
}

// ResolveCardAuthor is the job that looks up the unknown author of a card.
type ResolveCardAuthor struct {
	CardID  CardID `json:"card_id"`
	Creator string `json:"creator"`
}

func (j ResolveCardAuthor) Kind() JobKind {
	_, host, _ := strings.Cut(j.Creator, "@")
	return JobKind{Name: "resolve_card_author", Server: serverAt("https://" + host)}
}

// EnqueueCardAuthor has the author of a card looked up.
func (tx *Tx) EnqueueCardAuthor(ctx context.Context, c *Card) error {
	key := fmt.Sprintf("card-author:%d", c.ID)
	return tx.EnqueueUnique(ctx, tx.db.now(), key, ResolveCardAuthor{CardID: c.ID, Creator: c.Card.Creator})
}

// SweepCards is the recurring job that removes cards that no status has.
type SweepCards struct{}

func (SweepCards) Kind() JobKind {
	return JobKind{Name: "sweep_cards", Every: 24 * time.Hour, Timeout: 10 * time.Minute, Deletes: true}
}

func cardKey(id CardID) string { return fmt.Sprintf("card:%d", id) }

// Cards returns the cards that have one of the ids, in no order.
func (r reader) Cards(ctx context.Context, ids []CardID) ([]*Card, error) {
	return list[*Card](ctx, r, "cards", `
		SELECT c.*
		FROM json_each(?) j
		CROSS JOIN cards c ON c.id = j.value`, jsonArray(ids))
}

// CardByURL returns the card of a link, nil if there is none.
func (r reader) CardByURL(ctx context.Context, url string) (*Card, error) {
	return one[Card](ctx, r, "card", `SELECT * FROM cards WHERE url = ?`, url)
}

// EnsureCard returns the card of a link, and adds it if there is none. If its page was not fetched within maxAge, one job fetches it after
// delay, for all statuses that have the link.
func (tx *Tx) EnsureCard(ctx context.Context, url string, maxAge, delay time.Duration) (*Card, error) {
	c, err := tx.CardByURL(ctx, url)
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = &Card{ID: CardID(tx.newID()), URL: url}
		if err := tx.exec(ctx, "add card", `INSERT INTO cards (id, url, card, fetched_at) VALUES (?, ?, '', 0)`, c.ID, c.URL); err != nil {
			return nil, err
		}
	}
	if c.FetchedAt.Age(tx.db.now()) < maxAge {
		return c, nil
	}
	return c, tx.EnqueueUnlessQueued(ctx, tx.db.now().Add(delay), cardKey(c.ID), FetchCard{CardID: c.ID})
}

// RetryCard fetches the page of a card again at a later time.
func (tx *Tx) RetryCard(ctx context.Context, w FetchCard, after time.Duration) error {
	return tx.EnqueueUnique(ctx, tx.db.now().Add(after), cardKey(w.CardID), w)
}

// SaveCard writes the content of a card, fetched now, and invalidates the statuses that have it.
func (tx *Tx) SaveCard(ctx context.Context, c *Card) error {
	c.FetchedAt = At(tx.db.now())
	return tx.writeCard(ctx, c)
}

// SetCardAuthor sets the account of the author of a page, if the card still has that handle.
func (tx *Tx) SetCardAuthor(ctx context.Context, id CardID, creator string, author AccountID) error {
	cards, err := tx.Cards(ctx, []CardID{id})
	if err != nil || len(cards) == 0 || cards[0].Card.Creator != creator || cards[0].Card.AuthorID == author {
		return err
	}
	cards[0].Card.AuthorID = author
	return tx.writeCard(ctx, cards[0])
}

// writeCard writes a card and invalidates the statuses that have it.
func (tx *Tx) writeCard(ctx context.Context, c *Card) error {
	if err := tx.exec(ctx, "save card", `UPDATE cards SET card = ?, fetched_at = ? WHERE id = ?`, c.Card, c.FetchedAt, c.ID); err != nil {
		return err
	}
	const limit = 1000
	statuses, err := tx.StatusesWithCard(ctx, c.ID, limit+1)
	if len(statuses) > limit {
		tx.invalidateAll()
		return err
	}
	for _, id := range statuses {
		tx.invalidateStatus(id)
	}
	return err
}

// StatusesWithCard returns the newest statuses that have a card.
func (r reader) StatusesWithCard(ctx context.Context, id CardID, limit int) ([]StatusID, error) {
	return ids[StatusID](ctx, r, "statuses with a card", `
		SELECT id
		FROM statuses INDEXED BY statuses_card
		WHERE card_id = ?
		ORDER BY id DESC
		LIMIT ?`, id, limit)
}

// SetCard changes the card of a stored status; nil: none.
func (tx *Tx) SetCard(ctx context.Context, id StatusID, card *CardID) error {
	tx.invalidateStatus(id)
	return tx.exec(ctx, "set card", `UPDATE statuses SET card_id = ? WHERE id = ?`, card, id)
}

// cardBatch is how many cards a transaction of DropUnusedCards looks at.
const cardBatch = 500

// DropUnusedCards deletes the cards of the next batch after an id that no status has and that were not fetched within a time: until then
// they save fetching the page again. It returns the id to continue from, 0 at the end.
func (tx *Tx) DropUnusedCards(ctx context.Context, after CardID, unused time.Duration) (last CardID, err error) {
	some, err := ids[CardID](ctx, tx.reader, "next cards", `
		SELECT id
		FROM cards
		WHERE id > ?
		ORDER BY id
		LIMIT ?`, after, cardBatch)
	if err != nil || len(some) == 0 {
		return 0, err
	}
	last = some[len(some)-1]
	err = tx.exec(ctx, "drop unused cards", `
		DELETE FROM cards
		WHERE id > ? AND id <= ? AND fetched_at < ?
			AND NOT EXISTS (SELECT 1 FROM statuses s WHERE s.card_id = cards.id)`,
		after, last, At(tx.db.now().Add(-unused)))
	if len(some) < cardBatch {
		last = 0
	}
	return last, err
}
