package rest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/server/rest"
)

// discard is a ResponseWriter that discards the response.
type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// BenchmarkStack measures the cost of a request between net/http and its handler and back, with all checks and limits enabled, but
// without looking up a token. Compare with BenchmarkBare in the same run.
func BenchmarkStack(b *testing.B) {
	entity := appender(strings.Repeat("x", 30_000))
	type bound struct {
		Status string `param:"status"`
		Poll   struct {
			Options []string `param:"options"`
		} `param:"poll"`
	}
	table := tableOf(trickyRoutes...)
	table["GET /api/v1/timelines/home"] = rest.Route{Access: rest.Anyone, Handle: func(r *rest.Request) (any, error) {
		r.Page(20)
		return entity, nil
	}}
	table["POST /api/v1/statuses"] = rest.Route{Access: rest.User("write:statuses"), Handle: func(r *rest.Request) (any, error) {
		var p bound
		return nil, r.Bind(&p)
	}}
	table["GET /api/v1/statuses/:id"] = rest.Route{Access: rest.Content("read:statuses"), Handle: rest.Always(appender("x"))}
	s := newServer(b, table, func(c *config.Config) { // enabled, but never reached
		c.RateLimit.Enabled = true
		c.RateLimit.All.Count, c.RateLimit.AllAnonymous.Count = 1e9, 1e9
	})
	for _, bb := range []struct {
		name, method, target, contentType, body string
	}{
		{"one status", "GET", "/api/v1/statuses/01ARZ3NDEKTSV4RRFF", "", ""},
		{"a page of 30 kB", "GET", "/api/v1/timelines/home", "", ""},
		{"a page with parameters", "GET", "/api/v1/timelines/home?limit=20&max_id=1700000000000000", "", ""},
		{"a post by form", "POST", "/api/v1/statuses", FormType, "status=hello+world&poll[options][]=a&poll[options][]=b"},
		{"a post in JSON", "POST", "/api/v1/statuses", JSONType, `{"status":"hello world","poll":{"options":["a","b"]}}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			r := httptest.NewRequest(bb.method, bb.target, nil)
			r.Header.Set("Authorization", "Bearer alice read write")
			r.Header.Set("Content-Type", bb.contentType)
			w := discard{make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.h)
				if bb.body != "" {
					r.Body = noCloser{strings.NewReader(bb.body)}
				}
				s.ServeHTTP(w, r)
			}
		})
	}
}

type noCloser struct{ *strings.Reader }

func (noCloser) Close() error { return nil }

// BenchmarkBare is the least that a handler of net/http does.
func BenchmarkBare(b *testing.B) {
	text := []byte(strings.Repeat("x", 30_000))
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Write(text)
	})
	r := httptest.NewRequest("GET", "/api/v1/timelines/home", nil)
	w := discard{make(http.Header)}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.h)
		h.ServeHTTP(w, r)
	}
}

// BenchmarkMetrics measures what counting a request costs.
func BenchmarkMetrics(b *testing.B) {
	table := rest.Routes{"GET /api/v1/statuses/:id": {Access: rest.Anonymous, Handle: rest.Always(appender("x"))}}
	for _, metrics := range []*rest.Metrics{nil, rest.NewMetrics()} {
		name := "on"
		if metrics == nil {
			name = "off"
		}
		c := config.Default()
		c.RateLimit.Enabled = false
		s := rest.New(rest.Config{Settings: config.NewLive(c), Metrics: metrics}, table)
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest("GET", "/api/v1/statuses/1", nil)
			w := discard{make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.h)
				s.ServeHTTP(w, r)
			}
		})
	}
}
