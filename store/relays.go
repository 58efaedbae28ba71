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

// RelayByAddress returns the relay that the staff has added under an address, nil if there is none.
func (r reader) RelayByAddress(ctx context.Context, address string) (*Relay, error) {
	return one[Relay](ctx, r, "relay", `SELECT * FROM relays WHERE address = ?`, address)
}

// RelayByFollow returns the relay that a Follow of ours was sent to, nil if there is none.
func (r reader) RelayByFollow(ctx context.Context, uri string) (*Relay, error) {
	return one[Relay](ctx, r, "relay by follow", `SELECT * FROM relays WHERE follow_uri = ?`, uri)
}

// RelayOf returns the relay whose actor an account is, nil if it is none's.
func (r reader) RelayOf(ctx context.Context, id AccountID) (*Relay, error) {
	return one[Relay](ctx, r, "relay of an account", `SELECT * FROM relays WHERE account_id = ?`, id)
}

// NewRelayID returns a fresh id, for a relay whose FollowURI contains it.
func (tx *Tx) NewRelayID() RelayID { return RelayID(tx.newID()) }

// NewActivityID returns a fresh id, for an activity that says it.
func (tx *Tx) NewActivityID() ActivityID { return ActivityID(tx.newID()) }

// SaveRelay inserts or replaces a relay.
func (tx *Tx) SaveRelay(ctx context.Context, r *Relay) error {
	_, err := tx.exec(ctx, "save relay", `
		INSERT INTO relays (id, address, inbox, account_id, litepub, follow_uri, accepted)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET inbox = excluded.inbox, account_id = excluded.account_id, accepted = excluded.accepted`,
		r.ID, r.Address, r.Inbox, r.AccountID, r.Litepub, r.FollowURI, r.Accepted)
	return err
}

// DropRelay removes a relay.
func (tx *Tx) DropRelay(ctx context.Context, id RelayID) error {
	_, err := tx.exec(ctx, "drop relay", `DELETE FROM relays WHERE id = ?`, id)
	return err
}
