package store

import "context"

// Origin is what only a post from elsewhere has.
type Origin struct {
	StatusID   StatusID
	ParentURI  string // what it replies to, as long as that is not known here
	QuoteURI   string // what it quotes, likewise
	RepliesURI string // the collection of its replies
	RepliesAt  Time   // when that was read last
	FetchedAt  Time   // when the post was read from its origin last; 0: it was delivered only
}

// Origin returns what is known of where a post came from, nil if it is of here.
func (r reader) Origin(ctx context.Context, id StatusID) (*Origin, error) {
	return one[Origin](ctx, r, "origin", `SELECT * FROM origins WHERE status_id = ?`, id)
}

// SaveOrigin inserts or replaces that.
func (tx *Tx) SaveOrigin(ctx context.Context, o *Origin) error {
	_, err := tx.exec(ctx, "save origin", `
		INSERT OR REPLACE INTO origins (status_id, parent_uri, quote_uri, replies_uri, replies_at, fetched_at)
		VALUES (?, ?, ?, ?, ?, ?)`, o.StatusID, o.ParentURI, o.QuoteURI, o.RepliesURI, o.RepliesAt, o.FetchedAt)
	return err
}

// StatusByURI returns the status, or boost, of an ActivityPub id, nil if there is none.
func (r reader) StatusByURI(ctx context.Context, uri string) (*Status, error) {
	return one[Status](ctx, r, "status by uri", `SELECT * FROM statuses WHERE uri = ?`, uri)
}

// Tombstone returns when what had an id was deleted here, nil if it was not.
func (r reader) Tombstone(ctx context.Context, uri string) (*Time, error) {
	return one[Time](ctx, r, "tombstone", `SELECT deleted_at FROM tombstones WHERE uri = ?`, uri)
}
