package store

import (
	"context"
	"time"
)

// IdempotencyTTL is how long an Idempotency-Key is valid.
const IdempotencyTTL = 6 * time.Hour

// IdempotentStatus returns the status that account created with a key, nil if there is none or the key has expired.
func (r reader) IdempotentStatus(ctx context.Context, account AccountID, key string) (*Status, error) {
	return one[Status](ctx, r, "idempotency key", `
		SELECT s.*
		FROM idempotency_keys k
		CROSS JOIN statuses s ON s.id = k.created_id
		WHERE k.account_id = ? AND k.key = ? AND k.created_at > ?`, account, key, At(r.db.now().Add(-IdempotencyTTL)))
}

// IdempotentScheduled returns the scheduled status that account created with a key, nil if there is none or the key has expired.
func (r reader) IdempotentScheduled(ctx context.Context, account AccountID, key string) (*ScheduledStatus, error) {
	return one[ScheduledStatus](ctx, r, "idempotency key", `
		SELECT s.*
		FROM idempotency_keys k
		CROSS JOIN scheduled_statuses s ON s.id = k.created_id
		WHERE k.account_id = ? AND k.key = ? AND k.created_at > ?`, account, key, At(r.db.now().Add(-IdempotencyTTL)))
}

// SaveIdempotencyKey stores the key of a new status or scheduled status, and deletes expired keys.
func (tx *Tx) SaveIdempotencyKey(ctx context.Context, account AccountID, key string, made int64) error {
	if err := tx.exec(ctx, "delete expired idempotency keys", `
		DELETE FROM idempotency_keys
		WHERE created_at <= ?`, At(tx.db.now().Add(-IdempotencyTTL))); err != nil {
		return err
	}
	return tx.exec(ctx, "idempotency key", `
		INSERT OR REPLACE INTO idempotency_keys (account_id, key, created_id, created_at)
		VALUES (?, ?, ?, ?)`, account, key, made, At(tx.db.now()))
}

// MoveIdempotencyKey changes the id that a key of account stands for, if it stands for from.
func (tx *Tx) MoveIdempotencyKey(ctx context.Context, account AccountID, from, to int64, key string) error {
	return tx.exec(ctx, "move idempotency key", `
		UPDATE idempotency_keys
		SET created_id = ?
		WHERE account_id = ? AND key = ? AND created_id = ?`, to, account, key, from)
}
