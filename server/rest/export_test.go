package rest

import (
	"net"
	"net/http"
	"time"
)

// Access to unexported parts for the external test package.

var CleanPath = cleanPath

const (
	MaxConnections      = maxConnections
	MaxConnectionsPerIP = maxConnectionsPerIP
	MaxBodiesPerClient  = maxBodiesPerClient
	SlowBody            = slowBody
	MaxDepth            = maxDepth
	MaxKeys             = maxKeys
	MaxText             = maxText
	MaxFiles            = maxFiles
)

// Layers returns how many httprouters the routes need.
func (s *Server) Layers() int { return len(s.router.layers) }

func (s *Server) SetClock(now func() time.Time) { s.now = now }

// ConnLimiter counts the connections of a server.
type ConnLimiter struct{ l *connLimiter }

func NewConnLimiter(s *Server) ConnLimiter {
	return ConnLimiter{newConnLimiter(s)}
}

func (c ConnLimiter) Add(conn net.Conn) bool { return c.l.add(conn) }
func (c ConnLimiter) Remove(conn net.Conn)   { c.l.connState(conn, http.StateClosed) }
func (c ConnLimiter) Addresses() int         { return len(c.l.perIP) }
func (c ConnLimiter) Open() int              { return len(c.l.open) }

// The classes of bodies.
const (
	MemberBodies    = memberBodies
	InboxBodies     = inboxBodies
	AnonymousBodies = anonymousBodies
)

const (
	MaxAnonymousBody = maxAnonymousBody
	MaxPartHeader    = maxPartHeader
	MaxParts         = maxParts
	MaxNodes         = maxNodes
	MaxValues        = maxValues
	MaxHeaderFields  = maxHeaderFields
)

// BodyUse returns the bytes that bodies of a class use, their maximum so far, and their limit.
func (s *Server) BodyUse(class bodyClass) (used, peak, size int64) {
	s.bodies.mu.Lock()
	defer s.bodies.mu.Unlock()
	share := &s.bodies.shares[class]
	return share.used, share.peak, share.size
}

// SetBodyWait sets how long bodies wait for room, before the first request. With a long wait a test is decided by who gets room, not by how fast the
// machine is.
func (s *Server) SetBodyWait(d time.Duration) { s.bodies.wait = d }

// NetworkUse returns the most that a sender of a class uses now.
func (s *Server) NetworkUse(class bodyClass) (most int64) {
	s.bodies.mu.Lock()
	defer s.bodies.mu.Unlock()
	for _, sender := range s.bodies.shares[class].senders {
		most = max(most, sender.used)
	}
	return most
}

// GzipWriters returns how many answers are compressed at the same time at most.
func GzipWriters() int { return cap(gzipPool) }
