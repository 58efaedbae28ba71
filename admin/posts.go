package admin

import (
	"context"
	"errors"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Post is a status as commands show it.
type Post struct {
	ID         string    `json:"id"`
	URI        string    `json:"uri"`
	Account    string    `json:"account"`
	CreatedAt  time.Time `json:"created_at"`
	Visibility string    `json:"visibility"`
	Sensitive  bool      `json:"sensitive"`
	ReblogOf   string    `json:"reblog_of,omitempty"` // the id of the boosted post
	Spoiler    string    `json:"spoiler_text"`
	Text       string    `json:"text"` // without markup
}

// PostList is a page of posts, newest first.
type PostList struct {
	Total int     `json:"total,omitempty"` // of one account or instance: on all pages, up to 100 000
	Posts []*Post `json:"posts"`
}

// Posts is Statuses for commands.
func (s *Service) Posts(ctx context.Context, q StatusQuery) (*PostList, error) {
	page, err := s.Statuses(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.Statuses(ctx, page.IDs)
	if err != nil {
		return nil, err
	}
	posts, err := s.describePosts(ctx, rows)
	return &PostList{page.Total, posts}, err
}

// ShowPost is ShowStatus for commands.
func (s *Service) ShowPost(ctx context.Context, id string) (*Post, error) {
	st, err := s.ShowStatus(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.post(ctx, st)
}

// UpdatePost is UpdateStatus for commands.
func (s *Service) UpdatePost(ctx context.Context, c StatusChange) (*Post, error) {
	st, err := s.UpdateStatus(ctx, c)
	if err != nil {
		return nil, err
	}
	return s.post(ctx, st)
}

// DeletePost is DeleteStatus for commands.
func (s *Service) DeletePost(ctx context.Context, id string) (*Post, error) {
	st, err := s.DeleteStatus(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.post(ctx, st)
}

func (s *Service) post(ctx context.Context, st *store.Status) (*Post, error) {
	list, err := s.describePosts(ctx, []*store.Status{st})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (s *Service) describePosts(ctx context.Context, rows []*store.Status) ([]*Post, error) {
	authors := make([]store.AccountID, len(rows))
	for i, st := range rows {
		authors[i] = st.AccountID
	}
	names, err := s.names(ctx, authors)
	list := make([]*Post, len(rows))
	for i, st := range rows {
		list[i] = &Post{
			ID: st.ID.String(), URI: st.URI, Account: names[st.AccountID], CreatedAt: st.CreatedAt.Time(), Visibility: st.Visibility.String(),
			Sensitive: st.Sensitive, Spoiler: st.SpoilerText, Text: text.HTMLToText(st.Content),
		}
		if st.ReblogOfID != nil {
			list[i].ReblogOf = st.ReblogOfID.String()
		}
	}
	return list, err
}

// names returns the handles of accounts.
func (s *Service) names(ctx context.Context, ids []store.AccountID) (map[store.AccountID]string, error) {
	accounts, err := s.db.Accounts(ctx, ids)
	names := make(map[store.AccountID]string, len(accounts))
	for _, a := range accounts {
		names[a.ID] = a.Acct()
	}
	return names, err
}

// Chat is one side of a chat as commands show it.
type Chat struct {
	ID        string    `json:"id"`
	Account   string    `json:"account"` // whose side it is
	With      string    `json:"with"`
	Unread    int       `json:"unread"`
	UpdatedAt time.Time `json:"updated_at"`
}

// ListChats is ChatsOf for commands.
func (s *Service) ListChats(ctx context.Context, name string) ([]*Chat, error) {
	owner, chats, err := s.ChatsOf(ctx, name)
	if err != nil {
		return nil, err
	}
	others := make([]store.AccountID, len(chats))
	for i, c := range chats {
		others[i] = c.OtherID
	}
	names, err := s.names(ctx, others)
	list := make([]*Chat, len(chats))
	for i, c := range chats {
		list[i] = &Chat{c.ID.String(), owner.Acct(), names[c.OtherID], c.Unread, c.UpdatedAt.Time()}
	}
	return list, err
}

// ChatQuery selects messages of a chat.
type ChatQuery struct {
	Chat   string `json:"chat"`
	Before string `json:"before"` // the id of a message: only older ones; "": the newest
	Limit  int    `json:"limit"`
}

// Message is a message of a chat as commands show it.
type Message struct {
	ID        string    `json:"id"`
	Account   string    `json:"account"`
	CreatedAt time.Time `json:"created_at"`
	Text      string    `json:"text"` // without markup
}

// maxMessages bounds the messages of one answer.
const maxMessages = 200

// Messages is ChatMessages for commands: the newest first.
func (s *Service) Messages(ctx context.Context, q ChatQuery) ([]*Message, error) {
	page := store.Page{Limit: min(max(q.Limit, 1), maxMessages)}
	if q.Before != "" {
		page.MaxID = int64(store.ParseID[store.ChatMessageID](q.Before))
	}
	rows, err := s.ChatMessages(ctx, q.Chat, page)
	if err != nil {
		return nil, err
	}
	authors := make([]store.AccountID, len(rows))
	for i, m := range rows {
		authors[i] = m.AuthorID
	}
	names, err := s.names(ctx, authors)
	list := make([]*Message, len(rows))
	for i, m := range rows {
		list[i] = &Message{m.ID.String(), names[m.AuthorID], m.CreatedAt.Time(), text.HTMLToText(m.Content)}
	}
	return list, err
}

// MessageName names a message of a chat.
type MessageName struct {
	Chat    string `json:"chat"`
	Message string `json:"message"`
}

// DeleteMessage is DeleteChatMessage for commands.
func (s *Service) DeleteMessage(ctx context.Context, n MessageName) (struct{}, error) {
	e, err := s.ChatMessage(ctx, n.Chat, n.Message)
	if errors.Is(err, ErrNoMessage) {
		return struct{}{}, errs.NotFound("There is no message %q in a chat %q", n.Message, n.Chat)
	}
	if err != nil {
		return struct{}{}, err
	}
	return struct{}{}, s.DeleteChatMessage(ctx, e.MessageID)
}
