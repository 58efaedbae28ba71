package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"svc/internal/limit"
)

// Limits of connections. Connections from this machine and trusted proxies, which serve many clients, are not limited by address.
const (
	maxHeaderBytes      = 32 << 10
	maxConnections      = 2000
	maxConnectionsPerIP = 128
	maxHTTP2Streams     = 100             // concurrent requests on one HTTP/2 connection
	ShutdownTimeout     = 8 * time.Second // of the ten that the program has to come to its end
)

// Serve answers connections of ln until ctx ends. Then it accepts no more requests, and ends those in progress after
// ShutdownTimeout.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	gate := &connLimiter{server: s, perIP: make(limit.Gauge[netip.Addr]), open: make(map[net.Conn]netip.Addr)}
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.settings.Load().Server.ReadHeaderTimeout,
		WriteTimeout:      s.settings.Load().Server.WriteTimeout,
		IdleTimeout:       s.settings.Load().Server.IdleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxHTTP2Streams},
		ConnState:         gate.connState,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // TLS errors of clients and the like
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.Background(), ShutdownTimeout)
	defer cancel()
	if err := srv.Shutdown(stopping); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stop: %w", err)
	}
	srv.Close() // requests that did not end in time
	return nil
}

// connLimiter counts connections, and closes new ones beyond the limits.
type connLimiter struct {
	server *Server
	mu     sync.Mutex
	open   map[net.Conn]netip.Addr // the zero Addr is not counted
	perIP  limit.Gauge[netip.Addr]
}

func (g *connLimiter) connState(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if !g.add(c) {
			c.Close()
		}
	case http.StateClosed, http.StateHijacked:
		g.remove(c)
	}
}

func (g *connLimiter) add(c net.Conn) bool {
	address := parseAddress(c.RemoteAddr().String())
	if !address.IsValid() || address.IsLoopback() || g.server.trusts(address) {
		address = netip.Addr{}
	}
	address = network(address)
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.open) >= maxConnections || address.IsValid() && !g.perIP.Add(address, maxConnectionsPerIP) {
		return false
	}
	g.open[c] = address
	return true
}

func (g *connLimiter) remove(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	address, ok := g.open[c]
	if !ok {
		return
	}
	delete(g.open, c)
	if address.IsValid() {
		g.perIP.Done(address)
	}
}
