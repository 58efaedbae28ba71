package social

import (
	"context"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// maxChatIdempotencyKey is the longest Idempotency-Key in bytes. The key is stored as sent, because the API returns it.
const maxChatIdempotencyKey = 255

// Errors of chat messages (extension API 11.3).
var (
	errNoContent          = errs.BadRequest("no_content")
	errContentTooLong     = errs.BadRequest("content_too_long")
	errMediaNotOwned      = errs.BadRequest("forbidden")
	errMediaInUse         = errs.BadRequest("The attachment is in use already")
	errNoRecipient        = errs.BadRequest("Recipient does not exist")
	errMessagesRefused    = errs.BadRequest("The recipient does not accept your messages")
	errChatIdempotencyKey = errs.BadRequest("Idempotency-Key is too long (maximum is %d bytes)", maxChatIdempotencyKey)
)

// ChatMessageDraft is a message that a local account sends.
type ChatMessageDraft struct {
	Text           string         // plain
	MediaID        *store.MediaID // the attachment; nil: none
	IdempotencyKey string
}

// SendChatMessage sends a message to the other side of a chat of sender's, and returns sender's copy. Mentions in it are links only: they
// neither address nor notify anybody. A repeated IdempotencyKey returns the first message.
func (s *Service) SendChatMessage(ctx context.Context, sender *store.Account, chat store.ChatID, d ChatMessageDraft) (*store.ChatEntry, error) {
	switch {
	case text.Length(d.Text, "") > s.Settings.Load().Chats.MaxLength:
		return nil, errContentTooLong
	case len(d.IdempotencyKey) > maxChatIdempotencyKey:
		return nil, errChatIdempotencyKey
	}
	if d.MediaID != nil {
		if err := s.inspectAttachments(ctx, sender.ID, []store.MediaID{*d.MediaID}); err != nil {
			return nil, err
		}
	}
	doc := text.ParseChat(d.Text)
	var e *store.ChatEntry
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		c, err := tx.OwnChat(ctx, sender.ID, chat)
		if err != nil {
			return err
		}
		if d.IdempotencyKey != "" {
			if e, err = tx.IdempotentChatEntry(ctx, sender.ID, c.ID, d.IdempotencyKey); e != nil || err != nil {
				return err
			}
		}
		media, err := chatMedia(ctx, tx, sender.ID, d.MediaID)
		if err != nil {
			return err
		}
		known, _, err := s.resolveHandles(ctx, tx, doc)
		if err != nil {
			return err
		}
		content := doc.Render(s.Settings.BaseURL, known).HTML
		if content == "" && media == nil {
			return errNoContent
		}
		to, err := tx.Account(ctx, c.OtherID)
		if err != nil {
			return err
		}
		if content, media, err = s.applyMessagePolicies(ctx, sender, to, content, media); err != nil {
			return err
		}
		if content == "" && media == nil {
			return errNoContent
		}
		m := &store.ChatMessage{ID: tx.NewMessageID(), CreatedAt: store.At(s.db.Now()), Content: content}
		m.URI = store.NewObjectURI(s.Settings.BaseURL, m.ID)
		if e, err = addChatMessage(ctx, tx, sender, to, m, media); err != nil {
			return err
		}
		if err := tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.ChatMessageCreated, ActorID: sender.ID, TargetID: to.ID, RowID: int64(m.ID)}); err != nil {
			return err
		}
		if d.IdempotencyKey == "" {
			return nil
		}
		return tx.SaveChatKey(ctx, sender.ID, d.IdempotencyKey, m.ID)
	})
	return e, err
}

// chatMedia returns the unattached upload of owner's for a message.
func chatMedia(ctx context.Context, tx *store.Tx, owner store.AccountID, id *store.MediaID) (*store.Media, error) {
	if id == nil {
		return nil, nil
	}
	m, err := tx.OwnMedia(ctx, owner, *id)
	switch {
	case errs.IsNotFound(err):
		return nil, errMediaNotOwned
	case err != nil:
		return nil, err
	case !m.Detached():
		return nil, errMediaInUse
	}
	return m, nil
}

// IncomingChatMessage is a message from a remote account.
type IncomingChatMessage struct {
	URI        string
	Content    string // HTML, not sanitized
	CreatedAt  time.Time
	Emojis     []store.RemoteEmoji
	Attachment *store.Media // nil: none
}

