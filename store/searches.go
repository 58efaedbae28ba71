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

// searchPatience is how long a search waits for its turn.
const searchPatience = 10 * time.Second

var errSearchesBusy = errs.New(http.StatusTooManyRequests, "Too many searches at once")

// searches has people search in turns.
type searches struct {
	slots    chan struct{}
	patience time.Duration

	mu    sync.Mutex
	lines map[AccountID]*searchLine // of who searches, or waits to
}

// searchLine is where one person's searches wait for one another.
type searchLine struct {
	turn chan struct{}
	in   int
}

// newSearches takes at most half of the reading connections.
func newSearches(readers int) *searches {
	return &searches{slots: make(chan struct{}, max(1, readers/2)), patience: searchPatience, lines: make(map[AccountID]*searchLine)}
}

// begin waits until the viewer may search. end must be called after the search.
func (s *searches) begin(ctx context.Context, viewer AccountID) (end func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.patience, errSearchesBusy)
	defer cancel()
	line := s.enter(viewer)
	if err := take(ctx, line.turn); err != nil {
		s.leave(viewer)
		return nil, err
	}
	if err := take(ctx, s.slots); err != nil {
		s.next(viewer, line)
		return nil, err
	}
	return func() {
		<-s.slots
		s.next(viewer, line)
	}, nil
}

// next lets the next of a person's searches begin.
func (s *searches) next(viewer AccountID, line *searchLine) {
	<-line.turn
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

func (s *searches) enter(viewer AccountID) *searchLine {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := s.lines[viewer]
	if line == nil {
		line = &searchLine{turn: make(chan struct{}, 1)}
		s.lines[viewer] = line
	}
	line.in++
	return line
}

func (s *searches) leave(viewer AccountID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := s.lines[viewer]
	if line.in--; line.in == 0 {
		delete(s.lines, viewer)
	}
}
