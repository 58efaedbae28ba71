package admin

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

// maxStaffChats bounds the list of the chats of an account, which has no pages.
const maxStaffChats = 500

// ChatsOf returns the account of a name and its chats, latest message first, with those of blocked accounts. It is recorded in the moderation log.
func (s *Service) ChatsOf(ctx context.Context, name string) (*store.Account, []*store.ChatSummary, error) {
	owner, err := s.findAccount(ctx, s.db, name)
	if err != nil {
		return nil, nil, err
	}
	chats, err := s.db.StaffChats(ctx, owner.ID, maxStaffChats)
	if err != nil {
		return nil, nil, err
	}
	return owner, chats, s.recordReading(ctx, "chat_list", "listed the chats of @"+owner.Acct())
}

// ShowChat returns one side of a chat. It is recorded in the moderation log, because it has the last message.
func (s *Service) ShowChat(ctx context.Context, id string) (*store.ChatSummary, error) {
	c, err := s.chat(ctx, id)
	if err != nil {
		return nil, err
	}
	return c, s.recordReading(ctx, "chat_show", "read chat #"+c.ID.String())
}

func (s *Service) chat(ctx context.Context, id string) (*store.ChatSummary, error) {
	c, err := s.db.StaffChat(ctx, store.ParseID[store.ChatID](id))
	if errs.IsNotFound(err) {
		return nil, errs.NotFound("There is no chat %q", id)
	}
	return c, err
}

// ChatMessages returns a page of the messages of a chat, newest first. It is recorded in the moderation log.
func (s *Service) ChatMessages(ctx context.Context, id string, p store.Page) ([]*store.ChatEntry, error) {
	c, err := s.ShowChat(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.db.ChatEntries(ctx, c.ID, p)
}

// ErrNoMessage is returned for a chat message that cannot be deleted because the chat has no such message.
var ErrNoMessage = errs.BadRequest("could_not_delete")

// ChatMessage returns a message of a chat.
func (s *Service) ChatMessage(ctx context.Context, chat, message string) (*store.ChatEntry, error) {
	c, err := s.chat(ctx, chat)
	if err != nil {
		return nil, ErrNoMessage
	}
	e, err := s.db.ChatEntry(ctx, c.AccountID, c.ID, store.ParseID[store.ChatMessageID](message))
	if errs.IsNotFound(err) {
		err = ErrNoMessage
	}
	return e, err
}

// DeleteChatMessage deletes a message for both sides.
func (s *Service) DeleteChatMessage(ctx context.Context, id store.MessageID) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		m, err := tx.ChatMessage(ctx, id)
		if errs.IsNotFound(err) {
			return ErrNoMessage
		}
		if err != nil {
			return err
		}
		if err := s.social.DeleteMessageIn(ctx, tx, m); err != nil {
			return err
		}
		data := map[string]any{"subject": map[string]any{"type": "chat_message", "id": m.ID.String()}}
		return s.record(ctx, tx, "chat_message_delete", "deleted chat message #"+m.ID.String(), data)
	})
}
