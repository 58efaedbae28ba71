package store

import (
	"database/sql/driver"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// The statements that write rows from their structs. Columns that an INSERT leaves out have the default of the table, and those that an UPDATE
// leaves out are written by statements of their own or never change.
var (
	// Staff, settings and statements that count write the other columns. RenameAccount and SetURI change names and URIs.
	insertAccount = insert[Account]("INSERT INTO accounts", "", "followers_count", "following_count", "statuses_count", "last_status_at",
		"deleted_at", "suspended_at", "rejected", "max_visibility", "limiting", "suggested")
	updateAccount = update[Account]("accounts", "id", "nickname", "nickname_key", "domain", "uri",
		"followers_count", "following_count", "statuses_count", "last_status_at", "created_at",
		"unavailable", "deleted_at", "suspended_at", "rejected", "max_visibility", "limiting", "suggested")
	saveActor      = upsert[Actor]("actors", "account_id")
	insertActorKey = insert[ActorKey]("INSERT INTO actor_keys", "")

	// The second factor has its own statement: saving a user that was read earlier must neither restore it nor make a used code valid again.
	insertUser         = insert[User]("INSERT INTO users", "")
	updateUser         = update[User]("users", "account_id", "totp_secret", "totp_pending", "totp_step", "last_active_at")
	updateTOTP         = updateOnly[User]("users", "account_id", "totp_secret", "totp_pending", "totp_step")
	insertOneTimeToken = insert[OneTimeToken]("INSERT INTO one_time_tokens", "")
	insertMFAChallenge = insert[MFAChallenge]("INSERT INTO mfa_challenges", "")

	// SQLite chooses the ids of apps and tokens, so that those of deleted ones are not used again.
	insertApp              = insert[App]("INSERT INTO oauth_apps", "RETURNING id", "id")
	updateApp              = update[App]("oauth_apps", "id", "client_id", "client_secret", "owner_id", "created_at")
	insertCode             = insert[AuthorizationCode]("INSERT INTO oauth_codes", "")
	insertToken            = insert[Token]("INSERT INTO oauth_tokens", "RETURNING id", "id")
	renewToken             = updateOnly[Token]("oauth_tokens", "id", "hash", "refresh_hash", "created_at", "expires_at")
	insertPushSubscription = insert[PushSubscription]("INSERT OR REPLACE INTO push_subscriptions", "")

	// updateStatus writes what an edit may change. Statements that count write the counters.
	insertStatus = insert[Status]("INSERT INTO statuses", "", "replies_count", "reblogs_count", "favourites_count", "quotes_count")
	updateStatus = updateOnly[Status]("statuses", "id",
		"has_media", "has_poll", "sensitive", "edited_at", "language", "content_type", "emojis", "url", "spoiler_text", "text", "content")
	insertRecipient = insert[Recipient]("INSERT INTO recipients",
		"ON CONFLICT (status_id, account_id) DO UPDATE SET mentioned = max(mentioned, excluded.mentioned)")
	insertStatusEdit      = insert[StatusEdit]("INSERT INTO status_edits", "")
	insertScheduledStatus = insert[ScheduledStatus]("INSERT INTO scheduled_statuses", "")
	insertPoll            = insert[Poll]("INSERT INTO polls", "")
	updatePoll            = update[Poll]("polls", "id", "status_id")
	insertMedia           = insert[Media]("INSERT INTO media", "")
	describeMedia         = updateOnly[Media]("media", "id", "description", "focus_x", "focus_y", "thumbnail", "preview_width", "preview_height", "blurhash")

	insertReaction           = insert[Reaction]("INSERT OR IGNORE INTO reactions", "")
	insertQuoteAuthorization = insert[QuoteAuthorization]("INSERT INTO quote_authorizations", "")
	insertCollection         = insert[Collection]("INSERT INTO collections", "")
	updateCollection         = update[Collection]("collections", "id", "account_id", "uri")
	insertCollectionItem     = insert[CollectionItem]("INSERT INTO collection_items", "")
	updateCollectionItem     = update[CollectionItem]("collection_items", "id", "collection_id", "target_id", "account_id", "domain")
	insertInteractionRequest = insert[InteractionRequest]("INSERT INTO interaction_requests", "")
	insertNotification       = insert[Notification]("INSERT OR IGNORE INTO notifications", "")
	saveNotificationPolicy   = insert[NotificationPolicy]("INSERT OR REPLACE INTO notification_policies", "")
	insertFollow             = insert[Follow]("INSERT INTO follows", "")
	saveMute                 = insert[Mute]("INSERT OR REPLACE INTO mutes", "")
	insertChat               = insert[Chat]("INSERT INTO chats", "")
	insertChatMessage        = insert[ChatMessage]("INSERT INTO chat_messages", "")
	insertChatCopy           = insert[ChatCopy]("INSERT INTO chat_copies", "")
	insertScrobble           = insert[Scrobble]("INSERT OR IGNORE INTO scrobbles", "")
	insertBookmarkFolder     = insert[BookmarkFolder]("INSERT INTO bookmark_folders", "")
	insertList               = insert[List]("INSERT INTO lists", "")
	updateList               = update[List]("lists", "id", "account_id")
	insertFilter             = insert[UserFilter]("INSERT INTO filters", "")
	updateFilter             = update[UserFilter]("filters", "id", "account_id")
	insertFilterKeyword      = insert[FilterKeyword]("INSERT INTO filter_keywords", "")
	updateFilterKeyword      = update[FilterKeyword]("filter_keywords", "id")
	insertFilterStatus       = insert[FilterStatus]("INSERT INTO filter_statuses", "")

	saveRemoteStatus     = insert[RemoteStatus]("INSERT OR REPLACE INTO remote_statuses", "")
	insertActivity       = insert[Activity]("INSERT OR IGNORE INTO activities", "")
	insertQueuedActivity = insert[QueuedActivity]("INSERT INTO queued_activities", "", "attempts", "parked", "last_error") // there was no attempt yet
	saveRelay            = insert[Relay]("INSERT INTO relays",
		"ON CONFLICT (id) DO UPDATE SET inbox = excluded.inbox, account_id = excluded.account_id, accepted = excluded.accepted")

	insertReport         = insert[Report]("INSERT INTO reports", "")
	insertReportedStatus = insert[ReportedStatus]("INSERT INTO report_statuses", "")
	insertReportNote     = insert[ReportNote]("INSERT INTO report_notes", "")
	insertLogEntry       = insert[LogEntry]("INSERT INTO moderation_log", "")
	insertAnnouncement   = insert[Announcement]("INSERT INTO announcements", "")
	updateAnnouncement   = update[Announcement]("announcements", "id")
	insertArchive        = insert[Archive]("INSERT INTO archives", "")
	updateArchive        = update[Archive]("archives", "id", "account_id", "file", "uploaded", "by_staff", "public", "size")
	insertImportedStatus = insert[ImportedStatus]("INSERT INTO imported_statuses", "")
	saveServerBackups    = insert[ServerBackups]("INSERT OR REPLACE INTO server_backups", "")
)

// rowStatement is an INSERT or UPDATE whose columns are those of the struct T. TestRowsMirrorTables compares the struct with the table; a list
// of columns beside it would drift. The text is made once, because each text is prepared once.
type rowStatement[T any] struct {
	text    string
	columns []column // of the parameters, in their order
}

// column is a column of a row.
type column struct {
	name   string
	field  []int // index of the field
	valuer bool  // the field is a driver.Valuer
}

// insert returns the statement `start (columns) VALUES (…) end`, with all columns of T but some.
func insert[T any](start, end string, except ...string) rowStatement[T] {
	_, columns := columnsOf[T](except)
	return rowStatement[T]{start + " (" + each(columns, "$") + ") VALUES (" + each(columns, "?") + ") " + end, columns}
}

// upsert returns the statement that inserts a row, or writes all its columns if the key exists. Unlike INSERT OR REPLACE it leaves indexes of
// unchanged columns alone.
func upsert[T any](table, key string) rowStatement[T] {
	_, others := columnsOf[T]([]string{key})
	return insert[T]("INSERT INTO "+table, "ON CONFLICT ("+key+") DO UPDATE SET "+each(others, "$ = excluded.$"))
}

// update returns the statement that writes all columns but some of the row with a key.
func update[T any](table, key string, except ...string) rowStatement[T] {
	named, others := columnsOf[T](append(except, key))
	return rowStatement[T]{"UPDATE " + table + " SET " + each(others, "$ = ?") + " WHERE " + key + " = ?", append(others, named[len(except)])}
}

// updateOnly returns the statement that writes some columns of the row with a key.
func updateOnly[T any](table, key string, only ...string) rowStatement[T] {
	named, _ := columnsOf[T](append(only, key))
	return rowStatement[T]{"UPDATE " + table + " SET " + each(named[:len(only)], "$ = ?") + " WHERE " + key + " = ?", named}
}

// columnsOf returns the columns of T that have one of the names, in this order, and the others. It panics if there is no such column.
func columnsOf[T any](names []string) (named, others []column) {
	row := reflect.TypeFor[T]()
	named = make([]column, len(names))
	for _, f := range mapper.TypeMap(row).Index {
		if f.Embedded || strings.Contains(f.Path, ".") { // not a column, or a part of the struct in one
			continue
		}
		c := column{f.Path, f.Index, f.Field.Type.Kind() != reflect.Pointer && f.Field.Type.Implements(reflect.TypeFor[driver.Valuer]())}
		if i := slices.Index(names, c.name); i >= 0 {
			named[i] = c
		} else {
			others = append(others, c)
		}
	}
	if i := slices.IndexFunc(named, func(c column) bool { return c.name == "" }); i >= 0 {
		panic(fmt.Sprintf("%v has no column %s", row, names[i]))
	}
	return named, others
}

// each joins the texts that a format makes of columns; $ is the name.
func each(columns []column, format string) string {
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = strings.ReplaceAll(format, "$", c.name)
	}
	return strings.Join(texts, ", ")
}

// args returns the values of a row for the parameters. They are of the types of package driver where that saves database/sql a conversion.
func (s *rowStatement[T]) args(row *T) []any {
	fields := reflect.ValueOf(row).Elem()
	args := make([]any, len(s.columns))
	for i, c := range s.columns {
		switch v := fields.FieldByIndex(c.field); {
		case c.valuer:
			args[i] = v.Addr().Interface() // not a copy
		case v.CanInt():
			args[i] = v.Int()
		case v.Kind() == reflect.String:
			args[i] = v.String()
		case v.Kind() == reflect.Bool:
			args[i] = v.Bool()
		default: // a pointer, []byte or float64
			args[i] = v.Interface()
		}
	}
	return args
}
