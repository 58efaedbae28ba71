package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// maxChats is how many chats one account can have, those that others began included.
const maxChats = 10_000

var errTooManyChats = errs.Invalid("Validation failed: You have as many chats as one can")

// OpenChat returns owner's chat with another account, which may be owner's own, and makes it if there is none. Nobody is told; who
// refuses messages does so when there is one (extension API 11.3).
func (s *Service) OpenChat(ctx context.Context, owner *store.Account, with store.AccountID) (*store.Chat, error) {
	var c *store.Chat
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		other, err := availableAccount(ctx, tx, with)
		if err != nil {
			return err
		}
		c, err = openChat(ctx, tx, owner.ID, other.ID)
		return err
	})
	return c, err
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

// ReadChat marks the messages of a chat of reader's up to and including one as read. A message of another chat, or one that is gone,
// stands for the time at which it came.
func (s *Service) ReadChat(ctx context.Context, reader *store.Account, id store.ChatID, upTo store.ChatMessageID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		c, err := tx.OwnChat(ctx, reader.ID, id)
		if err != nil {
			return err
		}
		return tx.ReadChat(ctx, c.ID, upTo)
	})
}

// ReadChatMessage marks one message of a chat of reader's as read. One that has been read is no error.
func (s *Service) ReadChatMessage(ctx context.Context, reader *store.Account, chat store.ChatID, id store.ChatMessageID) (*store.ChatEntry, error) {
	var e *store.ChatEntry
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		var err error
		if e, err = tx.ChatEntry(ctx, reader.ID, chat, id); err != nil || !e.Unread {
			return err
		}
		e.Unread = false
		return tx.ReadChatCopy(ctx, e.ID)
	})
	return e, err
}

// DeleteChatMessage takes a message out of a chat of actor's: actor's own from both sides, with the notification of it; one by the
// other from actor's side only (extension API 11.3). Streams do not hear of it.
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
			if err := tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.ChatMessageDeleted, ActorID: actor.ID, TargetID: m.RecipientID, RowID: int64(m.ID), URI: m.URI}); err != nil {
				return err
			}
			return tx.DeleteChatMessage(ctx, m)
		}
		return tx.RemoveChatCopy(ctx, actor.ID, m, e.ID)
	})
}
