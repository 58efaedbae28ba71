// Package stream sends what happens to clients: streams over WebSocket or as server-sent events, and push messages to the push
// services of devices. It renders with server/entity, and is given the identities of tokens.
//
// Two rules. Every event is checked and rendered for each viewer as things are when it is sent, so that a stream shows nothing that
// its timeline would not. Nothing waits for a client: one that does not keep up is disconnected, and fetches what it missed.
//
// Limits: streams in all, per account and per address by [streaming], half of them at most without an account; 20 subscriptions a
// client, 512 KiB an event, 500 frames or 1 MiB queued for one, 48 MiB for all, 10 000 events waiting to be sent; 2 push messages at once, dropped
// after 4 hours.
package stream

import (
	"container/list"
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/limit"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

var (
	errTooManyStreams = &errs.Error{Status: http.StatusTooManyRequests, Message: "Too many open streams", RetryAfter: time.Minute}
	errNoMoreStreams  = &errs.Error{Status: http.StatusServiceUnavailable, Message: "The server has too many open streams", RetryAfter: time.Minute}
)

// maxQueuedEvents bounds the events that wait to be sent.
const maxQueuedEvents = 10_000

// Hub holds the clients with their subscriptions, and sends them the events of the database. The database only hands events over. A
// goroutine that runs while there are events decides who may see them and queues them with the clients, in the order of the commits.
// Nothing waits for a client: one that does not keep up is disconnected.
type Hub struct {
	Config
	pingInterval time.Duration
	pongTimeout  time.Duration

	mu          sync.Mutex
	clients     map[*client]struct{}
	anonymous   list.List // of them without an account, oldest first
	topics      map[topic][]target
	subscribers [topicKinds]int // subscriptions by kind of topic
	perAccount  limit.Gauge[store.AccountID]
	perAddress  limit.Gauge[netip.Addr]
	queue       []store.Event
	running     bool
	idle        sync.Cond // running has become false
	stopped     bool
	backlog     backlog
	open        sync.WaitGroup // clients that are not released, and the running goroutine
}

// Config is what a Hub needs.
type Config struct {
	Settings   *config.Live
	DB         *store.DB
	Entities   *entity.Builder
	Identities identities
	Limits     *rest.Limits
	Log        *slog.Logger
	Now        func() time.Time
}

// identities resolves tokens; the zero Identity is nobody.
type identities interface {
	IdentityByToken(ctx context.Context, token string) (rest.Identity, error)
	CurrentIdentity(ctx context.Context, hash [sha256.Size]byte) (rest.Identity, error) // does not mark the token as used
}

// NewHub returns a hub without clients. It receives events from the database after the identities do, so that it does not get revoked
// ones from their cache.
func NewHub(c Config) *Hub {
	h := &Hub{
		Config:       c,
		pingInterval: pingInterval,
		pongTimeout:  pongTimeout,
		clients:      make(map[*client]struct{}),
		topics:       make(map[topic][]target),
		perAccount:   make(limit.Gauge[store.AccountID]),
		perAddress:   make(limit.Gauge[netip.Addr]),
	}
	h.idle.L = &h.mu
	h.DB.Subscribe(h.receive)
	return h
}

// Open returns how many streams of each kind are open.
func (h *Hub) Open() map[string]int {
	n := map[string]int{"websocket": 0, "events": 0}
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clients {
		if _, ok := c.transport.(*socket); ok {
			n["websocket"]++
		} else {
			n["events"]++
		}
	}
	return n
}

// register admits a client with an identity (zero: anonymous), unless there are too many. Each registered client must be released.
//
// Clients without an account have at most half of the streams. If there is no stream left for an account, the oldest of theirs ends,
// because anybody can open as many as there are addresses.
func (h *Hub) register(c *client, identity rest.Identity) error {
	limits := h.Settings.Load().Streaming
	h.mu.Lock()
	defer h.mu.Unlock()
	full := len(h.clients) >= limits.MaxStreams
	switch {
	case h.stopped:
		return errNoMoreStreams
	case c.counted && h.perAddress[c.network] >= limits.MaxStreamsPerAddress:
		return errTooManyStreams
	case full && (identity.Account == nil || h.anonymous.Len() == 0),
		identity.Account == nil && h.anonymous.Len() >= max(1, limits.MaxStreams/2):
		return errNoMoreStreams
	}
	if err := h.setIdentityLocked(c, identity); err != nil {
		return err
	}
	if c.account == 0 {
		c.place = h.anonymous.PushBack(c)
	} else if full {
		h.remove(h.anonymous.Front().Value.(*client), closeFull)
	}
	if c.counted {
		h.perAddress[c.network]++
	}
	if len(h.clients) == 0 {
		h.DB.KeepDeletedAudiences(true)
	}
	h.clients[c] = struct{}{}
	h.open.Add(1)
	return nil
}

// setIdentity sets the identity of a client that was anonymous.
func (h *Hub) setIdentity(c *client, identity rest.Identity) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.clients[c]; !ok { // the stream has ended meanwhile
		return nil
	}
	return h.setIdentityLocked(c, identity)
}

