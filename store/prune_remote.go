package store

import (
	"context"
	"time"
)

// How long is kept what others have left here and nothing has to do with any more.
const (
	unusedAccountTTL   = 30 * 24 * time.Hour  // accounts elsewhere
	unusedHostTTL      = 60 * 24 * time.Hour  // servers
	remoteTombstoneTTL = 365 * 24 * time.Hour // what was deleted here and came from elsewhere: its own server is there to say that it is gone
)

// PruneRemoteAccounts removes accounts elsewhere of which nothing is known but themselves, looking at the next few from an id on: many are met
// once, as the signer of something that concerned nobody. One that is withheld, tagged or deleted is kept, so that this is not forgotten. It
// returns the id to go on from, and whether there is more.
func (tx *Tx) PruneRemoteAccounts(ctx context.Context, from AccountID) (next AccountID, more bool, err error) {
	before := tx.db.now().Add(-unusedAccountTTL)
	some, err := ids[AccountID](ctx, tx.reader, "accounts elsewhere", `
		SELECT id
		FROM accounts
		WHERE id > ? AND id < ? AND domain <> ''
		ORDER BY id
		LIMIT ?`, from, before.UnixMilli()<<sequenceBits, pruneBatch)
	if err != nil || len(some) == 0 {
		return from, false, err
	}
	strangers, err := ids[AccountID](ctx, tx.reader, "strangers", `
		SELECT a.id
		FROM json_each(?) j
		CROSS JOIN accounts a ON a.id = j.value
		WHERE a.unavailable = 0 AND a.deleted_at IS NULL AND a.tags = '[]'
			AND NOT EXISTS (SELECT 1 FROM actors x WHERE x.account_id = a.id AND max(x.fetched_at, x.attempted_at) >= ?)
			AND NOT EXISTS (SELECT 1 FROM statuses s WHERE s.account_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM statuses s WHERE s.in_reply_to_account_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM follows f WHERE f.follower_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM follows f WHERE f.target_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM recipients r WHERE r.account_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM favourites f WHERE f.account_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM reactions r WHERE r.account_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM poll_votes v WHERE v.account_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.account_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.target_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM mutes m WHERE m.target_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM account_notes n WHERE n.target_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM subscriptions b WHERE b.target_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM endorsements e WHERE e.target_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM list_members l WHERE l.account_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM notifications n WHERE n.from_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM chats c WHERE c.other_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM chat_messages m WHERE m.account_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM chat_messages m WHERE m.recipient_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM reports r WHERE r.account_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM reports r WHERE r.target_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM scrobbles p WHERE p.account_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM quote_authorizations q WHERE q.account_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM queued_activities i WHERE i.signer_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM relays r WHERE r.account_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM accounts m WHERE m.moved_to_id = a.id)`, jsonArray(some), At(before))
	if err != nil {
		return from, false, err
	}
	for _, id := range strangers {
		if err := tx.RemoveAccount(ctx, id); err != nil {
			return from, false, err
		}
	}
	return some[len(some)-1], len(some) == pruneBatch, nil
}

// PruneHosts forgets servers with which nothing was exchanged for long, looking at the next few from a name on: whoever owns a domain has
// as many as they like. One that is away is remembered as long as accounts of it are known.
func (tx *Tx) PruneHosts(ctx context.Context, from string) (next string, more bool, err error) {
	some, err := list[string](ctx, tx.reader, "hosts", `SELECT domain FROM hosts WHERE domain > ? ORDER BY domain LIMIT ?`, from, pruneBatch)
	if err != nil || len(some) == 0 {
		return from, false, err
	}
	next = some[len(some)-1]
	_, err = tx.exec(ctx, "prune hosts", `
		DELETE FROM hosts
		WHERE domain > ?1 AND domain <= ?2 AND due_at IS NULL
			AND max(ifnull(last_success_at, 0), ifnull(unreachable_since, 0), backoff_until, signature_at, checked_at) < ?3
			AND (unreachable_since IS NULL OR NOT EXISTS (
				SELECT 1
				FROM accounts a INDEXED BY accounts_domain
				WHERE a.domain = hosts.domain AND a.domain <> ''))`, from, next, At(tx.db.now().Add(-unusedHostTTL)))
	return next, len(some) == pruneBatch, err
}

// PruneThreads forgets what threads were called of which nothing is left, looking at the next few from an id on.
func (tx *Tx) PruneThreads(ctx context.Context, from ConversationID) (next ConversationID, more bool, err error) {
	some, err := ids[ConversationID](ctx, tx.reader, "contexts", `
		SELECT conversation_id
		FROM threads
		WHERE conversation_id > ?
		ORDER BY conversation_id
		LIMIT ?`, from, pruneBatch)
	if err != nil || len(some) == 0 {
		return from, false, err
	}
	next = some[len(some)-1]
	_, err = tx.exec(ctx, "prune contexts", `
		DELETE FROM threads
		WHERE conversation_id > ? AND conversation_id <= ?
			AND NOT EXISTS (SELECT 1 FROM statuses s INDEXED BY statuses_conversation WHERE s.conversation_id = threads.conversation_id)`, from, next)
	return next, len(some) == pruneBatch, err
}

// PruneTombstones forgets what came from elsewhere and was deleted long ago, looking at the next few from an id on. own is what ids of
// here begin with: those are never used again.
func (tx *Tx) PruneTombstones(ctx context.Context, own, from string) (next string, more bool, err error) {
	some, err := list[string](ctx, tx.reader, "tombstones", `SELECT uri FROM tombstones WHERE uri > ? ORDER BY uri LIMIT ?`, from, pruneBatch)
	if err != nil || len(some) == 0 {
		return from, false, err
	}
	next = some[len(some)-1]
	_, err = tx.exec(ctx, "prune tombstones", `
		DELETE FROM tombstones
		WHERE uri > ? AND uri <= ? AND deleted_at < ? AND substr(uri, 1, ?) <> ?`,
		from, next, At(tx.db.now().Add(-remoteTombstoneTTL)), len(own), own)
	return next, len(some) == pruneBatch, err
}
