package limit

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Bytes bound how much memory large operations take at the same time. Callers wait in the order in which they came.
type Bytes struct {
	all  int64
	free *semaphore.Weighted
}

// NewBytes returns room for operations of so many bytes together.
func NewBytes(all int64) *Bytes { return &Bytes{all, semaphore.NewWeighted(all)} }

// Take waits for n bytes and returns the function that gives them back. An operation that needs more than all takes all. The error is the
// cause of ctx. Without Bytes (nil) there is no limit.
func (b *Bytes) Take(ctx context.Context, n int64) (release func(), err error) {
	if b == nil {
		return func() {}, nil
	}
	n = min(n, b.all)
	if err := b.free.Acquire(ctx, n); err != nil {
		return nil, context.Cause(ctx)
	}
	return func() { b.free.Release(n) }, nil
}
