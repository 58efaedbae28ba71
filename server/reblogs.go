package server

import "svc/store"

// reblogRoutes are about boosts.
var reblogRoutes = routes{
	"POST /api/v1/statuses/:id/reblog":      {reblogging, (*Server).reblogStatus},
	"POST /api/v1/statuses/:id/unreblog":    {reblogging, (*Server).unreblogStatus},
	"GET /api/v1/statuses/:id/reblogged_by": {content("read:statuses"), (*Server).listRebloggers},
}

// reblogging is limited for each status apart, too: boosting and taking back is heard by many.
var reblogging = user("write:statuses").limit("status_actions").limit("same_status_action", "reblog", ":id")

// reblogStatus boosts a status, and returns the boost.
func (s *Server) reblogStatus(r *Request) (any, error) {
	var p struct {
		Visibility string `param:"visibility"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	var v *store.Visibility
	if parsed, ok := store.ParseVisibility(p.Visibility); ok {
		v = &parsed
	}
	st, err := s.social.Reblog(r.Context(), r.Viewer, statusParam(r), v)
	return s.renderStatus(r, st, err)
}

// unreblogStatus takes a boost back, and returns what was boosted.
func (s *Server) unreblogStatus(r *Request) (any, error) {
	st, err := s.social.Unreblog(r.Context(), r.Viewer, statusParam(r))
	return s.renderStatus(r, st, err)
}

// listRebloggers returns who boosted a status.
func (s *Server) listRebloggers(r *Request) (any, error) {
	st, err := s.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(40, 80)
	rows, err := s.db.RebloggedBy(r.Context(), viewerID(r), st.ID, page.Page)
	return s.accountEntries(r, page, rows, err)
}
