package store

// plainTable is a table as PlainExport writes it.
type plainTable struct {
	name    string
	where   string // condition on its rows; "": all
	secrets string // columns that only an export with secrets has, separated by spaces
	omitted string // columns that it never has
}

// Conditions of exported rows. keepRows makes _accounts and _statuses.
const (
	ofAccount = `account_id IN (SELECT id FROM _accounts)`
	ofStatus  = `status_id IN (SELECT id FROM _statuses)`
)

// plainTables are the tables of an export in the order in which they refer to each other. The accounts and posts of other servers that local ones have to
// do with are among them.
var plainTables = []plainTable{
	{name: "accounts", where: `id IN (SELECT id FROM _accounts)`, omitted: "nickname_key rejected max_visibility limiting"},
	{name: "actors", where: ofAccount, omitted: "attempted_at failures handle_verified_at collections_fetched_at"},
	{name: "actor_keys", where: ofAccount, secrets: "private", omitted: "announced"},
	{name: "users", secrets: "password_hash totp_secret", omitted: "email_key totp_pending totp_step"},
	{name: "backup_codes", secrets: "hash"},
	{name: "frontend_settings"},
	{name: "follows"},
	{name: "subscriptions"},
	{name: "endorsements"},
	{name: "blocks"},
	{name: "mutes"},
	{name: "domain_blocks"},
	{name: "account_notes"},
	{name: "notification_policies"},
	{name: "notification_permissions"},
	{name: "oauth_apps", secrets: "client_secret"},
	{name: "lists"},
	{name: "list_members"},
	{name: "statuses", where: `id IN (SELECT id FROM _statuses)`, omitted: "card_id"},
	{name: "remote_statuses", where: ofStatus, omitted: "replies_at fetched_at quiet"},
	{name: "threads", where: `conversation_id IN (SELECT conversation_id FROM statuses WHERE id IN (SELECT id FROM _statuses))`},
	{name: "status_edits", where: ofStatus},
	{name: "recipients", where: ofStatus},
	{name: "tags", where: `id IN (SELECT tag_id FROM status_tags WHERE ` + ofStatus + `) OR id IN (SELECT tag_id FROM tag_follows) OR id IN (SELECT tag_id FROM featured_tags)`},
	{name: "status_tags", where: ofStatus},
	{name: "tag_follows"},
	{name: "featured_tags"},
	{name: "polls", where: ofStatus, omitted: "fetched_at"},
	{name: "poll_votes", where: `poll_id IN (SELECT id FROM polls WHERE ` + ofStatus + `)`},
	{name: "scheduled_statuses"},
	{name: "media", where: ofAccount + ` AND (status_id IS NULL OR ` + ofStatus + `)`, omitted: "detached_at"},
	{name: "pins", where: ofStatus},
	{name: "favourites", where: ofStatus},
	{name: "reactions", where: ofStatus},
	{name: "bookmark_folders"},
	{name: "bookmarks"},
	{name: "thread_mutes"},
	{name: "quote_authorizations", where: ofStatus},
	{name: "interaction_requests", where: ofStatus},
	{name: "direct_conversations"},
	{name: "filters"},
	{name: "filter_keywords"},
	{name: "filter_statuses", where: ofStatus},
	{name: "markers"},
	{name: "chats"},
	{name: "chat_messages"},
	{name: "chat_copies"},
	{name: "collections", where: ofAccount},
	{name: "collection_items", where: ofAccount},
	{name: "scrobbles", where: ofAccount},
	{name: "reports"},
	{name: "report_notes"},
	{name: "archives", omitted: "file uploaded size received position"},
	{name: "imported_statuses"},
	{name: "removed_originals"},
	{name: "old_addresses", where: ofStatus},
	{name: "old_media"},
	{name: "dead_addresses"},
	{name: "dead_nicknames"},
	{name: "report_statuses"},
	{name: "announcements"},
	{name: "announcement_reactions"},
	{name: "rules"},
	{name: "invites", secrets: "token"},
	{name: "host_blocks"},
	{name: "email_domain_blocks"},
	{name: "canonical_email_blocks"},
	{name: "ip_blocks"},
	{name: "media_bans"},
	{name: "relays"},
	{name: "settings", secrets: "value"},
	{name: "moderation_log"},
	{name: "tombstones"},
}

