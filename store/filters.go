package store

import (
	"context"
	"slices"

	"svc/internal/enum"
)

// Ids of filters, keywords and statuses of filters are decimal text in the API (client API 4.3). Other text becomes 0.
type (
	FilterID        int64
	FilterKeywordID int64
	FilterStatusID  int64
)

func (id FilterID) MarshalText() ([]byte, error)        { return decimal(id) }
func (id FilterKeywordID) MarshalText() ([]byte, error) { return decimal(id) }
func (id FilterStatusID) MarshalText() ([]byte, error)  { return decimal(id) }

func (id *FilterID) UnmarshalText(b []byte) error        { return readDecimal(id, b) }
func (id *FilterKeywordID) UnmarshalText(b []byte) error { return readDecimal(id, b) }
func (id *FilterStatusID) UnmarshalText(b []byte) error  { return readDecimal(id, b) }

// UserFilter is a filter of an account. It matches statuses by keywords, or by id.
type UserFilter struct {
	ID        FilterID
	AccountID AccountID
	Title     string
	Context   JSON[[]FilterContext]
	Action    FilterAction
	ExpiresAt *Time // nil: never
}

// In returns true if the filter applies in a context.
func (f *UserFilter) In(c FilterContext) bool { return slices.Contains(f.Context.V, c) }

// FilterKeyword is a word or phrase of a filter.
type FilterKeyword struct {
	ID        FilterKeywordID
	FilterID  FilterID
	Keyword   string
	WholeWord bool
}

// FilterStatus is a status that a filter names.
type FilterStatus struct {
	ID       FilterStatusID
	FilterID FilterID
	StatusID StatusID
}

// FilterWithTerms is a filter with its keywords and statuses, oldest first.
type FilterWithTerms struct {
	UserFilter
	Keywords []*FilterKeyword
	Statuses []*FilterStatus
}

// FilterContext is a place where a filter applies.
type FilterContext string

const (
	FilterHome          FilterContext = "home" // and lists
	FilterNotifications FilterContext = "notifications"
	FilterPublic        FilterContext = "public"
	FilterThread        FilterContext = "thread"
	FilterAccount       FilterContext = "account" // profiles
)

// FilterContexts are all contexts.
var FilterContexts = []FilterContext{FilterHome, FilterNotifications, FilterPublic, FilterThread, FilterAccount}

// UnmarshalText reads a context.
func (c *FilterContext) UnmarshalText(b []byte) error { return enum.Read(c, b, FilterContexts...) }

// FilterAction is what happens to a matching status.
type FilterAction string

const (
	FilterWarn FilterAction = "warn"
	FilterHide FilterAction = "hide" // left out of home and notifications; in other contexts clients hide it
	FilterBlur FilterAction = "blur" // clients hide its media
)

// FilterActions are all actions.
var FilterActions = []FilterAction{FilterWarn, FilterHide, FilterBlur}

// UnmarshalText reads an action.
func (a *FilterAction) UnmarshalText(b []byte) error { return enum.Read(a, b, FilterActions...) }

// UserFilters returns all filters of an account, oldest first, expired ones included.
func (r reader) UserFilters(ctx context.Context, owner AccountID) ([]*FilterWithTerms, error) {
	rows, err := list[*UserFilter](ctx, r, "filters", `
		SELECT *
		FROM filters INDEXED BY filters_account
		WHERE account_id = ?
		ORDER BY id`, owner)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	keywords, err := list[*FilterKeyword](ctx, r, "filter keywords", `
		SELECT k.*
		FROM filters f INDEXED BY filters_account
		CROSS JOIN filter_keywords k INDEXED BY filter_keywords_filter ON k.filter_id = f.id
		WHERE f.account_id = ?
		ORDER BY f.id, k.id`, owner)
	if err != nil {
		return nil, err
	}
	statuses, err := list[*FilterStatus](ctx, r, "filter statuses", `
		SELECT s.*
		FROM filters f INDEXED BY filters_account
		CROSS JOIN filter_statuses s INDEXED BY filter_statuses_filter ON s.filter_id = f.id
		WHERE f.account_id = ?
		ORDER BY f.id, s.id`, owner)
	if err != nil {
		return nil, err
	}
	filters := make([]*FilterWithTerms, 0, len(rows))
	byID := make(map[FilterID]*FilterWithTerms, len(rows))
	for _, row := range rows {
		f := &FilterWithTerms{UserFilter: *row}
		filters, byID[f.ID] = append(filters, f), f
	}
	// The three queries may see different commits: terms of filters that are missing are left out.
	for _, k := range keywords {
		if f := byID[k.FilterID]; f != nil {
			f.Keywords = append(f.Keywords, k)
		}
	}
	for _, s := range statuses {
		if f := byID[s.FilterID]; f != nil {
			f.Statuses = append(f.Statuses, s)
		}
	}
	return filters, nil
}

