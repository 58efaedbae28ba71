package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"svc/internal/config"
)

// healthTimeout bounds the question of CheckHealth. It is longer than what the server itself waits for its database.
const healthTimeout = 10 * time.Second

// maxHealthAnswer is how much of an answer other than "OK" is part of the error.
const maxHealthAnswer = 200

// CheckHealth asks the server that runs with these settings whether it works: GET /health at server.listen, not through the public address.
// It reads no data, so that it does not wait for a lock. With server.tls it does not verify the certificate, which is not that of loopback.
func CheckHealth(ctx context.Context, c *config.Config) error {
	network, address := localAddress(c)
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
		TLSClientConfig:   &tls.Config{ServerName: c.URL().Hostname(), InsecureSkipVerify: true},
		DisableKeepAlives: true,
	}
	client := &http.Client{
		Transport:     transport,
		Timeout:       healthTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	scheme := "http"
	if c.Server.TLS.Enabled {
		scheme = "https"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+c.URL().Host+"/health", nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the method and the public URL, because another address was called
		}
		return fmt.Errorf("no server answers at %s: %w", address, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxHealthAnswer))
	if err != nil {
		return fmt.Errorf("the server at %s: %w", address, err)
	}
	if answer.StatusCode != http.StatusOK || string(text) != "OK" {
		return fmt.Errorf("the server at %s answers %d: %s", address, answer.StatusCode, text)
	}
	return nil
}

// localAddress returns where this machine reaches the server. One that listens on all addresses is reached at loopback.
func localAddress(c *config.Config) (network, address string) {
	network, address = c.ListenAddress()
	host, port, err := net.SplitHostPort(address)
	if network != "tcp" || err != nil {
		return network, address
	}
	switch ip, err := netip.ParseAddr(host); {
	case host == "" || err == nil && ip == netip.IPv4Unspecified():
		host = "127.0.0.1"
	case err == nil && ip == netip.IPv6Unspecified():
		host = "::1"
	}
	return network, net.JoinHostPort(host, port)
}
