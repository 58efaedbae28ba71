package web

import (
	"cmp"
	"html/template"
	"strings"
	"time"
)

// NotificationGroup is a group of notifications.
type NotificationGroup struct {
	Key        string    `json:"group_key"`
	Count      int       `json:"notifications_count"`
	Type       string    `json:"type"`
	NewestID   int64     `json:"most_recent_notification_id"`
	At         time.Time `json:"latest_page_notification_at"`
	AccountIDs []string  `json:"sample_account_ids"`
	StatusID   string    `json:"status_id"`
	Emoji      string    `json:"emoji"`
	EmojiURL   string    `json:"emoji_url"`
	Target     *Account  `json:"target"` // of a move
	Report     *struct {
		ID      string  `json:"id"`
		Account Account `json:"account"`
	} `json:"report"`
	Message *ChatMessage `json:"chat_message"`
	Svc     struct {
		Seen bool `json:"is_seen"`
	} `json:"svc"`

	Kind     string        `json:"-"` // the type as a key of the messages
	Link     string        `json:"-"` // key of the text that leads to Page
	Page     string        `json:"-"` // where the viewer answers it; "": nowhere
	Accounts []*Account    `json:"-"`
	Post     template.HTML `json:"-"` // of another account; "": none
	Own      *Status       `json:"-"` // the viewer's post, which is shown as an excerpt; nil: it is about none
}

// noticeIcons are the icons of kinds of notifications, by the first word of the kind.
var noticeIcons = map[string]string{
	"mention": "reply", "follow": "person", "reblog": "boost", "favourite": "star", "poll": "list", "move": "person", "status": "bell", "update": "pen",
	"quote": "chat", "quoted": "pen", "pending": "lock", "collection": "people", "added": "people", "svc:report": "shield", "admin": "person",
}

// Icon returns the name of the icon of the notifications.
func (g *NotificationGroup) Icon() string {
	word, _, _ := strings.Cut(g.Kind, "_")
	return cmp.Or(noticeIcons[word], "bell")
}

// Form returns which form of the text about the accounts is right.
func (g *NotificationGroup) Form() string {
	if g.Count == 1 {
		return "one"
	}
	return "other"
}

// Faces returns the accounts whose avatars are shown.
func (g *NotificationGroup) Faces() []*Account { return g.Accounts[:min(3, len(g.Accounts))] }

// Others returns how many accounts are not named.
func (g *NotificationGroup) Others() int { return g.Count - len(g.Named()) }

// Named returns the accounts that are named.
func (g *NotificationGroup) Named() []*Account { return g.Accounts[:min(2, len(g.Accounts))] }

// NotificationPolicy counts what the viewer's policy holds back.
type NotificationPolicy struct {
	Summary struct {
		Requests      int `json:"pending_requests_count"`
		Notifications int `json:"pending_notifications_count"`
	} `json:"summary"`
}

// Notifications are the viewer's notifications.
type Notifications struct {
	Path         string
	Tabs         []Tab
	Policy       NotificationPolicy
	Groups       []NotificationGroup
	Newer, Older string
}

// ClearNotifications asks before all notifications are deleted.
type ClearNotifications struct{}

// Accounts is a list of accounts.
type Accounts struct {
	Title        string // key of the messages
	Back         string // URL
	Accounts     []Account
	Newer, Older string
}

// NotificationRequest are notifications of an account that were held back.
type NotificationRequest struct {
	ID      string  `json:"id"`
	Count   string  `json:"notifications_count"`
	Account Account `json:"account"`
}

// NotificationRequests are the accounts whose notifications were held back.
type NotificationRequests struct {
	Requests     []NotificationRequest
	Newer, Older string
}

// NotificationRequestPage has the notifications of one such account.
type NotificationRequestPage struct {
	Request      *NotificationRequest
	Groups       []NotificationGroup
	Newer, Older string
}

// InteractionRequest is a reply, favourite or boost that waits for the viewer's approval.
type InteractionRequest struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"` // favourite, reply, reblog
	CreatedAt time.Time `json:"created_at"`
	Account   Account   `json:"account"`
	Status    *Status   `json:"status"`
	Reply     *Status   `json:"reply"`
}

// InteractionRequests are those that wait.
type InteractionRequests struct {
	Requests     []InteractionRequest
	Newer, Older string
}

func (Notifications) Name() string           { return "notifications" }
func (ClearNotifications) Name() string      { return "notifications_clear" }
func (Accounts) Name() string                { return "accounts" }
func (NotificationRequests) Name() string    { return "notification_requests" }
func (NotificationRequestPage) Name() string { return "notification_request" }
func (InteractionRequests) Name() string     { return "interaction_requests" }
