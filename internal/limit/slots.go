package limit

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrBusy is the error of Slots if too many callers wait already.
var ErrBusy = errors.New("too many requests are waiting")

// Slots bound how many operations run at the same time, in all and per key, and how many callers wait for one.
type Slots[K comparable] struct {
	all     chan struct{}
	perKey  int
	waiting int

	mu    sync.Mutex
	users int
	keys  map[K]*keySlots // in use or waited for
}

type keySlots struct {
	free  chan struct{}
	users int
}

// NewSlots returns slots for all operations together, of which perKey may be of one key. At most waiting callers wait, per key and in all.
func NewSlots[K comparable](all, perKey, waiting int) *Slots[K] {
	return &Slots[K]{all: make(chan struct{}, all), perKey: perKey, waiting: waiting, keys: make(map[K]*keySlots)}
}

// Take waits for a slot and returns the function that releases it. The error is ErrBusy or the cause of ctx. A key whose slots are taken does
// not delay other keys, because its own slot is taken before one of those for all.
func (s *Slots[K]) Take(ctx context.Context, key K) (release func(), err error) {
	k, err := s.enter(key)
	if err != nil {
		return nil, err
	}
	select {
	case k.free <- struct{}{}:
	case <-ctx.Done():
		s.leave(key, k)
		return nil, context.Cause(ctx)
	}
	select {
	case s.all <- struct{}{}:
	case <-ctx.Done():
		<-k.free
		s.leave(key, k)
		return nil, context.Cause(ctx)
	}
	return sync.OnceFunc(func() {
		<-s.all
		<-k.free
		s.leave(key, k)
	}), nil
}

func (s *Slots[K]) enter(key K) (*keySlots, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.keys[key]
	if s.users >= cap(s.all)+s.waiting || k != nil && k.users >= s.perKey+s.waiting {
		return nil, fmt.Errorf("%w for %v", ErrBusy, key)
	}
	if k == nil {
		k = &keySlots{free: make(chan struct{}, s.perKey)}
		s.keys[key] = k
	}
	k.users++
	s.users++
	return k, nil
}

func (s *Slots[K]) leave(key K, k *keySlots) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	if k.users--; k.users == 0 {
		delete(s.keys, key)
	}
}

// Gauge counts open resources per key, such as connections by address. It is not safe for concurrent use: the owner's mutex guards it.
type Gauge[K comparable] map[K]int

// Add counts one more of a key, and returns false without counting it if there are max.
func (g Gauge[K]) Add(key K, max int) bool {
	if g[key] >= max {
		return false
	}
	g[key]++
	return true
}

// Done counts one less.
func (g Gauge[K]) Done(key K) {
	if g[key]--; g[key] <= 0 {
		delete(g, key)
	}
}
