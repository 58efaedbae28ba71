package entity

import (
	"context"

	"svc/internal/text"
	"svc/store"
)

// Chat is a chat for its owner.
type Chat struct {
	ID          store.ChatID `json:"id"`
	Account     Account      `json:"account"` // the other account
	Unread      int          `json:"unread"`
	LastMessage *ChatMessage `json:"last_message"`
	UpdatedAt   store.Time   `json:"updated_at"`
}

// ChatMessage is a message for one of the two accounts of a chat.
type ChatMessage struct {
	ID             store.ChatMessageID `json:"id"`
	ChatID         store.ChatID        `json:"chat_id"`
	AccountID      store.AccountID     `json:"account_id"` // the author
	Content        *string             `json:"content"`    // nil if there is only an attachment
	CreatedAt      store.Time          `json:"created_at"`
	Emojis         []Emoji             `json:"emojis"`
	Attachment     *object             `json:"attachment"`
	Unread         bool                `json:"unread"`
	Card           *object             `json:"card"`                      // always null
	IdempotencyKey string              `json:"idempotency_key,omitempty"` // for its author, while it is new
}

// Chat renders a chat with its last message. A chat with an unavailable account is not found.
func (b *Builder) Chat(ctx context.Context, owner *store.Account, id store.ChatID) (*Chat, error) {
	row, err := b.db.VisibleChat(ctx, owner.ID, id)
	if err != nil {
		return nil, err
	}
	chats, err := b.Chats(ctx, owner, []*store.ChatSummary{row})
	if err != nil {
		return nil, err
	}
	if len(chats) == 0 {
		return nil, notFound
	}
	return chats[0], nil
}

// Chats renders chats with their last messages. Chats with accounts that were deleted meanwhile are left out.
func (b *Builder) Chats(ctx context.Context, owner *store.Account, rows []*store.ChatSummary) ([]*Chat, error) {
	accounts := make([]store.AccountID, 0, len(rows))
	var last []store.ChatMessageID
	for _, c := range rows {
		accounts = append(accounts, c.OtherID)
		if c.LastID != nil {
			last = append(last, *c.LastID)
		}
	}
	accountOf, err := b.loadAccounts(ctx, unique(accounts))
	if err != nil {
		return nil, err
	}
	messageOf, err := b.lastMessages(ctx, owner, last)
	if err != nil {
		return nil, err
	}
	list := make([]*Chat, 0, len(rows))
	for _, c := range rows {
		if account, ok := accountOf[c.OtherID]; ok {
			list = append(list, &Chat{
				ID: c.ID, Account: account, Unread: c.Unread, LastMessage: messageOf[c.ID], UpdatedAt: c.UpdatedAt,
			})
		}
	}
	return list, nil
}

// lastMessages renders messages by their chats.
func (b *Builder) lastMessages(ctx context.Context, owner *store.Account, ids []store.ChatMessageID) (map[store.ChatID]*ChatMessage, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	entries, err := b.db.ChatEntriesByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	messages, err := b.ChatMessages(ctx, owner, entries)
	return byID(messages, func(m *ChatMessage) store.ChatID { return m.ChatID }), err
}

// ChatMessage renders a message for the owner of the chat.
func (b *Builder) ChatMessage(ctx context.Context, owner *store.Account, row *store.ChatEntry) (*ChatMessage, error) {
	list, err := b.ChatMessages(ctx, owner, []*store.ChatEntry{row})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// ChatMessages renders messages for the owner of their chats (nil: staff), in the order of rows.
func (b *Builder) ChatMessages(ctx context.Context, owner *store.Account, rows []*store.ChatEntry) ([]*ChatMessage, error) {
	list := make([]*ChatMessage, 0, len(rows))
	if len(rows) == 0 {
		return list, nil
	}
	ids := make([]store.MessageID, 0, len(rows))
	for _, e := range rows {
		ids = append(ids, e.MessageID)
	}
	attachments, err := b.attachmentsOfMessages(ctx, ids)
	if err != nil {
		return nil, err
	}
	keys, err := b.db.RecentChatKeys(ctx, idOf(owner), ids)
	if err != nil {
		return nil, err
	}
	plain, err := b.wantsNoRichText(ctx, owner)
	if err != nil {
		return nil, err
	}
	for _, e := range rows {
		m := &ChatMessage{
			ID: e.ID, ChatID: e.ChatID, AccountID: e.AuthorID, CreatedAt: e.CreatedAt, Unread: e.Unread, Emojis: b.emojisFor(e.Emojis == nil, remoteEmojisOf(e), e.Content),
			Attachment: attachments[e.MessageID], IdempotencyKey: keys[e.MessageID],
		}
		if content := e.Content; content != "" {
			if e.Emojis != nil {
				content = store.CutRemoteHTML(content, "")
			}
			if plain {
				content = text.SanitizeStrict(content)
			}
			m.Content = &content
		}
		list = append(list, m)
	}
	return list, nil
}

func remoteEmojisOf(e *store.ChatEntry) []store.RemoteEmoji {
	if e.Emojis == nil {
		return nil
	}
	return e.Emojis.V
}

func (b *Builder) attachmentsOfMessages(ctx context.Context, ids []store.MessageID) (map[store.MessageID]*object, error) {
	rows, err := b.db.MediaOfMessages(ctx, ids)
	if err != nil {
		return nil, err
	}
	of := make(map[store.MessageID]*object, len(rows))
	for _, m := range rows {
		o, err := b.attachment(m)
		if err != nil {
			return nil, err
		}
		of[*m.MessageID] = &o
	}
	return of, nil
}

// loadMessages renders the messages of notifications.
func (b *Builder) loadMessages(ctx context.Context, viewer *store.Account, rows []*store.Notification) (map[store.MessageID]*ChatMessage, error) {
	var ids []store.MessageID
	for _, n := range rows {
		if n.MessageID != nil {
			ids = append(ids, *n.MessageID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	entries, err := b.db.ChatEntriesOf(ctx, viewer.ID, ids)
	if err != nil {
		return nil, err
	}
	messages, err := b.ChatMessages(ctx, viewer, entries)
	if err != nil {
		return nil, err
	}
	of := make(map[store.MessageID]*ChatMessage, len(entries))
	for i, e := range entries {
		of[e.MessageID] = messages[i]
	}
	return of, nil
}
