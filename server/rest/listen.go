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
)

// Limits to connections. Those of this machine and of trusted proxies, which speak for many, count in all, but not by address.
const (
	maxHeaderBytes      = 32 << 10
	maxConnections      = 2000
	maxConnectionsPerIP = 128
	maxHTTP2Streams     = 100             // requests at the same time on one HTTP/2 connection
	ShutdownTimeout     = 8 * time.Second // of the ten that the program has to come to its end
)

// Serve answers what comes in on ln until ctx ends. Then it takes no new requests and gives those under way some seconds.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	gate := &connLimiter{server: s, perIP: make(map[netip.Addr]int), open: make(map[net.Conn]netip.Addr)}
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.settings.Server.ReadHeaderTimeout,
		WriteTimeout:      s.settings.Server.WriteTimeout,
		IdleTimeout:       s.settings.Server.IdleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxHTTP2Streams},
		ConnState:         gate.connState,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // what strangers do wrong with TLS and the like
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
	srv.Close() // of what was not done in time
	return nil
}

// connLimiter counts connections, and closes new ones beyond the limits.
type connLimiter struct {
	server *Server
	mu     sync.Mutex
	open   map[net.Conn]netip.Addr // the zero Addr is not counted
	perIP  map[netip.Addr]int
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
	if len(g.open) >= maxConnections || address.IsValid() && g.perIP[address] >= maxConnectionsPerIP {
		return false
	}
	g.open[c] = address
	if address.IsValid() {
		g.perIP[address]++
	}
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
	if !address.IsValid() {
		return
	}
	if g.perIP[address]--; g.perIP[address] == 0 {
		delete(g.perIP, address)
	}
}
