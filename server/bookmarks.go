package server

// bookmarkRoutes are about bookmarks.
var bookmarkRoutes = routes{
	"POST /api/v1/statuses/:id/bookmark":   {user("write:bookmarks"), (*Server).bookmarkStatus},
	"POST /api/v1/statuses/:id/unbookmark": {user("write:bookmarks"), (*Server).unbookmarkStatus},
	"GET /api/v1/bookmarks":                {user("read:bookmarks"), (*Server).listBookmarks},
}

// bookmarkStatus bookmarks a status.
func (s *Server) bookmarkStatus(r *Request) (any, error) {
	st, err := s.social.Bookmark(r.Context(), r.Viewer, statusParam(r))
	return s.renderStatus(r, st, err)
}

// unbookmarkStatus takes a bookmark away.
func (s *Server) unbookmarkStatus(r *Request) (any, error) {
	st, err := s.social.Unbookmark(r.Context(), r.Viewer, statusParam(r))
	return s.renderStatus(r, st, err)
}

// listBookmarks returns what the viewer bookmarked.
func (s *Server) listBookmarks(r *Request) (any, error) {
	page := r.Page(20, 40)
	rows, err := s.db.Bookmarks(r.Context(), r.Viewer.ID, page.Page)
	return s.statusEntries(r, page, rows, err)
}
