package rest_test

import (
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"svc/internal/config"
	"svc/server/rest"
)

// limited enables low rate limits.
func limited(c *config.Config) {
	c.RateLimit = config.RateLimit{
		Enabled:          true,
		Search:           config.Rate{Count: 3, Window: time.Minute},
		SearchAnonymous:  config.Rate{Count: 2, Window: time.Minute},
		StatusActions:    config.Rate{Count: 4, Window: 10 * time.Second},
		SameStatusAction: config.Rate{Count: 2, Window: time.Minute},
		Authentication:   config.Rate{Count: 1, Window: time.Minute},
	}
}

var limitedTable = rest.Routes{
	"GET /api/v2/search":                    {rest.Anyone.Limit("search"), whoAmI},
	"GET /api/v1/accounts/search":           {rest.Anyone.Limit("search"), whoAmI},
	"POST /api/v1/statuses/:id/favourite":   {rest.User("write").Limit("status_actions").Limit("same_status_action", "favourite", ":id"), whoAmI},
	"POST /api/v1/statuses/:id/unfavourite": {rest.User("write").Limit("status_actions").Limit("same_status_action", "favourite", ":id"), whoAmI},
	"POST /api/v1/statuses/:id/reblog":      {rest.User("write").Limit("status_actions").Limit("same_status_action", "reblog", ":id"), whoAmI},
	"GET /api/v1/plain":                     {rest.Anyone, whoAmI},
	"POST /oauth/authorize":                 {rest.Anonymous.Limit("authentication"), whoAmI},
	"GET /pages":                            {rest.Anonymous, whoAmI},
}

// clock is a clock that only tests advance.
type clock struct{ time.Time }

func newClock(s *rest.Server) *clock {
	c := &clock{time.Date(2024, 1, 2, 3, 4, 5, 678_900_000, time.UTC)}
	s.SetClock(func() time.Time { return c.Time })
	return c
}

// wantLimit checks the status and the rate limit headers of a response.
func wantLimit(t *testing.T, w *httptest.ResponseRecorder, status int, limit, remaining, reset, retry string) {
	t.Helper()
	h := w.Header()
	got := fmt.Sprintf("%d %s %s %s %s", w.Code, h.Get("X-RateLimit-Limit"), h.Get("X-RateLimit-Remaining"), h.Get("X-RateLimit-Reset"), h.Get("Retry-After"))
	want := fmt.Sprintf("%d %s %s %s %s", status, limit, remaining, reset, retry)
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if w.Code == 429 && w.Body.String() != `{"error":"Throttled"}` {
		t.Errorf("got %s", w.Body)
	}
}

func TestRateLimitHeaders(t *testing.T) {
	s := newServer(t, limitedTable, limited)
	now := newClock(s)
	const reset = "2024-01-02T03:05:05.678Z"
	wantLimit(t, call(s, "GET", "/api/v1/plain", ""), 200, "", "", "", "")
	wantLimit(t, call(s, "GET", "/api/v2/search", ""), 200, "2", "1", reset, "")
	now.Time = now.Add(20 * time.Second)
	wantLimit(t, call(s, "GET", "/api/v1/accounts/search", ""), 200, "2", "0", reset, "")
	now.Time = now.Add(30*time.Second + time.Millisecond)
	wantLimit(t, call(s, "GET", "/api/v2/search", ""), 429, "2", "0", reset, "10")
	now.Time = now.Add(9_998 * time.Millisecond)
	wantLimit(t, call(s, "GET", "/api/v2/search", ""), 429, "2", "0", reset, "1")
	now.Time = now.Add(time.Millisecond)
	wantLimit(t, call(s, "GET", "/api/v2/search", ""), 200, "2", "1", "2024-01-02T03:06:05.678Z", "")
}

func TestRateLimitCallers(t *testing.T) {
	s := newServer(t, limitedTable, limited, func(c *config.Config) { c.Server.TrustedProxies = []string{"127.0.0.1"} })
	newClock(s)
	for _, tt := range []struct {
		name    string
		headers []string
		allowed int
	}{
		{"an address", []string{"RemoteAddr", "192.0.2.1:1"}, 2},
		{"the same from another port", []string{"RemoteAddr", "192.0.2.1:2"}, 0},
		{"another address", []string{"RemoteAddr", "192.0.2.2:1"}, 2},
		{"behind a proxy", []string{"RemoteAddr", "127.0.0.1:1", "X-Forwarded-For", "198.51.100.1"}, 2},
		{"another behind it", []string{"RemoteAddr", "127.0.0.1:1", "X-Forwarded-For", "198.51.100.2"}, 2},
		{"a forged header of the first client", []string{"RemoteAddr", "127.0.0.1:1", "X-Forwarded-For", "198.51.100.3, 198.51.100.1"}, 0},
		{"a header from an untrusted address", []string{"RemoteAddr", "192.0.2.1:1", "X-Forwarded-For", "198.51.100.4"}, 0},
		{"an IPv6 network", []string{"RemoteAddr", "[2001:db8:0:1::1]:1"}, 2},
		{"the same network", []string{"RemoteAddr", "[2001:db8:0:1:ffff::2]:1"}, 0},
		{"another network", []string{"RemoteAddr", "[2001:db8:0:2::1]:1"}, 2},
		{"an account", []string{"RemoteAddr", "192.0.2.1:1", "Authorization", "Bearer alice"}, 3},
		{"the same account from another address", []string{"RemoteAddr", "192.0.2.9:1", "Authorization", "Bearer alice"}, 0},
		{"another account", []string{"RemoteAddr", "192.0.2.1:1", "Authorization", "Bearer admin"}, 3},
		{"a wrong token", []string{"RemoteAddr", "192.0.2.1:1", "Authorization", "Bearer wrong"}, 0},
	} {
		n := 0
		for n <= 5 && call(s, "GET", "/api/v2/search", "", tt.headers...).Code == 200 {
			n++
		}
		if n != tt.allowed {
			t.Errorf("%s: %d requests were let through, want %d", tt.name, n, tt.allowed)
		}
	}
}

