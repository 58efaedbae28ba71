package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// ThreadLimits bound the posts of a thread that are read.
type ThreadLimits struct {
	Ancestors   int // nearest ones
	Descendants int // level by level
	Depth       int // of descendants
}

// Thread returns the posts of a thread that are visible to the viewer: the ancestors of a status from the root on, and its descendants
// depth-first. Siblings are ordered by id, but the author's replies to themself come first.
//
// A post that is not visible or whose author the viewer blocks ends the thread in both directions. Mutes are ignored. The cost is that of
// the returned posts and up to maxHiddenReplies others, because both directions are read by index.
func (r reader) Thread(ctx context.Context, viewer AccountID, of *Status, limits ThreadLimits) (*Thread, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	t := new(Thread)
	if of.InReplyToID != nil {
		t.Above, err = ids[StatusID](ctx, r, "ancestors", threadAbove, viewer, l, *of.InReplyToID, limits.Ancestors)
		if err != nil {
			return nil, err
		}
		slices.Reverse(t.Above)
	}
	replies, err := r.replies(ctx, threadBelow, viewer, l, of.ID, limits.Depth, limits.Descendants, maxHiddenReplies)
	if err != nil {
		return nil, err
	}
	t.replies, t.Below = replies, depthFirst(of, replies)
	return t, nil
}

// Thread are the posts of a thread above and below a status.
type Thread struct {
	Above   []StatusID // from the root on
	Below   []StatusID // depth-first
	replies []reply    // level by level
}

// Nearest returns the posts below the status level by level, siblings by id: each after the one that it replies to.
func (t *Thread) Nearest() []StatusID {
	list := make([]StatusID, 0, len(t.replies))
	for _, r := range t.replies {
		list = append(list, r.ID)
	}
	return list
}

// replies is list for rows of a thread, without reflection.
func (r reader) replies(ctx context.Context, query string, args ...any) ([]reply, error) {
	rows, err := r.query(ctx, "thread", query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var replies []reply
	for rows.Next() {
		var id, parent, account int64
		if err := rows.Scan(&id, &parent, &account); err != nil {
			return nil, fmt.Errorf("descendants: %w", err)
		}
		replies = append(replies, reply{StatusID(id), StatusID(parent), AccountID(account)})
	}
	return replies, rows.Err()
}

// reply is a row of a thread.
type reply struct {
	ID          StatusID
	InReplyToID StatusID
	AccountID   AccountID
}

// inThread is the condition that the status s is shown in a thread to the viewer ?1 with the lookups ?2.
var inThread = visible("s") + ` AND ` + notBlocked("s.account_id")

// A recursive query returns rows in the order in which it finds them: ancestors one by one, descendants level by level, siblings in the
// order of the index, which is by id. CASE keeps SQLite from making all lookups of a condition for each row, as it does for other values.
var (
	threadAbove = `
		WITH RECURSIVE above (id, parent_id) AS (
			SELECT s.id, s.in_reply_to_id
			FROM statuses s
			WHERE s.id = ?3 AND ` + inThread + `
			UNION ALL
			SELECT s.id, s.in_reply_to_id
			FROM above
			CROSS JOIN statuses s ON s.id = above.parent_id
			WHERE ` + inThread + `
			LIMIT ?4)
		SELECT id
		FROM above`
	threadBelow = `
		WITH RECURSIVE below (id, in_reply_to_id, account_id, depth) AS ( -- depth is NULL if the reply is not shown
			SELECT s.id, s.in_reply_to_id, s.account_id, CASE WHEN ` + inThread + ` THEN 1 END
			FROM statuses s INDEXED BY statuses_replies
			WHERE s.in_reply_to_id = ?3
			UNION ALL
			SELECT s.id, s.in_reply_to_id, s.account_id, CASE WHEN ` + inThread + ` THEN below.depth + 1 END
			FROM below
			CROSS JOIN statuses s INDEXED BY statuses_replies ON s.in_reply_to_id = below.id
			WHERE below.depth < ?4
			LIMIT ?5 + ?6)
		SELECT id, in_reply_to_id, account_id
		FROM below
		WHERE depth IS NOT NULL
		LIMIT ?5`
)

// maxHiddenReplies is how many replies of a thread a query reads beyond those that it may return, because anyone can add replies that the viewer
// does not see.
const maxHiddenReplies = 3000

// depthFirst sorts the replies to a status.
func depthFirst(of *Status, replies []reply) []StatusID {
	to := make(map[StatusID][]reply, len(replies))
	for _, r := range replies {
		to[r.InReplyToID] = append(to[r.InReplyToID], r)
	}
	ordered := make([]StatusID, 0, len(replies))
	stack := []reply{{ID: of.ID, AccountID: of.AccountID}}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if at.ID != of.ID {
			ordered = append(ordered, at.ID)
		}
		toSelf := func(r reply) int {
			if r.AccountID == at.AccountID && r.AccountID == of.AccountID {
				return 1
			}
			return 0
		}
		next := to[at.ID]
		delete(to, at.ID)                            // ends a circle of replies, should there be one
		slices.SortFunc(next, func(a, b reply) int { // the stack reverses the order
			return cmp.Or(toSelf(a)-toSelf(b), cmp.Compare(b.ID, a.ID))
		})
		stack = append(stack, next...)
	}
	return ordered
}

