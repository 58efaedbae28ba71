package federation

import (
	"context"
	"slices"
	"unicode/utf8"

	"svc/federation/inbox"
	"svc/federation/remote"
	"svc/internal/activity"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

const maxChatMessage = 100_000 // characters (federation 4.3)

// receiveChatMessage stores a chat message for its only recipient, a local account.
func (r *Receiver) receiveChatMessage(ctx context.Context, in *inbox.Activity, object activity.Object) error {
	id := object.ID()
	if !activity.SameHost(id, in.Actor.URI, r.Settings.AllowLoopback) {
		return remote.Refuse("id is on another host than the actor")
	}
	for _, key := range []string{"attributedTo", "actor"} {
		if by := object.Ref(key); by != "" && by != in.Actor.URI {
			return remote.Refuse("chat message is attributed to %s", by)
		}
	}
	to, err := r.chatRecipient(ctx, in, object)
	if err != nil {
		return err
	}
	content, _ := object.TextAndLanguage("content")
	if utf8.RuneCountInString(content) > maxChatMessage {
		return remote.Refuse("chat message is too long")
	}
	m := social.IncomingChatMessage{
		URI: id, Content: text.Sanitize(content), CreatedAt: r.activityTime(in, "published").Time(), Emojis: r.reader.ParseEmojis(object), Attachment: r.chatAttachment(object),
	}
	if err := r.applyPoliciesToMessage(ctx, in.Actor, to, &m); err != nil {
		return err
	}
	return r.social.ReceiveChatMessage(ctx, in.Actor, to.ID, m)
}

// chatRecipient returns the recipient of a chat message: the only one, named by both the message and the activity.
func (r *Receiver) chatRecipient(ctx context.Context, in *inbox.Activity, object activity.Object) (*store.Account, error) {
	to := object.Refs("to", 2)
	for _, more := range in.Refs("to", 2) {
		if !slices.Contains(to, more) {
			to = append(to, more)
		}
	}
	if len(to) != 1 || len(object.Refs("cc", 1))+len(in.Refs("cc", 1)) > 0 {
		return nil, remote.Refuse("chat message does not have exactly one recipient")
	}
	account, err := r.local.localAccount(ctx, to[0])
	if err == nil && account == nil {
		err = remote.Refuse("recipient is not a local account")
	}
	return account, err
}

// deleteChatMessage deletes a chat message of an actor, and returns false if there is none with that id.
func (r *Receiver) deleteChatMessage(ctx context.Context, actor *store.Account, uri string) (bool, error) {
	known, err := r.db.ChatMessageKnown(ctx, uri)
	if err != nil || !known {
		return false, err
	}
	return true, r.social.ReceiveChatMessageDelete(ctx, actor, uri)
}

// chatAttachment returns the attachment of a message, nil if it has no valid one.
func (r *Receiver) chatAttachment(object activity.Object) *store.Media {
	for _, a := range object.Objects("attachment", remote.MaxAttachments) {
		if file, _ := r.reader.ParseAttachment(a); file != nil {
			return file
		}
	}
	return nil
}
