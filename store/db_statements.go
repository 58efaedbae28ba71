package store

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"
)

// statements runs queries as prepared statements, which stay open with the connection or pool. All texts are in this package, so that their
// number is bounded.
//
// Queries ignore the caller's context but for its read budget, except queryWithin: each is bounded by an index and a limit and ends within milliseconds, and a
// query that cannot be interrupted needs no goroutine and never leaves its connection in an odd state.
type statements struct {
	on       preparer
	prepared sync.Map // query text → *sqlx.Stmt
}

// preparer is a pool or a connection.
type preparer interface {
	PreparexContext(context.Context, string) (*sqlx.Stmt, error)
	QueryRowxContext(context.Context, string, ...any) *sqlx.Row
}

func newStatements(on preparer) *statements { return &statements{on: on} }

// SQLite uses the value of a parameter in LIMIT for its plan, and plans again when it changes, which takes ten times as long as the query.
// It ignores the value of an expression.
var limitParameter = regexp.MustCompile(`\bLIMIT (\?\d*)`)

func (s *statements) get(query string) (*sqlx.Stmt, error) {
	if st, ok := s.prepared.Load(query); ok {
		return st.(*sqlx.Stmt), nil
	}
	st, err := s.on.PreparexContext(context.Background(), limitParameter.ReplaceAllString(query, "LIMIT ($1 + 0)"))
	if err != nil {
		return nil, err
	}
	st.Mapper = mapper // the statements of a connection have the default one
	if first, loaded := s.prepared.LoadOrStore(query, st); loaded {
		st.Close()
		return first.(*sqlx.Stmt), nil
	}
	return st, nil
}

func (s *statements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return s.queryWithin(onlyBudget(ctx), query, args...)
}

// queryWithin is QueryContext for a query that no index bounds: it ends with the context, and its connection is replaced then.
func (s *statements) queryWithin(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := s.get(query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

func (s *statements) QueryxContext(ctx context.Context, query string, args ...any) (*sqlx.Rows, error) {
	st, err := s.get(query)
	if err != nil {
		return nil, err
	}
	return st.QueryxContext(onlyBudget(ctx), args...)
}

func (s *statements) QueryRowxContext(_ context.Context, query string, args ...any) *sqlx.Row {
	st, err := s.get(query)
	if err != nil {
		return s.on.QueryRowxContext(context.Background(), query, args...) // fails again, because only sqlx can make a failed row
	}
	return st.QueryRowxContext(context.Background(), args...)
}

func (s *statements) ExecContext(_ context.Context, query string, args ...any) (sql.Result, error) {
	st, err := s.get(query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(context.Background(), args...)
}

func (s *statements) close() {
	s.prepared.Range(func(_, st any) bool {
		st.(*sqlx.Stmt).Close()
		return true
	})
}

var mapper = reflectx.NewMapperFunc("db", columnName)

// columnName returns the column of a field: InReplyToID → in_reply_to_id, RedirectURIs → redirect_uris.
func columnName(field string) string {
	var b strings.Builder
	rs := []rune(field)
	for i, r := range rs {
		if unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(rs[i-1]) || startsWord(rs[i+1:])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// startsWord returns true if the text after a capital makes it the first letter of a word; the s of a plural does not.
func startsWord(rest []rune) bool {
	if len(rest) == 0 || !unicode.IsLower(rest[0]) {
		return false
	}
	return rest[0] != 's' || len(rest) > 1 && unicode.IsLower(rest[1])
}
