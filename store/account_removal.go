package store

import (
	"context"
	"fmt"
)

// What becomes of an account that leaves. Its row stays, so that nobody else gets its name and its ids; what it wrote and did goes
// in batches, because there may be much of it.

// PurgeAccount is the job that takes away what a deleted account has left.
type PurgeAccount struct {
	AccountID AccountID `json:"account_id"`
}

// Kind names the job.
func (PurgeAccount) Kind() string { return "purge_account" }

// PurgeKey is the unique key of the job that purges an account.
func PurgeKey(id AccountID) string { return "purge:" + id.String() }

// MarkAccountDeleted takes everything out of an account's profile, hides it and marks it as deleted.
func (tx *Tx) MarkAccountDeleted(ctx context.Context, id AccountID) error {
	if _, err := tx.exec(ctx, "blank account", `
		UPDATE accounts
		SET display_name = '', note = '', fields = '[]', avatar = '', avatar_static = '', header = '', header_static = '', background = '',
			discoverable = 0, birthday = '', show_birthday = 0, also_known_as = '[]', moved_to_id = NULL, tags = '[]', emojis = '[]', unavailable = 1, deleted_at = ?
		WHERE id = ?`, At(tx.db.now()), id); err != nil {
		return err
	}
	tx.invalidateAccount(id)
	tx.invalidateAll()
	return tx.unindexAccount(ctx, id)
}

// RemoveAccount deletes the row of an account that never could do anything. Its name is free again.
func (tx *Tx) RemoveAccount(ctx context.Context, id AccountID) error {
	if _, err := tx.exec(ctx, "remove account", `DELETE FROM accounts WHERE id = ?`, id); err != nil {
		return err
	}
	tx.invalidateAccount(id)
	return tx.unindexAccount(ctx, id)
}

func (tx *Tx) unindexAccount(ctx context.Context, id AccountID) error {
	_, err := tx.exec(ctx, "unindex account", `DELETE FROM accounts_fts WHERE rowid = ?`, id)
	return err
}

// RemoveUser deletes what an account signs in with: its user, tokens, codes and links.
func (tx *Tx) RemoveUser(ctx context.Context, id AccountID) error {
	_, err := tx.exec(ctx, "remove user", `DELETE FROM users WHERE account_id = ?`, id)
	tx.invalidateAccount(id)
	return err
}

// DropAllOneTimeTokens makes all links of an account stop working.
func (tx *Tx) DropAllOneTimeTokens(ctx context.Context, id AccountID) error {
	_, err := tx.exec(ctx, "drop one-time tokens", `DELETE FROM one_time_tokens WHERE account_id = ?`, id)
	return err
}

// OldestStatuses returns the oldest posts and boosts of an account.
func (r reader) OldestStatuses(ctx context.Context, id AccountID, limit int) ([]*Status, error) {
	return list[*Status](ctx, r, "oldest statuses", `
		SELECT *
		FROM statuses
		WHERE account_id = ?
		ORDER BY id
		LIMIT ?`, id, limit)
}

// BoostsOf returns some of the boosts of a status.
func (r reader) BoostsOf(ctx context.Context, id StatusID, limit int) ([]*Status, error) {
	return list[*Status](ctx, r, "boosts", `
		SELECT *
		FROM statuses INDEXED BY statuses_reblogged_by
		WHERE reblog_of_id = ?
		ORDER BY id
		LIMIT ?`, id, limit)
}

// DeleteFavourites deletes some of the favourites that a status has, because it is about to go itself. Their number is not kept up.
func (tx *Tx) DeleteFavourites(ctx context.Context, id StatusID, limit int) (n int64, err error) {
	return tx.exec(ctx, "forget favourites", `
		DELETE FROM favourites
		WHERE id IN (
			SELECT id
			FROM favourites
			WHERE status_id = ?
			ORDER BY id
			LIMIT ?)`, id, limit)
}

// FavouritesBy returns some of the statuses that are favourites of an account.
func (r reader) FavouritesBy(ctx context.Context, id AccountID, limit int) ([]StatusID, error) {
	return list[StatusID](ctx, r, "favourites", `
		SELECT status_id
		FROM favourites
		WHERE account_id = ?
		ORDER BY id
		LIMIT ?`, id, limit)
}

// DeleteReactions deletes some of the reactions that a status has, because it is about to go itself. They are not counted anew.
func (tx *Tx) DeleteReactions(ctx context.Context, id StatusID, limit int) (n int64, err error) {
	return tx.exec(ctx, "forget reactions", `
		DELETE FROM reactions
		WHERE id IN (
			SELECT id
			FROM reactions INDEXED BY reactions_status
			WHERE status_id = ?
			LIMIT ?)`, id, limit)
}

// ReactionsBy returns some of the reactions of an account.
func (r reader) ReactionsBy(ctx context.Context, id AccountID, limit int) ([]*Reaction, error) {
	return list[*Reaction](ctx, r, "reactions", `
		SELECT *
		FROM reactions
		WHERE account_id = ?
		LIMIT ?`, id, limit)
}

// FollowsBy returns some of an account's follows and requests to follow.
func (r reader) FollowsBy(ctx context.Context, id AccountID, limit int) ([]*Follow, error) {
	return list[*Follow](ctx, r, "follows", `
		SELECT *
		FROM follows
		WHERE follower_id = ?
		ORDER BY target_id
		LIMIT ?`, id, limit)
}

