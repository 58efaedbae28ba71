package staff

import (
	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// chatRoutes show chats, and delete messages.
func (h *Handlers) chatRoutes() rest.Routes {
	read := rest.Privileged(config.MessagesRead, "admin:read:chats")
	return rest.Routes{
		"GET /api/v1/svc/admin/users/:nickname/chats":   {read.Answers("[]AdminChat"), h.listChats},
		"GET /api/v1/svc/admin/chats/:chat_id":          {read.Answers("AdminChat"), h.showChat},
		"GET /api/v1/svc/admin/chats/:chat_id/messages": {read.Answers("[]ChatMessage"), h.listChatMessages},
		"DELETE /api/v1/svc/admin/chats/:chat_id/messages/:message_id": {
			rest.Privileged(config.MessagesDelete, "admin:write:chats").Answers("ChatMessage"), h.deleteChatMessage},
	}
}

// listChats lists the chats of an account, the latest message first.
func (h *Handlers) listChats(r *rest.Request) (any, error) {
	_, chats, err := h.as(r).ChatsOf(r.Context(), r.Param("nickname"))
	if err != nil {
		return nil, notFound(err)
	}
	list, _, err := rest.Fit(r, chats, false, func(chats []*store.ChatSummary) ([]*entity.AdminChat, error) {
		return h.Entities.AdminChats(r.Context(), r.Viewer, chats)
	})
	return list, err
}

// showChat returns a chat of any accounts.
func (h *Handlers) showChat(r *rest.Request) (any, error) {
	c, err := h.as(r).ShowChat(r.Context(), r.Param("chat_id"))
	if err != nil {
		return nil, notFound(err)
	}
	chats, err := h.Entities.AdminChats(r.Context(), r.Viewer, []*store.ChatSummary{c})
	if err != nil {
		return nil, err
	}
	return chats[0], nil
}

// errNoChat has the text that admin API 9.5 names.
var errNoChat = errs.NotFound("not found")

// listChatMessages lists the messages of a chat, the newest first.
func (h *Handlers) listChatMessages(r *rest.Request) (any, error) {
	page := r.Page(20)
	rows, err := h.as(r).ChatMessages(r.Context(), r.Param("chat_id"), page.Page)
	if errs.IsNotFound(err) {
		err = errNoChat
	}
	if err != nil {
		return nil, err
	}
	show := func(rows []*store.ChatEntry) ([]*entity.ChatMessage, error) {
		return h.Entities.ChatMessages(r.Context(), nil, rows)
	}
	return rest.List(r, page, rows, func(i int) string { return rows[i].ID.String() }, "", show)
}

// deleteChatMessage deletes a message for both sides, and returns it as it was.
func (h *Handlers) deleteChatMessage(r *rest.Request) (any, error) {
	e, err := h.Admin.ChatMessage(r.Context(), r.Param("chat_id"), r.Param("message_id"))
	if err != nil {
		return nil, err
	}
	before, err := h.Entities.ChatMessages(r.Context(), nil, []*store.ChatEntry{e})
	if err != nil {
		return nil, err
	}
	return before[0], h.as(r).DeleteChatMessage(r.Context(), e.MessageID)
}
