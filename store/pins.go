package store

import "context"

// PinnedAt returns when statuses were pinned, without those that are not.
func (r reader) PinnedAt(ctx context.Context, ids []StatusID) (map[StatusID]Time, error) {
	type row struct {
		StatusID StatusID
		PinnedAt Time
	}
	rows, err := list[row](ctx, r, "pins", `
		SELECT p.status_id, p.pinned_at
		FROM json_each(?) j
		CROSS JOIN pins p ON p.status_id = j.value`, jsonArray(ids))
	pins := make(map[StatusID]Time, len(rows))
	for _, p := range rows {
		pins[p.StatusID] = p.PinnedAt
	}
	return pins, err
}

// Pinned returns true if a status is pinned to its author's profile.
func (r reader) Pinned(ctx context.Context, id StatusID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM pins WHERE status_id = ?`, id)
}

// CountPins counts the pinned statuses of an account.
func (r reader) CountPins(ctx context.Context, account AccountID) (int, error) {
	return value[int](ctx, r, "count pins", `SELECT count(*) FROM pins WHERE account_id = ?`, account)
}

// PinsOf returns the pinned statuses of an account.
func (r reader) PinsOf(ctx context.Context, account AccountID) ([]StatusID, error) {
	return ids[StatusID](ctx, r, "pins of an account", `
		SELECT status_id
		FROM pins
		WHERE account_id = ?
		ORDER BY status_id
		LIMIT 1000`, account)
}

// AddPin pins a status to its author's profile.
func (tx *Tx) AddPin(ctx context.Context, s *Status) error {
	tx.invalidateStatus(s.ID)
	return tx.exec(ctx, "add pin", `
		INSERT INTO pins (status_id, account_id, pinned_at)
		VALUES (?, ?, ?)`, s.ID, s.AccountID, At(tx.db.now()))
}

// RemovePin removes a pin, and returns false if there was none.
func (tx *Tx) RemovePin(ctx context.Context, id StatusID) (removed bool, err error) {
	n, err := tx.execRows(ctx, "remove pin", `DELETE FROM pins WHERE status_id = ?`, id)
	tx.invalidateStatus(id)
	return n > 0, err
}

// PinnedStatuses returns the ids of an account's pinned posts that are visible to the viewer, newest first.
func (r reader) PinnedStatuses(ctx context.Context, viewer, author AccountID, p Page) (Part[StatusID], error) {
	return accountPinned.read(ctx, r, viewer, Filter{WithMuted: true}, p, author)
}
