package store

import (
	"context"
	"math"
	"net/http"
	"sync/atomic"
	"time"

	"svc/internal/errs"
	"svc/internal/limit"
)

// searchTimeout is how long a search waits for its slot.
const searchTimeout = 10 * time.Second

var errSearchesBusy = &errs.Error{Status: http.StatusTooManyRequests, Message: "Too many searches at once", RetryAfter: 5 * time.Second}

// searchLimiter leaves reading connections to other queries, because a search may take one for long: searches use at most half of the
// connections, and those of one viewer run one after another.
type searchLimiter struct {
	slots   *limit.Slots[AccountID]
	timeout time.Duration
	active  atomic.Int64 // searches that run or wait
}

func newSearchLimiter(readers int) *searchLimiter {
	return &searchLimiter{slots: limit.NewSlots[AccountID](max(1, readers/2), 1, math.MaxInt32), timeout: searchTimeout}
}

// acquire waits for a slot. release must be called after the search.
func (l *searchLimiter) acquire(ctx context.Context, viewer AccountID) (release func(), err error) {
	l.active.Add(1)
	ctx, cancel := context.WithTimeoutCause(ctx, l.timeout, errSearchesBusy)
	defer cancel()
	free, err := l.slots.Take(ctx, viewer)
	if err != nil {
		l.active.Add(-1)
		return nil, err
	}
	return func() {
		free()
		l.active.Add(-1)
	}, nil
}
