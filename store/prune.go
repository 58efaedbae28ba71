package store

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Prune is the daily job that deletes expired rows.
type Prune struct{}

func (Prune) Kind() JobKind {
	return JobKind{Name: "prune", Every: 24 * time.Hour, Timeout: 10 * time.Minute, Deletes: true}
}

const (
	pruneBatch       = 500                 // rows per transaction
	unconfirmedBatch = 100                 // accounts per transaction
	appBatch         = 5000                // apps per transaction
	unusedAppTTL     = 30 * 24 * time.Hour // how long an app without tokens is kept; web clients keep using theirs
)

// PruneExpired deletes a batch each of expired codes, challenges, one-time tokens, captchas and idempotency keys, of requests without
// notifications, and of old parked jobs that send mail or requests to other servers. It returns whether there may be more.
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
		{"prune captchas", `
			DELETE FROM used_captchas
			WHERE hash IN (SELECT hash FROM used_captchas WHERE expires_at < ? LIMIT ?)`, now},
		{"prune idempotency keys", `
			DELETE FROM idempotency_keys
			WHERE (account_id, key) IN (SELECT account_id, key FROM idempotency_keys WHERE created_at < ? LIMIT ?)`, now.Add(-IdempotencyTTL)},
		{"prune notification requests", `
			DELETE FROM notification_requests
			WHERE id IN (
				SELECT q.id
				FROM notification_requests q
				WHERE q.id < ? << 10 AND NOT EXISTS (
					SELECT 1
					FROM notifications n INDEXED BY notifications_filtered
					WHERE n.account_id = q.account_id AND n.from_id = q.from_id AND n.filtered = 1)
				LIMIT ?)`, now},
		{"prune idempotency keys of chats", `
			DELETE FROM chat_message_keys
			WHERE (account_id, key) IN (SELECT account_id, key FROM chat_message_keys WHERE created_at < ? LIMIT ?)`, now.Add(-IdempotencyTTL)},
		{"prune parked jobs", `
			DELETE FROM jobs
			WHERE id IN (SELECT id FROM jobs WHERE id < ? << 10 AND parked = 1 AND (kind = 'send_mail' OR domain <> '') LIMIT ?)`, now.Add(-parkedTTL)},
	} {
		n, err := tx.execRows(ctx, step.what, step.query, At(step.before), pruneBatch)
		if err != nil {
			return false, err
		}
		more = more || n == pruneBatch
	}
	return more, nil
}

// PruneUnconfirmed deletes a batch of accounts that were registered before a time, and were neither confirmed nor used. Their nicknames are
// free again. It returns whether there may be more.
func (tx *Tx) PruneUnconfirmed(ctx context.Context, before time.Time) (more bool, err error) {
	found, err := ids[AccountID](ctx, tx.reader, "unconfirmed accounts", `
		SELECT u.account_id
		FROM users u INDEXED BY users_unconfirmed
		CROSS JOIN accounts a ON a.id = u.account_id
		WHERE u.confirmed_at IS NULL AND u.last_active_at = 0 AND u.deactivated_at IS NULL AND a.created_at < ? AND a.statuses_count = 0
		LIMIT ?`, At(before), unconfirmedBatch)
	if err != nil {
		return false, err
	}
	for _, id := range found {
		if err := tx.RemoveAccount(ctx, id); err != nil {
			return false, err
		}
	}
	return len(found) == unconfirmedBatch, nil
}

