package server

import (
	"svc/internal/errs"
	"svc/server/rest"
)

// mascotRoutes are the picture that front ends show a user in empty places.
func (h *uploads) mascotRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/mascot": {rest.User("read:accounts").Answers("Mascot"), h.showMascot},
		"PUT /api/v1/svc/mascot": {rest.User("write:accounts").Uploads().Limit("media_upload").Written().Answers("Mascot"), h.setMascot},
	}
}

// showMascot returns the viewer's mascot, or the one that comes with the server.
func (h *uploads) showMascot(r *rest.Request) (any, error) {
	m, err := h.DB.Mascot(r.Context(), r.Viewer.ID)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return h.Entities.DefaultMascot()
	}
	return h.Entities.Attachment(m)
}

// setMascot stores a picture as the viewer's mascot.
func (h *uploads) setMascot(r *rest.Request) (any, error) {
	var p struct {
		File *rest.Upload `param:"file"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.File == nil || p.File.Empty {
		return nil, errs.BadRequest("Missing field: file.")
	}
	m, err := h.Social.SetMascot(r.Context(), r.Viewer, p.File.Open())
	if err != nil {
		return nil, err
	}
	return h.Entities.Attachment(m)
}
