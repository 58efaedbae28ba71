package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// maxChats is how many chats an account can have, including those that others began.
const maxChats = 10_000

var errTooManyChats = errs.Invalid("Validation failed: You cannot have more than %d chats", maxChats)

// OpenChat returns owner's chat with an account, which may be owner, and creates it if needed. It notifies nobody. Accounts that refuse
// chat messages refuse the first message, not the chat (extension API 11.3).
func (s *Service) OpenChat(ctx context.Context, owner *store.Account, with store.AccountID) (*store.Chat, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.Chat, error) {
		other, err := availableAccount(ctx, tx, with)
		if err != nil {
			return nil, err
		}
		return openChat(ctx, tx, owner.ID, other.ID)
	})
}

func openChat(ctx context.Context, tx *store.Tx, owner, other store.AccountID) (*store.Chat, error) {
	c, err := tx.ChatWith(ctx, owner, other)
	if c != nil || err != nil {
		return c, err
	}
	n, err := tx.CountChats(ctx, owner, maxChats)
	if err != nil {
		return nil, err
	}
	if n >= maxChats {
		return nil, errTooManyChats
	}
	c = &store.Chat{AccountID: owner, OtherID: other}
	return c, tx.AddChat(ctx, c)
}

// ReadChat marks the messages of a chat up to and including upTo as read. For a deleted message or one of another chat, the time in its
// id counts.
func (s *Service) ReadChat(ctx context.Context, viewer *store.Account, id store.ChatID, upTo store.ChatMessageID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		c, err := tx.OwnChat(ctx, viewer.ID, id)
		if err != nil {
			return err
		}
		return tx.ReadChat(ctx, c.ID, upTo)
	})
}

// ReadChatMessage marks one message as read. Reading twice is not an error.
func (s *Service) ReadChatMessage(ctx context.Context, viewer *store.Account, chat store.ChatID, id store.ChatMessageID) (*store.ChatEntry, error) {
	return update(ctx, s.db, func(tx *store.Tx) (*store.ChatEntry, error) {
		e, err := tx.ChatEntry(ctx, viewer.ID, chat, id)
		if err != nil || !e.Unread {
			return e, err
		}
		e.Unread = false
		return e, tx.ReadChatCopy(ctx, e.ID)
	})
}

// DeleteChatMessage deletes a message of a chat. Actor's own message is deleted on both sides with its notification; a message of the
// other side is deleted for actor only (extension API 11.3). Streams get no event.
func (s *Service) DeleteChatMessage(ctx context.Context, actor *store.Account, chat store.ChatID, id store.ChatMessageID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		e, err := tx.ChatEntry(ctx, actor.ID, chat, id)
		if err != nil {
			return err
		}
		m, err := tx.ChatMessage(ctx, e.MessageID)
		if err != nil {
			return err
		}
		if m.AccountID == actor.ID {
			return s.DeleteMessageIn(ctx, tx, m)
		}
		return tx.RemoveChatCopy(ctx, actor.ID, m, e.ID)
	})
}