// MuteThread mutes a conversation for account, until a time or (nil) without expiry. An earlier mute is replaced.
func (tx *Tx) MuteThread(ctx context.Context, account AccountID, id ConversationID, until *Time) error {
	tx.invalidateRelations(account)
	return tx.exec(ctx, "mute thread", `
		INSERT OR REPLACE INTO thread_mutes (account_id, conversation_id, expires_at)
		VALUES (?, ?, ?)`, account, id, until)
}

// UnmuteThread removes account's mute of a conversation, if there is one.
func (tx *Tx) UnmuteThread(ctx context.Context, account AccountID, id ConversationID) error {
	tx.invalidateRelations(account)
	return tx.exec(ctx, "unmute thread", `DELETE FROM thread_mutes WHERE account_id = ? AND conversation_id = ?`, account, id)
}

// ExpireThreadMute removes account's mute of a conversation if it has expired.
func (tx *Tx) ExpireThreadMute(ctx context.Context, account AccountID, id ConversationID) error {
	tx.invalidateRelations(account)
	return tx.exec(ctx, "expire thread mute", `
		DELETE FROM thread_mutes
		WHERE account_id = ? AND conversation_id = ? AND expires_at <= ?`, account, id, At(tx.db.now()))
}

// ReadThread marks account's notifications about posts of a conversation as read, if they are among the newest unread ones that are counted.
func (tx *Tx) ReadThread(ctx context.Context, account AccountID, id ConversationID) error {
	return tx.exec(ctx, "read thread", `
		UPDATE notifications
		SET read = 1
		WHERE id IN (
			SELECT some_unread.id
			FROM (
				SELECT x.id, x.status_id
				FROM notifications x INDEXED BY notifications_unread
				WHERE x.account_id = ?1 AND x.read = 0
				ORDER BY x.id DESC
				LIMIT `+maxUnreadLooked+`) some_unread
			CROSS JOIN statuses s ON s.id = some_unread.status_id
			WHERE s.conversation_id = ?2)`, account, id)
}

// ThreadURIs returns the URIs of threads that began on another server, by id.
func (r reader) ThreadURIs(ctx context.Context, ids []ConversationID) (map[ConversationID]string, error) {
	type row struct {
		ConversationID ConversationID
		URI            string
	}
	rows, err := list[row](ctx, r, "threads", `
		SELECT c.*
		FROM json_each(?) j
		CROSS JOIN threads c ON c.conversation_id = j.value`, jsonArray(ids))
	uris := make(map[ConversationID]string, len(rows))
	for _, c := range rows {
		uris[c.ConversationID] = c.URI
	}
	return uris, err
}

// SelfReply is an unrestricted reply of an author to an own status.
type SelfReply struct {
	StatusID StatusID // the parent
	ID       StatusID
}

// selfReply is the condition of the index of self-replies, without those that are not served to other servers.
const selfReply = `s.in_reply_to_id IS NOT NULL AND s.in_reply_to_account_id = s.account_id AND s.visibility IN (0, 1) AND s.unfederated = 0`

// SelfReplies returns the first self-replies to each of the statuses, at most each.
func (r reader) SelfReplies(ctx context.Context, ids []StatusID, each int) ([]SelfReply, error) {
	return list[SelfReply](ctx, r, "own replies", `
		SELECT j.value AS status_id, a.id
		FROM json_each(?) j
		CROSS JOIN statuses a
		WHERE a.id IN (
			SELECT s.id
			FROM statuses s INDEXED BY statuses_self_replies
			WHERE s.in_reply_to_id = j.value AND `+selfReply+`
			ORDER BY s.id
			LIMIT ?)
		ORDER BY j.key, a.id`, jsonArray(ids), each)
}

// SelfRepliesAfter returns the self-replies to a status after an id, oldest first.
func (r reader) SelfRepliesAfter(ctx context.Context, id, after StatusID, limit int) ([]StatusID, error) {
	return ids[StatusID](ctx, r, "own replies", `
		SELECT s.id
		FROM statuses s INDEXED BY statuses_self_replies
		WHERE s.in_reply_to_id = ? AND `+selfReply+` AND s.id > ?
		ORDER BY s.id
		LIMIT ?`, id, after, limit)
}

// OtherReply is an unrestricted reply to a status by another account.
type OtherReply struct {
	ID     StatusID
	URI    string
	Hidden bool // its author is unavailable, or blocked by the author of the status
}

