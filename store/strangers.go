package store

import (
	"context"
	"time"
)

// strangerTime is how long an account elsewhere is kept that nothing here has to do with.
const strangerTime = 30 * 24 * time.Hour

// PruneStrangers removes accounts elsewhere of which nothing is known but themselves, looking at the next few from an id on: many are met
// once, as the signer of something that concerned nobody. One that is withheld, tagged or deleted is kept, so that this is not forgotten. It
// returns the id to go on from, and whether there is more.
func (tx *Tx) PruneStrangers(ctx context.Context, from AccountID) (next AccountID, more bool, err error) {
	before := tx.db.now().Add(-strangerTime)
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
		WHERE a.withheld = 0 AND a.deleted_at IS NULL AND a.tags = '[]'
			AND NOT EXISTS (SELECT 1 FROM actors x WHERE x.account_id = a.id AND max(x.fetched_at, x.tried_at) >= ?)
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
			AND NOT EXISTS (SELECT 1 FROM inbox i WHERE i.signer_id = a.id)
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
