package server

import (
	"slices"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// conversationRoutes are the conversations that direct posts make (extension API 12).
func (s *Server) conversationRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/conversations":                  {rest.User("read:statuses"), s.listConversations},
		"POST /api/v1/conversations/:id/read":        {rest.User("write:conversations"), s.readConversation},
		"DELETE /api/v1/conversations/:id":           {rest.User("write:conversations"), s.deleteConversation},
		"GET /api/v1/svc/conversations/:id":          {rest.User("read:statuses"), s.showConversation},
		"GET /api/v1/svc/conversations/:id/statuses": {rest.User("read:statuses"), s.conversationStatuses},
		"PATCH /api/v1/svc/conversations/:id":        {rest.User("write:conversations"), s.setConversationRecipients},
		"POST /api/v1/svc/conversations/read":        {rest.User("write:conversations"), s.readConversations},
	}
}

// listConversations returns the viewer's conversations, paged by their last statuses; with recipients only those with exactly these
// people and the viewer.
func (s *Server) listConversations(r *rest.Request) (any, error) {
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
	rows, err := s.db.DirectConversations(r.Context(), r.Viewer.ID, among, page.Page)
	return s.conversationPage(r, page, rows, err)
}

func (s *Server) conversationPage(r *rest.Request, page rest.Page, rows []*store.VisibleConversation, err error) (entity.List[*entity.Conversation], error) {
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(rows), func(i int) string { return rows[i].LastStatusID.String() })
	return s.entities.Conversations(r.Context(), r.Viewer, rows)
}

func conversationParam(r *rest.Request) store.DirectConversationID {
	var id store.DirectConversationID
	id.UnmarshalText([]byte(r.Param("id"))) // 0 for what is no id
	return id
}

// renderConversation renders what an operation on a conversation returned.
func (s *Server) renderConversation(r *rest.Request, row *store.VisibleConversation, err error) (*entity.Conversation, error) {
	if err != nil {
		return nil, err
	}
	list, err := s.entities.Conversations(r.Context(), r.Viewer, []*store.VisibleConversation{row})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// readConversation marks one of the viewer's conversations as read.
func (s *Server) readConversation(r *rest.Request) (any, error) {
	row, err := s.social.ReadConversation(r.Context(), r.Viewer, conversationParam(r))
	return s.renderConversation(r, row, err)
}

// deleteConversation takes one of the viewer's conversations away.
func (s *Server) deleteConversation(r *rest.Request) (any, error) {
	return nil, s.social.DeleteConversation(r.Context(), r.Viewer, conversationParam(r))
}

// conversationNotFound is how the extension API says that there is none.
func conversationNotFound(err error) error {
	if errs.IsNotFound(err) {
		return social.ErrUnknownConversation
	}
	return err
}

// showConversation returns one of the viewer's conversations.
func (s *Server) showConversation(r *rest.Request) (any, error) {
	c, err := s.entities.Conversation(r.Context(), r.Viewer, conversationParam(r))
	if err != nil {
		return nil, conversationNotFound(err)
	}
	return c, nil
}

// conversationStatuses returns what was posted in the thread of one of the viewer's conversations: a page counted from the newest,
// the oldest of it first.
func (s *Server) conversationStatuses(r *rest.Request) (any, error) {
	f, err := bindFilter(r)
	if err != nil {
		return nil, err
	}
	c, err := s.db.DirectConversation(r.Context(), r.Viewer.ID, conversationParam(r))
	if err != nil {
		return nil, conversationNotFound(err)
	}
	page := r.Page(20, 40)
	ids, err := s.db.ConversationTimeline(r.Context(), r.Viewer.ID, c.ConversationID, f, page.Page)
	list, err := s.statusPage(r, page, ids, err)
	slices.Reverse(list)
	return list, err
}

// setConversationRecipients changes whom one of the viewer's conversations goes to.
func (s *Server) setConversationRecipients(r *rest.Request) (any, error) {
	var p struct {
		Recipients []store.AccountID `param:"recipients,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	row, err := s.social.SetConversationRecipients(r.Context(), r.Viewer, conversationParam(r), p.Recipients)
	return s.renderConversation(r, row, conversationNotFound(err))
}

// maxReadReturned is how many of the conversations that were marked as read are told at most, as of notifications (spec 8).
const maxReadReturned = 80

// readConversations marks all of the viewer's conversations as read, and returns the newest of those that were not.
func (s *Server) readConversations(r *rest.Request) (any, error) {
	page := r.Page(maxReadReturned, maxReadReturned)
	rows, err := s.social.ReadConversations(r.Context(), r.Viewer, page.Page)
	return s.conversationPage(r, page, rows, err)
}