// PruneApps deletes unused apps: without owner, tokens or codes, not trusted, and older than unusedAppTTL. Tokens of the app itself, without a
// user, are deleted if they were not used for that time. It looks at a batch of ids from one on, and returns the id to continue from, 0 at the
// end.
func (tx *Tx) PruneApps(ctx context.Context, from AppID) (next AppID, err error) {
	last, err := one[AppID](ctx, tx.reader, "last app", `SELECT ifnull(max(id), 0) FROM oauth_apps`)
	if err != nil {
		return 0, err
	}
	next = from + appBatch
	unusedSince := At(tx.db.now().Add(-unusedAppTTL))
	revoked, err := list[TokenID](ctx, tx.reader, "prune tokens of apps", `
		DELETE FROM oauth_tokens
		WHERE app_id >= ? AND app_id < ? AND account_id IS NULL AND last_used_at < ?
		RETURNING id`, from, next, unusedSince)
	if err != nil {
		return 0, err
	}
	if len(revoked) > 0 {
		tx.Emit(TokensRevoked{Tokens: revoked})
	}
	err = tx.exec(ctx, "prune apps", `
		DELETE FROM oauth_apps
		WHERE id >= ? AND id < ? AND created_at < ? AND owner_id IS NULL AND trusted = 0
			AND NOT EXISTS (SELECT 1 FROM oauth_tokens t WHERE t.app_id = oauth_apps.id)
			AND NOT EXISTS (SELECT 1 FROM oauth_codes c WHERE c.app_id = oauth_apps.id)`,
		from, next, unusedSince)
	if next > *last {
		next = 0
	}
	return next, err
}

// How long rows of remote origin are kept that nothing refers to.
const (
	unusedAccountTTL   = 30 * 24 * time.Hour  // remote accounts
	unusedHostTTL      = 60 * 24 * time.Hour  // hosts
	remoteTombstoneTTL = 365 * 24 * time.Hour // tombstones of remote objects: their own server has one, too
)

// accountReferences are the columns, as table.column, whose rows keep a remote account from being pruned. A test compares them with the
// foreign keys of the schema.
var accountReferences = []string{
	"statuses.account_id",
	"statuses.in_reply_to_account_id",
	"follows.follower_id",
	"follows.target_id",
	"recipients.account_id",
	"favourites.account_id",
	"reactions.account_id",
	"poll_votes.account_id",
	"blocks.account_id",
	"blocks.target_id",
	"mutes.target_id",
	"account_notes.target_id",
	"subscriptions.target_id",
	"endorsements.target_id",
	"list_members.account_id",
	"notifications.from_id",
	"notification_permissions.target_id",
	"notification_requests.from_id",
	"chats.other_id",
	"chat_messages.account_id",
	"chat_messages.recipient_id",
	"reports.account_id",
	"reports.target_id",
	"scrobbles.account_id",
	"quote_authorizations.account_id",
	"interaction_requests.account_id",
	"interaction_requests.author_id",
	"collection_items.account_id",
	"collection_items.target_id",
	"queued_activities.signer_id",
	"relays.account_id",
	"accounts.moved_to_id",
}

// unreferencedAccounts returns those of the accounts ?1 to which nothing refers and that were not fetched since ?2.
var unreferencedAccounts = func() string {
	query := `
		SELECT a.id
		FROM json_each(?1) j
		CROSS JOIN accounts a ON a.id = j.value
		WHERE a.unavailable = 0 AND a.deleted_at IS NULL AND a.tags = '[]'
			AND NOT EXISTS (SELECT 1 FROM actors x WHERE x.account_id = a.id AND max(x.fetched_at, x.attempted_at) >= ?2)`
	for _, reference := range accountReferences {
		table, column, _ := strings.Cut(reference, ".")
		query += fmt.Sprintf(`
			AND NOT EXISTS (SELECT 1 FROM %s x WHERE x.%s = a.id)`, table, column)
	}
	return query
}()

