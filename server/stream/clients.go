package stream

import (
	"crypto/sha256"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"svc/store"
)

// Bounds of what one listener may cost.
const (
	maxSubscriptions = 20
	maxQueued        = 500     // frames that wait for being written
	maxQueuedBytes   = 1 << 20 // of them
)

// Bounds of what all listeners together may cost: bytes of the frames that are not written yet, each counted once, however many wait for
// it. From the first on, who does not keep up is cut off; from the second on, everybody who would need one that nobody else needs.
const (
	softBacklogBytes = 16 << 20
	maxBacklogBytes  = 48 << 20
)

// frame is news in the form in which it is sent. It is the same for all who hear it under the same name.
type frame struct {
	bytes []byte
	refs  atomic.Int32
}

// backlog counts the bytes of the frames that wait for being written.
type backlog struct{ bytes atomic.Int64 }

func (h *backlog) hold(f *frame) {
	if f.refs.Add(1) == 1 {
		h.bytes.Add(int64(len(f.bytes)))
	}
}

func (h *backlog) release(frames ...*frame) {
	for _, f := range frames {
		if f.refs.Add(-1) == 0 {
			h.bytes.Add(-int64(len(f.bytes)))
		}
	}
}

// transport is the way to a client: a WebSocket, or an answer of server-sent events.
type transport interface {
	encode(n *message, label string, anew bool) *frame // nil if it would have to be made, and anew is false
	wake()                                             // there is something in the queue; must not block
	close(closeReason)                                 // must not block
}

// client is somebody who listens to streams.
type client struct {
	hub       *Hub
	transport transport
	network   netip.Addr // what counts as one client
	counted   bool       // by network

	// Guarded by hub.mu.
	token         *[sha256.Size]byte // nil: the anonymous
	tokenID       store.TokenID
	account       store.AccountID // 0: the anonymous, or an app by itself
	subscriptions []subscription

	mu      sync.Mutex
	ended   bool
	queue   []*frame
	queued  int // bytes
	writing int // frames that have been taken and are not written yet
}

// target is a listener of a feed, and what the stream is called to them.
type target struct {
	*client
	label string
	kind  topicKind
}

// subscriptionIndex returns where a listener has a stream, -1 if nowhere.
func (l *client) subscriptionIndex(sub subscription) int {
	return slices.IndexFunc(l.subscriptions, func(s subscription) bool { return s.topics[0] == sub.topics[0] })
}

// send queues a frame for a listener. One whose queue is full is cut off; so is one for whom there is no frame (nil).
func (l *client) send(f *frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	if f == nil || l.full(len(f.bytes)) {
		l.discard()
		go l.hub.closeClient(l, closeSlow)
		return
	}
	l.hub.backlog.hold(f)
	l.queue = append(l.queue, f)
	l.queued += len(f.bytes)
	l.transport.wake()
}

// full tells whether a listener has too much to hear already for so many bytes more. l.mu is held.
func (l *client) full(more int) bool {
	return len(l.queue) >= maxQueued || len(l.queue) > 0 && l.queued+more > maxQueuedBytes ||
		len(l.queue)+l.writing > 0 && l.hub.backlog.bytes.Load() > softBacklogBytes
}

// discard has a listener hear nothing more. l.mu is held.
func (l *client) discard() {
	l.hub.backlog.release(l.queue...)
	l.ended, l.queue, l.queued = true, nil, 0
}

// take returns what is queued. Each frame has to be reported as written, whatever becomes of it.
func (l *client) take() []*frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.takeLocked()
}

func (l *client) takeLocked() []*frame {
	frames := l.queue
	l.queue, l.queued = nil, 0
	l.writing = len(frames)
	return frames
}

// written forgets frames that have been taken.
func (l *client) written(frames ...*frame) {
	l.hub.backlog.release(frames...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing -= len(frames)
}

// isEnded tells whether nothing more may be told.
func (l *client) isEnded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// closeReason is why a stream ends. The codes are those of WebSockets (RFC 6455 7.4.1); clients take 1000 and 1001 as final, and come back after
// any other.
type closeReason struct {
	code   int
	reason string
}

var (
	closeNormal  = closeReason{1000, ""}
	closeFailed  = closeReason{1011, "something went wrong"}
	closePolicy  = closeReason{1008, "too many messages"}
	closeRevoked = closeReason{1008, "the access token is no longer valid"}
	closeRestart = closeReason{1012, "the server stops"}
	closeSlow    = closeReason{1013, "too slow"}
	closeBehind  = closeReason{1013, "the server cannot keep up"}
)