// AddFilter inserts a filter. Its ID is set.
func (tx *Tx) AddFilter(ctx context.Context, f *UserFilter) error {
	f.ID = FilterID(tx.newID())
	tx.invalidateFilters(f.AccountID)
	return tx.exec(ctx, "add filter", insertFilter.text, insertFilter.args(f)...)
}

// SaveFilter writes the changeable columns of a filter.
func (tx *Tx) SaveFilter(ctx context.Context, f *UserFilter) error {
	tx.invalidateFilters(f.AccountID)
	return tx.exec(ctx, "save filter", updateFilter.text, updateFilter.args(f)...)
}

// RemoveFilter deletes a filter of the owner with its terms.
func (tx *Tx) RemoveFilter(ctx context.Context, owner AccountID, id FilterID) error {
	tx.invalidateFilters(owner)
	return tx.exec(ctx, "remove filter", `DELETE FROM filters WHERE id = ? AND account_id = ?`, id, owner)
}

// AddFilterKeyword adds a keyword to a filter of the owner. Its ID is set.
func (tx *Tx) AddFilterKeyword(ctx context.Context, owner AccountID, k *FilterKeyword) error {
	k.ID = FilterKeywordID(tx.newID())
	tx.invalidateFilters(owner)
	return tx.exec(ctx, "add filter keyword", insertFilterKeyword.text, insertFilterKeyword.args(k)...)
}

// SaveFilterKeyword writes a keyword of the owner, and its filter.
func (tx *Tx) SaveFilterKeyword(ctx context.Context, owner AccountID, k *FilterKeyword) error {
	tx.invalidateFilters(owner)
	return tx.exec(ctx, "save filter keyword", updateFilterKeyword.text, updateFilterKeyword.args(k)...)
}

// RemoveFilterKeyword deletes a keyword of the owner.
func (tx *Tx) RemoveFilterKeyword(ctx context.Context, owner AccountID, id FilterKeywordID) error {
	tx.invalidateFilters(owner)
	return tx.exec(ctx, "remove filter keyword", `DELETE FROM filter_keywords WHERE id = ?`, id)
}

// AddFilterStatus adds a status to a filter of the owner. Its ID is set.
func (tx *Tx) AddFilterStatus(ctx context.Context, owner AccountID, s *FilterStatus) error {
	s.ID = FilterStatusID(tx.newID())
	tx.invalidateFilters(owner)
	return tx.exec(ctx, "add filter status", insertFilterStatus.text, insertFilterStatus.args(s)...)
}

// RemoveFilterStatus removes a status from a filter.
func (tx *Tx) RemoveFilterStatus(ctx context.Context, owner AccountID, id FilterStatusID) error {
	tx.invalidateFilters(owner)
	return tx.exec(ctx, "remove filter status", `DELETE FROM filter_statuses WHERE id = ?`, id)
}

// invalidateFilters emits FiltersChanged, once in a transaction.
func (tx *Tx) invalidateFilters(owner AccountID) {
	changed := FiltersChanged{AccountID: owner}
	if !slices.Contains(tx.events, Event(changed)) {
		tx.Emit(changed)
	}
}