func TestRateLimitKeys(t *testing.T) {
	s := newServer(t, limitedTable, limited)
	now := newClock(s)
	as := func(path string) *httptest.ResponseRecorder {
		return call(s, "POST", path, "", "Authorization", "Bearer alice write")
	}
	const later, soon = "2024-01-02T03:05:05.678Z", "2024-01-02T03:04:15.678Z"
	wantLimit(t, as("/api/v1/statuses/1/favourite"), 200, "2", "1", later, "")
	wantLimit(t, as("/api/v1/statuses/1/unfavourite"), 200, "2", "0", later, "")
	wantLimit(t, as("/api/v1/statuses/1/favourite"), 429, "2", "0", later, "60") // the limit of the same action
	wantLimit(t, as("/api/v1/statuses/1/reblog"), 200, "4", "0", soon, "")
	wantLimit(t, as("/api/v1/statuses/2/favourite"), 429, "4", "0", soon, "10") // the limit of all actions
	now.Time = now.Add(10 * time.Second)
	wantLimit(t, as("/api/v1/statuses/2/favourite"), 200, "2", "1", "2024-01-02T03:05:15.678Z", "")
	wantLimit(t, as("/api/v1/statuses/1/favourite"), 429, "2", "0", later, "50")
}

func TestRateLimitOfAll(t *testing.T) {
	s := newServer(t, limitedTable, limited, func(c *config.Config) {
		c.RateLimit.All = config.Rate{Count: 6, Window: time.Minute}
		c.RateLimit.AllAnonymous = config.Rate{Count: 3, Window: time.Minute}
	})
	newClock(s)
	const reset = "2024-01-02T03:05:05.678Z"
	wantLimit(t, call(s, "GET", "/api/v1/plain", ""), 200, "3", "2", reset, "")
	wantLimit(t, call(s, "GET", "/api/v2/search", ""), 200, "3", "1", reset, "")
	wantLimit(t, call(s, "POST", "/oauth/authorize", ""), 200, "3", "0", reset, "")
	wantLimit(t, call(s, "GET", "/api/v2/search", ""), 429, "3", "0", reset, "60")
	wantLimit(t, call(s, "POST", "/api/v1/statuses/1/reblog", ""), 429, "3", "0", reset, "60") // requests without access count, too
	wantLimit(t, call(s, "GET", "/pages", ""), 200, "", "", "", "")
	wantLimit(t, call(s, "GET", "/api/v1/plain", "", "Authorization", "Bearer alice"), 200, "6", "5", reset, "")
	wantLimit(t, call(s, "OPTIONS", "/api/v1/plain", ""), 204, "", "", "", "")
}

func TestRateLimitsOff(t *testing.T) {
	s := newServer(t, limitedTable, limited, func(c *config.Config) { c.RateLimit.Enabled = false })
	for range 10 {
		wantLimit(t, call(s, "GET", "/api/v2/search", ""), 200, "", "", "", "")
	}
}

// TestRateLimitIsExact counts concurrent requests.
func TestRateLimitIsExact(t *testing.T) {
	s := newServer(t, limitedTable, limited, func(c *config.Config) { c.RateLimit.SearchAnonymous = config.Rate{Count: 50, Window: time.Minute} })
	var wg sync.WaitGroup
	var mu sync.Mutex
	codes := make(map[int]int)
	for range 8 {
		wg.Go(func() {
			for range 20 {
				code := call(s, "GET", "/api/v2/search", "").Code
				mu.Lock()
				codes[code]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if codes[200] != 50 || codes[429] != 110 {
		t.Errorf("got %v, want 50 let through and 110 refused", codes)
	}
}

// TestRateLimitBeforeBody checks that a request is counted before its body is read, for one client only: the network, or the user whose token the body
// turns out to have.
func TestRateLimitBeforeBody(t *testing.T) {
	s := newServer(t, rest.Routes{"POST /api/v2/search": {rest.Anyone.Limit("search"), whoAmI}}, limited)
	newClock(s)
	send := func(body string) int {
		return call(s, "POST", "/api/v2/search", body, "Content-Type", FormType, "RemoteAddr", "192.0.2.1:1").Code
	}
	for i := range 3 { // as many as the user may
		if got := send("access_token=alice"); got != 200 {
			t.Fatalf("request %d with a token: got %d", i, got)
		}
	}
	if got := send("access_token=alice"); got != 429 {
		t.Errorf("a request above the limit of the user: got %d", got)
	}
	for i := range 2 {
		if got := send("q=it"); got != 200 {
			t.Fatalf("request %d without a token: got %d", i, got)
		}
	}
	if got := send("access_token=admin"); got != 429 { // of a user with a quota of its own, which only the body says
		t.Errorf("a request above the limit of the network: got %d", got)
	}
}
