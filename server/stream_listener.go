package server

import (
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
	muchHeld = 16 << 20
	mostHeld = 48 << 20
)

// frame is news in the form in which it is sent. It is the same for all who hear it under the same name.
type frame struct {
	bytes   []byte
	holders atomic.Int32
}

// holding counts the bytes of the frames that wait for being written.
type holding struct{ bytes atomic.Int64 }

func (h *holding) hold(f *frame) {
	if f.holders.Add(1) == 1 {
		h.bytes.Add(int64(len(f.bytes)))
	}
}

func (h *holding) release(frames ...*frame) {
	for _, f := range frames {
		if f.holders.Add(-1) == 0 {
			h.bytes.Add(-int64(len(f.bytes)))
		}
	}
}

// outlet is the way to a client: a WebSocket, or an answer of server-sent events.
type outlet interface {
	encode(n *news, label string, anew bool) *frame // nil if it would have to be made, and anew is false
	wake()                                          // there is something in the queue; must not block
	close(streamEnd)                                // must not block
}

// listener is somebody who listens to streams.
type listener struct {
	hub     *hub
	out     outlet
	network netip.Addr // what counts as one client
	counted bool       // by network

	// Guarded by hub.mu.
	token         *tokenHash // nil: the anonymous
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
	*listener
	label string
	kind  feedKind
}

// find returns where a listener has a stream, -1 if nowhere.
func (l *listener) find(sub subscription) int {
	return slices.IndexFunc(l.subscriptions, func(s subscription) bool { return s.feeds[0] == sub.feeds[0] })
}

// send queues a frame for a listener. One whose queue is full is cut off; so is one for whom there is no frame (nil).
func (l *listener) send(f *frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	if f == nil || l.full(len(f.bytes)) {
		l.drop()
		go l.hub.end(l, endSlow)
		return
	}
	l.hub.held.hold(f)
	l.queue = append(l.queue, f)
	l.queued += len(f.bytes)
	l.out.wake()
}

// full tells whether a listener has too much to hear already for so many bytes more. l.mu is held.
func (l *listener) full(more int) bool {
	return len(l.queue) >= maxQueued || len(l.queue) > 0 && l.queued+more > maxQueuedBytes ||
		len(l.queue)+l.writing > 0 && l.hub.held.bytes.Load() > muchHeld
}

// drop has a listener hear nothing more. l.mu is held.
func (l *listener) drop() {
	l.hub.held.release(l.queue...)
	l.ended, l.queue, l.queued = true, nil, 0
}

// take returns what is queued. Each frame has to be reported as written, whatever becomes of it.
func (l *listener) take() []*frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken()
}

func (l *listener) taken() []*frame {
	frames := l.queue
	l.queue, l.queued = nil, 0
	l.writing = len(frames)
	return frames
}

// written forgets frames that have been taken.
func (l *listener) written(frames ...*frame) {
	l.hub.held.release(frames...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing -= len(frames)
}

// hasEnded tells whether nothing more may be told.
func (l *listener) hasEnded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// streamEnd is why a stream ends. The codes are those of WebSockets (RFC 6455 7.4.1); clients take 1000 and 1001 as final, and come back after
// any other.
type streamEnd struct {
	code   int
	reason string
}

var (
	endGone    = streamEnd{1000, ""}
	endFailed  = streamEnd{1011, "something went wrong"}
	endPolicy  = streamEnd{1008, "too many messages"}
	endRevoked = streamEnd{1008, "the access token is no longer valid"}
	endRestart = streamEnd{1012, "the server stops"}
	endSlow    = streamEnd{1013, "too slow"}
	endBehind  = streamEnd{1013, "the server cannot keep up"}
)
