package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
)

// DirectConversation is a local account's view of a thread with direct posts. It ends with the last of these posts that the account has.
type DirectConversation struct {
	ID             DirectConversationID
	AccountID      AccountID // the owner
	ConversationID ConversationID
	LastStatusID   StatusID   // the newest direct post that is addressed to the owner
	ReadID         StatusID   // posts up to this one have been read
	Recipients     AccountSet // of the owner's posts, the owner included
}

// Unread returns true if the owner has unread posts.
func (c *DirectConversation) Unread() bool { return c.LastStatusID > c.ReadID }

// VisibleConversation is a conversation with the last post that its owner sees now.
type VisibleConversation struct {
	DirectConversation
	VisibleID *StatusID // nil: none is visible
}

// conversationLookups are those that may find a reason to hide a post of a conversation.
const conversationLookups = lookupBlocks | lookupBlockedBy | lookupDomainBlocks | lookupUnavailable

// conversationDepth is how many of the newest posts of a conversation are examined for a visible one.
const conversationDepth = 100

// lastVisible is the id of the newest direct post of conversation c that its owner ?1, with the lookups ?2, sees. Mutes do not hide a
// conversation. Its DESC does not end a line, so that newKeyset does not reverse it.
var lastVisible = `
			CASE WHEN ` + unset("?2", conversationLookups) + ` THEN c.last_status_id ELSE (
				SELECT max(s.id)
				FROM (
					SELECT x.id
					FROM statuses x INDEXED BY statuses_direct
					WHERE x.conversation_id = c.conversation_id AND x.visibility = 4 AND x.id <= c.last_status_id
					ORDER BY x.id DESC LIMIT ` + strconv.Itoa(conversationDepth) + `) some_posts
				CROSS JOIN statuses s ON s.id = some_posts.id
				LEFT JOIN statuses o ON o.id = s.reblog_of_id
				WHERE ` + visible("s") + `
					AND ` + strings.ReplaceAll(notBlockedOrMuted, "?3", "1") + `)
			END`

// newConversations returns the queries of a list of conversations, with the last status as cursor. where may use parameters from ?6 on.
func newConversations(index, where string) keyset {
	return newKeyset(`
		SELECT c.id, c.account_id, c.conversation_id, c.last_status_id, c.read_id, c.recipients,` + lastVisible + ` AS visible_id
		FROM direct_conversations c INDEXED BY ` + index + `
		WHERE c.account_id = ?1 AND c.last_status_id < ?3 AND c.last_status_id > ?4` + where + `
		ORDER BY c.last_status_id DESC
		LIMIT ?5`)
}

var (
	conversationList            = newConversations("direct_conversations_newest", ``)
	conversationsWithRecipients = newConversations("direct_conversations_recipients", ` AND c.recipients = ?6`)
	conversationsUnread         = newConversations("direct_conversations_unread", ` AND c.last_status_id > c.read_id`)

	conversationTimeline = newTimeline(`statuses s INDEXED BY statuses_conversation`, `s.id`, `s.conversation_id = ?9 AND s.reblog_of_id IS NULL`)

	// Subqueries of UnreadCounts; the second is for owners that can see every conversation.
	unreadConversations = countUnreadConversations(maxConversationLooked, `
				WHERE (`+lastVisible+`) IS NOT NULL`)
	unreadConversationsUnfiltered = countUnreadConversations(`?4`, ``)
)

func countUnreadConversations(looked, where string) string {
	return `
			SELECT count(*)
			FROM (
				SELECT 1
				FROM (
					SELECT x.*
					FROM direct_conversations x INDEXED BY direct_conversations_unread
					WHERE x.account_id = ?1 AND x.last_status_id > x.read_id
					ORDER BY x.last_status_id DESC
					LIMIT ` + looked + `) c` + where + `
				LIMIT ?4)`
}

// DirectConversations returns the visible conversations of an account, latest post first; if recipients is not nil, only those with exactly
// these.
func (r reader) DirectConversations(ctx context.Context, owner AccountID, recipients AccountSet, p Page) (Part[*VisibleConversation], error) {
	if recipients != nil {
		return readConversations(ctx, r, conversationsWithRecipients, owner, p, recipients)
	}
	return readConversations(ctx, r, conversationList, owner, p)
}

// UnreadConversations returns those of an account's conversations that it has not read, like DirectConversations.
func (r reader) UnreadConversations(ctx context.Context, owner AccountID, p Page) (Part[*VisibleConversation], error) {
	return readConversations(ctx, r, conversationsUnread, owner, p)
}

