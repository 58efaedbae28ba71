package server

import (
	"svc/server/rest"
	"svc/store"
)

// quotes serves the quotes of a status.
type quotes struct {
	db     *store.DB
	lookup *lookup
	render *renderer
}

func (h *quotes) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/statuses/:id/quotes": {rest.Content("read:statuses"), h.listQuotes},
	}
}

// listQuotes lists the statuses that quote a status.
func (h *quotes) listQuotes(r *rest.Request) (any, error) {
	st, err := h.lookup.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(20, 40)
	ids, err := h.db.Quotes(r.Context(), viewerID(r), st.ID, page.Page)
	return h.render.statusPage(r, page, ids, err)
}
