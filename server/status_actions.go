package server

import (
	"svc/server/rest"
	"svc/store"
)

// actionRoutes are favourites, boosts and pins of a status.
func (h *statuses) actionRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/statuses/:id/favourite":    {favouriting.Answers("Status"), h.render.statusAction(h.Social.Favourite)},
		"POST /api/v1/statuses/:id/unfavourite":  {favouriting.Deletes().Answers("Status"), h.render.statusAction(h.Social.Unfavourite)},
		"GET /api/v1/statuses/:id/favourited_by": {rest.Content("read:statuses").Answers("[]Account"), h.listFavouriters},
		"GET /api/v1/favourites":                 {rest.User("read:favourites").Answers("[]Status"), h.listFavourites},
		"POST /api/v1/statuses/:id/reblog":       {reblogging.Answers("Status"), h.reblogStatus},
		"POST /api/v1/statuses/:id/unreblog":     {reblogging.Deletes().Answers("Status"), h.render.statusAction(h.Social.Unreblog)},
		"GET /api/v1/statuses/:id/reblogged_by":  {rest.Content("read:statuses").Answers("[]Account"), h.listRebloggers},
		"POST /api/v1/statuses/:id/pin":          {rest.User("write:accounts").Answers("Status"), h.render.statusAction(h.Social.Pin)},
		"POST /api/v1/statuses/:id/unpin":        {rest.User("write:accounts").Deletes().Answers("Status"), h.render.statusAction(h.Social.Unpin)},
	}
}

// favouriting and reblogging have a limit of their own for each status, because such activities go to other servers.
var (
	favouriting = rest.User("write:favourites").Limit("status_actions").Limit("same_status_action", "favourite", ":id")
	reblogging  = rest.User("write:statuses").Limit("status_actions").Limit("same_status_action", "reblog", ":id")
)

// listFavouriters lists the accounts that favourited a status.
func (h *statuses) listFavouriters(r *rest.Request) (any, error) {
	st, err := h.lookup.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(40, 80)
	part, err := h.DB.FavouritedBy(r.Context(), viewerID(r), st.ID, page.Page)
	return h.render.accountEntries(r, page, part, err)
}

// listFavourites returns the statuses that the viewer has favourited, the last favourite first.
func (h *statuses) listFavourites(r *rest.Request) (any, error) {
	page := r.Page(20, 40)
	part, err := h.DB.FavouriteStatuses(r.Context(), r.Viewer.ID, page.Page)
	return h.render.statusEntries(r, page, part, err)
}

// reblogStatus boosts a status and returns the boost.
func (h *statuses) reblogStatus(r *rest.Request) (any, error) {
	var p struct {
		Visibility *reblogVisibility `param:"visibility"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	st, err := h.Social.Reblog(r.Context(), r.Viewer, statusParam(r), (*store.Visibility)(p.Visibility))
	return h.render.status(r, st, err)
}

// listRebloggers lists the accounts that boosted a status.
func (h *statuses) listRebloggers(r *rest.Request) (any, error) {
	st, err := h.lookup.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(40, 80)
	part, err := h.DB.RebloggedBy(r.Context(), viewerID(r), st.ID, page.Page)
	return h.render.accountEntries(r, page, part, err)
}
