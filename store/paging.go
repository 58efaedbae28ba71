package store

import (
	"context"
	"slices"
	"strings"
)

// StatusEntry is an entry in a list of statuses that is ordered by Cursor.
type StatusEntry struct {
	Cursor   int64
	StatusID StatusID
}

// AccountEntry is an entry in a list of accounts that is ordered by Cursor.
type AccountEntry struct {
	Cursor    int64
	AccountID AccountID
}

// keyset are the queries of a list that is paged by id, in both directions.
type keyset struct{ descending, ascending string }

// newKeyset makes both queries from the descending one. Its ORDER BY must end with DESC at the end of a line, and no line before it must. In
// the queries of idPage and rowPage, ?1 is the owner of the list, the id is below ?2 and above ?3, ?4 is the limit.
func newKeyset(query string) keyset {
	return keyset{query, strings.Replace(query, " DESC\n", " ASC\n", 1)}
}

// query returns the query of a page, and its bounds.
func (k keyset) query(p Page) (query string, below, above int64, ascending bool) {
	below, above, ascending = p.bounds()
	if ascending {
		return k.ascending, below, above, ascending
	}
	return k.descending, below, above, ascending
}

// idPage reads a page of ids, newest first.
func idPage[T, W ~int64](ctx context.Context, r reader, what string, k keyset, whose W, p Page) ([]T, error) {
	query, below, above, ascending := k.query(p)
	rows, err := ids[T](ctx, r, what, query, whose, below, above, p.Limit)
	return newestFirst(rows, ascending), err
}

// rowPage reads a page of rows, newest first.
func rowPage[T any, W ~int64](ctx context.Context, r reader, what string, k keyset, whose W, p Page) ([]T, error) {
	query, below, above, ascending := k.query(p)
	rows, err := list[T](ctx, r, what, query, whose, below, above, p.Limit)
	return newestFirst(rows, ascending), err
}

// newEntries returns the queries of a list of entries. ?1 is the viewer, ?2 the lookups; the cursor is between ?3 and ?4.
func newEntries(columns, from, cursor, where string) keyset {
	return newKeyset(`
		SELECT ` + cursor + ` AS cursor, ` + columns + `
		FROM ` + from + `
		WHERE ` + cursor + ` < ?3 AND ` + cursor + ` > ?4
			AND ` + where + `
		ORDER BY ` + cursor + ` DESC
		LIMIT ?5`)
}

// readEntries reads a page of entries, newest first.
func readEntries[E any](ctx context.Context, r reader, k keyset, viewer AccountID, p Page, more ...any) ([]E, error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return nil, err
	}
	query, below, above, ascending := k.query(p)
	rows, err := list[E](ctx, r, "entries", query, append([]any{viewer, l, below, above, p.Limit}, more...)...)
	return newestFirst(rows, ascending), err
}

// Page selects a part of a list that is ordered by id. Zero bounds are none. With MinID it begins right after it, otherwise it has the
// newest. It is returned newest first.
type Page struct {
	MaxID   int64 // older than
	SinceID int64 // newer than
	MinID   int64 // newer than, and the closest to it
	Limit   int
}

// bounds returns the ids that the page is below and above, and the direction in which it is read.
func (p Page) bounds() (below, above int64, ascending bool) {
	below, above = p.MaxID, max(p.SinceID, p.MinID)
	if below == 0 {
		below = 1<<63 - 1
	}
	return below, above, p.MinID != 0
}

// newestFirst reverses a page that was read in ascending order.
func newestFirst[T any](rows []T, ascending bool) []T {
	if ascending {
		slices.Reverse(rows)
	}
	return rows
}

// mergePage makes one page from the pages of several lists.
func mergePage(ids []StatusID, p Page) []StatusID {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > p.Limit {
		if p.MinID != 0 {
			ids = ids[:p.Limit]
		} else {
			ids = ids[len(ids)-p.Limit:]
		}
	}
	slices.Reverse(ids)
	return ids
}
