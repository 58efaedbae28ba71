package server

import (
	"svc/server/rest"
	"svc/social"
)

// pins serves the statuses that users pin to their profiles.
type pins struct {
	social *social.Service
	render *renderer
}

func (h *pins) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/statuses/:id/pin":   {rest.User("write:accounts"), h.pinStatus},
		"POST /api/v1/statuses/:id/unpin": {rest.User("write:accounts"), h.unpinStatus},
	}
}

// pinStatus pins a status to the viewer's profile.
func (h *pins) pinStatus(r *rest.Request) (any, error) {
	st, err := h.social.Pin(r.Context(), r.Viewer, statusParam(r))
	return h.render.status(r, st, err)
}

// unpinStatus removes a pin.
func (h *pins) unpinStatus(r *rest.Request) (any, error) {
	st, err := h.social.Unpin(r.Context(), r.Viewer, statusParam(r))
	return h.render.status(r, st, err)
}