// OtherRepliesAfter returns the replies of other accounts to a status after an id, oldest first.
func (r reader) OtherRepliesAfter(ctx context.Context, id, after StatusID, limit int) ([]*OtherReply, error) {
	return list[*OtherReply](ctx, r, "replies of others", `
		SELECT s.id, s.uri, NOT `+accountAvailable("s.account_id")+`
			OR EXISTS (SELECT 1 FROM blocks x WHERE x.account_id = s.in_reply_to_account_id AND x.target_id = s.account_id) AS hidden
		FROM statuses s INDEXED BY statuses_other_replies
		WHERE s.in_reply_to_id = ? AND s.in_reply_to_id IS NOT NULL AND s.in_reply_to_account_id <> s.account_id AND s.visibility IN (0, 1)
			AND s.id > ? AND s.unfederated = 0
		ORDER BY s.id
		LIMIT ?`, id, after, limit)
}

// SetThreadURI stores the URI of a new thread. If another thread has the URI already, it returns that one.
func (tx *Tx) SetThreadURI(ctx context.Context, id ConversationID, uri string) (ConversationID, error) {
	n, err := tx.execRows(ctx, "set thread URI", `INSERT OR IGNORE INTO threads (conversation_id, uri) VALUES (?, ?)`, id, uri)
	if n > 0 || err != nil {
		return id, err
	}
	known, err := tx.ThreadByURI(ctx, uri)
	return cmp.Or(known, id), err
}

// ThreadByURI returns the thread with a URI, 0 if it is unknown.
func (r reader) ThreadByURI(ctx context.Context, uri string) (ConversationID, error) {
	known, err := one[ConversationID](ctx, r, "thread by URI", `SELECT conversation_id FROM threads WHERE uri = ?`, uri)
	if known == nil || err != nil {
		return 0, err
	}
	return *known, nil
}

// IsAncestor returns true if a status is an ancestor of another one, within 4096 levels.
func (r reader) IsAncestor(ctx context.Context, above, below StatusID) (bool, error) {
	return r.exists(ctx, `
		WITH RECURSIVE up (id) AS (
			SELECT ?2
			UNION
			SELECT s.in_reply_to_id
			FROM up
			CROSS JOIN statuses s ON s.id = up.id
			WHERE s.in_reply_to_id IS NOT NULL
			LIMIT 4096)
		SELECT 1
		FROM up
		WHERE id = ?1`, above, below)
}

// MergeThreads moves the posts of a thread to another one, to which its root turned out to reply. A thread with very many posts is left
// alone.
func (tx *Tx) MergeThreads(ctx context.Context, from, to ConversationID) error {
	const limit = 1000
	if from == to {
		return nil
	}
	moved, err := ids[StatusID](ctx, tx.reader, "posts of a thread", `
		SELECT id
		FROM statuses INDEXED BY statuses_conversation
		WHERE conversation_id = ? AND reblog_of_id IS NULL
		ORDER BY id
		LIMIT ?`, from, limit+1)
	if err != nil || len(moved) > limit {
		return err
	}
	muters, err := ids[AccountID](ctx, tx.reader, "mutes of a thread", `SELECT account_id FROM thread_mutes WHERE conversation_id = ?`, from)
	if err != nil {
		return err
	}
	tx.invalidateRelations(muters...)
	for _, query := range []string{
		`UPDATE statuses SET conversation_id = ?2 WHERE conversation_id = ?1 AND reblog_of_id IS NULL`,
		`UPDATE OR IGNORE thread_mutes SET conversation_id = ?2 WHERE conversation_id = ?1`,
		`DELETE FROM thread_mutes WHERE conversation_id = ?1 AND ?2 > 0`,
		`UPDATE direct_conversations
		SET last_status_id = max(last_status_id, (
			SELECT x.last_status_id
			FROM direct_conversations x INDEXED BY direct_conversations_thread
			WHERE x.conversation_id = ?1 AND x.account_id = direct_conversations.account_id))
		WHERE conversation_id = ?2 AND account_id IN (SELECT y.account_id FROM direct_conversations y WHERE y.conversation_id = ?1)`,
		`UPDATE OR IGNORE direct_conversations SET conversation_id = ?2 WHERE conversation_id = ?1`,
		`DELETE FROM direct_conversations WHERE conversation_id = ?1 AND ?2 > 0`,
		`UPDATE OR IGNORE threads SET conversation_id = ?2 WHERE conversation_id = ?1`,
		`DELETE FROM threads WHERE conversation_id = ?1 AND ?2 > 0`,
	} {
		if err := tx.exec(ctx, "merge threads", query, from, to); err != nil {
			return err
		}
	}
	for _, id := range moved {
		tx.invalidateStatus(id)
	}
	return nil
}