// setIdentityLocked is setIdentity with h.mu held. It fails if the account has too many streams.
func (h *Hub) setIdentityLocked(c *client, identity rest.Identity) error {
	if identity.Token == nil {
		return nil
	}
	if identity.Account != nil {
		if !h.perAccount.Add(identity.Account.ID, h.Settings.Load().Streaming.MaxStreamsPerAccount) {
			return errTooManyStreams
		}
		c.account = identity.Account.ID
		h.leaveAnonymous(c)
	}
	hash := [sha256.Size]byte(identity.Token.Hash)
	c.token, c.tokenID = &hash, identity.Token.ID
	return nil
}

// leaveAnonymous removes a client from those without an account.
func (h *Hub) leaveAnonymous(c *client) {
	if c.place != nil {
		h.anonymous.Remove(c.place)
		c.place = nil
	}
}

// release is the last call for a client.
func (h *Hub) release(c *client) {
	h.closeClient(c, closeNormal)
	h.open.Done()
}

// closeClient ends a client's stream.
func (h *Hub) closeClient(c *client, why closeReason) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(c, why)
}

func (h *Hub) remove(c *client, why closeReason) {
	if _, ok := h.clients[c]; !ok {
		return
	}
	for _, sub := range c.subscriptions {
		h.detach(c, sub)
	}
	c.subscriptions = nil
	delete(h.clients, c)
	h.leaveAnonymous(c)
	if c.account != 0 {
		h.perAccount.Done(c.account)
	}
	if c.counted {
		h.perAddress.Done(c.network)
	}
	if len(h.clients) == 0 {
		h.DB.KeepDeletedAudiences(false)
		h.queue = nil
	}
	c.mu.Lock()
	c.discard()
	c.mu.Unlock()
	c.transport.close(why)
}

// closeClients ends the streams of clients that match.
func (h *Hub) closeClients(why closeReason, which func(*client) bool) {
	for c := range h.clients {
		if which(c) {
			h.remove(c, why)
		}
	}
}

// subscribe adds a subscription to a client. ok is false if the client has it already.
func (h *Hub) subscribe(c *client, sub subscription) (ok bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, here := h.clients[c]; !here || c.subscriptionIndex(sub) >= 0 {
		return false, nil
	}
	if len(c.subscriptions) >= maxSubscriptions {
		return false, errUnknownStream
	}
	c.subscriptions = append(c.subscriptions, sub)
	for _, f := range sub.topics {
		h.topics[f] = append(h.topics[f], target{c, sub.label, f.kind})
		h.subscribers[f.kind]++
	}
	return true, nil
}

// unsubscribe removes a subscription from a client. ok is false if the client does not have it.
func (h *Hub) unsubscribe(c *client, sub subscription) (ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := c.subscriptionIndex(sub)
	if i < 0 {
		return false
	}
	h.detach(c, c.subscriptions[i])
	c.subscriptions = slices.Delete(c.subscriptions, i, i+1)
	return true
}

func (h *Hub) detach(c *client, sub subscription) {
	for _, f := range sub.topics {
		rest := slices.DeleteFunc(h.topics[f], func(t target) bool { return t.client == c && t.label == sub.label })
		if len(rest) == 0 {
			delete(h.topics, f)
		} else {
			h.topics[f] = rest
		}
		h.subscribers[f.kind]--
	}
}

