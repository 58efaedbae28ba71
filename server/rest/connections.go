package rest

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"svc/internal/limit"
)

// Limits of connections. Connections from this machine and trusted proxies, which serve many clients, are not limited by address; bodies are
// limited by the address of the client that the proxy names.
const (
	maxConnections      = 2000
	maxConnectionsPerIP = 128
	maxBodiesPerClient  = 64 // in transit
	slowBody            = 2 * time.Second
	maxHTTP2Requests    = 2 * maxConnections // that are being answered, those of other connections included
)

// connLimiter counts connections. Beyond the limits it closes one that waits: the oldest without a request that is being answered, else the
// oldest whose body is in transit, of the client with most of them. A new one is closed only if all others are being answered.
type connLimiter struct {
	server   *Server
	mu       sync.Mutex
	open     map[net.Conn]*connection
	perIP    limit.Gauge[netip.Addr]
	requests int                     // that are being answered
	bodies   limit.Gauge[netip.Addr] // in transit, by the network of the client
}

// connection is an open connection.
type connection struct {
	address  netip.Addr // of the peer; the zero Addr is not counted
	since    time.Time  // the last change of its state
	requests int        // that are being answered
	bodies   int        // of them in transit
	client   netip.Addr // the network of the client that sends the bodies
}

func newConnLimiter(s *Server) *connLimiter {
	return &connLimiter{server: s, open: make(map[net.Conn]*connection), perIP: make(limit.Gauge[netip.Addr]), bodies: make(limit.Gauge[netip.Addr])}
}

func (g *connLimiter) connState(c net.Conn, state http.ConnState) {
	if h := headerConnOf(c); h != nil {
		h.setState(g.server, state)
	}
	switch state {
	case http.StateNew:
		if !g.add(c) {
			c.Close()
		}
	case http.StateActive, http.StateIdle:
		g.mu.Lock()
		defer g.mu.Unlock()
		if o := g.open[c]; o != nil {
			o.since = time.Now()
		}
	case http.StateClosed, http.StateHijacked:
		g.mu.Lock()
		defer g.mu.Unlock()
		g.remove(c)
	}
}

// add counts a new connection. It returns false if the limit is reached and all others are being answered.
func (g *connLimiter) add(c net.Conn) bool {
	address := parseAddress(c.RemoteAddr().String())
	if !address.IsValid() || address.IsLoopback() || g.server.trusts(address) {
		address = netip.Addr{}
	}
	address = network(address)
	g.mu.Lock()
	defer g.mu.Unlock()
	if address.IsValid() && g.perIP[address] >= maxConnectionsPerIP && !g.closeWaiting(func(o *connection) bool { return o.address == address }) {
		return false
	}
	if len(g.open) >= maxConnections && !g.closeWaiting(func(*connection) bool { return true }) {
		return false
	}
	if address.IsValid() {
		g.perIP[address]++
	}
	g.open[c] = &connection{address: address, since: time.Now()}
	return true
}

// closeWaiting closes one of the connections that match, and returns false if none of them waits for its client.
func (g *connLimiter) closeWaiting(match func(*connection) bool) bool {
	var victim net.Conn
	var of *connection
	for c, o := range g.open {
		if match(o) && (o.requests == 0 || o.bodies > 0) && (of == nil || g.closesBefore(o, of)) {
			victim, of = c, o
		}
	}
	if of == nil {
		return false
	}
	g.close(victim)
	return true
}

// closesBefore returns true if o has to be closed before another connection.
func (g *connLimiter) closesBefore(o, other *connection) bool {
	if (o.bodies > 0) != (other.bodies > 0) {
		return o.bodies == 0
	}
	if o.bodies > 0 && g.bodies[o.client] != g.bodies[other.client] {
		return g.bodies[o.client] > g.bodies[other.client]
	}
	return o.since.Before(other.since)
}

// close closes a connection in the background, because TLS says goodbye.
func (g *connLimiter) close(c net.Conn) {
	g.remove(c)
	go c.Close()
}

func (g *connLimiter) remove(c net.Conn) {
	o := g.open[c]
	if o == nil {
		return
	}
	delete(g.open, c)
	if o.address.IsValid() {
		g.perIP.Done(o.address)
	}
	for ; o.bodies > 0; o.bodies-- {
		g.bodies.Done(o.client)
	}
}

// connKey is the context key of the connection of a request.
type connKey struct{}

// requestConn is the connection of a request.
type requestConn struct {
	limiter *connLimiter
	conn    net.Conn
}

func (g *connLimiter) withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, requestConn{g, c})
}

// beginRequest records that a request of a connection is being answered, until end is called. It returns false if too many are; that is possible
// only where several share a connection.
func beginRequest(r *http.Request) (end func(), ok bool) {
	rc, known := r.Context().Value(connKey{}).(requestConn)
	if !known {
		return func() {}, true
	}
	g := rc.limiter
	count := func(n int) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.requests += n
		if o := g.open[rc.conn]; o != nil {
			o.requests += n
			o.since = time.Now()
		}
		ok = r.ProtoMajor < 2 || g.requests <= maxHTTP2Requests
	}
	count(1)
	return func() { count(-1) }, ok
}

// beginBody records that the body of a request is in transit, until end is called. If the client has too many, the oldest of its connections
// with a slow one is closed.
func (r *Request) beginBody() (end func()) {
	rc, ok := r.Context().Value(connKey{}).(requestConn)
	if !ok {
		return func() {}
	}
	g, client := rc.limiter, r.Network()
	g.mu.Lock()
	defer g.mu.Unlock()
	o := g.open[rc.conn]
	if o == nil || o.bodies > 0 && o.client != client { // closed meanwhile, or HTTP/2 of a proxy
		return func() {}
	}
	if g.bodies[client] >= maxBodiesPerClient && !r.FromProxy() {
		slow := time.Now().Add(-slowBody)
		g.closeWaiting(func(o *connection) bool { return o.bodies > 0 && o.client == client && o.since.Before(slow) })
	}
	o.client = client
	o.bodies++
	g.bodies[client]++
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if o := g.open[rc.conn]; o != nil && o.bodies > 0 {
			o.bodies--
			g.bodies.Done(client)
		}
	})
}
