package server

import (
	"slices"
	"time"

	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// Bounds of filteredPage. After maxFilterRounds a page may be short. maxFilterScan and filterTimeout bound how many hidden entries are
// read, because the filters and the statuses may have been made to cost as much as possible.
const (
	maxFilterRounds = 4
	maxFilterScan   = 5000
	maxFilterBatch  = 200
	filterTimeout   = 2 * time.Second
)

// listEntry is an entity that a filter can hide from a list.
type listEntry interface {
	entity.Appender
	Position() int64
	HiddenIn(store.FilterContext) bool
}

// positioned is a row or an id after which a list can be continued.
type positioned interface{ Position() int64 }

// filteredPage reads a page. It returns the visible entries, and all that were read for them, in the order of the list. It reads in
// rounds until the page is full, because clients take a short page for the end of the list (client API 4.2).
func filteredPage[T positioned, E listEntry](p store.Page, in store.FilterContext, read func(store.Page) ([]T, error), show func([]T) (entity.List[E], error)) ([]T, entity.List[E], error) {
	var scanned []T
	shown := entity.List[E]{}
	limit, upwards := p.Limit, p.MinID != 0
	began := time.Now()
	for round := 1; ; round++ {
		batch, err := read(p)
		if err != nil {
			return nil, nil, err
		}
		entries, err := show(batch)
		if err != nil {
			return nil, nil, err
		}
		if upwards { // the page grows upwards, away from its cursor
			slices.Reverse(batch)
			slices.Reverse(entries)
		}
		ended := len(batch) < p.Limit
		for _, e := range entries {
			if len(shown) == limit {
				batch = batch[:slices.IndexFunc(batch, func(t T) bool { return t.Position() == e.Position() })]
				break
			}
			if !e.HiddenIn(in) {
				shown = append(shown, e)
			}
		}
		if scanned == nil {
			scanned = batch
		} else {
			scanned = append(scanned, batch...)
		}
		if ended || len(shown) == limit || round >= maxFilterRounds && len(shown) > 0 || len(scanned) >= maxFilterScan || time.Since(began) > filterTimeout {
			break
		}
		if last := batch[len(batch)-1].Position(); upwards {
			p.MinID = last
		} else {
			p.MaxID = last
		}
		p.Limit = min(2*p.Limit, maxFilterBatch)
	}
	if upwards {
		slices.Reverse(scanned)
		slices.Reverse(shown)
	}
	return scanned, shown, nil
}

// linkFilteredPage sets the Link header from all the entries that were read.
func linkFilteredPage(r *rest.Request, p rest.Page, shown, scanned int, cursor func(i int) string) {
	if shown > 0 {
		r.LinkPage(p, scanned, cursor)
	}
}
