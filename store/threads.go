package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// ThreadLimits bound what is read of the thread around a status.
type ThreadLimits struct {
	Ancestors   int // the nearest
	Descendants int // level by level
	Depth       int // of descendants below the status
}

// Thread returns what the viewer may see around a status: the posts above it, from the root to its parent, and those below it,
// depth-first. Siblings come in the order of their ids, but an author's answers to themself first.
//
// A post that the viewer may not see, or whose author the viewer blocks, ends the thread in either direction. Mutes do not
// count here. Both directions are followed by index, so the cost is that of what is shown, however long the conversation.
func (r reader) Thread(ctx context.Context, viewer AccountID, of *Status, limits ThreadLimits) (above, below []StatusID, err error) {
	h, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, nil, err
	}
	if of.InReplyToID != nil {
		above, err = ids[StatusID](ctx, r, "ancestors", threadAbove, viewer, h, *of.InReplyToID, limits.Ancestors)
		if err != nil {
			return nil, nil, err
		}
		slices.Reverse(above)
	}
	replies, err := r.replies(ctx, threadBelow, viewer, h, of.ID, limits.Depth, limits.Descendants)
	if err != nil {
		return nil, nil, err
	}
	return above, depthFirst(of, replies), nil
}

// replies is list for rows of a thread, without the reflection.
func (r reader) replies(ctx context.Context, query string, args ...any) ([]reply, error) {
	rows, err := r.q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("descendants: %w", err)
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

// inThread is the condition that the status s belongs into a thread that ?1 with the hints ?2 looks at.
var inThread = visible("s") + ` AND ` + notBlocked("s.account_id")

// A recursive query takes its rows in the order in which they were found: upwards one by one, downwards level by level, siblings
// as the index has them, which is by id.
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
		WITH RECURSIVE below (id, in_reply_to_id, account_id, depth) AS (
			SELECT s.id, s.in_reply_to_id, s.account_id, 1
			FROM statuses s INDEXED BY statuses_replies
			WHERE s.in_reply_to_id = ?3 AND ` + inThread + `
			UNION ALL
			SELECT s.id, s.in_reply_to_id, s.account_id, below.depth + 1
			FROM below
			CROSS JOIN statuses s INDEXED BY statuses_replies ON s.in_reply_to_id = below.id
			WHERE below.depth < ?4 AND ` + inThread + `
			LIMIT ?5)
		SELECT id, in_reply_to_id, account_id
		FROM below`
)

// depthFirst orders the replies below a status.
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
		delete(to, at.ID)                            // if replies ever went in a circle, this would end it
		slices.SortFunc(next, func(a, b reply) int { // the stack turns the order
			return cmp.Or(toSelf(a)-toSelf(b), cmp.Compare(b.ID, a.ID))
		})
		stack = append(stack, next...)
	}
	return ordered
}

// MuteThread has account muted a conversation, until a time or (nil) for good. An earlier mute is replaced.
func (tx *Tx) MuteThread(ctx context.Context, account AccountID, id ConversationID, until *Time) error {
	_, err := tx.exec(ctx, "mute thread", `
		INSERT OR REPLACE INTO thread_mutes (account_id, conversation_id, expires_at)
		VALUES (?, ?, ?)`, account, id, until)
	tx.invalidateRelations(account)
	return err
}

// UnmuteThread ends account's mute of a conversation, if there is one.
func (tx *Tx) UnmuteThread(ctx context.Context, account AccountID, id ConversationID) error {
	_, err := tx.exec(ctx, "unmute thread", `DELETE FROM thread_mutes WHERE account_id = ? AND conversation_id = ?`, account, id)
	tx.invalidateRelations(account)
	return err
}

// ExpireThreadMute ends account's mute of a conversation if its time is over.
func (tx *Tx) ExpireThreadMute(ctx context.Context, account AccountID, id ConversationID) error {
	_, err := tx.exec(ctx, "expire thread mute", `
		DELETE FROM thread_mutes
		WHERE account_id = ? AND conversation_id = ? AND expires_at <= ?`, account, id, At(tx.db.now()))
	tx.invalidateRelations(account)
	return err
}

// ReadThread marks all that account was told about posts of a conversation as read.
func (tx *Tx) ReadThread(ctx context.Context, account AccountID, id ConversationID) error {
	_, err := tx.exec(ctx, "read thread", `
		UPDATE notifications
		SET read = 1
		WHERE account_id = ?1 AND read = 0
			AND ?2 = (SELECT s.conversation_id FROM statuses s WHERE s.id = status_id)`, account, id)
	return err
}
