package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"time"

	"svc/internal/errs"
)

// anonymousWait is how long a query of an anonymous request waits for a reading connection.
const anonymousWait = 3 * time.Second

// errReadersBusy is the answer to an anonymous request that got no reading connection.
var errReadersBusy = &errs.Error{Status: http.StatusServiceUnavailable, Message: "The server is busy, try again soon", RetryAfter: 5 * time.Second}

type anonymousKey struct{}

// WithAnonymous returns a context for the reads of an anonymous request. All such requests together use at most half of the reading connections,
// so that they cannot delay users.
func WithAnonymous(ctx context.Context) context.Context {
	return context.WithValue(ctx, anonymousKey{}, true)
}

func free() {}

// hold waits until a query may take a connection. release must be called after it.
func (r reader) hold(ctx context.Context) (release func(), err error) {
	if ctx.Value(anonymousKey{}) == nil || r.q != r.db.q {
		return free, nil
	}
	db := r.db
	select {
	case db.anonymous <- struct{}{}:
		return db.releaseAnonymous, nil
	default:
	}
	timeout := time.NewTimer(anonymousWait)
	defer timeout.Stop()
	select {
	case db.anonymous <- struct{}{}:
		return db.releaseAnonymous, nil
	case <-timeout.C:
		return nil, errReadersBusy
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (db *DB) releaseAnonymous() { <-db.anonymous }

// heldRows are rows whose connection is counted until they are closed.
type heldRows struct {
	*sql.Rows
	release func()
}

// Close closes the rows. It must be called once.
func (r *heldRows) Close() error {
	defer r.release()
	return r.Rows.Close()
}

// query runs a query. The caller must close the rows.
func (r reader) query(ctx context.Context, what, query string, args ...any) (*heldRows, error) {
	release, err := r.hold(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := r.q.QueryContext(ctx, query, args...)
	if err != nil {
		release()
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return &heldRows{rows, release}, nil
}
