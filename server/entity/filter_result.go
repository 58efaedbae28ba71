package entity

import (
	"context"

	"svc/store"
)

// filtered are the viewer's filters that match a status.
type filtered struct{ matches []store.FilterMatch }

// FilterResult is a filter that matches a status, and why. The filter comes without its keywords and statuses (client API 3.15).
type FilterResult struct {
	Filter         filterMembers    `json:"filter"`
	KeywordMatches []string         `json:"keyword_matches"`
	StatusMatches  []store.StatusID `json:"status_matches"`
}

// addFiltered matches statuses with the viewer's filters of all contexts. Clients decide by the context.
func (b *Builder) addFiltered(ctx context.Context, viewer *store.Account, originals List[*Status]) error {
	if viewer == nil {
		return nil
	}
	set, err := b.db.FilterSet(ctx, viewer.ID)
	if set == nil || err != nil {
		return err
	}
	for _, s := range originals {
		matches, err := set.Match(store.FilteredStatus{ID: s.id, Author: s.accountID, Version: s.version, Words: s.filterText})
		if err != nil {
			return err
		}
		if matches == nil {
			continue
		}
		s.filtered = &filtered{matches}
	}
	return nil
}

func (s *Status) appendFiltered(dst []byte) []byte {
	matches := s.original().filtered.matches
	results := make([]FilterResult, 0, len(matches))
	for _, m := range matches {
		results = append(results, FilterResult{newFilterMembers(m.Filter), orEmpty(m.Keywords), orEmpty(m.Statuses)})
	}
	rendered, err := marshal(results)
	if err != nil { // texts and times always have JSON
		panic(err)
	}
	return append(dst, rendered...)
}

// HiddenIn returns true if a filter of the viewer hides the status from home or notifications, in lists as in streams. The viewer's
// own statuses and boosts are never hidden.
func (s *Status) HiddenIn(in store.FilterContext) bool {
	if s.byViewer {
		return false
	}
	if s.reblog != nil {
		s = s.reblog
	}
	return s.filtered != nil && store.HiddenIn(s.filtered.matches, in)
}

// HiddenIn returns true if a filter of the viewer hides the notification.
func (n *Notification) HiddenIn(in store.FilterContext) bool {
	return n.status != nil && n.status.HiddenIn(in)
}
