package server

import (
	"slices"
	"time"

	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// Some lists lack what the viewer's filters hide, which shows only once an entry has been read. A page of such a list is read in
// rounds until it is full or the list ends: clients take an empty page for the end (client API 4.2). After a few rounds less than a
// full page will do. maxFilterScan bounds how much is passed over that is all hidden, and filterTimeout how long that may take: the filters and the
// posts may have been made for it.
const (
	maxFilterRounds = 4
	maxFilterScan   = 5000
	maxFilterBatch  = 200
	filterTimeout   = 2 * time.Second
)

// listEntry is an entity in a list that filters drop things from.
type listEntry interface {
	entity.Appender
	Position() int64
	HiddenIn(store.FilterContext) bool
}

// positioned is a row or an id from which a list can be read on.
type positioned interface{ Position() int64 }

// filteredPage reads a page, and returns what is shown of it, and what had to be looked at for that, in the order of the list.
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
		if upwards { // away from where the page begins
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

// linkFilteredPage is LinkPage for a page on which something is shown after so many entries were scanned.
func linkFilteredPage(r *rest.Request, p rest.Page, shown, scanned int, cursor func(i int) string) {
	if shown > 0 {
		r.LinkPage(p, scanned, cursor)
	}
}
