package federation

import (
	"context"
	"slices"
	"unicode/utf8"

	"svc/internal/activity"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

const maxMessage = 100_000 // characters (federation 4.3)

// chatMessage puts a message by an actor into the chat of somebody here, the only one that it is for.
func (s *Service) chatMessage(ctx context.Context, in *incoming, object activity.Object) error {
	id := object.ID()
	if !activity.SameHost(id, in.actor.URI, s.Trial) {
		return refuse("its id is of another host than its actor")
	}
	for _, key := range []string{"attributedTo", "actor"} {
		if by := object.Ref(key); by != "" && by != in.actor.URI {
			return refuse("it is a message of %s", by)
		}
	}
	to, err := s.messageFor(ctx, in, object)
	if err != nil {
		return err
	}
	content, _ := object.Language("content")
	if utf8.RuneCountInString(content) > maxMessage {
		return refuse("it is too long")
	}
	m := social.IncomingMessage{
		URI: id, Content: text.Sanitize(content), CreatedAt: s.timeOf(in, "published").Time(), Emojis: s.emojisIn(object), Attachment: s.attachedTo(object),
	}
	if err := s.reviewMessage(ctx, in.actor, to, &m); err != nil {
		return err
	}
	return s.social.ReceiveChatMessage(ctx, in.actor, to.ID, m)
}

// messageFor returns whom a message is for: one person, whom it and the activity name alike.
func (s *Service) messageFor(ctx context.Context, in *incoming, object activity.Object) (*store.Account, error) {
	to := object.Refs("to", 2)
	for _, more := range in.Refs("to", 2) {
		if !slices.Contains(to, more) {
			to = append(to, more)
		}
	}
	if len(to) != 1 || len(object.Refs("cc", 1))+len(in.Refs("cc", 1)) > 0 {
		return nil, refuse("it is not for one person")
	}
	account, err := s.accountHere(ctx, to[0])
	if err == nil && account == nil {
		err = refuse("it is for nobody here")
	}
	return account, err
}

// retractMessage deletes a message of an actor, and tells whether there is one of that id.
func (s *Service) retractMessage(ctx context.Context, actor *store.Account, uri string) (bool, error) {
	known, err := s.db.KnowsChatMessage(ctx, uri)
	if err != nil || !known {
		return false, err
	}
	return true, s.social.RetractChatMessage(ctx, actor, uri)
}

// attachedTo returns the one attachment of a message, nil if it has none that could be shown.
func (s *Service) attachedTo(object activity.Object) *store.Media {
	for _, a := range object.Objects("attachment", maxNoteMedia) {
		if file, _ := s.attached(a); file != nil {
			return file
		}
	}
	return nil
}
