package entity

import "svc/store"

// Filter is a filter without its keywords and statuses.
type Filter struct {
	ID        store.FilterID        `json:"id"`
	Title     string                `json:"title"`
	Context   []store.FilterContext `json:"context"`
	ExpiresAt *store.Time           `json:"expires_at"`
	Action    store.FilterAction    `json:"filter_action"`
}

// WholeFilter is a filter with its keywords and statuses.
type WholeFilter struct {
	Filter
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

func (b *Builder) filter(f *store.UserFilter) Filter {
	return Filter{ID: f.ID, Title: f.Title, Context: orEmpty(f.Context.V), ExpiresAt: f.ExpiresAt, Action: f.Action}
}

// WholeFilter renders a filter for its owner.
func (b *Builder) WholeFilter(f *store.FilterWithTerms) WholeFilter {
	return WholeFilter{b.filter(&f.UserFilter), b.FilterKeywords(f.Keywords), b.FilterStatuses(f.Statuses)}
}

// WholeFilters renders filters for their owner.
func (b *Builder) WholeFilters(rows []*store.FilterWithTerms) []WholeFilter {
	filters := make([]WholeFilter, 0, len(rows))
	for _, f := range rows {
		filters = append(filters, b.WholeFilter(f))
	}
	return filters
}

// FilterKeyword renders a keyword for its owner.
func (b *Builder) FilterKeyword(k *store.FilterKeyword) FilterKeyword {
	return FilterKeyword{k.ID, k.Keyword, k.WholeWord}
}

// FilterKeywords renders keywords for their owner.
func (b *Builder) FilterKeywords(rows []*store.FilterKeyword) []FilterKeyword {
	keywords := make([]FilterKeyword, 0, len(rows))
	for _, k := range rows {
		keywords = append(keywords, b.FilterKeyword(k))
	}
	return keywords
}

// FilterStatus renders a status of a filter for its owner.
func (b *Builder) FilterStatus(s *store.FilterStatus) FilterStatus {
	return FilterStatus{s.ID, s.StatusID}
}

// FilterStatuses renders the statuses of a filter for its owner.
func (b *Builder) FilterStatuses(rows []*store.FilterStatus) []FilterStatus {
	statuses := make([]FilterStatus, 0, len(rows))
	for _, s := range rows {
		statuses = append(statuses, b.FilterStatus(s))
	}
	return statuses
}

// FilterV1 renders a keyword of a filter in version 1 of the API.
func (b *Builder) FilterV1(f *store.FilterWithTerms, k *store.FilterKeyword) FilterV1 {
	return FilterV1{
		ID: k.ID, Phrase: k.Keyword, Context: orEmpty(f.Context.V), ExpiresAt: f.ExpiresAt,
		Irreversible: f.Action == store.FilterHide, WholeWord: k.WholeWord,
	}
}

// FiltersV1 renders all keywords of filters in version 1 of the API. Filters without keywords are left out.
func (b *Builder) FiltersV1(rows []*store.FilterWithTerms) []FilterV1 {
	phrases := []FilterV1{}
	for _, f := range rows {
		for _, k := range f.Keywords {
			phrases = append(phrases, b.FilterV1(f, k))
		}
	}
	return phrases
}
