package store

import "context"

// Relay is a server that passes on what is public.
type Relay struct {
	ID        RelayID
	Address   string // as the staff gave it
	Inbox     string
	AccountID *AccountID // its actor; nil: not known, or of the Mastodon style
	Litepub   bool       // it is followed as an actor; else its inbox is sent a Follow of the public collection
	FollowURI string     // of our Follow
	Accepted  bool
}

// Relays returns all relays, in the order in which they were added.
func (r reader) Relays(ctx context.Context) ([]*Relay, error) {
	return list[*Relay](ctx, r, "relays", `SELECT * FROM relays ORDER BY id LIMIT 1000`)
}
