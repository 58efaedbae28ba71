package store

import (
	"context"
	"time"
)

// IdempotencyTime is how long a client may repeat an Idempotency-Key.
const IdempotencyTime = 6 * time.Hour

// IdempotentStatus returns the status that account made with a key, nil if there is none (any more).
func (r reader) IdempotentStatus(ctx context.Context, account AccountID, key string) (*Status, error) {
	return one[Status](ctx, r, "idempotency key", `
		SELECT s.*
		FROM idempotency_keys k
		CROSS JOIN statuses s ON s.id = k.status_id
		WHERE k.account_id = ? AND k.key = ? AND k.created_at > ?`, account, key, At(r.db.now().Add(-IdempotencyTime)))
}

// RememberIdempotent notes what account made with a key, and forgets all keys that are too old to count.
func (tx *Tx) RememberIdempotent(ctx context.Context, account AccountID, key string, status StatusID) error {
	if _, err := tx.exec(ctx, "forget idempotency keys", `
		DELETE FROM idempotency_keys
		WHERE created_at <= ?`, At(tx.db.now().Add(-IdempotencyTime))); err != nil {
		return err
	}
	_, err := tx.exec(ctx, "idempotency key", `
		INSERT OR REPLACE INTO idempotency_keys (account_id, key, status_id, created_at)
		VALUES (?, ?, ?, ?)`, account, key, status, At(tx.db.now()))
	return err
}
