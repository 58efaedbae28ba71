package rest_test

import (
	"strings"
	"testing"

	"svc/server/rest"
)

func TestPreflight(t *testing.T) {
	s := newServer(t, rest.Routes{"POST /api/v1/statuses": {rest.User("write"), whoAmI}})
	for _, path := range []string{"/api/v1/statuses", "/api/v1/no/such/path", "/api/svc/emoji", "/oauth/token", "/oauth/revoke", "/.well-known/nodeinfo", "/nodeinfo/2.0", "/users/alice", "/media/a.png"} {
		w := call(s, "OPTIONS", path, "", "Origin", "https://app.example.com",
			"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization, x-custom")
		h := w.Header()
		if w.Code != 204 || w.Body.Len() > 0 {
			t.Errorf("%s: got %d %q", path, w.Code, w.Body)
		}
		for name, want := range map[string]string{
			"Access-Control-Allow-Origin":      "*",
			"Access-Control-Allow-Headers":     "authorization, x-custom",
			"Access-Control-Max-Age":           "86400",
			"Access-Control-Allow-Credentials": "",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s: got %q, want %q", path, name, got, want)
			}
		}
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if !strings.Contains(h.Get("Access-Control-Allow-Methods"), method) {
				t.Errorf("%s: %s is not allowed", path, method)
			}
		}
	}
	for _, requested := range []string{"", strings.Repeat("x", 2000), "a\x00b", "<x>"} {
		w := call(s, "OPTIONS", "/api/v1/statuses", "", "Access-Control-Request-Headers", requested)
		got := w.Header().Get("Access-Control-Allow-Headers")
		for _, want := range []string{"Authorization", "Content-Type", "Idempotency-Key"} {
			if !strings.Contains(got, want) {
				t.Errorf("requested %.20q: %s is missing in %q", requested, want, got)
			}
		}
	}
}

func TestCrossOrigin(t *testing.T) {
	s := newServer(t, rest.Routes{
		"POST /api/v1/statuses": {rest.User("write"), whoAmI},
		"GET /oauth/authorize":  {rest.Anonymous, whoAmI},
		"GET /auth/password":    {rest.Anonymous, whoAmI},
	})
	for _, tt := range []struct {
		method, path string
		status       int
		allowed      bool
	}{
		{"POST", "/api/v1/statuses", 401, true},
		{"GET", "/api/v1/statuses", 405, true},
		{"GET", "/api//v1", 404, true},
		{"GET", "/oauth/authorize", 200, false},
		{"OPTIONS", "/oauth/authorize", 204, false},
		{"GET", "/auth/password", 200, false},
		{"GET", "/", 404, false},
	} {
		if w := call(s, tt.method, tt.path, ""); w.Header()["Access-Control-Expose-Headers"] != nil && tt.method != "OPTIONS" {
			t.Errorf("%s %s: headers are exposed to a client that named no origin", tt.method, tt.path)
		}
		w := call(s, tt.method, tt.path, "", "Origin", "https://app.example")
		got := w.Header().Get("Access-Control-Allow-Origin")
		if w.Code != tt.status || (got == "*") != tt.allowed || !tt.allowed && got != "" {
			t.Errorf("%s %s: got %d with origin %q", tt.method, tt.path, w.Code, got)
		}
		if exposed := w.Header().Get("Access-Control-Expose-Headers"); tt.allowed && !strings.Contains(exposed, "Link") {
			t.Errorf("%s %s: exposed headers are %q", tt.method, tt.path, exposed)
		}
	}
}
