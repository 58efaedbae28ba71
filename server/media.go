package server

import (
	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

// mediaRoutes are uploads, and the files themselves.
func (s *Server) mediaRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/media":    {rest.User("write:media").Uploads().Limit("media_upload"), s.uploadMedia},
		"POST /api/v2/media":    {rest.User("write:media").Uploads().Limit("media_upload"), s.uploadMedia},
		"GET /api/v1/media/:id": {rest.User("write:media", "read:media"), s.showMedia},
		"PUT /api/v1/media/:id": {rest.User("write:media").Uploads(), s.updateMedia},
		"GET /media/*path":      {rest.Anonymous, s.serveMedia},
		"GET /proxy/*path":      {rest.Anonymous, s.serveProxy},
		"GET /emoji/*path":      {rest.Anonymous, s.serveEmoji},
	}
}

// uploadMedia stores a file and answers once it can be attached and fetched. So the answer is the same in both versions of the API,
// and there is nothing to wait for. Focus and thumbnail are not made use of.
func (s *Server) uploadMedia(r *rest.Request) (any, error) {
	var p struct {
		File        *rest.Upload `param:"file"`
		Description string       `param:"description"`
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
func (s *Server) showMedia(r *rest.Request) (any, error) {
	m, err := s.db.OwnMedia(r.Context(), r.Viewer.ID, mediaParam(r))
	if err != nil {
		return nil, err
	}
	return s.entities.Attachment(m)
}

// updateMedia changes the description of an upload of the viewer's, if there is a new one.
func (s *Server) updateMedia(r *rest.Request) (any, error) {
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

func mediaParam(r *rest.Request) store.MediaID {
	var id store.MediaID
	id.UnmarshalText([]byte(r.Param("id")))
	return id
}

// serveMedia answers with an uploaded file.
func (s *Server) serveMedia(*rest.Request) (any, error) { return s.media.Handler(), nil }

// serveProxy answers with a file of another server.
func (s *Server) serveProxy(*rest.Request) (any, error) { return s.proxy.Handler(), nil }

// serveEmoji answers with the picture of a custom emoji.
func (s *Server) serveEmoji(*rest.Request) (any, error) { return s.emojis.Handler(), nil }
