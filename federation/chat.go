package federation

import (
	"context"
	"mime"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"svc/internal/activity"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

const (
	maxMessage     = 100_000 // characters (federation 4.3)
	maxDescription = 5000    // characters of what is said of an attachment; the rest is cut off
)

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
	m := social.IncomingMessage{URI: id, Content: content, CreatedAt: s.timeOf(in, "published").Time()}
	if media := attachmentsOf(object, s.Trial); len(media) > 0 {
		m.Attachment = media[0]
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

// attachmentsOf returns what is attached to an object: each with an address, which may be text, a link, or a list of links.
func attachmentsOf(o activity.Object, trial bool) []*store.Media {
	const most = 100
	var list []*store.Media
	for _, a := range o.Objects("attachment", most) {
		address, kind := linkOf(a, "url")
		if address == "" {
			address = a.Text("href")
		}
		if _, err := activity.Host(address, trial); err != nil {
			continue
		}
		for _, key := range []string{"mediaType", "mimeType"} {
			if t := a.Text(key); t != "" {
				kind = t
			}
		}
		m := &store.Media{RemoteURL: address, Type: "unknown"}
		m.Mime, m.Type = mediaKind(kind, a.Type(), address)
		for _, key := range []string{"name", "summary", "content"} {
			if m.Description == "" {
				m.Description = text.Truncate(text.Plain(a.Text(key)), maxDescription)
			}
		}
		list = append(list, m)
	}
	return list
}

// linkOf returns the address under a key, and its media type if that is told there.
func linkOf(o activity.Object, key string) (address, kind string) {
	if link := o.Object(key); link != nil {
		return link.Text("href"), link.Text("mediaType")
	}
	return o.Text(key), ""
}

// mediaKind returns the media type of an attachment and what that is here: by what is said, or else by its type or its name.
func mediaKind(said, kind, address string) (mediaType, is string) {
	mediaType, _, err := mime.ParseMediaType(said)
	if err != nil {
		name, _, _ := strings.Cut(address, "?")
		mediaType, _, _ = mime.ParseMediaType(mime.TypeByExtension(path.Ext(name)))
	}
	for _, is := range []string{"image", "video", "audio"} {
		if strings.HasPrefix(mediaType, is+"/") {
			return mediaType, is
		}
		if mediaType == "" && strings.EqualFold(kind, is) {
			return "application/octet-stream", is
		}
	}
	if mediaType == "" {
		mediaType = "application/octet-stream"
	}
	return mediaType, "unknown"
}
