package server

import (
	"svc/internal/errs"
	"svc/store"
)

// mediaRoutes are uploads, and the files themselves.
var mediaRoutes = routes{
	"POST /api/v1/media":    {user("write:media").uploads().limit("media_upload"), (*Server).uploadMedia},
	"POST /api/v2/media":    {user("write:media").uploads().limit("media_upload"), (*Server).uploadMedia},
	"GET /api/v1/media/:id": {user("write:media", "read:media"), (*Server).showMedia},
	"PUT /api/v1/media/:id": {user("write:media").uploads(), (*Server).updateMedia},
	"GET /media/*path":      {anonymous, (*Server).serveMedia},
	"GET /proxy/*path":      {anonymous, (*Server).serveProxy},
	"GET /emoji/*path":      {anonymous, (*Server).serveEmoji},
}

// uploadMedia stores a file and answers once it can be attached and fetched. So the answer is the same in both versions of the API,
// and there is nothing to wait for. Focus and thumbnail are not made use of.
func (s *Server) uploadMedia(r *Request) (any, error) {
	var p struct {
		File        *Upload `param:"file"`
		Description string  `param:"description"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.File == nil || p.File.Empty {
		return nil, errs.Invalid("Validation failed: File can't be blank")
	}
	m, err := s.social.Upload(r.Context(), r.Viewer, p.File.Open(), p.Description)
	if err != nil {
		return nil, err
	}
	return s.entities.Attachment(m)
}

// showMedia returns an upload of the viewer's.
func (s *Server) showMedia(r *Request) (any, error) {
	m, err := s.db.OwnMedia(r.Context(), r.Viewer.ID, mediaParam(r))
	if err != nil {
		return nil, err
	}
	return s.entities.Attachment(m)
}

// updateMedia changes the description of an upload of the viewer's, if there is a new one.
func (s *Server) updateMedia(r *Request) (any, error) {
	var p struct {
		Description *string `param:"description"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.Description == nil {
		return s.showMedia(r)
	}
	m, err := s.social.DescribeUpload(r.Context(), r.Viewer, mediaParam(r), *p.Description)
	if err != nil {
		return nil, err
	}
	return s.entities.Attachment(m)
}

func mediaParam(r *Request) store.MediaID {
	var id store.MediaID
	id.UnmarshalText([]byte(r.Param("id")))
	return id
}

// serveMedia answers with an uploaded file.
func (s *Server) serveMedia(*Request) (any, error) { return s.media.Handler(), nil }

// serveProxy answers with a file of another server.
func (s *Server) serveProxy(*Request) (any, error) { return s.proxy.Handler(), nil }

// serveEmoji answers with the picture of a custom emoji.
func (s *Server) serveEmoji(*Request) (any, error) { return s.emojis.Handler(), nil }
