package store

import (
	"context"
	"time"
)

// ChatMessage is a message of a chat, shared by both sides.
type ChatMessage struct {
	ID          MessageID
	AccountID   AccountID // the author
	RecipientID AccountID
	URI         string
	CreatedAt   Time                 // according to the author
	Content     string               // HTML; "": an attachment only
	Emojis      *JSON[[]RemoteEmoji] // nil: the message is local
}

// ChatCopy is one side's copy of a message.
type ChatCopy struct {
	ID        ChatMessageID
	ChatID    ChatID
	MessageID MessageID
	Unread    bool
}

// ChatEntry is a message with one side's copy of it.
type ChatEntry struct {
	ChatCopy
	AuthorID  AccountID
	CreatedAt Time
	Content   string
	Emojis    *JSON[[]RemoteEmoji] // nil: the message is local
}

// chatEntry are the columns of an entry, from the copy x and the message m.
const chatEntry = `x.*, m.account_id AS author_id, m.created_at, m.content, m.emojis`

var chatEntries = newKeyset(`
		SELECT ` + chatEntry + `
		FROM chat_copies x
		CROSS JOIN chat_messages m ON m.id = x.message_id
		WHERE x.chat_id = ?1 AND x.id < ?2 AND x.id > ?3
		ORDER BY x.id DESC
		LIMIT ?4`)

// ChatEntries returns a page of a chat's messages, newest first.
func (r reader) ChatEntries(ctx context.Context, id ChatID, p Page) ([]*ChatEntry, error) {
	return rowPage[*ChatEntry](ctx, r, "chat messages", chatEntries, id, p)
}

// ChatEntry returns a message of the owner's chat, and errs.ErrRecordNotFound if there is none.
func (r reader) ChatEntry(ctx context.Context, owner AccountID, chat ChatID, id ChatMessageID) (*ChatEntry, error) {
	return get[ChatEntry](ctx, r, "chat message", `
		SELECT `+chatEntry+`
		FROM chat_copies x
		CROSS JOIN chats c ON c.id = x.chat_id
		CROSS JOIN chat_messages m ON m.id = x.message_id
		WHERE x.id = ? AND c.id = ? AND c.account_id = ?`, id, chat, owner)
}

// ChatEntriesByID returns the messages that have one of the ids, in no order.
func (r reader) ChatEntriesByID(ctx context.Context, ids []ChatMessageID) ([]*ChatEntry, error) {
	return list[*ChatEntry](ctx, r, "chat messages", `
		SELECT `+chatEntry+`
		FROM json_each(?) j
		CROSS JOIN chat_copies x ON x.id = j.value
		CROSS JOIN chat_messages m ON m.id = x.message_id`, jsonArray(ids))
}

// ChatEntriesOf returns the owner's entries of messages, in no order.
func (r reader) ChatEntriesOf(ctx context.Context, owner AccountID, ids []MessageID) ([]*ChatEntry, error) {
	return list[*ChatEntry](ctx, r, "chat messages", `
		SELECT `+chatEntry+`
		FROM json_each(?2) j
		CROSS JOIN chat_copies x ON x.message_id = j.value
		CROSS JOIN chats c ON c.id = x.chat_id AND c.account_id = ?1
		CROSS JOIN chat_messages m ON m.id = x.message_id`, owner, jsonArray(ids))
}

// ChatMessage returns a message, and errs.ErrRecordNotFound if there is none.
func (r reader) ChatMessage(ctx context.Context, id MessageID) (*ChatMessage, error) {
	return get[ChatMessage](ctx, r, "chat message", `SELECT * FROM chat_messages WHERE id = ?`, id)
}

// ChatMessageByURI returns the message with an ActivityPub id, and errs.ErrRecordNotFound if there is none.
func (r reader) ChatMessageByURI(ctx context.Context, uri string) (*ChatMessage, error) {
	return get[ChatMessage](ctx, r, "chat message by URI", `SELECT * FROM chat_messages WHERE uri = ?`, uri)
}

// ChatMessageKnown returns true if there is or was a message with an ActivityPub id.
func (r reader) ChatMessageKnown(ctx context.Context, uri string) (bool, error) {
	return r.exists(ctx, `
		SELECT 1 FROM chat_messages WHERE uri = ?1
		UNION ALL
		SELECT 1 FROM tombstones WHERE uri = ?1`, uri)
}

// NewMessageID returns a new id for a message.
func (tx *Tx) NewMessageID() MessageID { return MessageID(tx.newID()) }

// AddChatMessage inserts a message without copies.
func (tx *Tx) AddChatMessage(ctx context.Context, m *ChatMessage) error {
	return tx.exec(ctx, "add chat message", insertChatMessage.text, insertChatMessage.args(m)...)
}

