package server

import (
	"svc/internal/errs"
	"svc/server/rest"
	"svc/store"
)

// threadRoutes are the threads of statuses.
func (h *statuses) threadRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/statuses/:id/context": {rest.Content("read:statuses"), h.showContext},
		"POST /api/v1/statuses/:id/mute":   {rest.User("write:mutes"), h.muteThread},
		"POST /api/v1/statuses/:id/unmute": {rest.User("write:mutes"), h.render.statusAction(h.social.UnmuteThread)},
	}
}

// How much of a thread one request returns.
var (
	userThreadLimits      = store.ThreadLimits{Ancestors: 4096, Descendants: 4096, Depth: 4096}
	anonymousThreadLimits = store.ThreadLimits{Ancestors: 40, Descendants: 60, Depth: 20}
)

// showContext returns the ancestors and descendants of a status.
func (h *statuses) showContext(r *rest.Request) (any, error) {
	st, err := h.lookup.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	h.lookup.completeThread(r, st)
	limits := anonymousThreadLimits
	if r.Viewer != nil {
		limits = userThreadLimits
	}
	above, below, err := h.db.Thread(r.Context(), viewerID(r), st, limits)
	if err != nil {
		return nil, err
	}
	return h.entities.Context(r.Context(), r.Viewer, above, below)
}

// muteThread mutes the thread of a status, for expires_in seconds or without end.
func (h *statuses) muteThread(r *rest.Request) (any, error) {
	var p struct {
		ExpiresIn int64 `param:"expires_in"` // seconds; 0: for good
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	d := seconds(p.ExpiresIn)
	if d < 0 {
		return nil, errs.Invalid("Expiry date is too soon")
	}
	st, err := h.social.MuteThread(r.Context(), r.Viewer, statusParam(r), d)
	return h.render.status(r, st, err)
}
