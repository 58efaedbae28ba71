package remote

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"

	"svc/internal/errs"
)

// noFetchKey is the context key of ErrFetchNeeded.
type noFetchKey struct{}

// WithoutFetching returns a context in which fetching fails with ErrFetchNeeded, for callers that cannot wait for other servers.
func WithoutFetching(ctx context.Context) context.Context {
	return context.WithValue(ctx, noFetchKey{}, ErrFetchNeeded)
}

// MayFetch returns ErrFetchNeeded for contexts of WithoutFetching.
func MayFetch(ctx context.Context) error {
	err, _ := ctx.Value(noFetchKey{}).(error)
	return err
}

// singleFlight calls a function once for concurrent callers with the same key.
type singleFlight[T any] struct{ group singleflight.Group }

// do calls fn, or waits for the running call for key. The call continues if its callers are cancelled, but not longer than timeout.
func (f *singleFlight[T]) do(ctx context.Context, key string, timeout time.Duration, fn func(context.Context) (T, error)) (T, error) {
	results := f.group.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		var value T
		err := errs.CatchPanic(func() (err error) { // singleflight would end the process
			value, err = fn(ctx)
			return err
		})
		return value, err
	})
	select {
	case r := <-results:
		return r.Val.(T), r.Err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}
