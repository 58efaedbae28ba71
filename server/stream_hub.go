package server

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"svc/internal/errs"
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
type hub struct {
	server       *Server
	pingInterval time.Duration
	pongTimeout  time.Duration

	mu          sync.Mutex
	clients     map[*streamClient]struct{}
	topics      map[topic][]target
	subscribers [topicKinds]int // how many subscriptions have a feed of each kind
	perAccount  map[store.AccountID]int
	perAddress  map[netip.Addr]int
	queue       []store.Event
	running     bool
	stopped     bool
	backlog     streamBacklog
	open        sync.WaitGroup // of listeners that are not gone, and the work
}

func newHub(s *Server) *hub {
	h := &hub{
		server:       s,
		pingInterval: pingInterval,
		pongTimeout:  pongTimeout,
		clients:      make(map[*streamClient]struct{}),
		topics:       make(map[topic][]target),
		perAccount:   make(map[store.AccountID]int),
		perAddress:   make(map[netip.Addr]int),
	}
	s.db.Subscribe(h.receive)
	return h
}

// register admits a listener who has an identity (nil: the anonymous), unless there are too many. Each who has entered must leave.
func (h *hub) register(l *streamClient, who rest.Identity) error {
	limits := h.server.settings.Streaming
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
		h.server.db.KeepDeletedAudiences(true)
	}
	h.clients[l] = struct{}{}
	h.open.Add(1)
	return nil
}

// setIdentity gives a listener an identity.
func (h *hub) setIdentity(l *streamClient, who rest.Identity) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.clients[l]; !ok { // the stream has ended in between
		return nil
	}
	return h.setIdentityLocked(l, who)
}

// setIdentityLocked sets who a listener is, unless they have too many streams.
func (h *hub) setIdentityLocked(l *streamClient, who rest.Identity) error {
	if who.Token == nil {
		return nil
	}
	if who.Account != nil {
		if h.perAccount[who.Account.ID] >= h.server.settings.Streaming.MaxStreamsPerAccount {
			return errTooManyStreams
		}
		l.account = who.Account.ID
		h.perAccount[l.account]++
	}
	hash := [sha256.Size]byte(who.Token.Hash)
	l.token, l.tokenID = &hash, who.Token.ID
	return nil
}

// release is the last that is heard of a listener.
func (h *hub) release(l *streamClient) {
	h.closeClient(l, closeNormal)
	h.open.Done()
}

// closeClient closes a listener's stream.
func (h *hub) closeClient(l *streamClient, why closeReason) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(l, why)
}

func (h *hub) remove(l *streamClient, why closeReason) {
	if _, ok := h.clients[l]; !ok {
		return
	}
	for _, sub := range l.subscriptions {
		h.detach(l, sub)
	}
	l.subscriptions = nil
	delete(h.clients, l)
	if l.account != 0 {
		countDown(h.perAccount, l.account)
	}
	if l.counted {
		countDown(h.perAddress, l.network)
	}
	if len(h.clients) == 0 {
		h.server.db.KeepDeletedAudiences(false)
		h.queue = nil
	}
	l.mu.Lock()
	l.discard()
	l.mu.Unlock()
	l.transport.close(why)
}

func countDown[K comparable](counts map[K]int, k K) {
	if counts[k]--; counts[k] == 0 {
		delete(counts, k)
	}
}

// closeClients closes the streams of those listeners for whom which says so.
func (h *hub) closeClients(why closeReason, which func(*streamClient) bool) {
	for l := range h.clients {
		if which(l) {
			h.remove(l, why)
		}
	}
}

// subscribe has a listener hear a stream. ok is false if they do already.
func (h *hub) subscribe(l *streamClient, sub subscription) (ok bool, err error) {
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
func (h *hub) unsubscribe(l *streamClient, sub subscription) (ok bool) {
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

func (h *hub) detach(l *streamClient, sub subscription) {
	for _, f := range sub.topics {
		rest := slices.DeleteFunc(h.topics[f], func(t target) bool { return t.streamClient == l && t.label == sub.label })
		if len(rest) == 0 {
			delete(h.topics, f)
		} else {
			h.topics[f] = rest
		}
		h.subscribers[f.kind]--
	}
}

// targets returns the listeners of feeds. Who hears several streams with the same news is there several times.
func (h *hub) targets(feeds ...topic) []target {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []target
	for _, f := range feeds {
		list = append(list, h.topics[f]...)
	}
	return list
}

// hasSubscribers tells whether anybody listens to a feed of certain kinds.
func (h *hub) hasSubscribers(which func(topicKind) bool) bool {
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
func (h *hub) receive(events []store.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.clients) == 0 {
		return
	}
	for _, e := range events {
		switch e := e.(type) {
		case store.TokensRevoked: // at once, whatever else there is to tell
			h.closeClients(closeRevoked, func(l *streamClient) bool {
				return l.token != nil && (slices.Contains(e.Tokens, l.tokenID) || e.AccountID != 0 && e.AccountID == l.account)
			})
			continue
		case store.RowsChanged:
			if !e.All && len(e.Accounts) == 0 {
				continue
			}
		}
		if len(h.queue) >= maxQueuedEvents {
			h.server.log.Warn("streams cannot keep up and are closed", "events", len(h.queue))
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
func (h *hub) closeAllBehind() {
	h.queue = nil
	h.closeClients(closeBehind, func(*streamClient) bool { return true })
}

// run tells of all that has been heard.
func (h *hub) run() {
	defer h.open.Done()
	for {
		h.mu.Lock()
		events := h.queue
		h.queue = nil
		if len(events) == 0 {
			h.running = false
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
		for _, e := range events {
			if err := h.dispatchRecovered(context.Background(), e); err != nil {
				h.server.log.LogAttrs(context.Background(), slog.LevelError, "streams are closed", slog.Any("error", err))
				h.mu.Lock()
				h.closeAllBehind()
				h.mu.Unlock()
				break
			}
		}
	}
}

// dispatchRecovered is tell for which a panic is an error.
func (h *hub) dispatchRecovered(ctx context.Context, e store.Event) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = rest.PanicError(v)
		}
	}()
	return h.dispatch(ctx, e)
}

// identity returns who a listener is now, nil for the anonymous. ok is false if the token is no longer good; the stream ends then.
func (h *hub) identity(ctx context.Context, l *streamClient) (who rest.Identity, ok bool, err error) {
	h.mu.Lock()
	token := l.token
	h.mu.Unlock()
	if token == nil {
		return who, true, nil
	}
	who, err = h.server.oauth.CurrentIdentity(ctx, *token)
	if err == nil && who.Token == nil {
		h.closeClient(l, closeRevoked)
	}
	return who, who.Token != nil, err
}

// checkTokens ends the streams of listeners whose tokens are no longer good. accounts are those that may have changed, nil any.
func (h *hub) checkTokens(ctx context.Context, accounts []store.AccountID) error {
	h.mu.Lock()
	var list []*streamClient
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

// stop ends all streams, and waits until they are gone or ctx ends. No stream is opened from then on.
func (h *hub) stop(ctx context.Context) {
	h.mu.Lock()
	h.stopped = true
	h.closeClients(closeRestart, func(*streamClient) bool { return true })
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
