package store

import "context"

// AddFavourite makes a status a favourite of an account, and tells whether it was none before.
func (tx *Tx) AddFavourite(ctx context.Context, account AccountID, status StatusID) (added bool, err error) {
	n, err := tx.exec(ctx, "add favourite", `
		INSERT OR IGNORE INTO favourites (id, account_id, status_id)
		VALUES (?, ?, ?)`, tx.newID(), account, status)
	if err != nil || n == 0 {
		return false, err
	}
	return true, tx.countFavourite(ctx, status, 1)
}

// RemoveFavourite takes a favourite back, and tells whether it was one.
func (tx *Tx) RemoveFavourite(ctx context.Context, account AccountID, status StatusID) (removed bool, err error) {
	n, err := tx.exec(ctx, "remove favourite", `DELETE FROM favourites WHERE account_id = ? AND status_id = ?`, account, status)
	if err != nil || n == 0 {
		return false, err
	}
	return true, tx.countFavourite(ctx, status, -1)
}

func (tx *Tx) countFavourite(ctx context.Context, status StatusID, n int) error {
	_, err := tx.exec(ctx, "count favourite", `UPDATE statuses SET favourites_count = favourites_count + ? WHERE id = ?`, n, status)
	tx.touchStatus(status)
	return err
}
