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

// readPage reads a page of a list that is whose, newest first. Further parameters of the query are ?5 and so on.
func readPage[T, W any](ctx context.Context, r reader, what string, k keyset, whose W, p Page, more ...any) ([]T, error) {
	below, above, ascending := p.bounds()
	query := k.descending
	if ascending {
		query = k.ascending
	}
	rows, err := list[T](ctx, r, what, query, append([]any{whose, below, above, p.Limit}, more...)...)
	return newestFirst(rows, ascending), err
}

// present is the condition that an account is not withheld.
func present(id string) string {
	return `NOT EXISTS (SELECT 1 FROM accounts x INDEXED BY accounts_withheld WHERE x.withheld = 1 AND x.id = ` + id + `)`
}
