package social

import (
	"context"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// maxChatIdempotencyKey bounds an Idempotency-Key, which is kept as it was sent because it is shown again. In bytes.
const maxChatIdempotencyKey = 255

// The refusals of messages (extension API 11.3).
var (
	errNoContent          = errs.BadRequest("no_content")
	errContentTooLong     = errs.BadRequest("content_too_long")
	errMediaNotOwned      = errs.BadRequest("forbidden")
	errMediaInUse         = errs.BadRequest("The attachment is in use already")
	errNoRecipient        = errs.BadRequest("Recipient does not exist")
	errMessagesRefused    = errs.BadRequest("The recipient does not accept your messages")
	errChatIdempotencyKey = errs.BadRequest("Idempotency-Key is too long (maximum is %d bytes)", maxChatIdempotencyKey)
)

// ChatMessageDraft is a message that somebody here wants to send.
type ChatMessageDraft struct {
	Text           string         // plain
	MediaID        *store.MediaID // of the one attachment, nil if there is none
	IdempotencyKey string
}

// SendChatMessage sends a message to the other side of a chat of sender's, and returns what sender has of it. Who is mentioned in it
// is linked to, but neither addressed nor told. A repeated IdempotencyKey returns the message of the first time.
func (s *Service) SendChatMessage(ctx context.Context, sender *store.Account, chat store.ChatID, d ChatMessageDraft) (*store.ChatEntry, error) {
	switch {
	case text.Length(d.Text, "") > s.MaxChatMessage:
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
		content := doc.Render(s.BaseURL, known).HTML
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
		m.URI = s.BaseURL + "/objects/" + m.ID.String()
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

// chatMedia returns the upload of owner's that a message is to have.
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

// IncomingChatMessage is a message that somebody elsewhere has sent.
type IncomingChatMessage struct {
	URI        string
	Content    string // HTML, as it came
	CreatedAt  time.Time
	Emojis     []store.RemoteEmoji
	Attachment *store.Media // the one attachment, nil if there is none
}

// ReceiveChatMessage puts a message by sender, who lives elsewhere, into the chat of somebody here. It is refused like one that is
// sent here. One that was received, or deleted, before is no error.
func (s *Service) ReceiveChatMessage(ctx context.Context, sender *store.Account, recipient store.AccountID, in IncomingChatMessage) error {
	content := text.Sanitize(in.Content)
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
		m.Emojis = &store.JSON[[]store.RemoteEmoji]{V: in.Emojis}
		if in.Attachment != nil {
			in.Attachment.AccountID = sender.ID
			if err := tx.AddMedia(ctx, in.Attachment); err != nil {
				return err
			}
		}
		_, err = addChatMessage(ctx, tx, sender, to, m, in.Attachment)
		return err
	})
}

// ReceiveChatMessageDelete deletes a message of author's, who lives elsewhere. One that is not there is no error.
func (s *Service) ReceiveChatMessageDelete(ctx context.Context, author *store.Account, uri string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		m, err := tx.ChatMessageByURI(ctx, uri)
		if err != nil {
			return ignoreNotFound(err)
		}
		if m.AccountID != author.ID {
			return errs.ErrRecordNotFound
		}
		return tx.DeleteChatMessage(ctx, m)
	})
}

// addChatMessage stores a message and puts it into the chats of both sides, as far as they live here: read by who wrote it, unread by the
// recipient, who is told. It returns what the author has of it, nil if the author lives elsewhere.
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

// addToRecipientChat puts a message into the recipient's chat. The streams of somebody who mutes the author do not hear of it: the chat is
// in no list either.
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

// checkAcceptsChatMessage refuses a message to who is gone, accepts none, or is kept apart from the author by a block of either. A person may
// always write to themselves.
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
