package server

import (
	"svc/server/rest"
	"svc/store"
)

// quotes serves the quotes of a status.
type quotes struct{ *parts }

func (h *quotes) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/statuses/:id/quotes":                            {rest.Content("read:statuses").Answers("[]Status"), h.listQuotes},
		"GET /api/v1/svc/statuses/:id/quotes":                        {rest.Content("read:statuses").Answers("[]Status"), h.listQuotes},
		"POST /api/v1/statuses/:id/quotes/:quoting_status_id/revoke": {rest.User("write:statuses").Limit("status_actions").Deletes().Answers("Status"), h.revokeQuote},
	}
}

// listQuotes lists the statuses that quote a status.
func (h *quotes) listQuotes(r *rest.Request) (any, error) {
	st, err := h.lookup.visibleOriginal(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(20, 40)
	part, err := h.DB.Quotes(r.Context(), viewerID(r), st.ID, page.Page)
	return h.render.statusPage(r, page, part, err)
}

// revokeQuote removes the quote of one of the viewer's statuses, and returns the status that quoted it.
func (h *quotes) revokeQuote(r *rest.Request) (any, error) {
	st, err := h.Social.RevokeQuote(r.Context(), r.Viewer, statusParam(r), store.ParseID[store.StatusID](r.Param("quoting_status_id")))
	return h.render.status(r, st, err)
}
