package rest_test

import (
	"regexp"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/server/rest"
)

func TestClientIP(t *testing.T) {
	table := rest.Routes{"GET /api/v1/ip": {rest.Anyone, func(r *rest.Request) (any, error) {
		return map[string]string{"ip": r.ClientIP().String()}, nil
	}}}
	proxies := []string{"127.0.0.1", "10.0.0.0/8", "fd00::/8"}
	for _, tt := range []struct {
		name      string
		proxies   []string
		remote    string
		forwarded []string
		want      string
	}{
		{"direct", nil, "192.0.2.1:1234", nil, "192.0.2.1"},
		{"direct, with a forged header", nil, "192.0.2.1:1234", []string{"203.0.113.9"}, "192.0.2.1"},
		{"past a proxy, with a forged header", proxies, "192.0.2.1:1234", []string{"203.0.113.9"}, "192.0.2.1"},
		{"one proxy", proxies, "127.0.0.1:1234", []string{"203.0.113.9"}, "203.0.113.9"},
		{"the client's own header", proxies, "127.0.0.1:1234", []string{"198.51.100.1, 203.0.113.9"}, "203.0.113.9"},
		{"two proxies", proxies, "127.0.0.1:1234", []string{"198.51.100.1, 203.0.113.9, 10.1.2.3"}, "203.0.113.9"},
		{"several headers", proxies, "127.0.0.1:1234", []string{"198.51.100.1", "203.0.113.9", "10.1.2.3"}, "203.0.113.9"},
		{"only proxies", proxies, "127.0.0.1:1234", []string{"10.1.2.3"}, "10.1.2.3"},
		{"no header", proxies, "127.0.0.1:1234", nil, "127.0.0.1"},
		{"nonsense", proxies, "127.0.0.1:1234", []string{"203.0.113.9, unknown"}, "127.0.0.1"},
		{"nonsense further left", proxies, "127.0.0.1:1234", []string{"unknown, 203.0.113.9"}, "203.0.113.9"},
		{"with a port", proxies, "127.0.0.1:1234", []string{"203.0.113.9:80"}, "203.0.113.9"},
		{"IPv6", proxies, "[fd00::1]:1234", []string{"2001:db8::9"}, "2001:db8::9"},
		{"IPv6 with a port", proxies, "[fd00::1]:1234", []string{"[2001:db8::9]:80"}, "2001:db8::9"},
		{"IPv4 in IPv6", proxies, "[::ffff:127.0.0.1]:1234", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		{"a Unix socket", nil, "@", []string{"203.0.113.9"}, "203.0.113.9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, table, func(c *config.Config) { c.Server.TrustedProxies = tt.proxies })
			headers := []string{"RemoteAddr", tt.remote}
			for _, f := range tt.forwarded {
				headers = append(headers, "X-Forwarded-For", f)
			}
			if got := field(t, call(s, "GET", "/api/v1/ip", "", headers...), "ip"); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestRequestID(t *testing.T) {
	s := newServer(t, rest.Routes{"GET /api/v1/id": {rest.Anyone, func(r *rest.Request) (any, error) {
		return map[string]string{"id": r.ID}, nil
	}}})
	made := regexp.MustCompile(`^[0-9a-v]{13}$`)
	for _, tt := range []struct {
		given string
		taken bool
	}{
		{"", false},
		{"1f9c2c3e-9d0a-4a53-9c38-0a8f3f2a6a11", true},
		{"short", false},
		{strings.Repeat("x", 64), true},
		{strings.Repeat("x", 65), false},
		{"with blanks in it", false},
		{"a<script>bcdefg", false},
	} {
		w := call(s, "GET", "/api/v1/id", "", "X-Request-Id", tt.given)
		got := field(t, w, "id")
		if w.Header().Get("X-Request-Id") != got {
			t.Errorf("given %q: header %q, request %q", tt.given, w.Header().Get("X-Request-Id"), got)
		}
		if tt.taken && got != tt.given || !tt.taken && !made.MatchString(got) {
			t.Errorf("given %q: got %q", tt.given, got)
		}
	}
	a, b := call(s, "GET", "/api/v1/id", ""), call(s, "GET", "/nowhere", "")
	if id := b.Header().Get("X-Request-Id"); id == "" || id == a.Header().Get("X-Request-Id") {
		t.Errorf("an unknown path has the id %q", id)
	}
}

func TestSetStatusAndHeader(t *testing.T) {
	s := newServer(t, rest.Routes{"DELETE /api/v1/it": {rest.Anyone, func(r *rest.Request) (any, error) {
		r.SetStatus(201)
		r.ResponseHeader().Set("X-Test", "yes")
		return nil, nil
	}}})
	w := call(s, "DELETE", "/api/v1/it", "")
	if w.Code != 201 || w.Header().Get("X-Test") != "yes" || w.Body.String() != "{}" {
		t.Errorf("got %d %v %q", w.Code, w.Header(), w.Body)
	}
}
