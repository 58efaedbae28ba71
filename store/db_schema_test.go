package store_test

import (
	"database/sql"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"svc/store"
)

// TestRowsMirrorTables checks that rows have the columns of their tables, so that SELECT * is correct.
func TestRowsMirrorTables(t *testing.T) {
	db := open(t)
	for table, row := range map[string]any{
		"meta":              store.Meta{},
		"accounts":          store.Account{},
		"users":             store.User{},
		"link_checks":       store.LinkCheck{},
		"frontend_settings": store.FrontendSettings{},
		"follows":           store.Follow{},
		"tag_follows":       store.TagFollow{},
		"featured_tags":     store.FeaturedTag{},
		"statuses":          store.Status{},
		"status_edits":      store.StatusEdit{},
		"limited_statuses":  store.LimitedStatus{},
		"cards":             store.Card{},
		"recipients":        store.Recipient{},
		"media":             store.Media{},
		"media_bans":        store.MediaBan{},
		"stored_files":      store.StoredFile{},
		"storage_usage":     store.StorageUsage{},
		"storage_alerts":    store.StorageAlert{},
		"server_backups":    store.ServerBackups{},
		"status_counts":     store.StatusCount{},
		"notifications":     store.Notification{},
		"markers":           store.Marker{},

		"notification_policies": store.NotificationPolicy{},
		"notification_requests": store.NotificationRequest{},

		"lists":          store.List{},
		"filters":        store.UserFilter{},
		"mutes":          store.Mute{},
		"oauth_apps":     store.App{},
		"oauth_codes":    store.AuthorizationCode{},
		"oauth_tokens":   store.Token{},
		"mfa_challenges": store.MFAChallenge{},
		"jobs":           store.Job{},
		"reports":        store.Report{},
		"announcements":  store.Announcement{},

		"announcement_reactions": store.AnnouncementReaction{},
		"polls":                  store.Poll{},
		"poll_votes":             store.PollVote{},
		"favourites":             store.Favourite{},
		"actors":                 store.Actor{},
		"actor_keys":             store.ActorKey{},
		"hosts":                  store.Host{},
		"activities":             store.Activity{},
		"deliveries":             store.Delivery{},
		"queued_activities":      store.QueuedActivity{},
		"refusals":               store.Refusal{},
		"relays":                 store.Relay{},
		"moderation_log":         store.LogEntry{},
		"settings":               store.SettingRow{},
		"remote_statuses":        store.RemoteStatus{},
		"tombstones":             store.Tombstone{},
		"scrobbles":              store.Scrobble{},

		"quote_authorizations": store.QuoteAuthorization{},
		"interaction_requests": store.InteractionRequest{},
		"collections":          store.Collection{},
		"collection_items":     store.CollectionItem{},

		"reactions":       store.Reaction{},
		"reaction_counts": store.ReactionCount{},

		"report_statuses": store.ReportedStatus{},
		"report_notes":    store.ReportNote{},
		"chats":           store.Chat{},
		"chat_messages":   store.ChatMessage{},
		"chat_copies":     store.ChatCopy{},

		"push_subscriptions":   store.PushSubscription{},
		"bookmark_folders":     store.BookmarkFolder{},
		"one_time_tokens":      store.OneTimeToken{},
		"invites":              store.Invite{},
		"rules":                store.Rule{},
		"sign_in_networks":     store.SignInNetwork{},
		"filter_keywords":      store.FilterKeyword{},
		"filter_statuses":      store.FilterStatus{},
		"scheduled_statuses":   store.ScheduledStatus{},
		"direct_conversations": store.DirectConversation{},
		"imports":              store.Import{},
		"archives":             store.Archive{},
		"archive_skips":        store.ArchiveSkip{},
		"imported_statuses":    store.ImportedStatus{},
		"import_entries":       store.ImportEntry{},
		"account_backups":      store.AccountBackup{},
		"instance_purges":      store.InstancePurge{},
		"host_blocks":          store.HostBlock{},
		"server_closure":       store.ServerClosure{},

		"server_closure_inboxes": store.ClosureInbox{},
		"email_domain_blocks":    store.EmailDomainBlock{},
		"ip_blocks":              store.IPBlock{},

		"canonical_email_blocks": store.CanonicalEmailBlock{},
	} {
		columns, err := db.Columns(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		var fields []string
		for f := range reflect.TypeOf(row).Fields() {
			fields = append(fields, store.ColumnName(f.Name))
		}
		if !slices.Equal(columns, fields) {
			t.Errorf("%s has columns\n%v, its rows\n%v", table, columns, fields)
		}
	}
}

// TestInsertsBuildNoTables checks that inserting a row that is often written builds no table of constants for a CHECK or the condition of
// an index.
func TestInsertsBuildNoTables(t *testing.T) {
	dir := t.TempDir()
	openAndClose(t, dir)
	db := rawDB(t, dir)
	defer db.Close()
	for _, table := range []string{
		"accounts", "actors", "actor_keys", "favourites", "follows", "home", "hosts", "jobs", "media", "notifications", "reactions",
		"recipients", "seen_activities", "status_counts", "statuses", "storage_usage",
	} {
		rows, err := db.Query(`EXPLAIN INSERT INTO ` + table + ` DEFAULT VALUES`)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var address, opcode string
			var rest [6]any
			if err := rows.Scan(&address, &opcode, &rest[0], &rest[1], &rest[2], &rest[3], &rest[4], &rest[5]); err != nil {
				t.Fatal(err)
			}
			if opcode == "OpenEphemeral" {
				t.Errorf("inserting into %s builds a table", table)
				break
			}
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
}

func openAndClose(t *testing.T, dir string) {
	t.Helper()
	db, err := openIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func rawDB(t testing.TB, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, store.File))
	if err != nil {
		t.Fatal(err)
	}
	return db
}
