package server

import "svc/server/rest"

// pinRoutes are about what people put on top of their profile.
func (s *Server) pinRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/statuses/:id/pin":   {rest.User("write:accounts"), s.pinStatus},
		"POST /api/v1/statuses/:id/unpin": {rest.User("write:accounts"), s.unpinStatus},
	}
}

// pinStatus pins a status to the viewer's profile.
func (s *Server) pinStatus(r *rest.Request) (any, error) {
	st, err := s.social.Pin(r.Context(), r.Viewer, statusParam(r))
	return s.renderStatus(r, st, err)
}

// unpinStatus takes a pin away.
func (s *Server) unpinStatus(r *rest.Request) (any, error) {
	st, err := s.social.Unpin(r.Context(), r.Viewer, statusParam(r))
	return s.renderStatus(r, st, err)
}
