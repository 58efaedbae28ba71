package server

import (
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// v1Routes are the viewer's filters in version 1 of the API, where each keyword is a filter.
func (h *filters) v1Routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/filters":        {rest.User("read:filters").Answers("[]Phrase"), h.listFiltersV1},
		"POST /api/v1/filters":       {rest.User("write:filters").Written().Answers("Phrase"), h.createFilterV1},
		"GET /api/v1/filters/:id":    {rest.User("read:filters").Answers("Phrase"), h.showFilterV1},
		"PUT /api/v1/filters/:id":    {rest.User("write:filters").Answers("Phrase"), h.changeFilterV1},
		"DELETE /api/v1/filters/:id": {rest.User("write:filters").Answers("empty"), operation(h.Social.DeleteFilterV1)},
	}
}

// listFiltersV1 returns the viewer's keywords, with those of expired filters.
func (h *filters) listFiltersV1(r *rest.Request) (any, error) {
	rows, err := h.DB.UserFilters(r.Context(), r.Viewer.ID)
	return answer(rows, err, entity.NewFiltersV1)
}

// bindFilterV1 binds the parameters of a keyword. Absent ones are nil.
func bindFilterV1(r *rest.Request) (social.FilterV1, error) {
	var p struct {
		Phrase       *string               `param:"phrase"`
		Context      []store.FilterContext `param:"context"`
		Irreversible *bool                 `param:"irreversible"`
		WholeWord    *bool                 `param:"whole_word"`
	}
	if err := r.Bind(&p); err != nil {
		return social.FilterV1{}, err
	}
	in, err := filterExpiry(r)
	return social.FilterV1{
		Phrase: p.Phrase, Context: filterContexts(r, p.Context), Irreversible: p.Irreversible, WholeWord: p.WholeWord, ExpiresIn: in,
	}, err
}

// createFilterV1 creates a filter with one keyword.
func (h *filters) createFilterV1(r *rest.Request) (any, error) {
	p, err := bindFilterV1(r)
	if err != nil {
		return nil, err
	}
	f, err := h.Social.CreateFilterV1(r.Context(), r.Viewer, p)
	if err != nil {
		return nil, err
	}
	return entity.NewFilterV1(f, f.Keywords[0]), nil
}

// showFilterV1 returns a keyword of a filter as a filter of version 1.
func (h *filters) showFilterV1(r *rest.Request) (any, error) {
	f, k, err := h.ownKeyword(r)
	if err != nil {
		return nil, err
	}
	return entity.NewFilterV1(f, k), nil
}

// changeFilterV1 changes a filter. Options that are absent stay as they are.
func (h *filters) changeFilterV1(r *rest.Request) (any, error) {
	p, err := bindFilterV1(r)
	if err != nil {
		return nil, err
	}
	f, k, err := h.Social.UpdateFilterV1(r.Context(), r.Viewer, keywordParam(r), p)
	if err != nil {
		return nil, err
	}
	return entity.NewFilterV1(f, k), nil
}