// readConversations reads a page of conversations.
func readConversations(ctx context.Context, r reader, k keyset, owner AccountID, p Page, more ...any) (Part[*VisibleConversation], error) {
	l, err := r.lookups(ctx, owner)
	if err != nil {
		return Part[*VisibleConversation]{}, err
	}
	query, below, above, _ := k.query(p)
	budget := max(conversationScanBudget, p.Limit)
	return scanPart(ctx, r, "conversations", query, p, budget, func(rows *sql.Rows) (*VisibleConversation, int64, bool, error) {
		c := new(VisibleConversation)
		err := rows.Scan(&c.ID, &c.AccountID, &c.ConversationID, &c.LastStatusID, &c.ReadID, &c.Recipients, &c.VisibleID)
		return c, int64(c.LastStatusID), c.VisibleID != nil, err
	}, append([]any{owner, l, below, above, budget}, more...)...)
}

// DirectConversation returns a conversation of the owner, and errs.ErrRecordNotFound if there is none.
func (r reader) DirectConversation(ctx context.Context, owner AccountID, id DirectConversationID) (*VisibleConversation, error) {
	l, err := r.lookups(ctx, owner)
	if err != nil {
		return nil, err
	}
	return get[VisibleConversation](ctx, r, "conversation", `
		SELECT c.*,`+lastVisible+` AS visible_id
		FROM direct_conversations c
		WHERE c.id = ?3 AND c.account_id = ?1`, owner, l, id)
}

// DirectConversationIDs returns the owner's conversations of threads.
func (r reader) DirectConversationIDs(ctx context.Context, owner AccountID, threads []ConversationID) (map[ConversationID]DirectConversationID, error) {
	rows, err := r.query(ctx, "conversations of threads", `
		SELECT c.conversation_id, c.id
		FROM json_each(?2) j
		CROSS JOIN direct_conversations c ON c.account_id = ?1 AND c.conversation_id = j.value`, owner, jsonArray(threads))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make(map[ConversationID]DirectConversationID, len(threads))
	for rows.Next() {
		var thread, id int64
		if err := rows.Scan(&thread, &id); err != nil {
			return nil, fmt.Errorf("conversations of threads: %w", err)
		}
		found[ConversationID(thread)] = DirectConversationID(id)
	}
	return found, rows.Err()
}

// ConversationTimeline returns the ids of the posts of a thread that are visible to the viewer.
func (r reader) ConversationTimeline(ctx context.Context, viewer AccountID, id ConversationID, f Filter, p Page) (Part[StatusID], error) {
	return conversationTimeline.read(ctx, r, viewer, f, p, id)
}

// reachesAccount is the condition that status ?1 is visible to the account, and not hidden by blocks or, unless withMuted is 1, mutes.
func reachesAccount(account, withMuted string) string {
	condition := strings.NewReplacer("?1", account, "?2", strconv.Itoa(int(allLookups)), "?3", withMuted).Replace(visible("s") + ` AND ` + notBlockedOrMuted)
	return `EXISTS (
			SELECT 1
			FROM statuses s
			LEFT JOIN statuses o ON o.id = s.reblog_of_id
			WHERE s.id = ?1 AND ` + condition + `)`
}

var addToConversations = `
		INSERT INTO direct_conversations (account_id, conversation_id, last_status_id, read_id, recipients)
		SELECT party.account_id, ?2, ?1, CASE WHEN party.account_id <> ?3 AND ` + reachesAccount("party.account_id", "0") + ` THEN 0 ELSE ?1 END, ?4
		FROM recipients party
		CROSS JOIN users u ON u.account_id = party.account_id
		WHERE party.status_id = ?1 AND (?5 = '' OR party.account_id IN (SELECT value FROM json_each(?5)))
		ON CONFLICT (account_id, conversation_id) DO UPDATE
		SET last_status_id = max(last_status_id, excluded.last_status_id),
			read_id = CASE
				WHEN excluded.read_id > 0 AND (account_id = ?3 OR read_id >= last_status_id) THEN max(read_id, excluded.read_id)
				ELSE read_id
			END
		WHERE ` + reachesAccount("direct_conversations.account_id", "1") + `
		RETURNING id, account_id, account_id = ?3 OR ` + reachesAccount("direct_conversations.account_id", "0")

