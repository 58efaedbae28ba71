package entity

import (
	"context"

	"svc/store"
)

// AdminChat is one side of a chat, for staff.
type AdminChat struct {
	ID          store.ChatID `json:"id"`
	Sender      Account      `json:"sender"`   // the owner of this side
	Receiver    Account      `json:"receiver"` // the other account
	Unread      int          `json:"unread"`   // by the owner
	LastMessage *ChatMessage `json:"last_message"`
	UpdatedAt   store.Time   `json:"updated_at"`
}

// AdminChats renders chats for staff, in the order of rows.
func (b *Builder) AdminChats(ctx context.Context, viewer *store.Account, rows []*store.ChatSummary) ([]*AdminChat, error) {
	var accounts []store.AccountID
	var last []store.ChatMessageID
	for _, c := range rows {
		accounts = append(accounts, c.AccountID, c.OtherID)
		if c.LastID != nil {
			last = append(last, *c.LastID)
		}
	}
	accountOf, err := b.StaffAccounts(ctx, viewer, accounts)
	if err != nil {
		return nil, err
	}
	messageOf, err := b.lastMessages(ctx, nil, last)
	if err != nil {
		return nil, err
	}
	return Map(rows, func(c *store.ChatSummary) *AdminChat {
		return &AdminChat{
			ID: c.ID, Sender: accountOf[c.AccountID], Receiver: accountOf[c.OtherID], Unread: c.Unread, LastMessage: messageOf[c.ID],
			UpdatedAt: c.UpdatedAt,
		}
	}), nil
}
