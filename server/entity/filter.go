package entity

import "svc/store"

// filterMembers are the members of a filter without its keywords and statuses.
type filterMembers struct {
	ID        store.FilterID        `json:"id"`
	Title     string                `json:"title"`
	Context   []store.FilterContext `json:"context"`
	ExpiresAt *store.Time           `json:"expires_at"`
	Action    store.FilterAction    `json:"filter_action"`
}

// Filter is a filter with its keywords and statuses.
type Filter struct {
	filterMembers
	Keywords []FilterKeyword `json:"keywords"`
	Statuses []FilterStatus  `json:"statuses"`
}

// FilterKeyword is a word or phrase that a filter matches.
type FilterKeyword struct {
	ID        store.FilterKeywordID `json:"id"`
	Keyword   string                `json:"keyword"`
	WholeWord bool                  `json:"whole_word"`
}

// FilterStatus is a status that a filter matches.
type FilterStatus struct {
	ID       store.FilterStatusID `json:"id"`
	StatusID store.StatusID       `json:"status_id"`
}

// FilterV1 is a keyword of a filter in version 1 of the API.
type FilterV1 struct {
	ID           store.FilterKeywordID `json:"id"`
	Phrase       string                `json:"phrase"`
	Context      []store.FilterContext `json:"context"`
	ExpiresAt    *store.Time           `json:"expires_at"`
	Irreversible bool                  `json:"irreversible"`
	WholeWord    bool                  `json:"whole_word"`
}

func newFilterMembers(f *store.UserFilter) filterMembers {
	return filterMembers{ID: f.ID, Title: f.Title, Context: orEmpty(f.Context.V), ExpiresAt: f.ExpiresAt, Action: f.Action}
}

// NewFilter renders a filter for its owner.
func NewFilter(f *store.FilterWithTerms) Filter {
	return Filter{newFilterMembers(&f.UserFilter), Map(f.Keywords, NewFilterKeyword), Map(f.Statuses, NewFilterStatus)}
}

// NewFilterKeyword renders a keyword for its owner.
func NewFilterKeyword(k *store.FilterKeyword) FilterKeyword {
	return FilterKeyword{k.ID, k.Keyword, k.WholeWord}
}

// NewFilterStatus renders a status of a filter for its owner.
func NewFilterStatus(s *store.FilterStatus) FilterStatus { return FilterStatus{s.ID, s.StatusID} }

// NewFilterV1 renders a keyword of a filter in version 1 of the API.
func NewFilterV1(f *store.FilterWithTerms, k *store.FilterKeyword) FilterV1 {
	return FilterV1{
		ID: k.ID, Phrase: k.Keyword, Context: orEmpty(f.Context.V), ExpiresAt: f.ExpiresAt,
		Irreversible: f.Action == store.FilterHide, WholeWord: k.WholeWord,
	}
}

// NewFiltersV1 renders all keywords of filters in version 1 of the API. Filters without keywords are left out.
func NewFiltersV1(rows []*store.FilterWithTerms) []FilterV1 {
	phrases := []FilterV1{}
	for _, f := range rows {
		for _, k := range f.Keywords {
			phrases = append(phrases, NewFilterV1(f, k))
		}
	}
	return phrases
}
