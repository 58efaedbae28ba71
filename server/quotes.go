package server

import "svc/server/rest"

// quoteRoutes are about who quotes a status.
func (s *Server) quoteRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/statuses/:id/quotes": {rest.Content("read:statuses"), s.listQuotes},
	}
}

// listQuotes returns the posts that quote a status.
func (s *Server) listQuotes(r *rest.Request) (any, error) {
	st, err := s.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(20, 40)
	ids, err := s.db.Quotes(r.Context(), viewerID(r), st.ID, page.Page)
	return s.statusPage(r, page, ids, err)
}
