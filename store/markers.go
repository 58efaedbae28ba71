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

var (
	markersQuery           = withMarkers(unreadNotifications)
	markersQueryUnfiltered = withMarkers(unreadUnfiltered)
)

// withMarkers returns a query for the markers of an account and a count of its unread notifications, which is a row without a timeline.
func withMarkers(unread string) string {
	return `
		SELECT '' AS timeline, (` + unread + `) AS last_read_id, 0 AS version, 0 AS updated_at
		UNION ALL
		SELECT timeline, last_read_id, version, updated_at
		FROM markers
		WHERE account_id = ?1`
}

// Markers returns the markers of an account and the number of its unread notifications, up to 1000.
func (r reader) Markers(ctx context.Context, account AccountID) (markers []*Marker, unread int, err error) {
	l, err := r.lookups(ctx, account)
	if err != nil {
		return nil, 0, err
	}
	query := markersQuery
	if l&notificationLookups == 0 {
		query = markersQueryUnfiltered
	}
	rows, err := list[*Marker](ctx, r, "markers", query, account, l, false, maxUnread)
	for _, m := range rows {
		if m.AccountID = account; m.Timeline == "" {
			unread = int(m.LastReadID)
		} else {
			markers = append(markers, m)
		}
	}
	return markers, unread, err
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
