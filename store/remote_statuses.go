package store

import "context"

// RemoteStatus is what only a post from elsewhere has.
type RemoteStatus struct {
	StatusID   StatusID
	ParentURI  string // what it replies to, as long as that is not known here
	QuoteURI   string // what it quotes, likewise
	RepliesURI string // the collection of its replies
	RepliesAt  Time   // when that was read last
	FetchedAt  Time   // when the post was read from its origin last; 0: it was delivered only

	Authorization string // id of that by which the author of what it quotes allows that
}

// RemoteStatus returns what is known of where a post came from, nil if it is of here.
func (r reader) RemoteStatus(ctx context.Context, id StatusID) (*RemoteStatus, error) {
	return one[RemoteStatus](ctx, r, "origin", `SELECT * FROM remote_statuses WHERE status_id = ?`, id)
}

// SaveRemoteStatus inserts or replaces that.
func (tx *Tx) SaveRemoteStatus(ctx context.Context, o *RemoteStatus) error {
	_, err := tx.exec(ctx, "save origin", `
		INSERT OR REPLACE INTO remote_statuses (status_id, parent_uri, quote_uri, replies_uri, replies_at, fetched_at, authorization)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, o.StatusID, o.ParentURI, o.QuoteURI, o.RepliesURI, o.RepliesAt, o.FetchedAt, o.Authorization)
	return err
}

// Tombstone is what is left of what was deleted here.
type Tombstone struct {
	URI       string
	DeletedAt Time
	Kind      string
}

// The kinds of what tombstones stand for.
const (
	TombstoneStatus  = "status" // also a boost
	TombstonePoll    = "poll"
	TombstoneMessage = "message"
)

// Tombstone returns what is left of what had an id, nil if nothing was deleted here.
func (r reader) Tombstone(ctx context.Context, uri string) (*Tombstone, error) {
	return one[Tombstone](ctx, r, "tombstone", `SELECT * FROM tombstones WHERE uri = ?`, uri)
}

func (tx *Tx) addTombstone(ctx context.Context, uri, kind string) error {
	_, err := tx.exec(ctx, "add tombstone", `
		INSERT OR IGNORE INTO tombstones (uri, deleted_at, kind)
		VALUES (?, ?, ?)`, uri, At(tx.db.now()), kind)
	return err
}
