package entity

import "svc/store"

// Scrobble is a track that an account listened to (spec 2.6).
type Scrobble struct {
	ID           store.ScrobbleID `json:"id"`
	Account      Account          `json:"account"`
	Title        string           `json:"title"`
	Artist       string           `json:"artist"`
	Album        string           `json:"album"`
	Length       int              `json:"length"` // milliseconds; 0: unknown
	ExternalLink *string          `json:"externalLink"`
	CreatedAt    store.Time       `json:"created_at"`
}

// NewScrobble renders a scrobble of an account.
func NewScrobble(row *store.Scrobble, account Account) Scrobble {
	s := Scrobble{
		ID: row.ID, Account: account, Title: row.Title, Artist: row.Artist, Album: row.Album, Length: row.Length, CreatedAt: row.CreatedAt,
	}
	if row.ExternalLink != "" {
		s.ExternalLink = &row.ExternalLink
	}
	return s
}
