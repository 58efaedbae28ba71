package config

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// URL returns the base address of the server in its one normal form: a scheme and a host in small letters, the port only
// if it is not the usual one of the scheme, and nothing after it. The settings must be valid.
func (c *Config) URL() *url.URL {
	u, err := url.Parse(c.Server.URL)
	if err != nil {
		return new(url.URL)
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || port == usualPort(u.Scheme) {
		if strings.Contains(host, ":") { // IPv6
			host = "[" + host + "]"
		}
	} else {
		host = net.JoinHostPort(host, port)
	}
	return &url.URL{Scheme: u.Scheme, Host: host}
}

func usualPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// Host returns the name of the server as it stands in handles: with its port, if that is not the usual one.
func (c *Config) Host() string { return c.URL().Host }

// WebSocketURL returns the base address of streams: "wss://social.example.org".
func (c *Config) WebSocketURL() string {
	u := c.URL()
	u.Scheme = strings.Replace(u.Scheme, "http", "ws", 1)
	return u.String()
}

// SecureCookies tells whether browsers reach the server by https only, so that cookies may be bound to that.
func (c *Config) SecureCookies() bool { return c.URL().Scheme == "https" }

// ListenAddress returns where to listen, in the terms of net.Listen.
func (c *Config) ListenAddress() (network, address string) {
	if isSocketPath(c.Server.Listen) {
		return "unix", c.Server.Listen
	}
	return "tcp", c.Server.Listen
}

func isSocketPath(listen string) bool { return strings.Contains(listen, "/") }

// TrustedProxies returns the networks whose forwarding headers are believed.
func (c *Config) TrustedProxies() []netip.Prefix {
	var list []netip.Prefix
	for _, s := range c.Server.TrustedProxies {
		if p, err := parseProxy(s); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// MailFrom returns the sender of all mail.
func (c *Config) MailFrom() string {
	if c.Mail.From != "" {
		return c.Mail.From
	}
	host := c.URL().Hostname()
	if _, err := netip.ParseAddr(host); err == nil { // a trial; mail to and from bare addresses needs a form of its own
		host = "localhost"
	}
	return "noreply@" + host
}
