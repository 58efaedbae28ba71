package pages

import (
	"net/http"
	"net/url"
	"slices"

	"svc/internal/keys"
	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) messageRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/conversations":           {rest.SignedIn, h.page((*page).conversations)},
		"POST /web/conversations/:id/open": {rest.SignedIn, h.page((*page).openConversation)},
		"GET /web/chats":                   {rest.SignedIn, h.page((*page).chats)},
		"POST /web/chats":                  {rest.SignedIn, h.page((*page).startChat)},
		"GET /web/chats/:id":               {rest.SignedIn, h.page((*page).chat)},
		"POST /web/chats/:id":              {rest.SignedIn.Uploads(), h.page((*page).sendChatMessage)},
	}
}

// conversations shows the viewer's direct messages by conversation.
func (p *page) conversations() (any, error) {
	var content web.DirectConversations
	a, err := p.list("/api/v1/conversations", p.cursors(postsPerPage), &content.Conversations)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

// openConversation marks a conversation as read and leads to its last post.
func (p *page) openConversation() (any, error) {
	var c web.DirectConversation
	a, err := p.Call(http.MethodPost, "/api/v1/conversations/"+url.PathEscape(p.Param("id"))+"/read", nil)
	if err != nil {
		return nil, err
	}
	if err := p.decode(a.Value, &c); err != nil {
		return nil, err
	}
	if c.Last == nil {
		return nil, errNoPage
	}
	return rest.Redirect(p.postLink(c.Last)), nil
}

func (p *page) chats() (any, error) { return p.chatsPage(http.StatusOK, p.URL.Query().Get("to"), "") }

func (p *page) chatsPage(status int, handle, message string) (any, error) {
	content := web.Chats{Entered: handle, Error: message}
	a, err := p.list("/api/v2/svc/chats", p.cursors(postsPerPage), &content.Chats)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	return p.show(status, content)
}

// startChat opens the chat with the account of a handle.
func (p *page) startChat() (any, error) {
	handle := p.Query("acct")
	var to web.Account
	err := p.get("/api/v1/accounts/lookup", url.Values{"acct": {handle}}, &to)
	if err == nil {
		var c web.Chat
		var a *rest.Answer
		if a, err = p.Call(http.MethodPost, "/api/v1/svc/chats/by-account-id/"+to.ID, nil); err == nil {
			if err := p.decode(a.Value, &c); err != nil {
				return nil, err
			}
			return rest.Redirect("/web/chats/" + c.ID), nil
		}
	}
	e := forUser(err)
	switch {
	case e == nil:
		return nil, err
	case e.Status == http.StatusNotFound:
		return p.chatsPage(e.Status, handle, p.text("chats.nobody"))
	}
	return p.chatsPage(e.Status, handle, e.Message)
}

func chatPath(id string) string { return "/api/v1/svc/chats/" + url.PathEscape(id) }

// chat shows a chat. Its first page marks the messages as read.
func (p *page) chat() (any, error) { return p.chatPage(http.StatusOK, "", "") }

func (p *page) chatPage(status int, text, message string) (any, error) {
	content := web.ChatPage{Chat: new(web.Chat), Text: text, Error: message, Once: keys.NewToken(), MaxCharacters: p.Settings.Load().Chats.MaxLength}
	path := chatPath(p.Param("id"))
	if err := p.get(path, nil, content.Chat); err != nil {
		return nil, err
	}
	a, err := p.list(path+"/messages", p.cursors(postsPerPage), &content.Messages)
	if err != nil {
		return nil, err
	}
	content.Newer, content.Older = p.links(a)
	if content.Chat.Unread > 0 && content.Newer == "" && len(content.Messages) > 0 {
		if _, err := p.Call(http.MethodPost, path+"/read", url.Values{"last_read_id": {content.Messages[0].ID}}); err != nil {
			return nil, err
		}
		waiting := &p.frame.Viewer.Waiting
		waiting.Chats = max(0, waiting.Chats-1)
	}
	var media []*web.Media
	for _, m := range content.Messages {
		if m.Attachment != nil {
			media = append(media, m.Attachment)
		}
	}
	if err := p.measure(media); err != nil {
		return nil, err
	}
	slices.Reverse(content.Messages)
	return p.show(status, content)
}

// sendChatMessage sends a message, with a file if one was chosen.
func (p *page) sendChatMessage() (any, error) {
	var form struct {
		Content string       `param:"content"`
		File    *rest.Upload `param:"file"`
	}
	if err := p.Bind(&form); err != nil {
		return nil, err
	}
	message := url.Values{"content": {form.Content}}
	media, err := p.upload(form.File)
	if err == nil {
		if media != "" {
			message.Set("media_id", media)
		}
		p.Header.Set("Idempotency-Key", p.Query(onceParam))
		_, err = p.Call(http.MethodPost, chatPath(p.Param("id"))+"/messages", message)
	}
	if e := forUser(err); e != nil && e.Status != http.StatusNotFound {
		return p.chatPage(e.Status, form.Content, e.Message)
	}
	if err != nil {
		return nil, err
	}
	return p.leave("/web/chats/"+url.PathEscape(p.Param("id"))+"#last", "", ""), nil
}

// upload stores a file of the form and returns its id, "" if none was chosen.
func (p *page) upload(file *rest.Upload) (string, error) {
	if file == nil || file.Empty || file.Size == 0 {
		return "", nil
	}
	a, err := p.CallFile(http.MethodPost, "/api/v2/media", file)
	if err != nil {
		return "", err
	}
	var media web.Media
	err = p.decode(a.Value, &media)
	return media.ID, err
}
