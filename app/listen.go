package app

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/crypto/acme/autocert"

	"svc/internal/config"
	"svc/internal/unixsocket"
	"svc/server/rest"
)

// listen opens server.listen, with TLS if it is enabled, and the listener for http redirects. closeAll closes both.
func listen(c *config.Config, log *slog.Logger) (ln net.Listener, closeAll func(), err error) {
	if ln, err = openListener(c.ListenAddress()); err != nil {
		return nil, nil, fmt.Errorf("server.listen: %w", err)
	}
	if !c.Server.TLS.Enabled {
		return ln, func() { ln.Close() }, nil
	}
	certificates := &autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		Cache:      autocert.DirCache(filepath.Join(c.Data.Dir, "keys", "certificates")),
		HostPolicy: autocert.HostWhitelist(c.URL().Hostname()),
		Email:      c.Server.TLS.Email,
	}
	redirect, err := serveRedirect(c, certificates, log)
	if err != nil {
		ln.Close()
		return nil, nil, err
	}
	settings := certificates.TLSConfig()
	settings.MinVersion = tls.VersionTLS12
	return tls.NewListener(rest.CountHeaders(ln), settings), func() { ln.Close(); redirect() }, nil
}

func openListener(network, address string) (net.Listener, error) {
	if network == "unix" {
		return listenUnix(address)
	}
	return net.Listen(network, address)
}

// socketMode lets the user and the group of the server connect, the latter for a reverse proxy. Nobody else: who connects to a socket is
// believed to be the proxy, and names the address of the client.
const socketMode = 0o660

// listenUnix creates a Unix socket. It replaces the socket of a server that was killed.
func listenUnix(path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s exists and is not a socket", path)
	default:
		if conn, err := net.Dial("unix", path); err == nil {
			conn.Close()
			return nil, fmt.Errorf("another program listens on %s", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return unixsocket.Listen(path, socketMode)
}

// serveRedirect serves plain http: ACME challenges, and redirects to https for all other requests.
func serveRedirect(c *config.Config, certificates *autocert.Manager, log *slog.Logger) (stop func(), err error) {
	if c.Server.TLS.HTTPListen == "" {
		return func() {}, nil
	}
	ln, err := net.Listen("tcp", c.Server.TLS.HTTPListen)
	if err != nil {
		return nil, fmt.Errorf("server.tls.http_listen: %w", err)
	}
	toHTTPS := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, c.URL().String()+r.URL.RequestURI(), http.StatusMovedPermanently)
	})
	return serveSide(ln, certificates.HTTPHandler(toHTTPS), "http redirect", log), nil
}

// serveSide serves a listener beside server.listen, with small limits. name is for the log.
func serveSide(ln net.Listener, h http.Handler, name string, log *slog.Logger) (stop func()) {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Error("listener stopped", "name", name, "err", err)
		}
	}()
	return func() { srv.Close() }
}
