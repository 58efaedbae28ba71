package store

import "context"

// Marker is the position up to which an account has read a timeline.
type Marker struct {
	AccountID  AccountID
	Timeline   string // home or notifications
	LastReadID int64
	Version    int // counts the changes
	UpdatedAt  Time
}

// Markers returns the markers of an account.
func (r reader) Markers(ctx context.Context, account AccountID) ([]*Marker, error) {
	return list[*Marker](ctx, r, "markers", `SELECT * FROM markers WHERE account_id = ?`, account)
}

// MoveMarker moves a marker forward, never back, and returns it.
func (tx *Tx) MoveMarker(ctx context.Context, account AccountID, timeline string, to int64) (*Marker, error) {
	if err := tx.exec(ctx, "move marker", `
		INSERT INTO markers (account_id, timeline, last_read_id, version, updated_at)
		VALUES (?, ?, ?, 0, ?)
		ON CONFLICT (account_id, timeline) DO UPDATE
		SET last_read_id = excluded.last_read_id, version = version + 1, updated_at = excluded.updated_at
		WHERE excluded.last_read_id > last_read_id`, account, timeline, to, At(tx.db.now())); err != nil {
		return nil, err
	}
	return get[Marker](ctx, tx.reader, "marker", `SELECT * FROM markers WHERE account_id = ? AND timeline = ?`, account, timeline)
}