// AddToConversations updates the conversation of each local recipient of a direct post with the post, and adds missing ones with
// recipients. The post is unread for all but the author and accounts that mute the author or the thread. An account from which a block
// hides the post keeps its conversation unchanged. If among is not nil, only these accounts are considered.
//
// It returns the events for the owners that have not muted the post.
func (tx *Tx) AddToConversations(ctx context.Context, s *Status, recipients AccountSet, among []AccountID) ([]ConversationChanged, error) {
	only := ""
	if among != nil {
		only = jsonArray(among)
	}
	rows, err := tx.q.QueryContext(ctx, addToConversations, s.ID, s.ConversationID, s.AccountID, recipients, only)
	if err != nil {
		return nil, fmt.Errorf("add to conversations: %w", err)
	}
	defer rows.Close()
	var changed []ConversationChanged
	for rows.Next() {
		var id, account int64
		var notify bool
		if err := rows.Scan(&id, &account, &notify); err != nil {
			return nil, fmt.Errorf("add to conversations: %w", err)
		}
		if notify {
			changed = append(changed, ConversationChanged{AccountID(account), DirectConversationID(id)})
		}
	}
	return changed, rows.Err()
}

// rewindConversations sets the conversations that end with a status to the direct post before it, because the status will be deleted.
// Without one, the update fails on NOT NULL, is ignored, and the foreign key deletes the conversation with the status.
func (tx *Tx) rewindConversations(ctx context.Context, s *Status) error {
	if s.Visibility != Direct {
		return nil
	}
	return tx.exec(ctx, "rewind conversations", rewindConversations, s.ID, s.ConversationID)
}

const rewindConversations = `
		UPDATE OR IGNORE direct_conversations
		SET last_status_id = (
			SELECT s.id
			FROM statuses s INDEXED BY statuses_direct
			WHERE s.conversation_id = ?2 AND s.visibility = 4 AND s.id < ?1
				AND EXISTS (SELECT 1 FROM recipients r WHERE r.status_id = s.id AND r.account_id = direct_conversations.account_id)
			ORDER BY s.id DESC
			LIMIT 1)
		WHERE last_status_id = ?1`

// ReadConversation marks a conversation of the owner as read. It is not an error if there is none.
func (tx *Tx) ReadConversation(ctx context.Context, owner AccountID, id DirectConversationID) error {
	return tx.exec(ctx, "read conversation", `
		UPDATE direct_conversations
		SET read_id = last_status_id
		WHERE id = ? AND account_id = ? AND last_status_id > read_id`, id, owner)
}

// UnreadConversation marks the last post of a conversation of the owner as unread. It is not an error if there is none.
func (tx *Tx) UnreadConversation(ctx context.Context, owner AccountID, id DirectConversationID) error {
	err := tx.exec(ctx, "unread conversation", `
		UPDATE direct_conversations
		SET read_id = last_status_id - 1
		WHERE id = ? AND account_id = ? AND read_id >= last_status_id`, id, owner)
	return err
}

// ReadConversations marks up to limit conversations of the owner as read, and returns how many were unread.
func (tx *Tx) ReadConversations(ctx context.Context, owner AccountID, limit int) (int64, error) {
	return tx.execRows(ctx, "read conversations", `
		UPDATE direct_conversations
		SET read_id = last_status_id
		WHERE id IN (
			SELECT id
			FROM direct_conversations INDEXED BY direct_conversations_unread
			WHERE account_id = ? AND last_status_id > read_id
			LIMIT ?)`, owner, limit)
}

// ReadConversationsWith marks the owner's conversations in which other takes part as read.
func (tx *Tx) ReadConversationsWith(ctx context.Context, owner, other AccountID) error {
	return tx.exec(ctx, "read conversations with account", `
		UPDATE direct_conversations INDEXED BY direct_conversations_unread
		SET read_id = last_status_id
		WHERE account_id = ?1 AND last_status_id > read_id
			AND (EXISTS (SELECT 1 FROM json_each(recipients) j WHERE j.value = ?2)
				OR EXISTS (SELECT 1 FROM statuses s WHERE s.id = last_status_id AND s.account_id = ?2))`, owner, other)
}

// SetConversationRecipients changes the recipients of a conversation of the owner.
func (tx *Tx) SetConversationRecipients(ctx context.Context, owner AccountID, id DirectConversationID, recipients AccountSet) error {
	return tx.exec(ctx, "set conversation recipients", `
		UPDATE direct_conversations
		SET recipients = ?
		WHERE id = ? AND account_id = ?`, recipients, id, owner)
}

// RemoveConversation deletes a conversation of the owner, and returns false if there was none. The posts stay.
func (tx *Tx) RemoveConversation(ctx context.Context, owner AccountID, id DirectConversationID) (removed bool, err error) {
	n, err := tx.execRows(ctx, "remove conversation", `DELETE FROM direct_conversations WHERE id = ? AND account_id = ?`, id, owner)
	return n > 0, err
}
