package web

import (
	"html/template"
	"time"
)

// DirectConversation are direct messages among the same accounts.
type DirectConversation struct {
	ID       string    `json:"id"`
	Unread   bool      `json:"unread"`
	Accounts []Account `json:"accounts"`
	Last     *Status   `json:"last_status"`
}

// DirectConversations are the viewer's.
type DirectConversations struct {
	Conversations []DirectConversation
	Newer, Older  string
}

// Chat is a chat with another account.
type Chat struct {
	ID          string       `json:"id"`
	Account     Account      `json:"account"`
	Unread      int          `json:"unread"`
	LastMessage *ChatMessage `json:"last_message"`
	UpdatedAt   time.Time    `json:"updated_at"`
}

// ChatMessage is a message of a chat.
type ChatMessage struct {
	ID         string    `json:"id"`
	ChatID     string    `json:"chat_id"`
	AccountID  string    `json:"account_id"`
	Content    string    `json:"content"` // HTML
	CreatedAt  time.Time `json:"created_at"`
	Emojis     []Emoji   `json:"emojis"`
	Attachment *Media    `json:"attachment"`
}

// HTML returns the text with custom emojis.
func (m *ChatMessage) HTML() template.HTML { return content(m.Content, m.Emojis, nil, "") }

// Attachments returns the attachment as posts have them.
func (m *ChatMessage) Attachments() []Media {
	if m.Attachment == nil {
		return nil
	}
	return []Media{*m.Attachment}
}

// Chats are the viewer's chats.
type Chats struct {
	Chats        []Chat
	Entered      string // the handle for a new chat
	Error        string
	Newer, Older string
}

// ChatPage is a chat with its messages, the newest last.
type ChatPage struct {
	Chat          *Chat
	Messages      []ChatMessage
	Text          string // as entered before
	Error         string
	Once          string // keeps a form that is sent twice from sending twice
	MaxCharacters int
	Newer, Older  string
}

func (DirectConversations) Name() string { return "conversations" }
func (Chats) Name() string               { return "chats" }
func (ChatPage) Name() string            { return "chat" }
