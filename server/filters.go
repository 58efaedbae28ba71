package server

import (
	"slices"
	"time"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// filters serves the filters of a user, in versions 1 and 2 of the API.
type filters struct{ *parts }

func (h *filters) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v2/filters":                 {rest.User("read:filters").Answers("[]Filter"), h.listFilters},
		"POST /api/v2/filters":                {rest.User("write:filters").Written().Answers("Filter"), h.createFilter},
		"GET /api/v2/filters/:id":             {rest.User("read:filters").Answers("Filter"), h.showFilter},
		"PUT /api/v2/filters/:id":             {rest.User("write:filters").Answers("Filter"), h.updateFilter},
		"DELETE /api/v2/filters/:id":          {rest.User("write:filters").Answers("empty"), operation(h.Social.DeleteFilter)},
		"GET /api/v2/filters/:id/keywords":    {rest.User("read:filters").Answers("[]FilterKeyword"), h.listFilterKeywords},
		"POST /api/v2/filters/:id/keywords":   {rest.User("write:filters").Written().Answers("FilterKeyword"), h.addFilterKeyword},
		"GET /api/v2/filters/keywords/:id":    {rest.User("read:filters").Answers("FilterKeyword"), h.showFilterKeyword},
		"PUT /api/v2/filters/keywords/:id":    {rest.User("write:filters").Answers("FilterKeyword"), h.updateFilterKeyword},
		"DELETE /api/v2/filters/keywords/:id": {rest.User("write:filters").Answers("empty"), operation(h.Social.DeleteFilterKeyword)},
		"GET /api/v2/filters/:id/statuses":    {rest.User("read:filters").Answers("[]FilterStatus"), h.listFilterStatuses},
		"POST /api/v2/filters/:id/statuses":   {rest.User("write:filters").Written().Answers("FilterStatus"), h.addFilterStatus},
		"GET /api/v2/filters/statuses/:id":    {rest.User("read:filters").Answers("FilterStatus"), h.showFilterStatus},
		"DELETE /api/v2/filters/statuses/:id": {rest.User("write:filters").Answers("empty"), operation(h.Social.RemoveFilterStatus)},
	}
}

// listFilters returns the viewer's filters, with expired ones.
func (h *filters) listFilters(r *rest.Request) (any, error) {
	rows, err := h.DB.UserFilters(r.Context(), r.Viewer.ID)
	return answerList(rows, err, entity.NewFilter)
}

type filterForm struct {
	Title    *string               `param:"title"`
	Context  []store.FilterContext `param:"context"`
	Action   *store.FilterAction   `param:"filter_action"`
	Keywords []keywordForm         `param:"keywords_attributes"`
}

type keywordForm struct {
	ID        *store.FilterKeywordID `param:"id"`
	Keyword   *string                `param:"keyword"`
	WholeWord *bool                  `param:"whole_word"`
	Destroy   bool                   `param:"_destroy"`
}

func (f keywordForm) draft() social.KeywordChange {
	d := social.KeywordChange{Keyword: f.Keyword, WholeWord: f.WholeWord, Remove: f.Destroy}
	if f.ID != nil {
		if d.ID = *f.ID; d.ID == 0 {
			d.ID = -1 // no id, but not a new keyword either
		}
	}
	return d
}

// filterDraft binds the parameters of a filter.
func filterDraft(r *rest.Request) (social.FilterChange, error) {
	var p filterForm
	if err := r.Bind(&p); err != nil {
		return social.FilterChange{}, err
	}
	in, err := filterExpiry(r)
	d := social.FilterChange{Title: p.Title, Action: p.Action, Context: filterContexts(r, p.Context), ExpiresIn: in}
	for _, k := range p.Keywords {
		d.Keywords = append(d.Keywords, k.draft())
	}
	return d, err
}

// filterContexts drops repeated contexts. It returns nil if none were sent, or null, which changes nothing.
func filterContexts(r *rest.Request, sent []store.FilterContext) []store.FilterContext {
	if sent == nil || r.IsNull("context") {
		return nil
	}
	contexts := []store.FilterContext{}
	for _, c := range sent {
		if !slices.Contains(contexts, c) {
			contexts = append(contexts, c)
		}
	}
	return contexts
}

// filterExpiry reads expires_in. Clients send null, an empty text or 0 for a filter that never expires; nil means that nothing was
// sent.
func filterExpiry(r *rest.Request) (*time.Duration, error) {
	var p struct {
		ExpiresIn []string `param:"expires_in"` // a list is nil only if the parameter is absent
		Seconds   int64    `param:"expires_in"`
	}
	if err := r.Bind(&p); err != nil || p.ExpiresIn == nil {
		return nil, err
	}
	in := seconds(p.Seconds)
	return &in, nil
}