// ReceiveChatMessage adds a message by a remote sender to the chat of a local recipient. The recipient can refuse it like a local one. A
// message that was received or deleted before is not an error.
func (s *Service) ReceiveChatMessage(ctx context.Context, sender *store.Account, recipient store.AccountID, in IncomingChatMessage) error {
	content := store.CutRemoteHTML(text.Sanitize(in.Content), "")
	if content == "" && in.Attachment == nil {
		return errNoContent
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		known, err := tx.ChatMessageKnown(ctx, in.URI)
		if known || err != nil {
			return err
		}
		if trace, err := tx.StatusURIState(ctx, in.URI, sender.URI); err != nil || trace.Known || trace.Deleted {
			return err
		}
		to, err := tx.Account(ctx, recipient)
		if err != nil {
			return err
		}
		if !to.Local() {
			return errNoRecipient
		}
		m := &store.ChatMessage{ID: tx.NewMessageID(), URI: in.URI, CreatedAt: store.At(in.CreatedAt), Content: content}
		m.Emojis = &store.JSON[[]store.RemoteEmoji]{V: store.UsedEmojis(in.Emojis, store.MaxStatusEmojis, store.MaxStatusEmojiBytes, content)}
		if in.Attachment != nil {
			in.Attachment.CutRemote()
			in.Attachment.AccountID = sender.ID
			if err := tx.AddMedia(ctx, in.Attachment); err != nil {
				return err
			}
		}
		_, err = addChatMessage(ctx, tx, sender, to, m, in.Attachment)
		return err
	})
}

// ReceiveChatMessageDelete deletes a message of a remote author. A missing message is not an error.
func (s *Service) ReceiveChatMessageDelete(ctx context.Context, author *store.Account, uri string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		m, err := tx.ChatMessageByURI(ctx, uri)
		if err != nil {
			return errs.IgnoreNotFound(err)
		}
		if m.AccountID != author.ID {
			return errs.ErrRecordNotFound
		}
		return tx.DeleteChatMessage(ctx, m)
	})
}

// addChatMessage stores a message and adds it to the chats of the local participants, read for the author, unread for the recipient. It
// returns the author's copy, nil if the author is remote.
func addChatMessage(ctx context.Context, tx *store.Tx, from, to *store.Account, m *store.ChatMessage, media *store.Media) (*store.ChatEntry, error) {
	if err := checkAcceptsChatMessage(ctx, tx, from, to); err != nil {
		return nil, err
	}
	m.AccountID, m.RecipientID = from.ID, to.ID
	if err := tx.AddChatMessage(ctx, m); err != nil {
		return nil, err
	}
	if media != nil {
		if err := tx.AttachMediaToMessage(ctx, m.ID, media); err != nil {
			return nil, err
		}
	}
	var own *store.ChatEntry
	if from.Local() {
		c, err := openChat(ctx, tx, from.ID, to.ID)
		if err != nil {
			return nil, err
		}
		if own, err = tx.AddChatCopy(ctx, c, m, false); err != nil {
			return nil, err
		}
		tx.Emit(store.ChatChanged{AccountID: from.ID, ID: c.ID})
	}
	if !to.Local() || to.ID == from.ID {
		return own, nil
	}
	return own, addToRecipientChat(ctx, tx, from, to, m)
}

// addToRecipientChat adds a message to the recipient's chat. Streams of a recipient who mutes the author get no event, because chats with
// muted accounts are not listed.
func addToRecipientChat(ctx context.Context, tx *store.Tx, from, to *store.Account, m *store.ChatMessage) error {
	c, err := openChat(ctx, tx, to.ID, from.ID)
	if err == errTooManyChats {
		err = errMessagesRefused
	}
	if err != nil {
		return err
	}
	if _, err := tx.AddChatCopy(ctx, c, m, true); err != nil {
		return err
	}
	mute, err := tx.MuteOf(ctx, to.ID, from.ID)
	if err != nil {
		return err
	}
	if mute == nil {
		tx.Emit(store.ChatChanged{AccountID: to.ID, ID: c.ID})
	}
	return notify(ctx, tx, store.Notification{AccountID: to.ID, Type: store.NotifyChatMention, FromID: from.ID, MessageID: &m.ID}, nil)
}

// checkAcceptsChatMessage returns an error if to is unavailable, refuses chat messages, or blocks from or is blocked by it. Messages to
// oneself are always accepted.
func checkAcceptsChatMessage(ctx context.Context, tx *store.Tx, from, to *store.Account) error {
	switch {
	case to.Unavailable:
		return errNoRecipient
	case from.ID == to.ID:
		return nil
	case to.AcceptsChatMessages != nil && !*to.AcceptsChatMessages:
		return errMessagesRefused
	}
	blocked, err := tx.BlockBetween(ctx, from.ID, to.ID)
	if err == nil && !blocked && !from.Local() {
		blocked, err = blocksDomainOfUnfollowed(ctx, tx, to.ID, from)
	}
	if err == nil && blocked {
		err = errMessagesRefused
	}
	return err
}
