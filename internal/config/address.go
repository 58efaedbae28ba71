package config

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// URL returns the normalized base URL of the server: scheme, host in lower case, and the port if it is not the default of the
// scheme. The settings must be valid.
func (c *Config) URL() *url.URL {
	u, err := url.Parse(c.Server.URL)
	if err != nil {
		return new(url.URL)
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || port == defaultPort(u.Scheme) {
		if strings.Contains(host, ":") { // IPv6
			host = "[" + host + "]"
		}
	} else {
		host = net.JoinHostPort(host, port)
	}
	return &url.URL{Scheme: u.Scheme, Host: host}
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// Host returns the host in the handles of local accounts, with its port if that is not the default: server.host, or that of server.url.
func (c *Config) Host() string {
	if c.Server.Host == "" {
		return c.WebHost()
	}
	return strings.ToLower(c.Server.Host)
}

// WebHost returns the host in the URLs of this server, with its port if that is not the default.
func (c *Config) WebHost() string { return c.URL().Host }

// WebSocketURL returns the base URL of streams, such as "wss://social.example.org".
func (c *Config) WebSocketURL() string {
	u := c.URL()
	u.Scheme = strings.Replace(u.Scheme, "http", "ws", 1)
	return u.String()
}

// SecureCookies returns true if browsers reach the server by https, so that cookies can have the Secure attribute.
func (c *Config) SecureCookies() bool { return c.URL().Scheme == "https" }

// ListenAddress returns the arguments of net.Listen.
func (c *Config) ListenAddress() (network, address string) { return listenArguments(c.Server.Listen) }

// MetricsAddress is ListenAddress for metrics.
func (c *Config) MetricsAddress() (network, address string) { return listenArguments(c.Metrics.Listen) }

func listenArguments(listen string) (network, address string) {
	if isSocketPath(listen) {
		return "unix", listen
	}
	return "tcp", listen
}

func isSocketPath(listen string) bool { return strings.Contains(listen, "/") }

// TrustedProxies returns the networks whose X-Forwarded-For header is trusted.
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
	host := (&url.URL{Host: c.Host()}).Hostname()
	if _, err := netip.ParseAddr(host); err == nil { // a test server; mail addresses cannot have a bare IP address
		host = "localhost"
	}
	return "noreply@" + host
}
