package store

import "context"

// Relay is a server that forwards public activities.
type Relay struct {
	ID        RelayID
	Address   string // as an admin entered it
	Inbox     string
	AccountID *AccountID // its actor; nil: unknown, or a relay of the Mastodon style
	Litepub   bool       // its actor is followed; otherwise its inbox is sent a Follow of the public collection
	FollowURI string     // of our Follow
	Accepted  bool
}

// Relays returns all relays, oldest first.
func (r reader) Relays(ctx context.Context) ([]*Relay, error) {
	return list[*Relay](ctx, r, "relays", `SELECT * FROM relays ORDER BY id LIMIT 1000`)
}

// RelayByAddress returns the relay that was added with an address, nil if there is none.
func (r reader) RelayByAddress(ctx context.Context, address string) (*Relay, error) {
	return one[Relay](ctx, r, "relay", `SELECT * FROM relays WHERE address = ?`, address)
}

// RelayByFollow returns the relay that was sent a Follow activity, nil if there is none.
func (r reader) RelayByFollow(ctx context.Context, uri string) (*Relay, error) {
	return one[Relay](ctx, r, "relay by follow", `SELECT * FROM relays WHERE follow_uri = ?`, uri)
}

// RelayOf returns the relay whose actor is an account, nil if there is none.
func (r reader) RelayOf(ctx context.Context, id AccountID) (*Relay, error) {
	return one[Relay](ctx, r, "relay of an account", `SELECT * FROM relays WHERE account_id = ?`, id)
}

// NewRelayID returns a new id, for a relay whose FollowURI contains it.
func (tx *Tx) NewRelayID() RelayID { return RelayID(tx.newID()) }

// NewActivityID returns a new id for an activity.
func (tx *Tx) NewActivityID() ActivityID { return ActivityID(tx.newID()) }

// SaveRelay inserts or replaces a relay.
func (tx *Tx) SaveRelay(ctx context.Context, r *Relay) error {
	return tx.exec(ctx, "save relay", saveRelay.text, saveRelay.args(r)...)
}

// DropRelay deletes a relay.
func (tx *Tx) DropRelay(ctx context.Context, id RelayID) error {
	return tx.exec(ctx, "drop relay", `DELETE FROM relays WHERE id = ?`, id)
}
