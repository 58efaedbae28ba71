package store

import "context"

// AddSubscription has account told of each post of target. Doing it twice is no error.
func (tx *Tx) AddSubscription(ctx context.Context, account, target AccountID) error {
	_, err := tx.exec(ctx, "subscribe", `INSERT OR IGNORE INTO subscriptions (account_id, target_id) VALUES (?, ?)`, account, target)
	tx.invalidateRelations(account)
	return err
}

// Subscribed tells whether account is told of each post of target.
func (r reader) Subscribed(ctx context.Context, account, target AccountID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM subscriptions WHERE account_id = ? AND target_id = ?`, account, target)
}

// RemoveSubscription ends that.
func (tx *Tx) RemoveSubscription(ctx context.Context, account, target AccountID) error {
	_, err := tx.exec(ctx, "unsubscribe", `DELETE FROM subscriptions WHERE account_id = ? AND target_id = ?`, account, target)
	return err
}
