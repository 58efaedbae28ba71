package store

import (
	"context"
	"fmt"
	"slices"
)

// PurgeAccount is the job that deletes the rows of a deleted account.
type PurgeAccount struct {
	AccountID AccountID `json:"account_id"`
}

func (PurgeAccount) Kind() JobKind {
	return JobKind{Name: "purge_account", Timeout: NoTimeout, Parallel: 2, Deletes: true}
}

// PurgeKey is the unique key of the job that purges an account.
func PurgeKey(id AccountID) string { return "purge:" + id.String() }

// MarkAccountDeleted clears the profile of an account, makes it unavailable and marks it as deleted. The row stays, so that nobody else
// gets its name or id.
func (tx *Tx) MarkAccountDeleted(ctx context.Context, id AccountID) error {
	if err := tx.exec(ctx, "mark account deleted", `
		UPDATE accounts
		SET display_name = '', note = '', fields = '[]', avatar = '', avatar_static = '', header = '', header_static = '', background = '',
			discoverable = 0, indexable = NULL, birthday = '', show_birthday = 0, also_known_as = '[]', moved_to_id = NULL, tags = '[]', emojis = '[]', suggested = 0, unavailable = 1, deleted_at = ?
		WHERE id = ?`, At(tx.db.now()), id); err != nil {
		return err
	}
	tx.invalidateAccount(id)
	tx.invalidateAll()
	return tx.unindexAccount(ctx, id)
}

// RemoveAccount deletes the row of an account that was never used. Its name is free again.
func (tx *Tx) RemoveAccount(ctx context.Context, id AccountID) error {
	if err := tx.exec(ctx, "remove account", `DELETE FROM accounts WHERE id = ?`, id); err != nil {
		return err
	}
	tx.invalidateAccount(id)
	return tx.unindexAccount(ctx, id)
}

func (tx *Tx) unindexAccount(ctx context.Context, id AccountID) error {
	return tx.exec(ctx, "unindex account", `DELETE FROM accounts_fts WHERE rowid = ?`, id)
}

// purges delete the rows that belong to an account or are about it. Rows that counters include are deleted before, one by one.
var purges = []string{
	purge("home", "account_id, status_id", "account_id = ?"),
	purge("notifications", "id", "account_id = ?"),
	purge("notifications", "id", "from_id = ?"),
	purge("notification_requests", "id", "account_id = ?"),
	purge("notification_requests", "id", "from_id = ?"),
	purge("notification_permissions", "account_id, target_id", "account_id = ?"),
	purge("notification_permissions", "account_id, target_id", "target_id = ?"),
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
	purge("featured_tags", "id", "account_id = ?"),
	purge("account_tags", "account_id, tag_id", "account_id = ?"),
	purge("pins", "status_id", "account_id = ?"),
	purge("scrobbles", "id", "account_id = ?"),
	purge("quote_authorizations", "id", "account_id = ?"),
	purge("interaction_requests", "id", "account_id = ?"),
	purge("interaction_requests", "id", "author_id = ?"),
	purge("collection_items", "id", "account_id = ?"),
	purge("collections", "id", "account_id = ?"),
	purge("collection_items", "id", "target_id = ?"),
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
	purge("announcement_reactions", "id", "account_id = ?"),
	purge("direct_conversations", "id", "account_id = ?"),
	purge("markers", "account_id, timeline", "account_id = ?"),
	purge("idempotency_keys", "account_id, key", "account_id = ?"),
	purge("scheduled_statuses", "id", "account_id = ?"),
	purge("import_entries", "import_id, position", "import_id IN (SELECT id FROM imports WHERE account_id = ?)"),
	purge("imports", "id", "account_id = ?"),
	purge("archives", "id", "account_id = ? AND finished_at IS NOT NULL"),
	purge("account_backups", "id", "account_id = ?"),
}

// purge returns a DELETE of one batch of rows.
func purge(table, key, where string) string {
	return fmt.Sprintf(`DELETE FROM %s WHERE (%s) IN (SELECT %s FROM %s WHERE %s LIMIT ?)`, table, key, key, table, where)
}

// PurgeAccount deletes, in batches, the rows that belong to an account or are about it. Its statuses, favourites, reactions and follows
// must be deleted before, its media after. It can be called again after an interruption.
func (db *DB) PurgeAccount(ctx context.Context, id AccountID) error {
	for _, query := range purges {
		if err := db.inBatches(ctx, "purge account", query, id); err != nil {
			return err
		}
	}
	return db.Update(ctx, func(tx *Tx) error {
		tx.invalidateAll()
		return tx.exec(ctx, "disown apps", `UPDATE oauth_apps SET owner_id = NULL WHERE owner_id = ?`, id)
	})
}

// RemoveMediaOf deletes the rows of up to n uploads of an account, and returns them.
func (tx *Tx) RemoveMediaOf(ctx context.Context, id AccountID, n int) ([]*Media, error) {
	return list[*Media](ctx, tx.reader, "remove media of account", `
		DELETE FROM media
		WHERE id IN (SELECT id FROM media WHERE account_id = ? LIMIT ?)
		RETURNING *`, id, n)
}

// PictureFiles returns the names of the files that are the pictures of a local profile.
func (a *Account) PictureFiles() []string {
	names := []string{a.Avatar, a.AvatarStatic, a.Header, a.HeaderStatic, a.Background}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
