// Package stream sends what happens to clients: streams over WebSocket or as server-sent events, and push messages to the push
// services of devices. It renders with server/entity, and is given whom tokens stand for.
//
// Two rules. Every event is checked and rendered for each viewer as things are when it is sent, so that a stream shows nothing that
// its timeline would not. Nothing waits for a client: one that does not keep up is disconnected, and fetches what it missed.
//
// Limits: 20 subscriptions a client, 500 frames or 1 MiB queued for one, 48 MiB for all, 10 000 events waiting to be sent; 2 push
// messages at once, given up after 4 hours.
package stream

import (
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
	errTooManyStreams = errs.New(http.StatusTooManyRequests, "Too many open streams")
	errNoMoreStreams  = errs.New(http.StatusServiceUnavailable, "The server has no room for more streams")
)

// maxQueuedEvents is how many events may wait for being told.
const maxQueuedEvents = 10_000

// hub knows who listens to what, and tells them what the database says has happened. The database only hands over; one goroutine at a
// time, there only while there is something to tell, finds out who may know what and queues it with the listeners, so that each hears
// of things in the order of their commits. Nothing waits for a listener: one who does not keep up is cut off.
type Hub struct {
	settings     *config.Config
	db           *store.DB
	entities     *entity.Builder
	identities   identities
	limits       *rest.Limits
	log          *slog.Logger
	now          func() time.Time
	pingInterval time.Duration
	pongTimeout  time.Duration

	mu          sync.Mutex
	clients     map[*client]struct{}
	topics      map[topic][]target
	subscribers [topicKinds]int // how many subscriptions have a feed of each kind
	perAccount  limit.Gauge[store.AccountID]
	perAddress  limit.Gauge[netip.Addr]
	queue       []store.Event
	running     bool
	idle        sync.Cond // running has become false
	stopped     bool
	backlog     backlog
	open        sync.WaitGroup // of listeners that are not gone, and the work
}

// hubConfig is what a hub needs.
type Config struct {
	Settings   *config.Config
	DB         *store.DB
	Entities   *entity.Builder
	Identities identities
	Limits     *rest.Limits
	Log        *slog.Logger
	Now        func() time.Time
}

// identities returns whom tokens stand for, the zero Identity if nobody.
type identities interface {
	IdentityByToken(ctx context.Context, token string) (rest.Identity, error)
	CurrentIdentity(ctx context.Context, hash [sha256.Size]byte) (rest.Identity, error) // does not mark the token as used
}

// newHub returns a hub without clients. It receives events from the database after the identities do, so that it does not get revoked
// ones from their cache.
func NewHub(c Config) *Hub {
	h := &Hub{
		settings:     c.Settings,
		db:           c.DB,
		entities:     c.Entities,
		identities:   c.Identities,
		limits:       c.Limits,
		log:          c.Log,
		now:          c.Now,
		pingInterval: pingInterval,
		pongTimeout:  pongTimeout,
		clients:      make(map[*client]struct{}),
		topics:       make(map[topic][]target),
		perAccount:   make(limit.Gauge[store.AccountID]),
		perAddress:   make(limit.Gauge[netip.Addr]),
	}
	h.idle.L = &h.mu
	h.db.Subscribe(h.receive)
	return h
}

// register admits a listener who has an identity (nil: the anonymous), unless there are too many. Each who has entered must leave.
func (h *Hub) register(l *client, who rest.Identity) error {
	limits := h.settings.Streaming
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.stopped || len(h.clients) >= limits.MaxStreams:
		return errNoMoreStreams
	case l.counted && h.perAddress[l.network] >= limits.MaxStreamsPerAddress:
		return errTooManyStreams
	}
	if err := h.setIdentityLocked(l, who); err != nil {
		return err
	}
	if l.counted {
		h.perAddress[l.network]++
	}
	if len(h.clients) == 0 {
		h.db.KeepDeletedAudiences(true)
	}
	h.clients[l] = struct{}{}
	h.open.Add(1)
	return nil
}

// setIdentity gives a listener an identity.
func (h *Hub) setIdentity(l *client, who rest.Identity) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.clients[l]; !ok { // the stream has ended in between
		return nil
	}
	return h.setIdentityLocked(l, who)
}

// setIdentityLocked sets who a listener is, unless they have too many streams.
func (h *Hub) setIdentityLocked(l *client, who rest.Identity) error {
	if who.Token == nil {
		return nil
	}
	if who.Account != nil {
		if !h.perAccount.Add(who.Account.ID, h.settings.Streaming.MaxStreamsPerAccount) {
			return errTooManyStreams
		}
		l.account = who.Account.ID
	}
	hash := [sha256.Size]byte(who.Token.Hash)
	l.token, l.tokenID = &hash, who.Token.ID
	return nil
}

// release is the last that is heard of a listener.
func (h *Hub) release(l *client) {
	h.closeClient(l, closeNormal)
	h.open.Done()
}

// closeClient closes a listener's stream.
func (h *Hub) closeClient(l *client, why closeReason) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(l, why)
}