// PruneRemoteAccounts removes remote accounts to which nothing refers, such as signers of ignored activities. It looks at the next batch
// of accounts after an id, and returns the id to continue from and whether there are more. Suspended, tagged and deleted accounts are kept,
// so that this state is not lost.
func (tx *Tx) PruneRemoteAccounts(ctx context.Context, from AccountID) (next AccountID, more bool, err error) {
	before := tx.db.now().Add(-unusedAccountTTL)
	batch, err := ids[AccountID](ctx, tx.reader, "remote accounts", `
		SELECT id
		FROM accounts
		WHERE id > ? AND id < ? AND domain <> ''
		ORDER BY id
		LIMIT ?`, from, before.UnixMilli()<<sequenceBits, pruneBatch)
	if err != nil || len(batch) == 0 {
		return from, false, err
	}
	unused, err := ids[AccountID](ctx, tx.reader, "unreferenced accounts", unreferencedAccounts, jsonArray(batch), At(before))
	if err != nil {
		return from, false, err
	}
	for _, id := range unused {
		if err := tx.RemoveAccount(ctx, id); err != nil {
			return from, false, err
		}
	}
	return batch[len(batch)-1], len(batch) == pruneBatch, nil
}

// PruneHosts deletes hosts without recent exchange, because the owner of a domain may have any number of host names. It looks at a batch
// after a domain. An unreachable host is kept while accounts of it are known.
func (tx *Tx) PruneHosts(ctx context.Context, from string) (next string, more bool, err error) {
	some, err := list[string](ctx, tx.reader, "hosts", `SELECT domain FROM hosts WHERE domain > ? ORDER BY domain LIMIT ?`, from, pruneBatch)
	if err != nil || len(some) == 0 {
		return from, false, err
	}
	next = some[len(some)-1]
	err = tx.exec(ctx, "prune hosts", `
		DELETE FROM hosts
		WHERE domain > ?1 AND domain <= ?2 AND due_at IS NULL
			AND max(ifnull(last_success_at, 0), ifnull(unreachable_since, 0), backoff_until, signature_at, checked_at) < ?3
			AND (unreachable_since IS NULL OR NOT EXISTS (
				SELECT 1
				FROM accounts a INDEXED BY accounts_domain
				WHERE a.domain = hosts.domain))`, from, next, At(tx.db.now().Add(-unusedHostTTL)))
	return next, len(some) == pruneBatch, err
}

// PruneThreads deletes the URIs of threads without statuses. It looks at a batch after an id.
func (tx *Tx) PruneThreads(ctx context.Context, from ConversationID) (next ConversationID, more bool, err error) {
	some, err := ids[ConversationID](ctx, tx.reader, "threads", `
		SELECT conversation_id
		FROM threads
		WHERE conversation_id > ?
		ORDER BY conversation_id
		LIMIT ?`, from, pruneBatch)
	if err != nil || len(some) == 0 {
		return from, false, err
	}
	next = some[len(some)-1]
	err = tx.exec(ctx, "prune threads", `
		DELETE FROM threads
		WHERE conversation_id > ? AND conversation_id <= ?
			AND NOT EXISTS (
				SELECT 1
				FROM statuses s INDEXED BY statuses_conversation
				WHERE s.conversation_id = threads.conversation_id AND s.reblog_of_id IS NULL)`, from, next)
	return next, len(some) == pruneBatch, err
}

// PruneTombstones deletes old tombstones of remote objects. It looks at a batch after a URI. own is the prefix of local URIs: their
// tombstones stay, because the URIs are never used again.
func (tx *Tx) PruneTombstones(ctx context.Context, own, from string) (next string, more bool, err error) {
	some, err := list[string](ctx, tx.reader, "tombstones", `SELECT uri FROM tombstones WHERE uri > ? ORDER BY uri LIMIT ?`, from, pruneBatch)
	if err != nil || len(some) == 0 {
		return from, false, err
	}
	next = some[len(some)-1]
	err = tx.exec(ctx, "prune tombstones", `
		DELETE FROM tombstones
		WHERE uri > ? AND uri <= ? AND deleted_at < ? AND substr(uri, 1, ?) <> ?`,
		from, next, At(tx.db.now().Add(-remoteTombstoneTTL)), len(own), own)
	return next, len(some) == pruneBatch, err
}
