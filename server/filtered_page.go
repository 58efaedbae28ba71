package server

import (
	"errors"
	"slices"
	"time"

	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// Bounds of filteredPage. After maxFilterRounds a page may be short. maxFilterScan and filterTimeout bound how many hidden entries are
// read and rendered, because the filters and the statuses may have been made to cost as much as possible.
const (
	maxFilterRounds = 4
	maxFilterScan   = 400
	maxFilterBatch  = 200
	filterTimeout   = 250 * time.Millisecond
)

// listEntry is an entity that a filter can hide from a list.
type listEntry interface {
	entity.Appender
	Position() int64
	HiddenIn(store.FilterContext) bool
}

// positioned is a row or an id after which a list can be continued.
type positioned interface{ Position() int64 }

// filteredList is a page without the entries that filters hide.
type filteredList[T positioned, E listEntry] struct {
	shown   entity.List[E]
	scanned []T   // all entries that were read for it, for the cursors
	next    int64 // where the list goes on if the page is short, as in store.Part; else 0
}

// filteredPage reads a page in the order of the list. It reads in rounds until the page is full, because clients take a short page for the end
// of the list (client API 4.2). If that takes too much, the page is short and has a position where the list goes on.
func filteredPage[T positioned, E listEntry](r *rest.Request, p store.Page, in store.FilterContext, read func(store.Page) (store.Part[T], error), show func([]T) (entity.List[E], error)) (*filteredList[T, E], error) {
	f := &filteredList[T, E]{shown: entity.List[E]{}}
	limit, upwards := p.Limit, p.MinID != 0
	began := time.Now()
	for round := 1; ; round++ {
		part, err := read(p)
		if err != nil {
			return nil, err
		}
		batch := part.Rows
		ended := len(batch) < p.Limit && part.Next == 0
		if upwards { // the page grows upwards, away from its cursor
			slices.Reverse(batch)
		}
		entries, n, err := showFirst(r, batch, show)
		if errors.Is(err, store.ErrFilterTime) && len(f.scanned) > 0 {
			f.next = f.scanned[len(f.scanned)-1].Position()
			break
		}
		if err != nil {
			return nil, err
		}
		if n < len(batch) {
			batch, ended, part.Next = batch[:n], false, batch[n-1].Position()
		}
		if cut := f.add(r, batch, entries, limit, in); cut {
			f.next = f.scanned[len(f.scanned)-1].Position()
			break
		}
		if ended || len(f.shown) == limit {
			break
		}
		last := part.Next
		if last == 0 {
			last = batch[len(batch)-1].Position()
		}
		if part.Next != 0 || round >= maxFilterRounds && len(f.shown) > 0 || len(f.scanned) >= maxFilterScan || time.Since(began) > filterTimeout {
			f.next = last
			break
		}
		if upwards {
			p.MinID = last
		} else {
			p.MaxID = last
		}
		p.Limit = min(2*p.Limit, maxFilterBatch)
	}
	if len(f.shown) == 0 { // an empty page has no cursor but next
		f.scanned = nil
	}
	if upwards {
		slices.Reverse(f.scanned)
		slices.Reverse(f.shown)
	}
	return f, r.Rendered()
}

// showFirst renders as many entries of a batch as the time for filters and the memory allow: those of the first n rows. It returns
// store.ErrFilterTime if there is no time for one.
func showFirst[T positioned, E listEntry](r *rest.Request, batch []T, show func([]T) (entity.List[E], error)) (entries entity.List[E], n int, err error) {
	for n = len(batch); ; n = (n + 1) / 2 {
		entries, n, err = rest.ShowSome(r, n, func(n int) (entity.List[E], error) { return show(batch[:n]) })
		if !errors.Is(err, store.ErrFilterTime) || n <= 1 {
			return entries, n, err
		}
	}
}

// add adds the entries of a batch that the filters do not hide, up to limit and as many as the answer may have. cut is true if it may have no
// more.
func (f *filteredList[T, E]) add(r *rest.Request, batch []T, entries entity.List[E], limit int, in store.FilterContext) (cut bool) {
	for _, e := range entries {
		hidden := e.HiddenIn(in)
		if !hidden && len(f.shown) < limit {
			cut = r.Fitting(1, len(f.shown) == 0, func(int) int { return rest.JSONSize(e) }) == 0
		}
		if len(f.shown) == limit || cut {
			batch = batch[:slices.IndexFunc(batch, func(t T) bool { return t.Position() == e.Position() })]
			break
		}
		if !hidden {
			f.shown = append(f.shown, e)
		}
	}
	if f.scanned == nil {
		f.scanned = batch
	} else {
		f.scanned = append(f.scanned, batch...)
	}
	return cut
}