func (h *Hub) remove(l *client, why closeReason) {
	if _, ok := h.clients[l]; !ok {
		return
	}
	for _, sub := range l.subscriptions {
		h.detach(l, sub)
	}
	l.subscriptions = nil
	delete(h.clients, l)
	if l.account != 0 {
		h.perAccount.Done(l.account)
	}
	if l.counted {
		h.perAddress.Done(l.network)
	}
	if len(h.clients) == 0 {
		h.db.KeepDeletedAudiences(false)
		h.queue = nil
	}
	l.mu.Lock()
	l.discard()
	l.mu.Unlock()
	l.transport.close(why)
}

// closeClients closes the streams of those listeners for whom which says so.
func (h *Hub) closeClients(why closeReason, which func(*client) bool) {
	for l := range h.clients {
		if which(l) {
			h.remove(l, why)
		}
	}
}

// subscribe has a listener hear a stream. ok is false if they do already.
func (h *Hub) subscribe(l *client, sub subscription) (ok bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, here := h.clients[l]; !here || l.subscriptionIndex(sub) >= 0 {
		return false, nil
	}
	if len(l.subscriptions) >= maxSubscriptions {
		return false, errUnknownStream
	}
	l.subscriptions = append(l.subscriptions, sub)
	for _, f := range sub.topics {
		h.topics[f] = append(h.topics[f], target{l, sub.label, f.kind})
		h.subscribers[f.kind]++
	}
	return true, nil
}

// unsubscribe ends that. ok is false if the listener does not hear the stream.
func (h *Hub) unsubscribe(l *client, sub subscription) (ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := l.subscriptionIndex(sub)
	if i < 0 {
		return false
	}
	h.detach(l, l.subscriptions[i])
	l.subscriptions = slices.Delete(l.subscriptions, i, i+1)
	return true
}

func (h *Hub) detach(l *client, sub subscription) {
	for _, f := range sub.topics {
		rest := slices.DeleteFunc(h.topics[f], func(t target) bool { return t.client == l && t.label == sub.label })
		if len(rest) == 0 {
			delete(h.topics, f)
		} else {
			h.topics[f] = rest
		}
		h.subscribers[f.kind]--
	}
}

// targets returns the listeners of feeds. Who hears several streams with the same news is there several times.
func (h *Hub) targets(feeds ...topic) []target {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []target
	for _, f := range feeds {
		list = append(list, h.topics[f]...)
	}
	return list
}

// hasSubscribers tells whether anybody listens to a feed of certain kinds.
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

// receive takes the events of a commit. It runs on the writing goroutine of the database.
func (h *Hub) receive(events []store.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.clients) == 0 {
		return
	}
	for _, e := range events {
		switch e := e.(type) {
		case store.TokensRevoked: // at once, whatever else there is to tell
			h.closeClients(closeRevoked, func(l *client) bool {
				return l.token != nil && (slices.Contains(e.Tokens, l.tokenID) || e.AccountID != 0 && e.AccountID == l.account)
			})
			continue
		case store.RowsChanged:
			if !e.All && len(e.Accounts) == 0 {
				continue
			}
		}
		if len(h.queue) >= maxQueuedEvents {
			h.log.Warn("streams cannot keep up and are closed", "events", len(h.queue))
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

// closeAllBehind ends all streams, so that clients come back and fetch what they have missed: nothing is lost without their knowledge.
func (h *Hub) closeAllBehind() {
	h.queue = nil
	h.closeClients(closeBehind, func(*client) bool { return true })
}

// run tells of all that has been heard.
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
				h.log.LogAttrs(context.Background(), slog.LevelError, "streams are closed", slog.Any("error", err))
				h.mu.Lock()
				h.closeAllBehind()
				h.mu.Unlock()
				break
			}
		}
	}
}

// dispatchRecovered is tell for which a panic is an error.
func (h *Hub) dispatchRecovered(ctx context.Context, e store.Event) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = rest.PanicError(v)
		}
	}()
	return h.dispatch(ctx, e)
}

// identity returns who a listener is now, nil for the anonymous. ok is false if the token is no longer good; the stream ends then.
func (h *Hub) identity(ctx context.Context, l *client) (who rest.Identity, ok bool, err error) {
	h.mu.Lock()
	token := l.token
	h.mu.Unlock()
	if token == nil {
		return who, true, nil
	}
	who, err = h.identities.CurrentIdentity(ctx, *token)
	if err == nil && who.Token == nil {
		h.closeClient(l, closeRevoked)
	}
	return who, who.Token != nil, err
}

// checkTokens ends the streams of listeners whose tokens are no longer good. accounts are those that may have changed, nil any.
func (h *Hub) checkTokens(ctx context.Context, accounts []store.AccountID) error {
	h.mu.Lock()
	var list []*client
	for l := range h.clients {
		if l.token != nil && (accounts == nil || slices.Contains(accounts, l.account)) {
			list = append(list, l)
		}
	}
	h.mu.Unlock()
	for _, l := range list {
		if _, _, err := h.identity(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// Close ends all streams, and waits until they are gone or ctx ends. No stream is opened from then on.
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
