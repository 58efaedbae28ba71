package stream

import (
	"time"

	"svc/store"
)

// Exports for the tests, which are in package stream_test.

// Count returns the number of clients, and of topics that have subscribers.
func (h *Hub) Count() (clients, topics int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.clients), len(h.topics)
}

// BacklogBytes returns the size of the queued frames.
func (h *Hub) BacklogBytes() int { return int(h.backlog.bytes.Load()) }

// Behind returns how many clients of an account have queued frames.
func (h *Hub) Behind(id store.AccountID) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clients {
		c.mu.Lock()
		if c.account == id && len(c.queue)+c.writing > 0 {
			n++
		}
		c.mu.Unlock()
	}
	return n
}

// SetPings changes the times of pings. Call it before there are clients.
func (h *Hub) SetPings(interval, timeout time.Duration) {
	h.pingInterval, h.pongTimeout = interval, timeout
}

// SetSlow changes how long a push service may take without being slow.
func (s *Push) SetSlow(d time.Duration) { s.slow = d }

const (
	MaxSubscriptions = maxSubscriptions
	MaxCommandBytes  = maxCommandBytes
	MaxEvents        = maxQueuedEvents
	SoftBacklogBytes = softBacklogBytes
)
