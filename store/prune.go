package store

import (
	"context"
	"time"
)

// Prune is the daily job that removes what has outlived its use.
type Prune struct{}

// Kind names the job.
func (Prune) Kind() string { return "prune" }

const (
	pruneBatch   = 500                 // rows of one transaction
	appBatch     = 5000                // apps looked at in one transaction
	unusedAppTTL = 30 * 24 * time.Hour // how long an app may go without anybody who uses it: web clients keep theirs for good
)

// PruneExpired removes up to a batch each of codes, challenges, one-time tokens and idempotency keys whose time is over. It tells whether
// there may be more.
func (tx *Tx) PruneExpired(ctx context.Context) (more bool, err error) {
	now := tx.db.now()
	for _, step := range []struct {
		what, query string
		before      time.Time
	}{
		{"prune codes", `
			DELETE FROM oauth_codes
			WHERE hash IN (SELECT hash FROM oauth_codes WHERE expires_at < ? LIMIT ?)`, now},
		{"prune one-time tokens", `
			DELETE FROM one_time_tokens
			WHERE hash IN (SELECT hash FROM one_time_tokens WHERE expires_at < ? LIMIT ?)`, now},
		{"prune challenges", `
			DELETE FROM mfa_challenges
			WHERE hash IN (SELECT hash FROM mfa_challenges WHERE expires_at < ? LIMIT ?)`, now},
		{"prune idempotency keys", `
			DELETE FROM idempotency_keys
			WHERE (account_id, key) IN (SELECT account_id, key FROM idempotency_keys WHERE created_at < ? LIMIT ?)`, now.Add(-IdempotencyTTL)},
		{"prune idempotency keys of chats", `
			DELETE FROM chat_message_keys
			WHERE (account_id, key) IN (SELECT account_id, key FROM chat_message_keys WHERE created_at < ? LIMIT ?)`, now.Add(-IdempotencyTTL)},
	} {
		n, err := tx.exec(ctx, step.what, step.query, At(step.before), pruneBatch)
		if err != nil {
			return false, err
		}
		more = more || n == pruneBatch
	}
	return more, nil
}

// PruneApps removes apps that nobody has signed in with for a day, and that have no token of their own either, looking at the
// next few from an id on. It returns the id to go on from, 0 at the end. Trusted apps stay.
func (tx *Tx) PruneApps(ctx context.Context, from AppID) (next AppID, err error) {
	last, err := one[AppID](ctx, tx.reader, "last app", `SELECT ifnull(max(id), 0) FROM oauth_apps`)
	if err != nil {
		return 0, err
	}
	next = from + appBatch
	_, err = tx.exec(ctx, "prune apps", `
		DELETE FROM oauth_apps
		WHERE id >= ? AND id < ? AND created_at < ? AND owner_id IS NULL AND trusted = 0
			AND NOT EXISTS (SELECT 1 FROM oauth_tokens t WHERE t.app_id = oauth_apps.id)
			AND NOT EXISTS (SELECT 1 FROM oauth_codes c WHERE c.app_id = oauth_apps.id)`,
		from, next, At(tx.db.now().Add(-unusedAppTTL)))
	if next > *last {
		next = 0
	}
	return next, err
}
