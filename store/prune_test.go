package store_test

import (
	"slices"
	"testing"

	"svc/store"
)

// TestAccountReferences checks that every column that refers to an account keeps remote accounts from being pruned, or is listed here: rows of local accounts, and
// rows that are not needed without the account. Otherwise a new table could lose rows when an account is pruned.
func TestAccountReferences(t *testing.T) {
	ignored := []string{
		"actors.account_id", "actor_keys.account_id", // fetched with the account
		"link_checks.account_id",              // of followed accounts
		"media.account_id", "pins.account_id", // of statuses, which keep their author
		"collections.account_id", // of local accounts, and of remote ones with items
		// Of local accounts only:
		"account_backups.account_id", "archives.account_id", "imported_statuses.account_id", "removed_originals.account_id", "account_notes.account_id", "activities.account_id", "announcement_reactions.account_id", "announcement_reads.account_id", "bookmark_folders.account_id", "bookmarks.account_id",
		"chat_message_keys.account_id", "chats.account_id", "direct_conversations.account_id", "domain_blocks.account_id", "endorsements.account_id",
		"filters.account_id", "home.account_id", "idempotency_keys.account_id", "imports.account_id", "lists.account_id", "markers.account_id", "moderation_log.actor_id", "mutes.account_id",
		"notification_permissions.account_id", "notification_requests.account_id", "notifications.account_id", "oauth_apps.owner_id", "queued_activities.recipient_id", "scheduled_statuses.account_id",
		"report_notes.account_id", "reports.assigned_id", "reports.decided_by_id", "subscriptions.account_id", "thread_mutes.account_id", "users.account_id",
	}
	columns, err := open(t).ForeignKeys(t.Context(), "accounts")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range columns {
		if slices.Contains(store.AccountReferences, c) == slices.Contains(ignored, c) {
			t.Errorf("%s must be either in accountReferences or in this test", c)
		}
	}
	for _, c := range append(slices.Clone(store.AccountReferences), ignored...) {
		if !slices.Contains(columns, c) {
			t.Errorf("%s is not a foreign key to accounts", c)
		}
	}
}
