package server

import (
	"time"

	"svc/server/entity"
	"svc/store"
)

// What the tests, which are outside of the package, need to see of its inside.

// Sift reads a page of home.
func Sift(p store.Page, read func(store.Page) ([]store.StatusID, error), show func([]store.StatusID) (entity.List[Entry], error)) ([]store.StatusID, entity.List[Entry], error) {
	return filteredPage(p, store.FilterHome, read, show)
}

type Entry = listEntry

func (s *Server) SetClock(now func() time.Time) { s.now = now }

// SettleStreams waits until all that has been committed is on its way to the listeners.
func (s *Server) SettleStreams() {
	for working := true; working; time.Sleep(50 * time.Microsecond) {
		s.hub.mu.Lock()
		working = s.hub.running
		s.hub.mu.Unlock()
	}
}

// Streams returns how many streams are open, and how many feeds somebody listens to.
func (s *Server) Streams() (listeners, feeds int) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return len(s.hub.clients), len(s.hub.topics)
}

// StreamBytes returns how much waits for being written to streams.
func (s *Server) StreamBytes() int { return int(s.hub.backlog.bytes.Load()) }

// StreamsBehind returns how many streams of an account have something that is not known to be written.
func (s *Server) StreamsBehind(id store.AccountID) (n int) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	for l := range s.hub.clients {
		l.mu.Lock()
		if l.account == id && len(l.queue)+l.writing > 0 {
			n++
		}
		l.mu.Unlock()
	}
	return n
}

// SetSlowPush sets how long a push service may take without keeping others waiting.
func (s *Server) SetSlowPush(d time.Duration) { s.slowPush = d }

// SetPings has open streams looked after at other times. Call it before there are any.
func (s *Server) SetPings(every, pong time.Duration) {
	s.hub.pingInterval, s.hub.pongTimeout = every, pong
}

const (
	MaxSubscriptions = maxSubscriptions
	MaxMessage       = maxCommandBytes
	MaxEvents        = maxQueuedEvents
	MuchHeld         = softBacklogBytes
)
