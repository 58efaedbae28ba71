package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// Notification is a notification of a local account.
type Notification struct {
	ID        NotificationID
	AccountID AccountID // the recipient
	Type      NotificationType
	FromID    AccountID // the account that caused it
	StatusID  *StatusID
	MessageID *MessageID // of a chat message
	Detail    string     // the emoji of a reaction; the id of a report, of a collection item, or of the account that FromID has moved to
	Read      bool
	Muted     bool // a mute was in force when it was added
	Filtered  bool // held back by the recipient's policy
}

// Position returns the id as a position in a list.
func (n *Notification) Position() int64 { return int64(n.ID) }

// NotificationFilter selects notifications.
type NotificationFilter struct {
	Types             []NotificationType // nil: all but the opt-in types
	ExcludeTypes      []NotificationType
	ExcludeVisibility []Visibility
	From              AccountID // 0: any account
	WithMuted         bool
	WithFiltered      bool
}

// types returns the types to list as a JSON array, "" for the default.
func (f NotificationFilter) types() any {
	if f.Types == nil && !slices.ContainsFunc(f.ExcludeTypes, func(t NotificationType) bool { return !t.Kind().Explicit }) {
		return ""
	}
	types := NotificationTypesWhere(func(k *NotificationKind) bool {
		wanted := !k.Explicit
		if f.Types != nil {
			wanted = slices.Contains(f.Types, k.Type)
		}
		return wanted && !slices.Contains(f.ExcludeTypes, k.Type)
	})
	return JSON[[]NotificationType]{append([]NotificationType{}, types...)}
}

// notificationVisible is the condition that a notification n is visible to its recipient ?1 with the lookups ?2: the account that caused it
// is available, not blocked and, unless ?3 is set, not muted, and the status is visible. Hidden notifications stay, because a mute may end.
var notificationVisible = `
	` + available("n.from_id") + `
	AND ` + notBlocked("n.from_id") + `
	AND ` + notOfBlockedDomain("n.from_id") + `
	AND (?3 OR n.muted = 0 AND (` + unset("?2", lookupMutes) + ` OR NOT EXISTS (
		SELECT 1 FROM mutes x WHERE x.account_id = ?1 AND x.target_id = n.from_id AND x.hide_notifications = 1)))
	AND (n.status_id IS NULL OR ` + unset("?2", lookupBlocks|lookupBlockedBy|lookupMutes|lookupDomainBlocks) + ` AND ` + neverHidden + `
		OR EXISTS (SELECT 1 FROM statuses s WHERE s.id = n.status_id AND ` + visible("s") + `))`

// maybeHidden is the condition of the index notifications_unread_hideable: the status of notification x may be hidden from the recipient
// without a block or mute. neverHidden is the condition that notification n is of another type.
var (
	maybeHidden = typeIs("x.type", isHideable)
	neverHidden = typeIsNot("n.type", isHideable)
)

// notificationColumns are the columns that scanNotification reads. The last has the state in bits; a set bit 3 hides the notification.
const notificationColumns = `n.id, n.type, n.from_id, n.status_id, n.message_id, n.detail, n.read + 2 * n.muted + 4 * n.filtered`

// notificationQuery returns the query of a list of notifications, which may name an index. It returns each row that it looks at, up to ?9 rows.
func notificationQuery(from string) string {
	return `
		SELECT ` + notificationColumns + ` + CASE
			WHEN CASE WHEN ?6 = '' THEN ` + typeIsNot("n.type", isExplicit) + ` ELSE n.type IN (SELECT value FROM json_each(?6)) END
			AND (?7 = 0 OR NOT EXISTS (SELECT 1 FROM statuses s WHERE s.id = n.status_id AND ?7 >> s.visibility & 1))
			AND (?8 = 0 OR n.from_id = ?8)
			AND (?10 OR n.filtered = 0)
			AND ` + notificationVisible + ` THEN 0
			ELSE 8
		END AS state
		FROM ` + from + `
		WHERE n.account_id = ?1 AND n.id < ?4 AND n.id > ?5
		ORDER BY n.id DESC
		LIMIT ?9`
}

var (
	notificationList    = newKeyset(notificationQuery(`notifications n`))
	notificationsUnread = strings.Replace(notificationQuery(`notifications n INDEXED BY notifications_unread`), "WHERE n.account_id", "WHERE n.read = 0 AND n.account_id", 1)
)

// Notifications returns a page of an account's notifications.
func (r reader) Notifications(ctx context.Context, account AccountID, f NotificationFilter, p Page) (Part[*Notification], error) {
	query, _, _, _ := notificationList.query(p)
	return r.filteredNotifications(ctx, query, account, f, p)
}

// NewestUnread returns the newest unread notifications of an account.
func (r reader) NewestUnread(ctx context.Context, account AccountID, f NotificationFilter, limit int) ([]*Notification, error) {
	part, err := r.filteredNotifications(ctx, notificationsUnread, account, f, Page{Limit: limit})
	return part.Rows, err
}

