package fetch

import (
	"context"
	"fmt"
	"sync"
)

// Slots bound how many requests are under way, in all and to one host. Who finds none free waits; so that not too many do, the
// number of those is bounded too.
type Slots struct {
	all     chan struct{}
	perHost int
	waiting int // at most, in all and for one host

	mu    sync.Mutex
	users int
	hosts map[string]*hostSlots // of hosts that somebody uses or waits for
}

type hostSlots struct {
	free  chan struct{}
	users int
}

// NewSlots makes room for so many requests in all and to one host, and for so many who wait.
func NewSlots(all, perHost, waiting int) *Slots {
	return &Slots{all: make(chan struct{}, all), perHost: perHost, waiting: waiting, hosts: make(map[string]*hostSlots)}
}

// Take waits for a place and returns what gives it back. A host whose places are taken keeps nobody else waiting: its own place
// comes first, then one of those for all.
func (s *Slots) Take(ctx context.Context, host string) (release func(), err error) {
	h, err := s.enter(host)
	if err != nil {
		return nil, err
	}
	select {
	case h.free <- struct{}{}:
	case <-ctx.Done():
		s.leave(host, h)
		return nil, ctx.Err()
	}
	select {
	case s.all <- struct{}{}:
	case <-ctx.Done():
		<-h.free
		s.leave(host, h)
		return nil, ctx.Err()
	}
	return sync.OnceFunc(func() {
		<-s.all
		<-h.free
		s.leave(host, h)
	}), nil
}

func (s *Slots) enter(host string) (*hostSlots, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hosts[host]
	if s.users >= cap(s.all)+s.waiting || h != nil && h.users >= s.perHost+s.waiting {
		return nil, fmt.Errorf("%w: too many requests wait for %s", ErrBusy, host)
	}
	if h == nil {
		h = &hostSlots{free: make(chan struct{}, s.perHost)}
		s.hosts[host] = h
	}
	h.users++
	s.users++
	return h, nil
}

func (s *Slots) leave(host string, h *hostSlots) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	if h.users--; h.users == 0 {
		delete(s.hosts, host)
	}
}
