package server

// pinRoutes are about what people put on top of their profile.
var pinRoutes = routes{
	"POST /api/v1/statuses/:id/pin":   {user("write:accounts"), (*Server).pinStatus},
	"POST /api/v1/statuses/:id/unpin": {user("write:accounts"), (*Server).unpinStatus},
}

// pinStatus pins a status to the viewer's profile.
func (s *Server) pinStatus(r *Request) (any, error) {
	st, err := s.social.Pin(r.Context(), r.Viewer, statusParam(r))
	return s.renderStatus(r, st, err)
}

// unpinStatus takes a pin away.
func (s *Server) unpinStatus(r *Request) (any, error) {
	st, err := s.social.Unpin(r.Context(), r.Viewer, statusParam(r))
	return s.renderStatus(r, st, err)
}