// filteredNotifications reads a query of notificationQuery.
func (r reader) filteredNotifications(ctx context.Context, query string, account AccountID, f NotificationFilter, p Page) (Part[*Notification], error) {
	l, err := r.lookups(ctx, account)
	if err != nil {
		return Part[*Notification]{}, err
	}
	below, above, _ := p.bounds()
	_, visibilities := Filter{ExcludeVisibility: f.ExcludeVisibility}.bits()
	budget := max(notificationScanBudget, p.Limit)
	return scanPart(ctx, r, "notifications", query, p, budget, func(rows *sql.Rows) (*Notification, int64, bool, error) {
		return scanNotification(rows, account)
	}, account, l, f.WithMuted, below, above, f.types(), visibilities, f.From, budget, f.WithFiltered)
}

// scanNotifications reads all rows of a query with notificationColumns.
func scanNotifications(rows *sql.Rows, account AccountID) ([]*Notification, error) {
	defer rows.Close()
	var page []*Notification
	for rows.Next() {
		n, _, _, err := scanNotification(rows, account)
		if err != nil {
			return nil, fmt.Errorf("notifications: %w", err)
		}
		page = append(page, n)
	}
	return page, rows.Err()
}

// scanNotification reads a row without reflection.
func scanNotification(rows *sql.Rows, account AccountID) (n *Notification, position int64, shown bool, err error) {
	var id, from, state int64
	var status, message sql.NullInt64
	n = &Notification{AccountID: account}
	if err := rows.Scan(&id, (*string)(&n.Type), &from, &status, &message, &n.Detail, &state); err != nil {
		return nil, 0, false, err
	}
	n.ID, n.FromID, n.Read, n.Muted, n.Filtered = NotificationID(id), AccountID(from), state&1 != 0, state&2 != 0, state&4 != 0
	if status.Valid {
		n.StatusID = new(StatusID(status.Int64))
	}
	if message.Valid {
		n.MessageID = new(MessageID(message.Int64))
	}
	return n, id, state&8 == 0, nil
}

// Notification returns a notification of an account, muted or not, and errs.ErrRecordNotFound if there is none.
func (r reader) Notification(ctx context.Context, account AccountID, id NotificationID) (*Notification, error) {
	l, err := r.lookups(ctx, account)
	if err != nil {
		return nil, err
	}
	return get[Notification](ctx, r, "notification", `
		SELECT n.*
		FROM notifications n
		WHERE n.id = ?4 AND n.account_id = ?1 AND `+notificationVisible, account, l, true, id)
}

// Limits of counts, because clients show no more and a count must not get slower with unread notifications, visible or hidden.
const (
	maxUnread             = 1000
	maxUnreadLooked       = "5000" // newest unread notifications
	maxConversationLooked = "300"  // newest unread conversations, each with up to conversationDepth posts
)

var (
	unreadNotifications = `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM (
				SELECT x.*
				FROM notifications x INDEXED BY notifications_unread
				WHERE x.account_id = ?1 AND x.read = 0
				ORDER BY x.id DESC
				LIMIT ` + maxUnreadLooked + `) n
			WHERE ` + countedUnread + `
			LIMIT ?4)`

	// unreadUnfiltered is the same for accounts without blocks and mutes. Only the status of some types may be hidden then, so that
	// the others are counted by index.
	unreadUnfiltered = `
		SELECT (
			SELECT count(*)
			FROM (
				SELECT 1
				FROM notifications n INDEXED BY notifications_unread
				WHERE n.account_id = ?1 AND n.read = 0
				LIMIT ?4)
		) - (
			SELECT count(*)
			FROM (
				SELECT x.*
				FROM notifications x INDEXED BY notifications_unread_hideable
				WHERE x.account_id = ?1 AND x.read = 0 AND ` + maybeHidden + `
				ORDER BY x.id DESC
				LIMIT ?4) n
			WHERE NOT (` + countedUnread + `)) AS unread`

	countedUnread = typeIsNot("n.type", isExplicit) + ` AND ` + notificationVisible

	// The same with the numbers of follow requests and unread conversations.
	unreadCounts           = withOtherCounts(unreadNotifications, unreadConversations)
	unreadCountsUnfiltered = withOtherCounts(unreadUnfiltered, unreadConversationsUnfiltered)
)

func withOtherCounts(unread, conversations string) string {
	return `
		SELECT (` + unread + `) AS notifications, (
			SELECT count(*)
			FROM (
				SELECT 1
				FROM follows INDEXED BY follows_requests
				WHERE target_id = ?1 AND pending = 1
				LIMIT ?4)) AS requests, (` + conversations + `) AS conversations`
}

// notificationLookups are those that may find a reason to hide a notification.
const notificationLookups = lookupBlocks | lookupBlockedBy | lookupMutes | lookupDomainBlocks | lookupUnavailable

// UnreadCounts are the counts that an account sees of its own.
type UnreadCounts struct {
	UnreadNotifications int // up to 1000
	FollowRequests      int // to the account, up to 1000
	UnreadConversations int // up to 1000
}

