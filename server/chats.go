package server

import (
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// chats serves chats and their messages (extension API 11).
type chats struct{ *parts }

func (h *chats) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/svc/chats/by-account-id/:id":             {rest.User("write:chats").Written().Answers("Chat"), h.openChat},
		"GET /api/v1/svc/chats":                                {rest.User("read:chats").Answers("[]Chat"), h.listAllChats},
		"GET /api/v2/svc/chats":                                {rest.User("read:chats").Answers("[]Chat"), h.listChats},
		"GET /api/v1/svc/chats/:id":                            {rest.User("read:chats").Answers("Chat"), h.showChat},
		"POST /api/v1/svc/chats/:id/read":                      {rest.User("write:chats").Written().Answers("Chat"), h.readChat},
		"GET /api/v1/svc/chats/:id/messages":                   {rest.User("read:chats").Answers("[]ChatMessage"), h.listChatMessages},
		"POST /api/v1/svc/chats/:id/messages":                  {rest.User("write:chats").Limit("status_actions").Written().Answers("ChatMessage"), h.sendChatMessage},
		"DELETE /api/v1/svc/chats/:id/messages/:message_id":    {rest.User("write:chats").Limit("status_actions").Answers("ChatMessage"), h.deleteChatMessage},
		"POST /api/v1/svc/chats/:id/messages/:message_id/read": {rest.User("write:chats").Answers("ChatMessage"), h.readChatMessage},
	}
}

// openChat returns the viewer's chat with an account, and creates it if necessary.
func (h *chats) openChat(r *rest.Request) (any, error) {
	c, err := h.Social.OpenChat(r.Context(), r.Viewer, accountParam(r))
	if err != nil {
		return nil, err
	}
	return h.renderChat(r, c.ID)
}

// renderChat renders a chat for an answer to a write, without messages that the token may not read.
func (h *chats) renderChat(r *rest.Request, id store.ChatID) (any, error) {
	c, err := h.Entities.Chat(r.Context(), r.Viewer, id)
	if err != nil {
		return nil, err
	}
	if !r.MayRead("read:chats") {
		c.LastMessage = nil
	}
	return c, nil
}

// maxUnpagedChats bounds version 1 of the list of chats, which has no pages.
const maxUnpagedChats = 500

// listAllChats returns the viewer's chats without pages.
func (h *chats) listAllChats(r *rest.Request) (any, error) {
	return h.chatPage(r, r.Page(maxUnpagedChats, maxUnpagedChats))
}

// listChats returns the viewer's chats, the most recently updated first.
func (h *chats) listChats(r *rest.Request) (any, error) { return h.chatPage(r, r.Page(20)) }

func (h *chats) chatPage(r *rest.Request, page rest.Page) (any, error) {
	var p struct {
		WithMuted bool `param:"with_muted"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	part, err := h.DB.Chats(r.Context(), r.Viewer.ID, p.WithMuted, page.Page)
	if err != nil {
		return nil, err
	}
	rows := part.Rows
	// The cursor is the time of the last message, so that a chat that moves to the top while a client pages does not hide others.
	show := func(rows []*store.ChatSummary) ([]*entity.Chat, error) {
		return h.Entities.Chats(r.Context(), r.Viewer, rows)
	}
	return rest.List(r, page, rows, func(i int) string { return rows[i].Position.String() }, flakeCursor(part.Next), show)
}

func chatParam(r *rest.Request) store.ChatID { return store.ParseID[store.ChatID](r.Param("id")) }

func chatMessageParam(r *rest.Request) store.ChatMessageID {
	return store.ParseID[store.ChatMessageID](r.Param("message_id"))
}

// showChat returns one of the viewer's chats.
func (h *chats) showChat(r *rest.Request) (any, error) {
	return h.Entities.Chat(r.Context(), r.Viewer, chatParam(r))
}

// readChat marks the messages up to last_read_id as read.
func (h *chats) readChat(r *rest.Request) (any, error) {
	var p struct {
		LastReadID string `param:"last_read_id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.LastReadID == "" {
		return nil, errs.BadRequest("Missing field: last_read_id.")
	}
	upTo, ok := store.ParsePosition(p.LastReadID)
	if !ok {
		return nil, errs.BadRequest("last_read_id - Invalid value.")
	}
	if err := h.Social.ReadChat(r.Context(), r.Viewer, chatParam(r), store.ChatMessageID(upTo)); err != nil {
		return nil, err
	}
	return h.renderChat(r, chatParam(r))
}

// listChatMessages returns the messages of a chat, the newest first.
func (h *chats) listChatMessages(r *rest.Request) (any, error) {
	c, err := h.DB.VisibleChat(r.Context(), r.Viewer.ID, chatParam(r))
	if err != nil {
		return nil, err
	}
	page := r.Page(20)
	rows, err := h.DB.ChatEntries(r.Context(), c.ID, page.Page)
	if err != nil {
		return nil, err
	}
	show := func(rows []*store.ChatEntry) ([]*entity.ChatMessage, error) {
		return h.Entities.ChatMessages(r.Context(), r.Viewer, rows)
	}
	return rest.List(r, page, rows, func(i int) string { return rows[i].ID.String() }, "", show)
}

// sendChatMessage sends a message to the other side of a chat.
func (h *chats) sendChatMessage(r *rest.Request) (any, error) {
	var p struct {
		Content string         `param:"content"`
		MediaID *store.MediaID `param:"media_id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	e, err := h.Social.SendChatMessage(r.Context(), r.Viewer, chatParam(r), social.ChatMessageDraft{
		Text: p.Content, MediaID: p.MediaID, IdempotencyKey: r.Header.Get("Idempotency-Key"),
	})
	if err != nil {
		return nil, err
	}
	return h.Entities.ChatMessage(r.Context(), r.Viewer, e)
}

// deleteChatMessage deletes a message from a chat and returns it. A message that does not exist is a 400 (extension API 11.1).
func (h *chats) deleteChatMessage(r *rest.Request) (any, error) {
	e, err := h.DB.ChatEntry(r.Context(), r.Viewer.ID, chatParam(r), chatMessageParam(r))
	if err != nil {
		return nil, couldNotDelete(err)
	}
	before, err := h.Entities.ChatMessage(r.Context(), r.Viewer, e)
	if err != nil {
		return nil, err
	}
	return before, couldNotDelete(h.Social.DeleteChatMessage(r.Context(), r.Viewer, e.ChatID, e.ID))
}

func couldNotDelete(err error) error {
	if errs.IsNotFound(err) {
		return errs.BadRequest("could_not_delete")
	}
	return err
}

// readChatMessage marks one message of a chat as read.
func (h *chats) readChatMessage(r *rest.Request) (any, error) {
	e, err := h.Social.ReadChatMessage(r.Context(), r.Viewer, chatParam(r), chatMessageParam(r))
	if err != nil {
		return nil, err
	}
	return h.Entities.ChatMessage(r.Context(), r.Viewer, e)
}
