package store

import (
	"context"
	"net/http"
	"sync"
	"time"

	"svc/internal/errs"
)

// A search may take a reading connection for a good while, of which there are few. So that those who read something else do not wait
// for those who search, only some connections are for searches, and only one for all searches of one person: who has many under way
// at once is in nobody's way.

// searchTimeout is how long a search waits for its turn.
const searchTimeout = 10 * time.Second

var errSearchesBusy = errs.New(http.StatusTooManyRequests, "Too many searches at once")

// searchLimiter has people search in turns.
type searchLimiter struct {
	slots   chan struct{}
	timeout time.Duration

	mu      sync.Mutex
	viewers map[AccountID]*viewerQueue // of who searches, or waits to
}

// viewerQueue is where one person's searches wait for one another.
type viewerQueue struct {
	slot    chan struct{}
	waiting int
}

// newSearchLimiter takes at most half of the reading connections.
func newSearchLimiter(readers int) *searchLimiter {
	return &searchLimiter{slots: make(chan struct{}, max(1, readers/2)), timeout: searchTimeout, viewers: make(map[AccountID]*viewerQueue)}
}

// acquire waits until the viewer may search. end must be called after the search.
func (s *searchLimiter) acquire(ctx context.Context, viewer AccountID) (end func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, errSearchesBusy)
	defer cancel()
	line := s.join(viewer)
	if err := take(ctx, line.slot); err != nil {
		s.leave(viewer)
		return nil, err
	}
	if err := take(ctx, s.slots); err != nil {
		s.release(viewer, line)
		return nil, err
	}
	return func() {
		<-s.slots
		s.release(viewer, line)
	}, nil
}

// release lets the next of a person's searches begin.
func (s *searchLimiter) release(viewer AccountID, line *viewerQueue) {
	<-line.slot
	s.leave(viewer)
}

func take(ctx context.Context, slot chan<- struct{}) error {
	select {
	case slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *searchLimiter) join(viewer AccountID) *viewerQueue {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := s.viewers[viewer]
	if line == nil {
		line = &viewerQueue{slot: make(chan struct{}, 1)}
		s.viewers[viewer] = line
	}
	line.waiting++
	return line
}

func (s *searchLimiter) leave(viewer AccountID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := s.viewers[viewer]
	if line.waiting--; line.waiting == 0 {
		delete(s.viewers, viewer)
	}
}
