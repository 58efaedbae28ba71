package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"svc/admin"
	"svc/internal/config"
	"svc/store"
)

// dataDirs are the folders of the data directory. They are made at the start, so that an operator sees where things belong.
var dataDirs = []string{"media", "emoji", "cache", "frontends", "static", "imports", "backups", "mail", "keys"}

// openData opens the database and makes what is missing of the data directory. Only one process can have it.
func openData(ctx context.Context, c *config.Config, log *slog.Logger) (*store.DB, error) {
	if err := admin.CheckRestoreFinished(c.Data.Dir); err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, store.Options{
		Dir:               c.Data.Dir,
		Schema:            schema,
		Readers:           c.Data.Readers,
		ReaderCache:       int(c.Data.ReaderCache / 1000),
		WriterCache:       int(c.Data.WriterCache / 1000),
		SynchronousNormal: c.Data.Synchronous == config.SyncNormal,
		BlockersVisible:   c.Accounts.BlockersVisible,
		Federated:         c.Federation.Enabled,
		Log:               log,
	})
	if err != nil {
		return nil, err
	}
	for _, dir := range dataDirs {
		if err := os.MkdirAll(filepath.Join(c.Data.Dir, dir), 0o700); err != nil {
			db.Close()
			return nil, fmt.Errorf("data directory: %w", err)
		}
	}
	return db, nil
}

// newLog returns the log that the settings ask for.
func newLog(c *config.Config, w io.Writer) *slog.Logger {
	var level slog.Level
	level.UnmarshalText([]byte(c.Log.Level)) // valid: the settings were checked
	options := &slog.HandlerOptions{Level: level}
	if c.Log.Format == config.LogJSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// warnings returns what is allowed, but probably not meant, in the settings of a server that others use.
func warnings(c *config.Config) []string {
	var list []string
	url := c.URL()
	private := isPrivate(url.Hostname())
	if c.Federation.AllowLoopback {
		list = append(list, "federation.allow_loopback is on: other servers can have this one send requests to services on this machine; it is for trials only")
	}
	if url.Scheme == "http" && !private {
		list = append(list, "server.url begins with http://: passwords travel unprotected, and other servers will not talk with this one; use https")
	}
	if url.Scheme == "https" && private {
		list = append(list, "server.url names a host that nobody else can reach: "+url.Hostname())
	}
	if url.Scheme == "https" && !c.Server.TLS.Enabled && len(c.Server.TrustedProxies) == 0 && onLoopback(c) {
		list = append(list, "server.trusted_proxies is empty: if a reverse proxy is in front, all visitors look like one and share its rate limits")
	}
	if c.Data.Synchronous == config.SyncNormal {
		list = append(list, `data.synchronous is "normal": a power failure may take the last moments before it along`)
	}
	if !c.RateLimit.Enabled && !private {
		list = append(list, "rate_limit.enabled is off: nothing slows down those who guess passwords")
	}
	if c.Instance.RegistrationsOpen && c.Instance.AccountActivationRequired && !c.Mail.Enabled {
		list = append(list, `instance.account_activation_required is on but mail.enabled is off: new accounts wait until you run "svc user confirm"`)
	}
	return append(list, policyWarnings(c)...)
}

// isPrivate tells whether a host is on this machine or in a network of one's own.
func isPrivate(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
	}
	return host == "localhost"
}

// onLoopback tells whether only this machine reaches the port that the server listens on.
func onLoopback(c *config.Config) bool {
	network, address := c.ListenAddress()
	host, _, err := net.SplitHostPort(address)
	return network == "tcp" && err == nil && host != "" && isPrivate(host)
}
