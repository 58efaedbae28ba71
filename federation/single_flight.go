package federation

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// noFetchKey marks contexts in which nobody has time to wait for other servers.
type noFetchKey struct{}

// WithoutFetching returns a context in which asking another server is ErrFetchNeeded.
func WithoutFetching(ctx context.Context) context.Context {
	return context.WithValue(ctx, noFetchKey{}, ErrFetchNeeded)
}

func MayFetch(ctx context.Context) error {
	err, _ := ctx.Value(noFetchKey{}).(error)
	return err
}

// flights are requests under way, by address or another key.
type flights[T any] struct {
	mu    sync.Mutex
	going map[string]*flight[T]
}

type flight[T any] struct {
	done chan struct{}
	got  T
	err  error
}

// do calls fn, or waits for the call of another who asks for the same. The call outlives who gives up waiting, but not the time.
func (f *flights[T]) do(ctx context.Context, key string, most time.Duration, fn func(context.Context) (T, error)) (T, error) {
	f.mu.Lock()
	going, under := f.going[key]
	if !under {
		going = &flight[T]{done: make(chan struct{})}
		if f.going == nil {
			f.going = make(map[string]*flight[T])
		}
		f.going[key] = going
		go func() {
			defer func() {
				if p := recover(); p != nil {
					going.err = fmt.Errorf("panic: %v", p)
				}
				f.mu.Lock()
				delete(f.going, key)
				f.mu.Unlock()
				close(going.done)
			}()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
			defer cancel()
			going.got, going.err = fn(ctx)
		}()
	}
	f.mu.Unlock()
	select {
	case <-going.done:
		return going.got, going.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
