package config

import (
	"net/netip"
	"slices"
	"testing"
)

func TestAddresses(t *testing.T) {
	for _, tt := range []struct {
		url, base, host, stream, from string
		secure                        bool
	}{
		{"http://localhost:4000", "http://localhost:4000", "localhost:4000", "ws://localhost:4000", "noreply@localhost", false},
		{"https://example.org", "https://example.org", "example.org", "wss://example.org", "noreply@example.org", true},
		{"HTTPS://Social.Example.org:443/", "https://social.example.org", "social.example.org", "wss://social.example.org", "noreply@social.example.org", true},
		{"https://example.org:8443", "https://example.org:8443", "example.org:8443", "wss://example.org:8443", "noreply@example.org", true},
		{"http://example.org:80", "http://example.org", "example.org", "ws://example.org", "noreply@example.org", false},
		{"http://example.org:443", "http://example.org:443", "example.org:443", "ws://example.org:443", "noreply@example.org", false},
		{"http://[::1]:4000", "http://[::1]:4000", "[::1]:4000", "ws://[::1]:4000", "noreply@localhost", false},
		{"http://[::1]", "http://[::1]", "[::1]", "ws://[::1]", "noreply@localhost", false},
	} {
		c := Default()
		if err := c.Set("server", "url", tt.url); err != nil {
			t.Error(err)
			continue
		}
		if got := c.URL().String(); got != tt.base {
			t.Errorf("base of %s is %s, want %s", tt.url, got, tt.base)
		}
		if got := c.Host(); got != tt.host {
			t.Errorf("host of %s is %s, want %s", tt.url, got, tt.host)
		}
		if got := c.WebSocketURL(); got != tt.stream {
			t.Errorf("streams of %s are at %s, want %s", tt.url, got, tt.stream)
		}
		if got := c.MailFrom(); got != tt.from {
			t.Errorf("mail of %s is from %s, want %s", tt.url, got, tt.from)
		}
		if got := c.SecureCookies(); got != tt.secure {
			t.Errorf("secure cookies on %s: %t", tt.url, got)
		}
	}
}

func TestMailFromSetting(t *testing.T) {
	c := Default()
	c.Mail.From = "Example <news@example.org>"
	if got := c.MailFrom(); got != c.Mail.From {
		t.Errorf("got %s", got)
	}
}

func TestListenAddress(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:4000": "tcp",
		":4000":          "tcp",
		"[::1]:4000":     "tcp",
		"/run/svc.sock":  "unix",
		"./svc.sock":     "unix",
	} {
		c := Default()
		c.Server.Listen = listen
		if network, address := c.ListenAddress(); network != want || address != listen {
			t.Errorf("%s is %s %s", listen, network, address)
		}
	}
}

func TestTrustedProxies(t *testing.T) {
	c := Default()
	if got := c.TrustedProxies(); len(got) != 0 {
		t.Errorf("by default %v are trusted", got)
	}
	c.Server.TrustedProxies = []string{"127.0.0.1", "::1", "10.1.2.3/8"}
	want := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("10.0.0.0/8")}
	if got := c.TrustedProxies(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
