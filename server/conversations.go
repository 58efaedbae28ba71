package server

import (
	"errors"
	"net/http"
	"slices"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// conversations serves the conversations of direct statuses (extension API 12).
type conversations struct{ *parts }

func (h *conversations) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/conversations":                  {rest.User("read:statuses").Answers("[]Conversation"), h.listConversations},
		"POST /api/v1/conversations/:id/read":        {rest.User("write:conversations").Answers("Conversation"), h.readConversation},
		"POST /api/v1/conversations/:id/unread":      {rest.User("write:conversations").Answers("Conversation"), h.unreadConversation},
		"DELETE /api/v1/conversations/:id":           {rest.User("write:conversations").Answers("empty"), operation(h.Social.DeleteConversation)},
		"GET /api/v1/svc/conversations/:id":          {rest.User("read:statuses").Answers("Conversation"), unavailable(h.showConversation)},
		"GET /api/v1/svc/conversations/:id/statuses": {rest.User("read:statuses").Answers("[]Status"), unavailable(h.conversationStatuses)},
		"PATCH /api/v1/svc/conversations/:id":        {rest.User("write:conversations").Answers("Conversation"), unavailable(h.setConversationRecipients)},
		"POST /api/v1/svc/conversations/read":        {rest.User("write:conversations").Answers("[]Conversation"), unavailable(h.readConversations)},
	}
}

// unavailable returns a handler that answers 503 where h fails unexpectedly, as the spec says of these endpoints (4.2).
func unavailable(h rest.Handler) rest.Handler {
	return func(r *rest.Request) (any, error) {
		value, err := h(r)
		var e *errs.Error
		if err == nil || errors.As(err, &e) || errors.Is(err, store.ErrReadBudget) {
			return value, err
		}
		if r.Context().Err() == nil { // else the client is gone, which may be the cause
			r.LogError(err)
		}
		return nil, errs.New(http.StatusServiceUnavailable, "Conversations are unavailable")
	}
}

// listConversations lists the viewer's conversations by their last statuses. With recipients it returns those with exactly these
// accounts and the viewer.
func (h *conversations) listConversations(r *rest.Request) (any, error) {
	var p struct {
		Recipients []store.AccountID `param:"recipients"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	var among store.AccountSet
	if len(p.Recipients) > 0 {
		among = store.NewAccountSet(append(p.Recipients, r.Viewer.ID)...)
	}
	page := r.Page(20, 40)
	part, err := h.DB.DirectConversations(r.Context(), r.Viewer.ID, among, page.Page)
	return h.conversationPage(r, page, part, err)
}

func (h *conversations) conversationPage(r *rest.Request, page rest.Page, part store.Part[*store.VisibleConversation], err error) (entity.List[*entity.Conversation], error) {
	if err != nil {
		return nil, err
	}
	rows := part.Rows
	show := func(rows []*store.VisibleConversation) (entity.List[*entity.Conversation], error) {
		return h.Entities.Conversations(r.Context(), r.Viewer, rows)
	}
	return rest.List(r, page, rows, func(i int) string { return rows[i].LastStatusID.String() }, flakeCursor(part.Next), show)
}

func conversationParam(r *rest.Request) store.DirectConversationID {
	return store.ParseID[store.DirectConversationID](r.Param("id"))
}

// renderConversation renders the result of an operation on a conversation.
func (h *conversations) renderConversation(r *rest.Request, row *store.VisibleConversation, err error) (*entity.Conversation, error) {
	if err != nil {
		return nil, err
	}
	return only(h.Entities.Conversations(r.Context(), r.Viewer, []*store.VisibleConversation{row}))
}

// readConversation marks a conversation as read.
func (h *conversations) readConversation(r *rest.Request) (any, error) {
	row, err := h.Social.ReadConversation(r.Context(), r.Viewer, conversationParam(r))
	return h.renderConversation(r, row, err)
}

// unreadConversation marks one of the viewer's conversations as unread.
func (h *conversations) unreadConversation(r *rest.Request) (any, error) {
	row, err := h.Social.UnreadConversation(r.Context(), r.Viewer, conversationParam(r))
	return h.renderConversation(r, row, err)
}

// conversationNotFound replaces a 404 by the error of the extension API.
func conversationNotFound(err error) error {
	if errs.IsNotFound(err) {
		return social.ErrUnknownConversation
	}
	return err
}

// showConversation returns one of the viewer's conversations.
func (h *conversations) showConversation(r *rest.Request) (any, error) {
	c, err := h.Entities.Conversation(r.Context(), r.Viewer, conversationParam(r))
	return c, conversationNotFound(err)
}

// conversationStatuses returns a page of the thread of one of the viewer's conversations, counted from the newest, with the oldest
// first.
func (h *conversations) conversationStatuses(r *rest.Request) (any, error) {
	f, err := bindFilter(r)
	if err != nil {
		return nil, err
	}
	c, err := h.DB.DirectConversation(r.Context(), r.Viewer.ID, conversationParam(r))
	if err != nil {
		return nil, conversationNotFound(err)
	}
	page := r.Page(20, 40)
	part, err := h.DB.ConversationTimeline(r.Context(), r.Viewer.ID, c.ConversationID, f, page.Page)
	list, err := h.render.statusPage(r, page, part, err)
	slices.Reverse(list)
	return list, err
}

// setConversationRecipients changes the recipients of one of the viewer's conversations.
func (h *conversations) setConversationRecipients(r *rest.Request) (any, error) {
	var p struct {
		Recipients []store.AccountID `param:"recipients,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	row, err := h.Social.SetConversationRecipients(r.Context(), r.Viewer, conversationParam(r), p.Recipients)
	return h.renderConversation(r, row, conversationNotFound(err))
}

// maxReadReturned is how many of the conversations that were marked as read are returned (spec 8).
const maxReadReturned = 80

// readConversations marks all of the viewer's conversations as read, and returns the newest that were unread.
func (h *conversations) readConversations(r *rest.Request) (any, error) {
	page := r.Page(maxReadReturned, maxReadReturned)
	part, err := h.Social.ReadConversations(r.Context(), r.Viewer, page.Page)
	return h.conversationPage(r, page, part, err)
}