// createFilter creates a filter with its keywords.
func (h *filters) createFilter(r *rest.Request) (any, error) {
	d, err := filterDraft(r)
	if err != nil {
		return nil, err
	}
	f, err := h.Social.CreateFilter(r.Context(), r.Viewer, d)
	return answer(f, err, entity.NewFilter)
}

// ownFilter returns the viewer's filter of the path.
func (h *filters) ownFilter(r *rest.Request) (*store.FilterWithTerms, error) {
	rows, err := h.DB.UserFilters(r.Context(), r.Viewer.ID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rows, func(f *store.FilterWithTerms) bool { return f.ID == filterParam(r) })
	if i < 0 {
		return nil, errs.ErrRecordNotFound
	}
	return rows[i], nil
}

func filterParam(r *rest.Request) store.FilterID { return store.ParseID[store.FilterID](r.Param("id")) }

// showFilter returns a filter with its keywords and statuses.
func (h *filters) showFilter(r *rest.Request) (any, error) {
	f, err := h.ownFilter(r)
	return answer(f, err, entity.NewFilter)
}

// updateFilter changes the members of a filter that are sent, and its keywords. Keywords without an id are added.
func (h *filters) updateFilter(r *rest.Request) (any, error) {
	d, err := filterDraft(r)
	if err != nil {
		return nil, err
	}
	f, err := h.Social.UpdateFilter(r.Context(), r.Viewer, filterParam(r), d)
	return answer(f, err, entity.NewFilter)
}

// listFilterKeywords returns the keywords of a filter.
func (h *filters) listFilterKeywords(r *rest.Request) (any, error) {
	f, err := h.ownFilter(r)
	if err != nil {
		return nil, err
	}
	return entity.Map(f.Keywords, entity.NewFilterKeyword), nil
}

// addFilterKeyword adds a keyword to a filter.
func (h *filters) addFilterKeyword(r *rest.Request) (any, error) {
	var p keywordForm
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	k, err := h.Social.AddFilterKeyword(r.Context(), r.Viewer, filterParam(r), p.draft())
	return answer(k, err, entity.NewFilterKeyword)
}

// ownKeyword returns the keyword of the path and its filter, which must be the viewer's.
func (h *filters) ownKeyword(r *rest.Request) (*store.FilterWithTerms, *store.FilterKeyword, error) {
	rows, err := h.DB.UserFilters(r.Context(), r.Viewer.ID)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range rows {
		for _, k := range f.Keywords {
			if k.ID == keywordParam(r) {
				return f, k, nil
			}
		}
	}
	return nil, nil, errs.ErrRecordNotFound
}

func keywordParam(r *rest.Request) store.FilterKeywordID {
	return store.ParseID[store.FilterKeywordID](r.Param("id"))
}

// showFilterKeyword returns a keyword of a filter.
func (h *filters) showFilterKeyword(r *rest.Request) (any, error) {
	_, k, err := h.ownKeyword(r)
	if err != nil {
		return nil, err
	}
	return entity.NewFilterKeyword(k), nil
}

// updateFilterKeyword changes the members of a keyword that are sent.
func (h *filters) updateFilterKeyword(r *rest.Request) (any, error) {
	var p keywordForm
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	d := p.draft()
	d.ID = keywordParam(r)
	k, err := h.Social.UpdateFilterKeyword(r.Context(), r.Viewer, d)
	return answer(k, err, entity.NewFilterKeyword)
}

// listFilterStatuses returns the statuses that a filter matches by id.
func (h *filters) listFilterStatuses(r *rest.Request) (any, error) {
	f, err := h.ownFilter(r)
	if err != nil {
		return nil, err
	}
	return entity.Map(f.Statuses, entity.NewFilterStatus), nil
}

// addFilterStatus adds a status to a filter.
func (h *filters) addFilterStatus(r *rest.Request) (any, error) {
	var p struct {
		StatusID *store.StatusID `param:"status_id"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.StatusID == nil {
		return nil, errs.Invalid("Validation failed: Status can't be blank")
	}
	st, err := h.Social.AddFilterStatus(r.Context(), r.Viewer, filterParam(r), *p.StatusID)
	return answer(st, err, entity.NewFilterStatus)
}

// showFilterStatus returns a status of a filter.
func (h *filters) showFilterStatus(r *rest.Request) (any, error) {
	rows, err := h.DB.UserFilters(r.Context(), r.Viewer.ID)
	if err != nil {
		return nil, err
	}
	id := store.ParseID[store.FilterStatusID](r.Param("id"))
	for _, f := range rows {
		for _, st := range f.Statuses {
			if st.ID == id {
				return entity.NewFilterStatus(st), nil
			}
		}
	}
	return nil, errs.ErrRecordNotFound
}
