package server

import (
	"svc/server/rest"
	"svc/store"
)

// reblogRoutes are about boosts.
func (s *Server) reblogRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/statuses/:id/reblog":      {reblogging, s.reblogStatus},
		"POST /api/v1/statuses/:id/unreblog":    {reblogging, s.unreblogStatus},
		"GET /api/v1/statuses/:id/reblogged_by": {rest.Content("read:statuses"), s.listRebloggers},
	}
}

// reblogging is limited for each status apart, too: boosting and taking back is heard by many.
var reblogging = rest.User("write:statuses").Limit("status_actions").Limit("same_status_action", "reblog", ":id")

// reblogStatus boosts a status, and returns the boost.
func (s *Server) reblogStatus(r *rest.Request) (any, error) {
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
func (s *Server) unreblogStatus(r *rest.Request) (any, error) {
	st, err := s.social.Unreblog(r.Context(), r.Viewer, statusParam(r))
	return s.renderStatus(r, st, err)
}

// listRebloggers returns who boosted a status.
func (s *Server) listRebloggers(r *rest.Request) (any, error) {
	st, err := s.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(40, 80)
	rows, err := s.db.RebloggedBy(r.Context(), viewerID(r), st.ID, page.Page)
	return s.accountEntries(r, page, rows, err)
}
