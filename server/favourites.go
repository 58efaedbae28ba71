package server

import (
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// favourites serves favourites.
type favourites struct {
	db     *store.DB
	social *social.Service
	lookup *lookup
	render *renderer
}

func (h *favourites) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/statuses/:id/favourite":    {favouriting, h.favouriteStatus},
		"POST /api/v1/statuses/:id/unfavourite":  {favouriting, h.unfavouriteStatus},
		"GET /api/v1/statuses/:id/favourited_by": {rest.Content("read:statuses"), h.listFavouriters},
		"GET /api/v1/favourites":                 {rest.User("read:favourites"), h.listFavourites},
	}
}

var favouriting = rest.User("write:favourites").Limit("status_actions").Limit("same_status_action", "favourite", ":id")

// favouriteStatus favourites a status.
func (h *favourites) favouriteStatus(r *rest.Request) (any, error) {
	st, err := h.social.Favourite(r.Context(), r.Viewer, statusParam(r))
	return h.render.status(r, st, err)
}

// unfavouriteStatus removes a favourite.
func (h *favourites) unfavouriteStatus(r *rest.Request) (any, error) {
	st, err := h.social.Unfavourite(r.Context(), r.Viewer, statusParam(r))
	return h.render.status(r, st, err)
}

// listFavouriters lists the accounts that favourited a status.
func (h *favourites) listFavouriters(r *rest.Request) (any, error) {
	st, err := h.lookup.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(40, 80)
	rows, err := h.db.FavouritedBy(r.Context(), viewerID(r), st.ID, page.Page)
	return h.render.accountEntries(r, page, rows, err)
}

// listFavourites lists the viewer's favourites.
func (h *favourites) listFavourites(r *rest.Request) (any, error) {
	page := r.Page(20, 40)
	rows, err := h.db.FavouriteStatuses(r.Context(), r.Viewer.ID, page.Page)
	return h.render.statusEntries(r, page, rows, err)
}