// LocalFollowsBy returns an account's follows of accounts here.
func (r reader) LocalFollowsBy(ctx context.Context, id AccountID) ([]*Follow, error) {
	return list[*Follow](ctx, r, "local follows", `
		SELECT f.*
		FROM follows f INDEXED BY follows_following
		CROSS JOIN accounts a ON a.id = f.target_id
		WHERE f.follower_id = ? AND f.pending = 0 AND a.domain = ''`, id)
}

// RemoteFollowRequests returns an account's requests to follow accounts elsewhere.
func (r reader) RemoteFollowRequests(ctx context.Context, id AccountID) ([]*Follow, error) {
	return list[*Follow](ctx, r, "requests elsewhere", `
		SELECT f.*
		FROM follows f
		CROSS JOIN accounts a ON a.id = f.target_id
		WHERE f.follower_id = ? AND f.pending = 1 AND a.domain <> ''`, id)
}

// FollowsOf returns some of the follows of an account and of the requests to follow it.
func (r reader) FollowsOf(ctx context.Context, id AccountID, limit int) ([]*Follow, error) {
	follows, err := list[*Follow](ctx, r, "followers", `
		SELECT *
		FROM follows INDEXED BY follows_followers
		WHERE target_id = ? AND pending = 0
		ORDER BY follower_id
		LIMIT ?`, id, limit)
	if err != nil || len(follows) > 0 {
		return follows, err
	}
	return list[*Follow](ctx, r, "follow requests", `
		SELECT *
		FROM follows INDEXED BY follows_requests
		WHERE target_id = ? AND pending = 1
		ORDER BY id
		LIMIT ?`, id, limit)
}

// DropFollowRequests takes back all requests that an account has made or received.
func (tx *Tx) DropFollowRequests(ctx context.Context, id AccountID) error {
	for _, query := range []string{
		`DELETE FROM follows WHERE follower_id = ? AND pending = 1`,
		`DELETE FROM follows WHERE target_id = ? AND pending = 1`,
		`DELETE FROM notifications WHERE from_id = ? AND type = 'follow_request'`,
		`DELETE FROM notifications WHERE account_id = ? AND type = 'follow_request'`,
	} {
		if _, err := tx.exec(ctx, "drop follow requests", query, id); err != nil {
			return err
		}
	}
	return nil
}

// purges delete what belongs to an account or is about it, except for what is counted elsewhere: that is done before.
var purges = []string{
	purge("home", "account_id, status_id", "account_id = ?"),
	purge("notifications", "id", "account_id = ?"),
	purge("notifications", "id", "from_id = ?"),
	purge("chat_messages", "id", "account_id = ?"),
	purge("chat_messages", "id", "recipient_id = ?"),
	purge("chats", "id", "account_id = ?"),
	purge("chats", "id", "other_id = ?"),
	purge("list_timeline", "list_id, status_id", "list_id IN (SELECT id FROM lists WHERE account_id = ?)"),
	purge("lists", "id", "account_id = ?"),
	purge("list_members", "list_id, account_id", "account_id = ?"),
	purge("bookmarks", "id", "account_id = ?"),
	purge("filters", "id", "account_id = ?"),
	purge("bookmark_folders", "id", "account_id = ?"),
	purge("pins", "status_id", "account_id = ?"),
	purge("scrobbles", "id", "account_id = ?"),
	purge("quote_authorizations", "id", "account_id = ?"),
	purge("subscriptions", "account_id, target_id", "account_id = ?"),
	purge("subscriptions", "account_id, target_id", "target_id = ?"),
	purge("endorsements", "account_id, target_id", "account_id = ?"),
	purge("endorsements", "account_id, target_id", "target_id = ?"),
	purge("blocks", "account_id, target_id", "account_id = ?"),
	purge("blocks", "account_id, target_id", "target_id = ?"),
	purge("mutes", "account_id, target_id", "account_id = ?"),
	purge("mutes", "account_id, target_id", "target_id = ?"),
	purge("domain_blocks", "account_id, domain", "account_id = ?"),
	purge("account_notes", "account_id, target_id", "account_id = ?"),
	purge("account_notes", "account_id, target_id", "target_id = ?"),
	purge("thread_mutes", "account_id, conversation_id", "account_id = ?"),
	purge("announcement_reads", "announcement_id, account_id", "account_id = ?"),
	purge("direct_conversations", "id", "account_id = ?"),
	purge("markers", "account_id, timeline", "account_id = ?"),
	purge("idempotency_keys", "account_id, key", "account_id = ?"),
	purge("scheduled_statuses", "id", "account_id = ?"),
	purge("media", "id", "account_id = ?"),
}

// purge deletes rows of a table, a batch at a time.
func purge(table, key, where string) string {
	return fmt.Sprintf(`DELETE FROM %s WHERE (%s) IN (SELECT %s FROM %s WHERE %s LIMIT ?)`, table, key, key, table, where)
}

// PurgeAccount deletes, in batches, what belongs to an account or is about it; its statuses, favourites, reactions and follows
// must have gone before. It can be called again if it did not come to its end.
func (db *DB) PurgeAccount(ctx context.Context, id AccountID) error {
	for _, query := range purges {
		if err := db.inBatches(ctx, "purge account", query, id); err != nil {
			return err
		}
	}
	return db.Update(ctx, func(tx *Tx) error {
		tx.invalidateAll()
		return nil
	})
}