// AddChatCopy adds a copy of a message to a chat, which moves to the top of the list.
func (tx *Tx) AddChatCopy(ctx context.Context, c *Chat, m *ChatMessage, unread bool) (*ChatEntry, error) {
	e := &ChatEntry{
		ChatCopy: ChatCopy{ID: ChatMessageID(tx.newID()), ChatID: c.ID, MessageID: m.ID, Unread: unread},
		AuthorID: m.AccountID, CreatedAt: m.CreatedAt, Content: m.Content, Emojis: m.Emojis,
	}
	if err := tx.exec(ctx, "add chat copy", insertChatCopy.text, insertChatCopy.args(&e.ChatCopy)...); err != nil {
		return nil, err
	}
	c.Position, c.UpdatedAt = e.ID, At(tx.db.now())
	err := tx.exec(ctx, "update chat", `UPDATE chats SET position = ?, updated_at = ? WHERE id = ?`, c.Position, c.UpdatedAt, c.ID)
	return e, err
}

// ReadChatCopy marks one message as read.
func (tx *Tx) ReadChatCopy(ctx context.Context, id ChatMessageID) error {
	return tx.exec(ctx, "read chat message", `UPDATE chat_copies SET unread = 0 WHERE id = ?`, id)
}

// DeleteChatMessage deletes a message with its copies and notifications, and adds a tombstone.
func (tx *Tx) DeleteChatMessage(ctx context.Context, m *ChatMessage) error {
	if err := tx.exec(ctx, "delete chat message", `DELETE FROM chat_messages WHERE id = ?`, m.ID); err != nil {
		return err
	}
	return tx.addTombstone(ctx, m.URI, TombstoneMessage)
}

// RemoveChatCopy deletes the owner's copy of a message and the notification of it. A message without copies is deleted.
func (tx *Tx) RemoveChatCopy(ctx context.Context, owner AccountID, m *ChatMessage, id ChatMessageID) error {
	if err := tx.exec(ctx, "remove chat copy", `DELETE FROM chat_copies WHERE id = ?`, id); err != nil {
		return err
	}
	left, err := tx.exists(ctx, `SELECT 1 FROM chat_copies WHERE message_id = ?`, m.ID)
	if err != nil {
		return err
	}
	if !left {
		return tx.DeleteChatMessage(ctx, m)
	}
	return tx.exec(ctx, "remove notification", `DELETE FROM notifications WHERE message_id = ? AND account_id = ?`, m.ID, owner)
}

// chatKeyTTL is how long the API returns the Idempotency-Key of a sent message (extension API 11.2).
const chatKeyTTL = 2 * time.Minute

// IdempotentChatEntry returns the message that owner sent to a chat with an Idempotency-Key, nil if there is none or the key has expired.
func (r reader) IdempotentChatEntry(ctx context.Context, owner AccountID, chat ChatID, key string) (*ChatEntry, error) {
	return one[ChatEntry](ctx, r, "idempotency key", `
		SELECT `+chatEntry+`
		FROM chat_message_keys k
		CROSS JOIN chat_copies x ON x.message_id = k.message_id AND x.chat_id = ?2
		CROSS JOIN chat_messages m ON m.id = x.message_id
		WHERE k.account_id = ?1 AND k.key = ?3 AND k.created_at > ?4`, owner, chat, key, At(r.db.now().Add(-IdempotencyTTL)))
}

// RecentChatKeys returns the Idempotency-Keys of those of the messages that account sent recently.
func (r reader) RecentChatKeys(ctx context.Context, account AccountID, ids []MessageID) (map[MessageID]string, error) {
	since := r.db.now().Add(-chatKeyTTL)
	var recent []MessageID
	for _, id := range ids {
		if idTime(int64(id)).After(since) {
			recent = append(recent, id)
		}
	}
	if len(recent) == 0 {
		return nil, nil
	}
	type row struct {
		MessageID MessageID
		Key       string
	}
	rows, err := list[row](ctx, r, "idempotency keys", `
		SELECT k.message_id, k.key
		FROM json_each(?2) j
		CROSS JOIN chat_message_keys k INDEXED BY chat_message_keys_message ON k.message_id = j.value AND k.account_id = ?1`,
		account, jsonArray(recent))
	keys := make(map[MessageID]string, len(rows))
	for _, k := range rows {
		keys[k.MessageID] = k.Key
	}
	return keys, err
}

// SaveChatKey stores the Idempotency-Key of a message.
func (tx *Tx) SaveChatKey(ctx context.Context, account AccountID, key string, id MessageID) error {
	return tx.exec(ctx, "idempotency key", `
		INSERT OR REPLACE INTO chat_message_keys (account_id, key, message_id, created_at)
		VALUES (?, ?, ?, ?)`, account, key, id, At(tx.db.now()))
}
