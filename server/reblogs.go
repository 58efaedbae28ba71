package server

import (
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// reblogs serves boosts.
type reblogs struct {
	db     *store.DB
	social *social.Service
	lookup *lookup
	render *renderer
}

func (h *reblogs) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/statuses/:id/reblog":      {reblogging, h.reblogStatus},
		"POST /api/v1/statuses/:id/unreblog":    {reblogging, h.unreblogStatus},
		"GET /api/v1/statuses/:id/reblogged_by": {rest.Content("read:statuses"), h.listRebloggers},
	}
}

// reblogging has a limit of its own for each status, because boosts and their removal go to many servers.
var reblogging = rest.User("write:statuses").Limit("status_actions").Limit("same_status_action", "reblog", ":id")

// reblogStatus boosts a status and returns the boost.
func (h *reblogs) reblogStatus(r *rest.Request) (any, error) {
	var p struct {
		Visibility string `param:"visibility"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	var v *store.Visibility
	if parsed, ok := store.ParseVisibility(p.Visibility); ok {
		v = &parsed
	}
	st, err := h.social.Reblog(r.Context(), r.Viewer, statusParam(r), v)
	return h.render.status(r, st, err)
}

// unreblogStatus removes a boost and returns the boosted status.
func (h *reblogs) unreblogStatus(r *rest.Request) (any, error) {
	st, err := h.social.Unreblog(r.Context(), r.Viewer, statusParam(r))
	return h.render.status(r, st, err)
}

// listRebloggers lists the accounts that boosted a status.
func (h *reblogs) listRebloggers(r *rest.Request) (any, error) {
	st, err := h.lookup.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(40, 80)
	rows, err := h.db.RebloggedBy(r.Context(), viewerID(r), st.ID, page.Page)
	return h.render.accountEntries(r, page, rows, err)
}
