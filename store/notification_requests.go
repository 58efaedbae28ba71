package store

import (
	"context"
	"fmt"
)

// NotificationRequest is an account whose notifications a recipient has filtered.
type NotificationRequest struct {
	ID        NotificationRequestID
	AccountID AccountID // the recipient
	FromID    AccountID
}

// NotificationRequestSummary is a request with its notifications.
type NotificationRequestSummary struct {
	NotificationRequest
	Count        int            // of the notifications, at most 100
	NewestID     NotificationID // the newest notification
	LastStatusID *StatusID      // that a notification is about; nil: none
}

// Position returns the id as a position in a list.
func (s *NotificationRequestSummary) Position() int64 { return int64(s.ID) }

// maxRequestCount bounds the count of the notifications of a request.
const maxRequestCount = 100

var (
	requestSummary = `
		SELECT q.id, q.account_id, q.from_id, (
			SELECT count(*)
			FROM (
				SELECT 1
				FROM notifications n INDEXED BY notifications_filtered
				WHERE n.account_id = q.account_id AND n.from_id = q.from_id AND n.filtered = 1
				LIMIT ` + fmt.Sprint(maxRequestCount) + `)
		) AS count, (
			SELECT n.id
			FROM notifications n INDEXED BY notifications_filtered
			WHERE n.account_id = q.account_id AND n.from_id = q.from_id AND n.filtered = 1
			ORDER BY n.id DESC LIMIT 1
		) AS newest_id, (
			SELECT n.status_id -- few notifications of an account have none: a follow and a follow request
			FROM notifications n INDEXED BY notifications_filtered
			WHERE n.account_id = q.account_id AND n.from_id = q.from_id AND n.filtered = 1 AND n.status_id IS NOT NULL
			ORDER BY n.id DESC LIMIT 1
		) AS last_status_id
		FROM notification_requests q`

	// requestShown is the condition that the account ?1 with the lookups ?2 is shown the request q. One whose notifications are all deleted is
	// hidden.
	requestShown = `EXISTS (
				SELECT 1
				FROM notifications n INDEXED BY notifications_filtered
				WHERE n.account_id = q.account_id AND n.from_id = q.from_id AND n.filtered = 1)
			AND ` + notHiddenSender("q.from_id")

	notificationRequests = newEntries(`q.id`, `notification_requests q`, `q.id`, `q.account_id = ?1`, requestShown)
)

// notHiddenSender is the condition that account is available and not blocked by the viewer ?1 with the lookups ?2.
func notHiddenSender(account string) string {
	return available(account) + `
			AND ` + notBlocked(account) + `
			AND ` + notOfBlockedDomain(account)
}

// NotificationRequests returns a page of the requests to an account, newest first.
func (r reader) NotificationRequests(ctx context.Context, account AccountID, p Page) (Part[*NotificationRequestSummary], error) {
	found, err := readEntries(ctx, r, notificationRequests, account, p, func(_, id int64) NotificationRequestID { return NotificationRequestID(id) })
	if err != nil || len(found.Rows) == 0 {
		return Part[*NotificationRequestSummary]{Next: found.Next}, err
	}
	rows, err := list[*NotificationRequestSummary](ctx, r, "notification requests", requestSummary+`
		WHERE q.id IN (SELECT value FROM json_each(?)) AND newest_id IS NOT NULL
		ORDER BY q.id DESC`, jsonArray(found.Rows))
	return Part[*NotificationRequestSummary]{Rows: rows, Next: found.Next}, err
}

// NotificationRequest returns a request to an account, and errs.ErrRecordNotFound if there is none.
func (r reader) NotificationRequest(ctx context.Context, account AccountID, id NotificationRequestID) (*NotificationRequestSummary, error) {
	l, err := r.lookups(ctx, account)
	if err != nil {
		return nil, err
	}
	s, err := one[NotificationRequestSummary](ctx, r, "notification request", requestSummary+`
		WHERE q.id = ?3 AND q.account_id = ?1 AND `+requestShown, account, l, id)
	if s == nil && err == nil {
		err = notFound
	}
	return s, err
}

