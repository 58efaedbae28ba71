package store

import (
	"context"
	"fmt"
)

// FewFollows is how many accounts a user must follow to count as settled.
const FewFollows = 5

// Waiting are the counts of what waits for an account, beside its notifications. Each is up to 1000.
type Waiting struct {
	FollowRequests int // to the account
	Conversations  int // with unread direct messages
	Chats          int // with unread messages, among the chats with the newest ones
	Announcements  int // current ones that it has not dismissed
	Follows        int // accounts that it follows, up to FewFollows: suggestions wait for who follows fewer
}

// maxWaitingChats bounds the chats that are looked at, because other accounts decide how many there are.
const maxWaitingChats = "100"

var (
	waiting           = countWaiting(unreadConversations)
	waitingUnfiltered = countWaiting(unreadConversationsUnfiltered)
)

// countWaiting returns the query of Waiting. A chat that is not listed is not counted.
func countWaiting(conversations string) string {
	return `
		SELECT (
			SELECT count(*)
			FROM (
				SELECT 1
				FROM follows INDEXED BY follows_requests
				WHERE target_id = ?1 AND pending = 1
				LIMIT ?4)) AS requests, (` + conversations + `) AS conversations, (
			SELECT count(*)
			FROM (
				SELECT x.id, x.other_id
				FROM chats x INDEXED BY chats_order
				WHERE x.account_id = ?1
				ORDER BY x.position DESC
				LIMIT ` + maxWaitingChats + `) c
			WHERE EXISTS (SELECT 1 FROM chat_copies m INDEXED BY chat_copies_unread WHERE m.chat_id = c.id AND m.unread = 1)
				AND (c.other_id = ?1 OR ` + available("c.other_id") + `)
				AND ` + notBlocked("c.other_id") + `
				AND ` + notOfBlockedDomain("c.other_id") + `
				AND (?3 OR ` + notMuted("c.other_id") + `)) AS chats, (
			SELECT count(*)
			FROM (SELECT id, starts_at, ends_at FROM announcements ORDER BY id DESC LIMIT 100) a
			WHERE (a.starts_at IS NULL OR a.starts_at <= ?5) AND (a.ends_at IS NULL OR a.ends_at > ?5)
				AND NOT EXISTS (SELECT 1 FROM announcement_reads d WHERE d.announcement_id = a.id AND d.account_id = ?1)) AS announcements, (
			SELECT count(*)
			FROM (
				SELECT 1
				FROM follows INDEXED BY follows_following
				WHERE follower_id = ?1 AND pending = 0
				LIMIT ?6)) AS follows`
}

// Waiting returns what waits for an account.
func (r reader) Waiting(ctx context.Context, account AccountID) (w Waiting, err error) {
	l, err := r.lookups(ctx, account)
	if err != nil {
		return w, err
	}
	query := waiting
	if l&notificationLookups == 0 {
		query = waitingUnfiltered
	}
	rows, err := r.query(ctx, "waiting", query, account, l, false, maxUnread, At(r.db.Now()), FewFollows)
	if err != nil {
		return w, err
	}
	defer rows.Close()
	if rows.Next() {
		if err := rows.Scan(&w.FollowRequests, &w.Conversations, &w.Chats, &w.Announcements, &w.Follows); err != nil {
			return w, fmt.Errorf("waiting: %w", err)
		}
	}
	return w, rows.Err()
}
