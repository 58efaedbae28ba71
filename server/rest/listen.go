package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	maxHeaderBytes  = 32 << 10
	maxHeaderFields = 128
	maxHTTP2Streams = 32              // concurrent requests on one HTTP/2 connection
	http2Frame      = 16 << 10        // bytes; a connection keeps a buffer for the largest
	http2Window     = 64 << 10        // bytes that a client may send before a handler reads them
	ShutdownTimeout = 8 * time.Second // of the ten that the program has to come to its end
)

// Serve answers connections of ln until ctx ends. Then it accepts no more requests, and ends those in progress after
// ShutdownTimeout.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	gate := newConnLimiter(s)
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.settings.Load().Server.ReadHeaderTimeout,
		WriteTimeout:      s.settings.Load().Server.WriteTimeout,
		IdleTimeout:       s.settings.Load().Server.IdleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxHTTP2Streams, MaxReadFrameSize: http2Frame,
			MaxReceiveBufferPerConnection: http2Window, MaxReceiveBufferPerStream: http2Window,
		},
		ConnState:   gate.connState,
		ConnContext: gate.withConn,
		ErrorLog:    slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // TLS errors of clients and the like
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(headerListener{&acceptLogger{ln, s.log}, false}) }()
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
