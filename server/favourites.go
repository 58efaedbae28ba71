package server

import (
	"strconv"

	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// favouriteRoutes are about favourites.
func (s *Server) favouriteRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/statuses/:id/favourite":    {favouriting, s.favouriteStatus},
		"POST /api/v1/statuses/:id/unfavourite":  {favouriting, s.unfavouriteStatus},
		"GET /api/v1/statuses/:id/favourited_by": {rest.Content("read:statuses"), s.listFavouriters},
		"GET /api/v1/favourites":                 {rest.User("read:favourites"), s.listFavourites},
	}
}

var favouriting = rest.User("write:favourites").Limit("status_actions").Limit("same_status_action", "favourite", ":id")

// favouriteStatus makes a status a favourite.
func (s *Server) favouriteStatus(r *rest.Request) (any, error) {
	st, err := s.social.Favourite(r.Context(), r.Viewer, statusParam(r))
	return s.renderStatus(r, st, err)
}

// unfavouriteStatus takes a favourite back.
func (s *Server) unfavouriteStatus(r *rest.Request) (any, error) {
	st, err := s.social.Unfavourite(r.Context(), r.Viewer, statusParam(r))
	return s.renderStatus(r, st, err)
}

// listFavouriters returns whose favourite a status is.
func (s *Server) listFavouriters(r *rest.Request) (any, error) {
	st, err := s.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(40, 80)
	rows, err := s.db.FavouritedBy(r.Context(), viewerID(r), st.ID, page.Page)
	return s.accountEntries(r, page, rows, err)
}

// listFavourites returns the viewer's favourites.
func (s *Server) listFavourites(r *rest.Request) (any, error) {
	page := r.Page(20, 40)
	rows, err := s.db.FavouriteStatuses(r.Context(), r.Viewer.ID, page.Page)
	return s.statusEntries(r, page, rows, err)
}

// statusEntries renders a page of a list of statuses that has cursors of its own.
func (s *Server) statusEntries(r *rest.Request, page rest.Page, rows []store.StatusEntry, err error) (entity.List[*entity.Status], error) {
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(rows), func(i int) string { return strconv.FormatInt(rows[i].Cursor, 10) })
	ids := make([]store.StatusID, 0, len(rows))
	for _, row := range rows {
		ids = append(ids, row.StatusID)
	}
	return s.entities.Statuses(r.Context(), r.Viewer, ids)
}

// accountEntries renders a page of a list of accounts that has cursors of its own.
func (s *Server) accountEntries(r *rest.Request, page rest.Page, rows []store.AccountEntry, err error) (entity.List[entity.Account], error) {
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(rows), func(i int) string { return strconv.FormatInt(rows[i].Cursor, 10) })
	ids := make([]store.AccountID, 0, len(rows))
	for _, row := range rows {
		ids = append(ids, row.AccountID)
	}
	return s.renderAccounts(r, ids)
}
