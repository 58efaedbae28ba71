package server

import (
	"net/netip"
	"slices"
	"sync"

	"svc/store"
)

// Bounds of what one listener may cost.
const (
	maxSubscriptions = 20
	maxQueued        = 500     // frames that wait for being written
	maxQueuedBytes   = 1 << 20 // of them
)

// outlet is the way to a client: a WebSocket, or an answer of server-sent events.
type outlet interface {
	encode(n *news, label string) []byte
	wake()           // there is something in the queue; must not block
	close(streamEnd) // must not block
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

	mu     sync.Mutex
	ended  bool
	queue  [][]byte
	queued int // bytes
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

// send queues a frame for a listener. One whose queue is full is cut off.
func (l *listener) send(frame []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	if len(l.queue) >= maxQueued || l.queued+len(frame) > maxQueuedBytes && len(l.queue) > 0 {
		l.ended, l.queue = true, nil
		go l.hub.end(l, endSlow)
		return
	}
	l.queue = append(l.queue, frame)
	l.queued += len(frame)
	l.out.wake()
}

// take returns what is queued.
func (l *listener) take() [][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken()
}

func (l *listener) taken() [][]byte {
	frames := l.queue
	l.queue, l.queued = nil, 0
	return frames
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
