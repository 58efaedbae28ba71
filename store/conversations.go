package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// DirectConversation is what somebody here has of a thread with direct posts. There is none without a post: it goes with the last
// one that its owner has.
type DirectConversation struct {
	ID             DirectConversationID
	AccountID      AccountID // whose
	ConversationID ConversationID
	LastStatusID   StatusID   // the newest direct post that reached the owner
	ReadID         StatusID   // posts up to this one have been read
	Recipients     AccountSet // whom the owner's posts go to, the owner among them
}

// Unread tells whether something came that the owner has not read.
func (c *DirectConversation) Unread() bool { return c.LastStatusID > c.ReadID }

// VisibleConversation is a conversation as its owner sees it now.
type VisibleConversation struct {
	DirectConversation
	VisibleID *StatusID // the newest of its direct posts that the owner sees, nil if there is none
}

// conversationLookups are those that may find a reason to hide a post of a conversation.
const conversationLookups = lookupBlocks | lookupBlockedBy | lookupDomainBlocks | lookupUnavailable

// lastVisible is the newest direct post of conversation c that its owner ?1, with the hints ?2, sees. Mutes do not count: they keep a
// conversation quiet, not away. Without any of the hints 83 (blocks in either direction, of domains, withheld accounts), that is the last.
// Its DESC does not end a line, so that a list which is read upwards does not turn it.
var lastVisible = `
			CASE WHEN ` + unset("?2", conversationLookups) + ` THEN c.last_status_id ELSE (
				SELECT s.id
				FROM statuses s INDEXED BY statuses_direct
				LEFT JOIN statuses o ON o.id = s.reblog_of_id
				WHERE s.conversation_id = c.conversation_id AND s.visibility = 4 AND s.id <= c.last_status_id
					AND ` + visible("s") + `
					AND ` + strings.ReplaceAll(notBlockedOrMuted, "?3", "1") + `
				ORDER BY s.id DESC LIMIT 1)
			END`

// newConversations makes the queries of a list of conversations, whose cursor is the last status. where may use parameters from
// ?6 on.
func newConversations(index, where string) keyset {
	return newKeyset(`
		SELECT c.*,` + lastVisible + ` AS visible_id
		FROM direct_conversations c INDEXED BY ` + index + `
		WHERE c.account_id = ?1 AND c.last_status_id < ?3 AND c.last_status_id > ?4` + where + `
			AND visible_id IS NOT NULL
		ORDER BY c.last_status_id DESC
		LIMIT ?5`)
}

var (
	conversationList            = newConversations("direct_conversations_newest", ``)
	conversationsWithRecipients = newConversations("direct_conversations_recipients", ` AND c.recipients = ?6`)
	conversationsUnread         = newConversations("direct_conversations_unread", ` AND c.last_status_id > c.read_id`)

	conversationTimeline = newTimeline(`statuses s INDEXED BY statuses_conversation`, `s.id`, `s.conversation_id = ?9 AND s.reblog_of_id IS NULL`)

	// These count within the query for UnreadCounts; the second where each conversation is shown.
	unreadConversations           = countUnreadConversations(` AND (` + lastVisible + `) IS NOT NULL`)
	unreadConversationsUnfiltered = countUnreadConversations(``)
)

func countUnreadConversations(where string) string {
	return `
			SELECT count(*)
			FROM (
				SELECT 1
				FROM direct_conversations c INDEXED BY direct_conversations_unread
				WHERE c.account_id = ?1 AND c.last_status_id > c.read_id` + where + `
				LIMIT ?4)`
}

func (k keyset) conversations(ctx context.Context, r reader, owner AccountID, p Page, more ...any) ([]*VisibleConversation, error) {
	h, err := r.lookups(ctx, owner)
	if err != nil {
		return nil, err
	}
	query, below, above, ascending := k.query(p)
	rows, err := list[*VisibleConversation](ctx, r, "conversations", query, append([]any{owner, h, below, above, p.Limit}, more...)...)
	return newestFirst(rows, ascending), err
}

// DirectConversations returns an account's conversations of which it sees a post, by their last post, newest first; with recipients
// only those that go to exactly these.
func (r reader) DirectConversations(ctx context.Context, owner AccountID, recipients AccountSet, p Page) ([]*VisibleConversation, error) {
	if recipients != nil {
		return conversationsWithRecipients.conversations(ctx, r, owner, p, recipients)
	}
	return conversationList.conversations(ctx, r, owner, p)
}

// UnreadConversations returns those of an account's conversations that it has not read, like DirectConversations.
func (r reader) UnreadConversations(ctx context.Context, owner AccountID, p Page) ([]*VisibleConversation, error) {
	return conversationsUnread.conversations(ctx, r, owner, p)
}

// DirectConversation returns a conversation of the owner's, and errs.ErrRecordNotFound if there is none.
func (r reader) DirectConversation(ctx context.Context, owner AccountID, id DirectConversationID) (*VisibleConversation, error) {
	h, err := r.lookups(ctx, owner)
	if err != nil {
		return nil, err
	}
	c, err := one[VisibleConversation](ctx, r, "conversation", `
		SELECT c.*,`+lastVisible+` AS visible_id
		FROM direct_conversations c
		WHERE c.id = ?3 AND c.account_id = ?1`, owner, h, id)
	if c == nil && err == nil {
		err = notFound
	}
	return c, err
}

