package store

import (
	"context"
	"slices"
	"sync"
	"time"

	"svc/internal/text"
)

// FilterSet are somebody's filters, ready to be matched with statuses. A nil set matches nothing. It does not change any more.
type FilterSet struct {
	owner    AccountID
	filters  []compiledFilter
	keywords bool              // there are any
	statuses map[StatusID]bool // of which some filter speaks
	now      func() time.Time
	size     int
}

type compiledFilter struct {
	*FilterWithTerms
	phrases []*text.Phrase // of the keywords, in order
}

// FilterMatch is a filter that speaks of a status, and why.
type FilterMatch struct {
	Filter   *UserFilter
	Keywords []string // as they were typed
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

// Match returns the filters in force that speak of a status, which is no boost, wherever they apply: clients look at the context
// themselves (client API 3.15). words returns what is to be read in the status; what the owner wrote is not filtered.
func (s *FilterSet) Match(id StatusID, author AccountID, words func() *text.Folded) []FilterMatch {
	if s == nil || author == s.owner {
		return nil
	}
	var matches []FilterMatch
	now := At(s.now())
	named := s.statuses[id]
	var read *text.Folded // nil where nothing is looked for in it
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

// FilterText are what filters look at in a status: its content as plain text, its subject, and more: what is said of its attachments, and
// the options of its poll.
func (s *Status) FilterText(plain string, more []string) *text.Folded {
	return text.Fold(append([]string{plain, s.SpoilerText}, more...)...)
}

// HiddenIn tells whether what matches so is not to be found in a place at all: a filter that hides applies there. Only home and
// notifications leave such statuses out; elsewhere clients do (client API 3.14).
func HiddenIn(matches []FilterMatch, in FilterContext) bool {
	return slices.ContainsFunc(matches, func(m FilterMatch) bool { return m.Filter.Action == FilterHide && m.Filter.In(in) })
}

// filterCache keeps the sets of recent viewers, nil for those who filter nothing.
type filterCache struct {
	mu         sync.Mutex
	generation int64
	size       int
	entries    map[AccountID]*FilterSet
}

// maxCachedFilterTerms is how much is remembered, of all viewers together, counted in keywords: some 10 MB.
const maxCachedFilterTerms = 50_000

func newFilterCache() *filterCache { return &filterCache{entries: make(map[AccountID]*FilterSet)} }

func (c *filterCache) get(id AccountID) (s *FilterSet, generation int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok = c.entries[id]
	return s, c.generation, ok
}

func (c *filterCache) put(id AccountID, s *FilterSet, generation int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation {
		return
	}
	size := 1
	if s != nil {
		size = s.size
	}
	if c.size+size > maxCachedFilterTerms {
		clear(c.entries)
		c.size = 0
	}
	if _, ok := c.entries[id]; !ok {
		c.size += size
	}
	c.entries[id] = s
}

// invalidate drops what is out of date after a commit.
func (c *filterCache) invalidate(events []Event) {
	for _, e := range events {
		switch e := e.(type) {
		case FiltersChanged:
			c.drop(e.AccountID, false)
		case RowsChanged:
			if e.All {
				c.drop(0, true)
			}
		}
	}
}

func (c *filterCache) drop(id AccountID, all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	switch s, ok := c.entries[id]; {
	case all:
		clear(c.entries)
		c.size = 0
	case ok:
		c.size--
		if s != nil {
			c.size -= s.size - 1
		}
		delete(c.entries, id)
	}
}

// FilterSet returns the filters of an account, nil if it has none. Within a transaction they are those from before its own changes.
func (r reader) FilterSet(ctx context.Context, owner AccountID) (*FilterSet, error) {
	s, generation, ok := r.db.filterCache.get(owner)
	if ok {
		return s, nil
	}
	filters, err := r.UserFilters(ctx, owner)
	if err != nil {
		return nil, err
	}
	s = compileFilters(owner, filters, r.db.now)
	if r.q == r.db.q { // what a transaction sees may be undone
		r.db.filterCache.put(owner, s, generation)
	}
	return s, nil
}