// NotificationRequestsByID returns those of the requests that are to an account.
func (r reader) NotificationRequestsByID(ctx context.Context, account AccountID, ids []NotificationRequestID) ([]*NotificationRequest, error) {
	return list[*NotificationRequest](ctx, r, "notification requests", `
		SELECT q.*
		FROM json_each(?) j
		CROSS JOIN notification_requests q ON q.id = j.value
		WHERE q.account_id = ?`, jsonArray(ids), account)
}

// FilteredCounts are the numbers of what a policy has filtered, up to 1000.
type FilteredCounts struct {
	Requests      int
	Notifications int
}

// FilteredCounts counts what the policy of an account has filtered.
func (r reader) FilteredCounts(ctx context.Context, account AccountID) (FilteredCounts, error) {
	n, err := one[FilteredCounts](ctx, r, "filtered notifications", `
		SELECT (
			SELECT count(*)
			FROM (
				SELECT 1
				FROM (
					SELECT x.account_id, x.from_id
					FROM notification_requests x INDEXED BY notification_requests_account
					WHERE x.account_id = ?1
					ORDER BY x.id DESC
					LIMIT `+maxUnreadLooked+`) q
				WHERE EXISTS (
					SELECT 1
					FROM notifications n INDEXED BY notifications_filtered
					WHERE n.account_id = q.account_id AND n.from_id = q.from_id AND n.filtered = 1)
				LIMIT ?2)
		) AS requests, (
			SELECT count(*)
			FROM (
				SELECT 1
				FROM notifications n INDEXED BY notifications_filtered
				WHERE n.account_id = ?1 AND n.filtered = 1
				LIMIT ?2)
		) AS notifications`, account, maxUnread)
	if err != nil {
		return FilteredCounts{}, err
	}
	return *n, nil
}

// AddNotificationRequest adds a request unless there is one.
func (tx *Tx) AddNotificationRequest(ctx context.Context, account, from AccountID) error {
	return tx.exec(ctx, "add notification request", `
		INSERT OR IGNORE INTO notification_requests (id, account_id, from_id)
		VALUES (?, ?, ?)`, tx.newID(), account, from)
}

// CloseNotificationRequests deletes those of the requests to account that have no notifications left.
func (tx *Tx) CloseNotificationRequests(ctx context.Context, account AccountID, ids []NotificationRequestID) error {
	return tx.exec(ctx, "close notification requests", `
		DELETE FROM notification_requests
		WHERE id IN (SELECT value FROM json_each(?)) AND account_id = ? AND NOT EXISTS (
			SELECT 1
			FROM notifications n INDEXED BY notifications_filtered
			WHERE n.account_id = notification_requests.account_id AND n.from_id = notification_requests.from_id AND n.filtered = 1)`,
		jsonArray(ids), account)
}

// AddNotificationPermission exempts from from the policy of account.
func (tx *Tx) AddNotificationPermission(ctx context.Context, account, from AccountID) error {
	return tx.exec(ctx, "add notification permission", `
		INSERT OR IGNORE INTO notification_permissions (account_id, target_id)
		VALUES (?, ?)`, account, from)
}

// AcceptFiltered adds up to limit filtered notifications caused by from to the list of account, and returns how many there were.
func (tx *Tx) AcceptFiltered(ctx context.Context, account, from AccountID, limit int) (int64, error) {
	return tx.execRows(ctx, "accept filtered notifications", `
		UPDATE notifications
		SET filtered = 0
		WHERE id IN (
			SELECT id
			FROM notifications INDEXED BY notifications_filtered
			WHERE account_id = ? AND from_id = ? AND filtered = 1
			LIMIT ?)`, account, from, limit)
}

// DropFiltered deletes up to limit filtered notifications caused by from, and returns how many there were.
func (tx *Tx) DropFiltered(ctx context.Context, account, from AccountID, limit int) (int64, error) {
	return tx.execRows(ctx, "drop filtered notifications", `
		DELETE FROM notifications
		WHERE id IN (
			SELECT id
			FROM notifications INDEXED BY notifications_filtered
			WHERE account_id = ? AND from_id = ? AND filtered = 1
			LIMIT ?)`, account, from, limit)
}
