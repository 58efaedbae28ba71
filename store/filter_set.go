package store

import (
	"context"
	"slices"
	"time"

	"svc/internal/text"
)

// FilterSet are the filters of an account, ready to be matched. It is immutable; nil matches nothing.
type FilterSet struct {
	owner    AccountID
	filters  []compiledFilter
	keywords bool              // a filter has keywords
	statuses map[StatusID]bool // that a filter names
	now      func() time.Time
	size     int
}

type compiledFilter struct {
	*FilterWithTerms
	phrases []*text.Phrase // of the keywords, in order
}

// FilterMatch is a filter that matches a status, and the reasons.
type FilterMatch struct {
	Filter   *UserFilter
	Keywords []string // as typed
	Statuses []StatusID
}

func compileFilters(owner AccountID, filters []*FilterWithTerms, now func() time.Time) *FilterSet {
	if len(filters) == 0 {
		return nil
	}
	s := &FilterSet{owner: owner, now: now, statuses: make(map[StatusID]bool), size: 1}
	for _, f := range filters {
		p := compiledFilter{FilterWithTerms: f}
		s.keywords = s.keywords || len(f.Keywords) > 0
		for _, k := range f.Keywords {
			p.phrases = append(p.phrases, text.NewPhrase(k.Keyword, k.WholeWord))
		}
		for _, st := range f.Statuses {
			s.statuses[st.StatusID] = true
		}
		s.filters = append(s.filters, p)
		s.size += 1 + len(f.Keywords) + len(f.Statuses)
	}
	return s
}

// Match returns the active filters that match a status that is no boost, in any context: clients check the context (client API 3.15). words
// returns the text of the status. The owner's own statuses are not filtered.
func (s *FilterSet) Match(id StatusID, author AccountID, words func() *text.Folded) []FilterMatch {
	if s == nil || author == s.owner {
		return nil
	}
	var matches []FilterMatch
	now := At(s.now())
	named := s.statuses[id]
	var read *text.Folded // nil if there are no keywords
	if s.keywords {
		read = words()
	}
	for _, f := range s.filters {
		if f.ExpiresAt != nil && *f.ExpiresAt <= now {
			continue
		}
		var m FilterMatch
		for i, p := range f.phrases {
			if p.Matches(read) {
				m.Keywords = append(m.Keywords, f.Keywords[i].Keyword)
			}
		}
		if named && slices.ContainsFunc(f.Statuses, func(st *FilterStatus) bool { return st.StatusID == id }) {
			m.Statuses = []StatusID{id}
		}
		if m.Keywords != nil || m.Statuses != nil {
			m.Filter = &f.UserFilter
			matches = append(matches, m)
		}
	}
	return matches
}

// FilterText returns the text that filters match: content as plain text, subject, and more: descriptions of attachments and options of the
// poll.
func (s *Status) FilterText(plain string, more []string) *text.Folded {
	return text.Fold(append([]string{plain, s.SpoilerText}, more...)...)
}

// HiddenIn returns true if one of the matching filters hides the status in a context. Only home and notifications leave such statuses out;
// in other contexts clients hide them (client API 3.14).
func HiddenIn(matches []FilterMatch, in FilterContext) bool {
	return slices.ContainsFunc(matches, func(m FilterMatch) bool { return m.Filter.Action == FilterHide && m.Filter.In(in) })
}

// maxCachedFilterTerms is the number of filters, keywords and statuses of filters that are cached: about 10 MB.
const maxCachedFilterTerms = 50_000

func (s *FilterSet) weight() int {
	if s == nil {
		return 1
	}
	return s.size
}

// invalidateFilters drops the cached filters that a commit has changed.
func (db *DB) invalidateFilters(events []Event) {
	for _, e := range events {
		switch e := e.(type) {
		case FiltersChanged:
			db.filterCache.Drop(e.AccountID)
		case RowsChanged:
			if e.All {
				db.filterCache.Clear()
			}
		}
	}
}

// FilterSet returns the filters of an account, nil if it has none. A transaction does not see its own changes of cached filters.
func (r reader) FilterSet(ctx context.Context, owner AccountID) (*FilterSet, error) {
	read := func() (*FilterSet, error) {
		filters, err := r.UserFilters(ctx, owner)
		if err != nil {
			return nil, err
		}
		return compileFilters(owner, filters, r.db.now), nil
	}
	if r.q == r.db.q {
		return r.db.filterCache.Load(owner, read)
	}
	if s, ok := r.db.filterCache.Get(owner); ok {
		return s, nil
	}
	return read() // not cached: the transaction may be rolled back
}
