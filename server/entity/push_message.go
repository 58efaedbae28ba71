package entity

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"svc/internal/text"
	"svc/store"
)

// pushMessage is the content of a push message. Apps expect the id of the notification as a number.
type pushMessage struct {
	AccessToken      string `json:"access_token"`
	PreferredLocale  string `json:"preferred_locale"`
	NotificationID   int64  `json:"notification_id"`
	NotificationType string `json:"notification_type"`
	Icon             string `json:"icon"`
	Title            string `json:"title,omitempty"`
	Body             string `json:"body"`
}

type pushExtension struct {
	ActivityID           *store.StatusID `json:"activity_id"`
	DirectConversationID json.RawMessage `json:"direct_conversation_id"`
}

// maxPushChars is how much of a status a push message contains (extension API 25).
const maxPushChars = 140

// PushMessage renders the push message of a notification in at most limit bytes. accessToken is the recipient's, with which the app
// requests more. For users who hide contents, the message names neither the account nor the text.
func (b *Builder) PushMessage(ctx context.Context, viewer *store.Account, user *store.User, n *store.Notification, accessToken string, limit int) ([]byte, error) {
	from, err := b.db.Account(ctx, n.FromID)
	if err != nil {
		return nil, err
	}
	m := pushMessage{
		AccessToken:      accessToken,
		PreferredLocale:  user.Locale,
		NotificationID:   int64(n.ID),
		NotificationType: b.NotificationType(n.Type),
		Icon:             b.pushIcon(from),
	}
	if m.PreferredLocale == "" {
		m.PreferredLocale = "en"
	}
	x := pushExtension{ActivityID: n.StatusID, DirectConversationID: json.RawMessage("null")}
	var about pushSubject
	if n.StatusID != nil {
		if about.Status, err = b.db.Status(ctx, *n.StatusID); err != nil {
			return nil, err
		}
		if about.entity, err = b.Status(ctx, viewer, *n.StatusID); err != nil {
			return nil, err
		}
		x.DirectConversationID = about.entity.appendDirectConversation(nil)
	}
	messages, err := b.loadMessages(ctx, viewer, []*store.Notification{n})
	if err != nil {
		return nil, err
	}
	if n.MessageID != nil {
		about.message = messages[*n.MessageID]
	}
	m.Title, m.Body = pushTexts(n, from, about)
	if user.HideNotificationContents {
		m.Title, m.Body, m.Icon = "", m.Title, b.Settings.BaseURL+standardAvatar
	}
	for {
		o, err := b.extended(m, x)
		if err != nil || len(o) <= limit || m.Body == "" {
			return o, err
		}
		m.Body = strings.ToValidUTF8(m.Body[:len(m.Body)/2], "")
	}
}

// pushIcon returns the URL of an account's avatar, always on this server, because some apps take from it which server sent the
// message.
func (r *renderer) pushIcon(a *store.Account) string {
	if icon := r.Avatar(a); strings.HasPrefix(icon, r.Settings.BaseURL+"/") {
		return icon
	}
	return r.Settings.BaseURL + standardAvatar
}

// pushSubject is the status or the chat message of a notification.
type pushSubject struct {
	*store.Status
	entity  *Status
	message *ChatMessage
}

// excerpt returns the beginning of the status, or of its subject if it has one.
func (s pushSubject) excerpt() string {
	if s.SpoilerText != "" {
		return text.Truncate(s.SpoilerText, maxPushChars)
	}
	content := s.Content
	if s.QuoteOfID != nil {
		content, _, _ = strings.Cut(content, `<span class="quote-inline">`) // the link to the quoted status
	}
	if short := text.Truncate(text.HTMLToText(content), maxPushChars); short != "" {
		return short
	}
	return "(Attachment)"
}

// messageExcerpt returns the beginning of the message.
func (s pushSubject) messageExcerpt() string {
	if s.message == nil || s.message.Content == nil {
		return "(Attachment)"
	}
	return text.Truncate(text.HTMLToText(*s.message.Content), maxPushChars)
}

// options returns what can be voted for, a line each.
func (s pushSubject) options() string {
	var lines strings.Builder
	if s.entity.poll != nil {
		for _, title := range s.entity.poll.titles {
			lines.WriteString("\n○ " + text.Truncate(title, maxPushChars))
		}
	}
	return lines.String()
}

// pushTexts returns the title and the text of a push message (extension API 25).
func pushTexts(n *store.Notification, from *store.Account, about pushSubject) (title, body string) {
	kind := n.Type.Kind()
	if title = kind.Title; about.Status != nil && about.Visibility == store.Direct && kind.DirectTitle != "" {
		title = kind.DirectTitle
	}
	values := map[string]func() string{
		"account": func() string { return "@" + from.Acct() }, "post": about.excerpt, "message": about.messageExcerpt, "options": about.options,
		"emoji": func() string { return store.ReactionText(n.Detail) },
	}
	return title, pushName.ReplaceAllStringFunc(kind.Body, func(name string) string { return values[strings.Trim(name, "{}")]() })
}

// pushName matches a name in the text of a push message.
var pushName = regexp.MustCompile(`\{\w+\}`)
