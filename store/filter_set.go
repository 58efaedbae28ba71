package store

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"svc/internal/cache"
	"svc/internal/errs"
	"svc/internal/limit"
	"svc/internal/text"
)

// FilterSet are the filters of an account, ready to be matched. It is immutable; nil matches nothing.
type FilterSet struct {
	db       *DB
	id       uint64 // of this set, for remembered verdicts
	owner    AccountID
	filters  []compiledFilter
	statuses map[StatusID]bool // that a filter names
	phrases  int
	size     int
}

// Bounds of the time for filters, because accounts choose the keywords and others the texts.
const (
	filterTime        = 15 * time.Millisecond // for the filters of one account, in each second
	filterTimeUnit    = 10 * time.Microsecond // in which it is counted
	costlyMatch       = 32 << 10              // bytes of text times phrases; above, time is counted and the verdict remembered
	maxFilterTimes    = 10_000                // accounts
	maxCachedVerdicts = 20_000                // about 6 MB
	maxCachedFilters  = 50_000                // filters, keywords and statuses of filters: about 10 MB
)

// ErrFilterTime is returned if an account's filters have used up their time. Earlier verdicts are remembered, so that the next attempt
// gets further.
var ErrFilterTime = &errs.Error{Status: http.StatusTooManyRequests, Message: "Your filters take too long, try again in a second", RetryAfter: time.Second}

// filterVerdicts remembers what filters match, and counts the time that this takes.
type filterVerdicts struct {
	known *cache.Cache[verdictKey, []FilterMatch]
	time  *limit.Window[AccountID] // in units of filterTimeUnit
	sets  atomic.Uint64
}

type verdictKey struct{ set, version uint64 }

func newFilterVerdicts() *filterVerdicts {
	return &filterVerdicts{
		known: cache.NewWeighted[verdictKey](maxCachedVerdicts, func(m []FilterMatch) int { return 1 + len(m) }),
		time:  limit.NewWindow[AccountID](maxFilterTimes),
	}
}

var filterRate = limit.Rate{Count: int(filterTime / filterTimeUnit), Window: time.Second}

// use counts time of an account.
func (v *filterVerdicts) use(owner AccountID, d time.Duration, now time.Time) {
	for range d/filterTimeUnit + 1 {
		if _, ok := v.time.Allow(owner, filterRate, now); !ok {
			return
		}
	}
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

func (db *DB) compileFilters(owner AccountID, filters []*FilterWithTerms) *FilterSet {
	if len(filters) == 0 {
		return nil
	}
	s := &FilterSet{db: db, id: db.verdicts.sets.Add(1), owner: owner, statuses: make(map[StatusID]bool), size: 1}
	for _, f := range filters {
		p := compiledFilter{FilterWithTerms: f}
		s.phrases += len(f.Keywords)
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

// FilteredStatus is a status that is no boost, as filters see it.
type FilteredStatus struct {
	ID      StatusID
	Author  AccountID
	Version uint64              // another one for each text that the status has had; 0: unknown, so that the verdict is not remembered
	Words   func() *text.Folded // its text
}

// Match returns the active filters that match a status, in any context: clients check the context (client API 3.15). The owner's own
// statuses are not filtered. The error is ErrFilterTime.
func (s *FilterSet) Match(st FilteredStatus) ([]FilterMatch, error) {
	if s == nil || st.Author == s.owner {
		return nil, nil
	}
	matches, err := s.verdict(st)
	if len(matches) == 0 || err != nil {
		return nil, err
	}
	var active []FilterMatch
	now := At(s.db.now())
	for _, m := range matches {
		if m.Filter.ExpiresAt == nil || *m.Filter.ExpiresAt > now {
			active = append(active, m)
		}
	}
	return active, nil
}

// verdict returns the filters that match a status, the expired ones among them.
func (s *FilterSet) verdict(st FilteredStatus) ([]FilterMatch, error) {
	if s.phrases == 0 {
		return s.find(st.ID, nil), nil
	}
	read := st.Words()
	if s.phrases*len(read.String()) < costlyMatch {
		return s.find(st.ID, read), nil
	}
	v, key := s.db.verdicts, verdictKey{s.id, st.Version}
	if known, ok := v.known.Get(key); ok {
		return known, nil
	}
	began := time.Now()
	if v.time.Peek(s.owner, filterRate, began).Remaining == 0 {
		return nil, ErrFilterTime
	}
	matches := s.find(st.ID, read)
	now := time.Now()
	if v.use(s.owner, now.Sub(began), now); st.Version != 0 {
		v.known.Put(key, matches, v.known.Generation())
	}
	return matches, nil
}

// find looks for the phrases of all filters in a text.
func (s *FilterSet) find(id StatusID, read *text.Folded) []FilterMatch {
	var matches []FilterMatch
	named := s.statuses[id]
	for _, f := range s.filters {
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
		return r.db.compileFilters(owner, filters), nil
	}
	if r.q == r.db.q {
		return r.db.filterCache.Load(owner, read)
	}
	if s, ok := r.db.filterCache.Get(owner); ok {
		return s, nil
	}
	return read() // not cached: the transaction may be rolled back
}
