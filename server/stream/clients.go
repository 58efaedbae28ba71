package stream

import (
	"container/list"
	"crypto/sha256"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"svc/store"
)

// Limits of one client.
const (
	maxSubscriptions = 20
	maxQueued        = 500     // frames that wait to be written
	maxQueuedBytes   = 1 << 20 // of these frames
)

// Limits of all clients together: bytes of frames that are not written yet, each counted once. Beyond the first, clients that do not
// keep up are disconnected; beyond the second, also those that need a frame of their own.
const (
	softBacklogBytes = 16 << 20
	maxBacklogBytes  = 48 << 20
)

// frame is an encoded event. It is the same for all clients with the same label.
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

// transport is the connection of a client: a WebSocket, or an answer of server-sent events.
type transport interface {
	encode(n *message, label string, mayEncode bool) *frame // nil if it is not encoded yet, and mayEncode is false
	wake()                                                  // frames are queued; must not block
	close(closeReason)                                      // must not block
}

// client is the receiving end of streams.
type client struct {
	hub       *Hub
	transport transport
	network   netip.Addr // as by rest.Request.Network
	counted   bool       // in the limit of its network

	// Guarded by hub.mu.
	token         *[sha256.Size]byte // nil: anonymous
	tokenID       store.TokenID
	account       store.AccountID // 0: anonymous, or an app without a user
	place         *list.Element   // among the clients without an account; nil: it has one
	subscriptions []subscription

	mu      sync.Mutex
	ended   bool
	queue   []*frame
	queued  int // bytes
	writing int // frames that were taken and are not written yet
}

// target is a subscriber of a topic, and the label of its stream.
type target struct {
	*client
	label string
	kind  topicKind
}

// subscriptionIndex returns the index of a subscription, -1 if the client does not have it.
func (c *client) subscriptionIndex(sub subscription) int {
	return slices.IndexFunc(c.subscriptions, func(s subscription) bool { return s.topics[0] == sub.topics[0] })
}

// send queues a frame. It disconnects a client whose queue is full, or for which there is no frame (nil).
func (c *client) send(f *frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	if f == nil || c.full(len(f.bytes)) {
		c.discard()
		go c.hub.closeClient(c, closeSlow)
		return
	}
	c.hub.backlog.hold(f)
	c.queue = append(c.queue, f)
	c.queued += len(f.bytes)
	c.transport.wake()
}

// full returns true if so many more bytes exceed the limit of the queue. c.mu is held.
func (c *client) full(more int) bool {
	return len(c.queue) >= maxQueued || len(c.queue) > 0 && c.queued+more > maxQueuedBytes ||
		len(c.queue)+c.writing > 0 && c.hub.backlog.bytes.Load() > softBacklogBytes
}

// discard empties the queue when the stream ends. c.mu is held.
func (c *client) discard() {
	c.hub.backlog.release(c.queue...)
	c.ended, c.queue, c.queued = true, nil, 0
}

// take returns the queued frames. Each must be reported as written, even if it was not sent.
func (c *client) take() []*frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.takeLocked()
}

func (c *client) takeLocked() []*frame {
	frames := c.queue
	c.queue, c.queued = nil, 0
	c.writing = len(frames)
	return frames
}

// written releases frames that were taken.
func (c *client) written(frames ...*frame) {
	c.hub.backlog.release(frames...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing -= len(frames)
}

// isEnded returns true if nothing more may be sent.
func (c *client) isEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// closeReason is why a stream ends. The codes are those of WebSockets (RFC 6455 7.4.1). Clients do not reconnect after 1000 and
// 1001.
type closeReason struct {
	code   int
	reason string
}

var (
	closeNormal  = closeReason{1000, ""}
	closeInvalid = closeReason{1007, "the text is not UTF-8"}
	closeFailed  = closeReason{1011, "something went wrong"}
	closePolicy  = closeReason{1008, "too many messages"}
	closeRevoked = closeReason{1008, "the access token is no longer valid"}
	closeRestart = closeReason{1012, "the server stops"}
	closeSlow    = closeReason{1013, "too slow"}
	closeFull    = closeReason{1013, "the server has too many open streams"}
	closeBehind  = closeReason{1013, "the server cannot keep up"}
)