// UnreadCounts returns the unread counts of an account.
func (r reader) UnreadCounts(ctx context.Context, account AccountID) (UnreadCounts, error) {
	l, err := r.lookups(ctx, account)
	if err != nil {
		return UnreadCounts{}, err
	}
	query := unreadCounts
	if l&notificationLookups == 0 {
		query = unreadCountsUnfiltered
	}
	rows, err := r.query(ctx, "own counts", query, account, l, false, maxUnread)
	if err != nil {
		return UnreadCounts{}, err
	}
	defer rows.Close()
	var n UnreadCounts
	if rows.Next() {
		if err := rows.Scan(&n.UnreadNotifications, &n.FollowRequests, &n.UnreadConversations); err != nil {
			return UnreadCounts{}, fmt.Errorf("own counts: %w", err)
		}
	}
	return n, rows.Err()
}

// AddNotification inserts a notification with a new id. It returns false if there is one already.
func (tx *Tx) AddNotification(ctx context.Context, n *Notification) (added bool, err error) {
	n.ID = NotificationID(tx.newID())
	rows, err := tx.execRows(ctx, "add notification", insertNotification.text, insertNotification.args(n)...)
	return rows > 0, err
}

// RemoveNotification deletes the notification of an action that was undone.
func (tx *Tx) RemoveNotification(ctx context.Context, account AccountID, t NotificationType, from AccountID, status *StatusID) error {
	if status == nil {
		return tx.exec(ctx, "remove notification", `
			DELETE FROM notifications INDEXED BY notifications_once
			WHERE account_id = ? AND type = ? AND from_id = ? AND status_id IS NULL`, account, t, from)
	}
	return tx.exec(ctx, "remove notification of a status", `
		DELETE FROM notifications INDEXED BY notifications_status
		WHERE status_id = ? AND account_id = ? AND type = ? AND from_id = ?`, *status, account, t, from)
}

// ReadNotifications marks the notifications of account up to upTo as read, and returns the newest unread of them, at most limit.
func (tx *Tx) ReadNotifications(ctx context.Context, account AccountID, upTo NotificationID, limit int) ([]NotificationID, error) {
	unread, err := ids[NotificationID](ctx, tx.reader, "unread notifications", `
		SELECT id
		FROM notifications INDEXED BY notifications_unread
		WHERE account_id = ? AND read = 0 AND id <= ?
		ORDER BY id DESC
		LIMIT ?`, account, upTo, limit)
	if err != nil || len(unread) == 0 {
		return nil, err
	}
	err = tx.exec(ctx, "read notifications", `
		UPDATE notifications
		SET read = 1
		WHERE account_id = ? AND read = 0 AND id <= ?`, account, upTo)
	return unread, err
}

// ReadNotification marks one notification as read.
func (tx *Tx) ReadNotification(ctx context.Context, account AccountID, id NotificationID) error {
	return tx.exec(ctx, "read notification", `UPDATE notifications SET read = 1 WHERE id = ? AND account_id = ?`, id, account)
}

// NotificationsByID returns notifications of account, newest first.
func (r reader) NotificationsByID(ctx context.Context, account AccountID, ids []NotificationID) ([]*Notification, error) {
	l, err := r.lookups(ctx, account)
	if err != nil {
		return nil, err
	}
	rows, err := list[*Notification](ctx, r, "notifications", `
		SELECT n.*
		FROM json_each(?4) j
		CROSS JOIN notifications n ON n.id = j.value
		WHERE n.account_id = ?1 AND `+notificationVisible, account, l, true, jsonArray(ids))
	slices.SortFunc(rows, func(a, b *Notification) int { return cmp.Compare(b.ID, a.ID) })
	return rows, err
}

// DismissNotifications deletes notifications of account, and returns how many there were.
func (tx *Tx) DismissNotifications(ctx context.Context, account AccountID, ids []NotificationID) (int64, error) {
	return tx.execRows(ctx, "dismiss notifications", `
		DELETE FROM notifications
		WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))`, account, jsonArray(ids))
}

// ClearNotifications deletes up to limit notifications of account, and returns how many there were.
func (tx *Tx) ClearNotifications(ctx context.Context, account AccountID, limit int) (int64, error) {
	return tx.execRows(ctx, "clear notifications", `
		DELETE FROM notifications
		WHERE id IN (SELECT id FROM notifications WHERE account_id = ? LIMIT ?)`, account, limit)
}

// RemoveNotificationsFrom deletes all notifications of account that from caused, and the request for filtered ones.
func (tx *Tx) RemoveNotificationsFrom(ctx context.Context, account, from AccountID) error {
	if err := tx.exec(ctx, "remove notification request", `
		DELETE FROM notification_requests
		WHERE account_id = ? AND from_id = ?`, account, from); err != nil {
		return err
	}
	return tx.exec(ctx, "remove notifications", `
		DELETE FROM notifications INDEXED BY notifications_from
		WHERE from_id = ?2 AND account_id = ?1`, account, from)
}
