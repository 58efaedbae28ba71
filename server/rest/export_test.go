package rest

import (
	"net"
	"net/netip"
	"time"

	"svc/internal/limit"
)

// Access to unexported parts for the external test package.

var CleanPath = cleanPath

const (
	MaxConnections      = maxConnections
	MaxConnectionsPerIP = maxConnectionsPerIP
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
	return ConnLimiter{&connLimiter{server: s, perIP: make(limit.Gauge[netip.Addr]), open: make(map[net.Conn]netip.Addr)}}
}

func (c ConnLimiter) Add(conn net.Conn) bool { return c.l.add(conn) }
func (c ConnLimiter) Remove(conn net.Conn)   { c.l.remove(conn) }
func (c ConnLimiter) Addresses() int         { return len(c.l.perIP) }
