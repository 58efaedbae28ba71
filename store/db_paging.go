package store

import (
	"context"
	"database/sql"
	"fmt"
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
// the queries of rowPage, ?1 is the owner of the list, the id is below ?2 and above ?3, ?4 is the limit.
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

// rowPage reads a page of rows, newest first. No condition may hide rows, because the page looks for others then, however many there are.
func rowPage[T any, W ~int64](ctx context.Context, r reader, what string, k keyset, whose W, p Page) ([]T, error) {
	query, below, above, ascending := k.query(p)
	rows, err := list[T](ctx, r, what, query, whose, below, above, p.Limit)
	return newestFirst(rows, ascending), err
}

// Rows of a list that one page looks at, shown or hidden from the viewer. A page that has spent its budget is short, and its Part says where
// the list goes on. So no page takes long, however many posts are hidden in a row.
const (
	scanBudget             = 1000
	notificationScanBudget = 5000 // only the recipient reads them, and some types are rare
	conversationScanBudget = 100  // each looks at up to conversationDepth posts
)

// Part is the part of a list that a page has, newest first.
type Part[T any] struct {
	Rows []T
	Next int64 // where the list goes on, if the scan budget was spent before the page was full: the last examined id; else 0
}

// scanPart reads a page from a query that returns a row for each one that it looks at, up to a budget. scan returns the row and its position,
// and whether it is shown.
func scanPart[T any](ctx context.Context, r reader, what, query string, p Page, budget int, scan func(*sql.Rows) (row T, position int64, shown bool, err error), args ...any) (Part[T], error) {
	rows, err := r.query(ctx, what, query, args...)
	if err != nil {
		return Part[T]{}, err
	}
	defer rows.Close()
	var part Part[T]
	var last int64
	looked := 0
	for ; len(part.Rows) < p.Limit && rows.Next(); looked++ {
		row, position, shown, err := scan(rows.Rows)
		if err != nil {
			return Part[T]{}, fmt.Errorf("%s: %w", what, err)
		}
		if last = position; shown {
			part.Rows = append(part.Rows, row)
		}
	}
	if err := rows.Err(); err != nil {
		return Part[T]{}, fmt.Errorf("%s: %w", what, err)
	}
	if looked >= budget && len(part.Rows) < p.Limit {
		part.Next = last
	}
	part.Rows = newestFirst(part.Rows, p.MinID != 0)
	return part, nil
}

// scanMarkedID reads an id that is negative if its row is hidden.
func scanMarkedID[T ~int64](rows *sql.Rows) (id T, position int64, shown bool, err error) {
	err = rows.Scan(&position)
	if shown = position > 0; !shown {
		position = -position
	}
	return T(position), position, shown, err
}

// newEntries returns the queries of a list of entries. ?1 is the viewer, ?2 the lookups; the cursor is between ?3 and ?4, ?5 is the scan
// budget. where is answered by the index; shown decides whether the viewer sees the entry.
func newEntries(id, from, cursor, where, shown string) keyset {
	return newKeyset(`
		SELECT CASE WHEN ` + shown + ` THEN ` + cursor + ` ELSE -` + cursor + ` END AS position, ` + id + `
		FROM ` + from + `
		WHERE ` + cursor + ` < ?3 AND ` + cursor + ` > ?4
			AND ` + where + `
		ORDER BY ` + cursor + ` DESC
		LIMIT ?5`)
}

// readEntries reads a page of entries with the scan function of their type.
func readEntries[E any](ctx context.Context, r reader, k keyset, viewer AccountID, p Page, entry func(cursor, id int64) E, more ...any) (Part[E], error) {
	l, err := r.lookups(ctx, viewer)
	if err != nil {
		return Part[E]{}, err
	}
	query, below, above, _ := k.query(p)
	budget := max(scanBudget, p.Limit)
	return scanPart(ctx, r, "entries", query, p, budget, func(rows *sql.Rows) (e E, position int64, shown bool, err error) {
		var id int64
		err = rows.Scan(&position, &id)
		if shown = position > 0; !shown {
			position = -position
		}
		return entry(position, id), position, shown, err
	}, append([]any{viewer, l, below, above, budget}, more...)...)
}

// newAccountList returns the queries of a list of accounts that is ordered by their ids. ?1 is the owner of the list. It leaves out
// unavailable accounts, which are many after a domain with many followers is suspended.
func newAccountList(account, from, where string) keyset {
	return newEntries(account, from, account, where, accountAvailable(account))
}

// readAccounts reads a page of a list of accounts.
func readAccounts[W ~int64](ctx context.Context, r reader, k keyset, owner W, p Page) (Part[AccountID], error) {
	return readEntries(ctx, r, k, AccountID(owner), p, func(_, id int64) AccountID { return AccountID(id) })
}

func newStatusEntry(cursor, id int64) StatusEntry { return StatusEntry{cursor, StatusID(id)} }

func newAccountEntry(cursor, id int64) AccountEntry { return AccountEntry{cursor, AccountID(id)} }

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

// mergeParts makes one page from the parts of several lists. It goes no further than the first list that has spent its budget.
func mergeParts(parts []Part[StatusID], p Page) Part[StatusID] {
	var ids []StatusID
	var next int64
	for _, part := range parts {
		ids = append(ids, part.Rows...)
		switch {
		case part.Next == 0:
		case next == 0:
			next = part.Next
		case p.MinID != 0:
			next = min(next, part.Next)
		default:
			next = max(next, part.Next)
		}
	}
	if next != 0 {
		ids = slices.DeleteFunc(ids, func(id StatusID) bool {
			if p.MinID != 0 {
				return int64(id) > next
			}
			return int64(id) < next
		})
	}
	merged := Part[StatusID]{Rows: mergePage(ids, p)}
	if len(merged.Rows) < p.Limit {
		merged.Next = next
	}
	return merged
}

// mergePage makes one page from the ids of several pages.
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
