package moving

import (
	"context"

	"svc/internal/text"
	"svc/store"
)

// chatIDs are the entries of idQueries for chats: messages that a local account has in a chat, their copies, and their files.
const (
	messageIDs = `
		SELECT m.id, m.created_at
		FROM chat_messages m JOIN accounts a ON a.id = m.account AND a.kept = 1 JOIN accounts b ON b.id = m.recipient AND b.kept = 1
		WHERE m.id IN (
			SELECT c.message
			FROM chat_copies c JOIN chats h ON h.id = c.chat JOIN accounts o ON o.id = h.account AND o.kept = 1 AND o.domain = '')
		ORDER BY m.created_at, m.id`
	chatIDs = `
		SELECT h.id, h.updated_at
		FROM chats h JOIN accounts a ON a.id = h.account AND a.kept = 1 AND a.domain = '' JOIN accounts b ON b.id = h.other AND b.kept = 1
		ORDER BY h.updated_at, h.id`
	chatCopyIDs = `
		SELECT c.n, c.created_at
		FROM chat_copies c
		JOIN ids ih ON ih.kind = 'chat' AND ih.source = c.chat
		JOIN chats h ON h.id = c.chat
		JOIN ids im ON im.kind = 'message' AND im.source = c.message
		JOIN chat_messages m ON m.id = c.message AND (m.account, m.recipient) IN ((h.account, h.other), (h.other, h.account))
		ORDER BY c.created_at, c.n`
	chatFileIDs = `
		SELECT f.id, f.created_at
		FROM chat_messages m JOIN ids im ON im.kind = 'message' AND im.source = m.id JOIN media f ON f.id = m.media
		ORDER BY f.created_at, f.id`
)

// messageRow is a chat message of the scratch database.
type messageRow struct {
	at
	Account, Recipient store.AccountID
	Domain             string
	URI, Content       string
	CreatedAt          int64
}

// chatMessages writes the messages of chats.
func (w *writer) chatMessages(ctx context.Context, step string) error {
	const query = `
		SELECT i.id AS pos, ia.id AS account, ib.id AS recipient, a.domain, m.id AS uri, m.content, m.created_at
		FROM ids i
		CROSS JOIN chat_messages m ON m.id = i.source
		CROSS JOIN accounts a ON a.id = m.account
		CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = m.account
		CROSS JOIN ids ib ON ib.kind = 'account' AND ib.source = m.recipient
		WHERE i.kind = 'message' AND i.id > ?
		ORDER BY i.id
		LIMIT ?`
	return each(ctx, w, step, query, func(tx *store.Tx, r *messageRow) error {
		m := &store.ChatMessage{ID: store.MessageID(r.Pos), AccountID: r.Account, RecipientID: r.Recipient, URI: r.URI, CreatedAt: store.Time(max(r.CreatedAt, 1))}
		m.Content = text.CutHTML(text.Sanitize(text.Shorten(r.Content, maxTakenContent)), maxTakenContent, "")
		if r.Domain != "" {
			m.Content = store.CutRemoteHTML(m.Content, "")
			m.Emojis = &store.JSON[[]store.RemoteEmoji]{V: append([]store.RemoteEmoji{}, w.remoteEmoji(ctx, r.Domain, m.Content)...)}
		}
		_, err := w.take(ctx, tx, "chat messages", m)
		return err
	})
}

// chatFiles stores the files of chat messages.
func (w *writer) chatFiles(ctx context.Context, step string) error {
	const query = `
		SELECT i.id AS pos, ia.id AS owner, im.id AS message, a.domain, f.type, f.mime, f.path, f.thumbnail_path, f.address, f.thumbnail_address,
			f.remote_url, f.description, f.blurhash, f.width, f.height, f.focus_x, f.focus_y, f.created_at
		FROM ids i
		CROSS JOIN media f ON f.id = i.source
		CROSS JOIN chat_messages m ON m.media = f.id
		CROSS JOIN accounts a ON a.id = m.account
		CROSS JOIN ids im ON im.kind = 'message' AND im.source = m.id
		CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = m.account
		WHERE i.kind = 'chat file' AND i.id > ?
		ORDER BY i.id
		LIMIT ?`
	return w.files(ctx, step, "files of chat messages", query)
}

// chatRow is a side of a chat of the scratch database.
type chatRow struct {
	at
	Account, Other store.AccountID
	Position       store.ChatMessageID
	UpdatedAt      int64
}

// chats writes the sides of chats.
func (w *writer) chats(ctx context.Context, step string) error {
	const query = `
		SELECT i.id AS pos, ia.id AS account, io.id AS other, h.updated_at, ifnull((
			SELECT max(ic.id)
			FROM chat_copies c CROSS JOIN ids ic ON ic.kind = 'chat copy' AND ic.source = CAST(c.n AS TEXT)
			WHERE c.chat = h.id), i.id) AS position
		FROM ids i
		CROSS JOIN chats h ON h.id = i.source
		CROSS JOIN ids ia ON ia.kind = 'account' AND ia.source = h.account
		CROSS JOIN ids io ON io.kind = 'account' AND io.source = h.other
		WHERE i.kind = 'chat' AND i.id > ?
		ORDER BY i.id
		LIMIT ?`
	return each(ctx, w, step, query, func(tx *store.Tx, r *chatRow) error {
		c := &store.Chat{ID: store.ChatID(r.Pos), AccountID: r.Account, OtherID: r.Other, Position: r.Position, UpdatedAt: store.Time(max(r.UpdatedAt, 1))}
		_, err := w.take(ctx, tx, "chats", c)
		return err
	})
}

// chatCopyRow is the copy that a side of a chat has of a message.
type chatCopyRow struct {
	at
	Chat    store.ChatID
	Message store.MessageID
	Unread  bool
}

// chatCopies writes which side has which message.
func (w *writer) chatCopies(ctx context.Context, step string) error {
	const query = `
		SELECT i.id AS pos, ih.id AS chat, im.id AS message, c.unread
		FROM ids i
		CROSS JOIN chat_copies c ON c.n = CAST(i.source AS INTEGER)
		CROSS JOIN ids ih ON ih.kind = 'chat' AND ih.source = c.chat
		CROSS JOIN ids im ON im.kind = 'message' AND im.source = c.message
		WHERE i.kind = 'chat copy' AND i.id > ?
		ORDER BY i.id
		LIMIT ?`
	return each(ctx, w, step, query, func(tx *store.Tx, r *chatCopyRow) error {
		c := &store.ChatCopy{ID: store.ChatMessageID(r.Pos), ChatID: r.Chat, MessageID: r.Message, Unread: r.Unread}
		_, err := w.take(ctx, tx, "copies of chat messages", c)
		return err
	})
}
