package store

import (
	"context"
	"strings"
)

// keyset is the text of the two queries of a list that is paged by an id: from the newest downwards, and from a bound upwards.
type keyset struct{ descending, ascending string }

// newKeyset takes the query that reads downwards. ?1 is whose list it is, the id lies below ?2 and above ?3, and ?4 is the limit;
// it ends in ORDER BY the id DESC, and LIMIT on a line of its own.
func newKeyset(query string) keyset {
	return keyset{query, strings.Replace(query, " DESC\n", " ASC\n", 1)}
}

// query returns the query for a page, and its bounds.
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

// accountAvailable is the condition that an account is not withheld.
func accountAvailable(id string) string {
	return `NOT EXISTS (SELECT 1 FROM accounts x INDEXED BY accounts_unavailable WHERE x.unavailable = 1 AND x.id = ` + id + `)`
}
