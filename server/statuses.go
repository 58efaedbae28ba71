package server

import (
	"strings"
	"time"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/social"
	"svc/store"
)

// statusRoutes are the endpoints of single statuses.
var statusRoutes = routes{
	"POST /api/v1/statuses":                 {user("write:statuses").limit("status_actions"), (*Server).createStatus},
	"GET /api/v1/statuses/:id":              {content("read:statuses"), (*Server).showStatus},
	"DELETE /api/v1/statuses/:id":           {user("write:statuses").limit("status_actions"), (*Server).deleteStatus},
	"POST /api/v1/statuses/:id/favourite":   {user("write:favourites").limit("status_actions"), (*Server).favouriteStatus},
	"POST /api/v1/statuses/:id/unfavourite": {user("write:favourites").limit("status_actions"), (*Server).unfavouriteStatus},
}

// createStatus posts a status.
func (s *Server) createStatus(r *Request) (any, error) {
	var p struct {
		Status      string          `param:"status"`
		SpoilerText string          `param:"spoiler_text"`
		ContentType string          `param:"content_type"`
		MediaIDs    []store.MediaID `param:"media_ids"`
		InReplyTo   *store.StatusID `param:"in_reply_to_id"`
		Visibility  string          `param:"visibility"`
		To          []string        `param:"to"`
		Sensitive   bool            `param:"sensitive"`
		Language    string          `param:"language"`
		ExpiresIn   int64           `param:"expires_in"` // seconds
		Preview     bool            `param:"preview"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	d := social.Draft{
		Text:           p.Status,
		SpoilerText:    p.SpoilerText,
		ContentType:    p.ContentType,
		MediaIDs:       p.MediaIDs,
		To:             p.To,
		Sensitive:      p.Sensitive,
		Language:       p.Language,
		ExpiresIn:      time.Duration(p.ExpiresIn) * time.Second,
		IdempotencyKey: r.Header.Get("Idempotency-Key"),
	}
	if r.Token != nil {
		d.App = r.Token.AppID
	}
	if v, ok := store.ParseVisibility(p.Visibility); ok && v != store.ListOnly {
		d.Visibility = &v
	} else if id, ok := strings.CutPrefix(p.Visibility, "list:"); ok {
		v = store.ListOnly
		d.Visibility = &v
		d.List.UnmarshalText([]byte(id))
	}
	if p.InReplyTo != nil {
		d.InReplyTo = *p.InReplyTo
		if d.InReplyTo == 0 {
			return nil, errs.Invalid("Cannot reply to a deleted status")
		}
	}
	st, err := s.social.Publish(r.Context(), r.Viewer, d)
	if err != nil {
		return nil, err
	}
	return s.entities.Status(r.Context(), r.Viewer, st.ID)
}

// showStatus returns one status.
func (s *Server) showStatus(r *Request) (any, error) {
	st, err := s.visibleStatus(r)
	if err != nil {
		return nil, err
	}
	return s.entities.Status(r.Context(), r.Viewer, st.ID)
}

// visibleStatus returns the status of the path, if the viewer may see it.
func (s *Server) visibleStatus(r *Request) (*store.Status, error) {
	return s.db.VisibleStatus(r.Context(), viewerID(r), statusParam(r))
}

func statusParam(r *Request) store.StatusID {
	var id store.StatusID
	id.UnmarshalText([]byte(r.Param("id")))
	return id
}

// viewerID returns the viewer's id, 0 for the anonymous.
func viewerID(r *Request) store.AccountID {
	if r.Viewer == nil {
		return 0
	}
	return r.Viewer.ID
}

// deleteStatus removes a status and returns it as it was, with its source, so that it can be written anew.
func (s *Server) deleteStatus(r *Request) (any, error) {
	id := statusParam(r)
	before, err := s.entities.Status(r.Context(), r.Viewer, id)
	if err != nil {
		return nil, err
	}
	st, err := s.social.DeleteStatus(r.Context(), r.Viewer, id)
	if err != nil {
		return nil, err
	}
	return before.WithText(st.Text), nil
}

// favouriteStatus makes a status a favourite.
func (s *Server) favouriteStatus(r *Request) (any, error) {
	st, err := s.social.Favourite(r.Context(), r.Viewer, statusParam(r))
	return s.renderStatus(r, st, err)
}

// unfavouriteStatus takes a favourite back.
func (s *Server) unfavouriteStatus(r *Request) (any, error) {
	st, err := s.social.Unfavourite(r.Context(), r.Viewer, statusParam(r))
	return s.renderStatus(r, st, err)
}

// renderStatus renders what an operation on a status returned.
func (s *Server) renderStatus(r *Request, st *store.Status, err error) (*entity.Status, error) {
	if err != nil {
		return nil, err
	}
	return s.entities.Status(r.Context(), r.Viewer, st.ID)
}