// DirectConversationIDs returns which conversations of the owner's belong to the threads.
func (r reader) DirectConversationIDs(ctx context.Context, owner AccountID, threads []ConversationID) (map[ConversationID]DirectConversationID, error) {
	rows, err := r.q.QueryContext(ctx, `
		SELECT c.conversation_id, c.id
		FROM json_each(?2) j
		CROSS JOIN direct_conversations c ON c.account_id = ?1 AND c.conversation_id = j.value`, owner, jsonArray(threads))
	if err != nil {
		return nil, fmt.Errorf("conversations of threads: %w", err)
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

// ConversationTimeline returns ids of the posts of a thread that the viewer may see.
func (r reader) ConversationTimeline(ctx context.Context, viewer AccountID, id ConversationID, f Filter, p Page) ([]StatusID, error) {
	return conversationTimeline.read(ctx, r, viewer, f, p, id)
}

// reachesAccount is the condition that the account whose id is owner gets to see status ?1; in spite of mutes if even is 1.
func reachesAccount(owner, even string) string {
	condition := strings.NewReplacer("?1", owner, "?2", strconv.Itoa(int(allLookups)), "?3", even).Replace(visible("s") + ` AND ` + notBlockedOrMuted)
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

// AddToConversations puts a direct post, which has its recipients already, on top of the conversation that each of the local ones
// has of its thread, and makes that where there is none. It is unread for all but the author and those who mute the author or the
// thread. Whoever the post does not reach because of a block keeps the conversation as it was. Recipients are whom a conversation
// that is made goes to. If among is not nil, only these take part.
//
// It returns which conversations their owners would want to hear of.
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
		var heard bool
		if err := rows.Scan(&id, &account, &heard); err != nil {
			return nil, fmt.Errorf("add to conversations: %w", err)
		}
		if heard {
			changed = append(changed, ConversationChanged{AccountID(account), DirectConversationID(id)})
		}
	}
	return changed, rows.Err()
}

// rewindConversations has conversations whose last post is about to be deleted end in the one before. A conversation that has none
// goes with the post: the column cannot be NULL, so that row is ignored here, and deleted by its foreign key.
func (tx *Tx) rewindConversations(ctx context.Context, s *Status) error {
	if s.Visibility != Direct {
		return nil
	}
	_, err := tx.exec(ctx, "leave conversations", `
		UPDATE OR IGNORE direct_conversations
		SET last_status_id = (
			SELECT s.id
			FROM statuses s INDEXED BY statuses_direct
			WHERE s.conversation_id = ?2 AND s.visibility = 4 AND s.id < ?1
				AND EXISTS (SELECT 1 FROM recipients r WHERE r.status_id = s.id AND r.account_id = direct_conversations.account_id)
			ORDER BY s.id DESC
			LIMIT 1)
		WHERE last_status_id = ?1`, s.ID, s.ConversationID)
	return err
}

// ReadConversation marks a conversation of the owner's as read. One that is not there is no error.
func (tx *Tx) ReadConversation(ctx context.Context, owner AccountID, id DirectConversationID) error {
	_, err := tx.exec(ctx, "read conversation", `
		UPDATE direct_conversations
		SET read_id = last_status_id
		WHERE id = ? AND account_id = ? AND last_status_id > read_id`, id, owner)
	return err
}

// ReadConversations marks up to limit of the owner's conversations as read, and returns how many had not been.
func (tx *Tx) ReadConversations(ctx context.Context, owner AccountID, limit int) (int64, error) {
	return tx.exec(ctx, "read conversations", `
		UPDATE direct_conversations
		SET read_id = last_status_id
		WHERE id IN (
			SELECT id
			FROM direct_conversations INDEXED BY direct_conversations_unread
			WHERE account_id = ? AND last_status_id > read_id
			LIMIT ?)`, owner, limit)
}

// ReadConversationsWith marks those of the owner's conversations as read that other takes part in.
func (tx *Tx) ReadConversationsWith(ctx context.Context, owner, other AccountID) error {
	_, err := tx.exec(ctx, "read conversations with somebody", `
		UPDATE direct_conversations INDEXED BY direct_conversations_unread
		SET read_id = last_status_id
		WHERE account_id = ?1 AND last_status_id > read_id
			AND (EXISTS (SELECT 1 FROM json_each(recipients) j WHERE j.value = ?2)
				OR EXISTS (SELECT 1 FROM statuses s WHERE s.id = last_status_id AND s.account_id = ?2))`, owner, other)
	return err
}

// SetConversationRecipients changes whom a conversation of the owner's goes to.
func (tx *Tx) SetConversationRecipients(ctx context.Context, owner AccountID, id DirectConversationID, recipients AccountSet) error {
	_, err := tx.exec(ctx, "set conversation recipients", `
		UPDATE direct_conversations
		SET recipients = ?
		WHERE id = ? AND account_id = ?`, recipients, id, owner)
	return err
}

// RemoveConversation deletes a conversation of the owner's, and tells whether there was one. The posts stay.
func (tx *Tx) RemoveConversation(ctx context.Context, owner AccountID, id DirectConversationID) (removed bool, err error) {
	n, err := tx.exec(ctx, "remove conversation", `DELETE FROM direct_conversations WHERE id = ? AND account_id = ?`, id, owner)
	return n > 0, err
}