// notExported are the tables that an export leaves out, with the reason.
var notExported = map[string]string{
	"meta": "server.json has what matters", "jobs": "work of this server", "activities": "work of this server", "deliveries": "work of this server",
	"queued_activities": "work of this server", "seen_activities": "work of this server", "refusals": "work of this server", "hosts": "what this server knows of others",
	"limited_statuses": "work of this server", "link_checks": "work of this server", "instance_purges": "work of this server", "server_closure": "work of this server",
	"server_closure_inboxes": "work of this server", "status_fetchers": "work of this server", "archive_skips": "work of this server", "imports": "work of this server", "import_entries": "work of this server",
	"account_backups": "files that are not exported", "server_backups": "state of this server", "storage_alerts": "state of this server", "storage_usage": "state of this server",
	"stored_files": "follows from the files", "status_counts": "follows from statuses", "reaction_counts": "follows from reactions", "account_tags": "follows from status_tags",
	"active_weeks": "statistics", "home": "follows from follows and statuses", "list_timeline": "follows from list_members and statuses", "cards": "previews that are fetched again",
	"notifications": "are made of other rows", "notification_requests": "follow from notifications", "announcement_reads": "of no use elsewhere", "chat_message_keys": "expire soon",
	"idempotency_keys": "expire soon", "one_time_tokens": "expire soon", "used_captchas": "expire soon", "mfa_challenges": "expire soon", "oauth_codes": "expire soon",
	"sign_in_networks": "hashes with a key of this server", "oauth_tokens": "people sign in again", "push_subscriptions": "belong to tokens",
}

// keepRows makes the tables of the accounts and statuses that are exported: local ones, and those that local ones have to do with.
const keepRows = `
CREATE TABLE _statuses (id INTEGER PRIMARY KEY) STRICT;
INSERT INTO _statuses SELECT id FROM statuses WHERE domain = '';
INSERT OR IGNORE INTO _statuses
	SELECT status_id FROM favourites WHERE account_id IN (SELECT account_id FROM users)
	UNION SELECT status_id FROM reactions WHERE account_id IN (SELECT account_id FROM users)
	UNION SELECT status_id FROM bookmarks
	UNION SELECT status_id FROM filter_statuses
	UNION SELECT status_id FROM recipients WHERE account_id IN (SELECT account_id FROM users)
	UNION SELECT last_status_id FROM direct_conversations
	UNION SELECT status_id FROM report_statuses WHERE status_id IS NOT NULL;
INSERT OR IGNORE INTO _statuses
	SELECT reblog_of_id FROM statuses WHERE reblog_of_id IS NOT NULL AND id IN (SELECT id FROM _statuses)
	UNION SELECT in_reply_to_id FROM statuses WHERE in_reply_to_id IS NOT NULL AND id IN (SELECT id FROM _statuses)
	UNION SELECT quote_of_id FROM statuses WHERE quote_of_id IS NOT NULL AND id IN (SELECT id FROM _statuses)
	UNION SELECT id FROM statuses WHERE in_reply_to_id IN (SELECT id FROM statuses WHERE domain = '');
CREATE TABLE _accounts (id INTEGER PRIMARY KEY) STRICT;
INSERT INTO _accounts
	SELECT id FROM accounts WHERE domain = ''
	UNION SELECT account_id FROM statuses WHERE id IN (SELECT id FROM _statuses)
	UNION SELECT in_reply_to_account_id FROM statuses WHERE in_reply_to_account_id IS NOT NULL AND id IN (SELECT id FROM _statuses)
	UNION SELECT moved_to_id FROM accounts WHERE moved_to_id IS NOT NULL
	UNION SELECT follower_id FROM follows UNION SELECT target_id FROM follows
	UNION SELECT account_id FROM blocks UNION SELECT target_id FROM blocks
	UNION SELECT account_id FROM mutes UNION SELECT target_id FROM mutes
	UNION SELECT target_id FROM subscriptions UNION SELECT target_id FROM endorsements UNION SELECT target_id FROM account_notes
	UNION SELECT target_id FROM notification_permissions UNION SELECT account_id FROM list_members
	UNION SELECT account_id FROM recipients WHERE status_id IN (SELECT id FROM _statuses)
	UNION SELECT account_id FROM favourites WHERE status_id IN (SELECT id FROM _statuses)
	UNION SELECT account_id FROM reactions WHERE status_id IN (SELECT id FROM _statuses)
	UNION SELECT account_id FROM quote_authorizations WHERE status_id IN (SELECT id FROM _statuses)
	UNION SELECT account_id FROM interaction_requests WHERE status_id IN (SELECT id FROM _statuses)
	UNION SELECT account_id FROM poll_votes WHERE poll_id IN (SELECT id FROM polls WHERE status_id IN (SELECT id FROM _statuses))
	UNION SELECT other_id FROM chats UNION SELECT account_id FROM chat_messages UNION SELECT recipient_id FROM chat_messages
	UNION SELECT target_id FROM collection_items WHERE account_id IN (SELECT account_id FROM users)
	UNION SELECT account_id FROM reports UNION SELECT target_id FROM reports
	UNION SELECT account_id FROM relays WHERE account_id IS NOT NULL;
`