// targets returns the subscribers of topics. A client with several matching streams appears several times.
func (h *Hub) targets(topics ...topic) []target {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []target
	for _, f := range topics {
		list = append(list, h.topics[f]...)
	}
	return list
}

// hasSubscribers returns true if a topic of a matching kind has subscribers.
func (h *Hub) hasSubscribers(which func(topicKind) bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for kind, n := range h.subscribers {
		if n > 0 && which(topicKind(kind)) {
			return true
		}
	}
	return false
}

// receive queues the events of a commit. It runs on the writing goroutine of the database.
func (h *Hub) receive(events []store.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.clients) == 0 {
		return
	}
	for _, e := range events {
		switch e := e.(type) {
		case store.TokensRevoked: // at once, before queued events
			h.closeClients(closeRevoked, func(c *client) bool {
				return c.token != nil && (slices.Contains(e.Tokens, c.tokenID) || e.AccountID != 0 && e.AccountID == c.account)
			})
			continue
		case store.RowsChanged:
			if !e.All && len(e.Accounts) == 0 {
				continue
			}
		}
		if len(h.queue) >= maxQueuedEvents {
			h.Log.Warn("streams cannot keep up and are closed", "events", len(h.queue))
			h.closeAllBehind()
			return
		}
		h.queue = append(h.queue, e)
	}
	if len(h.queue) > 0 && !h.running {
		h.running = true
		h.open.Add(1)
		go h.run()
	}
}

// closeAllBehind ends all streams, so that clients reconnect and fetch the missed events.
func (h *Hub) closeAllBehind() {
	h.queue = nil
	h.closeClients(closeBehind, func(*client) bool { return true })
}

// run dispatches events until the queue is empty.
func (h *Hub) run() {
	defer h.open.Done()
	for {
		h.mu.Lock()
		events := h.queue
		h.queue = nil
		if len(events) == 0 {
			h.running = false
			h.idle.Broadcast()
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
		for _, e := range events {
			if err := h.dispatchRecovered(context.Background(), e); err != nil {
				h.Log.LogAttrs(context.Background(), slog.LevelError, "streams are closed", slog.Any("error", err))
				h.mu.Lock()
				h.closeAllBehind()
				h.mu.Unlock()
				break
			}
		}
	}
}

// dispatchRecovered is dispatch that returns a panic as an error.
func (h *Hub) dispatchRecovered(ctx context.Context, e store.Event) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = rest.PanicError(v)
		}
	}()
	return h.dispatch(ctx, e)
}

// identity returns the current identity of a client, zero if it is anonymous. ok is false if the token is no longer valid; the
// stream ends then.
func (h *Hub) identity(ctx context.Context, c *client) (identity rest.Identity, ok bool, err error) {
	h.mu.Lock()
	token := c.token
	h.mu.Unlock()
	if token == nil {
		return identity, true, nil
	}
	identity, err = h.Identities.CurrentIdentity(ctx, *token)
	if err == nil && identity.Token == nil {
		h.closeClient(c, closeRevoked)
	}
	return identity, identity.Token != nil, err
}

// checkTokens ends the streams of clients whose tokens are no longer valid. accounts are those that may have changed, nil for all.
func (h *Hub) checkTokens(ctx context.Context, accounts []store.AccountID) error {
	h.mu.Lock()
	var list []*client
	for c := range h.clients {
		if c.token != nil && (accounts == nil || slices.Contains(accounts, c.account)) {
			list = append(list, c)
		}
	}
	h.mu.Unlock()
	for _, c := range list {
		if _, _, err := h.identity(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// Close ends all streams and admits no new ones. It waits until the clients are released or ctx ends.
func (h *Hub) Close(ctx context.Context) {
	h.mu.Lock()
	h.stopped = true
	h.closeClients(closeRestart, func(*client) bool { return true })
	h.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		h.open.Wait()
	}()
	select {
	case <-gone:
	case <-ctx.Done():
	}
}

// Settle waits until all events of committed transactions are queued with the clients. It is for tests.
func (h *Hub) Settle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.running {
		h.idle.Wait()
	}
}
