package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/rest"
)

// appender writes its own JSON.
type appender string

func (a appender) AppendJSON(dst []byte) []byte { return append(append(append(dst, '"'), a...), '"') }

func TestResponses(t *testing.T) {
	type entity struct {
		ID   string   `json:"id"`
		Note string   `json:"note"`
		Tags []string `json:"tags"`
	}
	for _, tt := range []struct {
		name   string
		value  any
		err    error
		status int
		body   string
	}{
		{"nothing", nil, nil, 200, `{}`},
		{"a nil pointer", (*entity)(nil), nil, 200, `{}`},
		{"a nil list", []entity(nil), nil, 200, `[]`},
		{"an empty list", []any{}, nil, 200, `[]`},
		{"an entity", &entity{"1", `<p>a & "b"</p>`, []string{}}, nil, 200, `{"id":"1","note":"<p>a & \"b\"</p>","tags":[]}`},
		{"an appender", appender("x"), nil, 200, `"x"`},
		{"ready-made JSON", json.RawMessage(`{"a": 1}`), nil, 200, `{"a": 1}`},
		{"a value without a JSON form", make(chan int), nil, 500, `{"error":"Something went wrong"}`},
		{"not found", nil, errs.NotFound("Record not found"), 404, `{"error":"Record not found"}`},
		{"wrapped", nil, fmt.Errorf("load: %w", errs.Conflict("pack already exists")), 409, `{"error":"pack already exists"}`},
		{"with details", nil, errs.Invalid("<no>").With("b", []int{1}).With("a", "x"), 422, `{"error":"<no>","a":"x","b":[1]}`},
		{"with a cause", nil, &errs.Error{Status: 415, Message: "no picture", Err: errors.New("secret")}, 415, `{"error":"no picture"}`},
		{"a value beside an error", "value", errs.Forbidden("no"), 403, `{"error":"no"}`},
		{"any other error", nil, errors.New("secret"), 500, `{"error":"Something went wrong"}`},
		{"unauthorized", nil, errs.Unauthorized("no"), 401, `{"error":"no"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, rest.Routes{"GET /api/v1/it": {rest.Anyone, func(*rest.Request) (any, error) {
				return tt.value, tt.err
			}}})
			for _, method := range []string{"GET", "HEAD"} {
				w := call(s, method, "/api/v1/it", "")
				if w.Code != tt.status || w.Body.String() != tt.body {
					t.Errorf("got  %d %s\nwant %d %s", w.Code, w.Body, tt.status, tt.body)
				}
				for name, want := range map[string]string{
					"Content-Type":                "application/json; charset=utf-8",
					"Content-Length":              fmt.Sprint(len(tt.body)),
					"Cache-Control":               "private, no-store",
					"X-Frame-Options":             "DENY",
					"X-Content-Type-Options":      "nosniff",
					"Referrer-Policy":             "",
					"Access-Control-Allow-Origin": "*",
				} {
					if got := w.Header().Get(name); got != want {
						t.Errorf("%s: got %q, want %q", name, got, want)
					}
				}
				if n := len(w.Header()); n > 8 {
					t.Errorf("%d headers: %v", n, w.Header())
				}
			}
		})
	}
}

// TestOverHTTP uses a real connection: HEAD has no body, large responses are complete, and connections are reused.
func TestOverHTTP(t *testing.T) {
	large := strings.Repeat("0123456789", 300_000)
	srv := httptest.NewServer(newServer(t, rest.Routes{"GET /api/v1/it": {rest.Anyone, rest.Always(large)}}))
	defer srv.Close()
	for _, method := range []string{"GET", "HEAD", "GET"} {
		req, _ := http.NewRequest(method, srv.URL+"/api/v1/it", nil)
		resp, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		want := len(large) + 2
		if resp.ContentLength != int64(want) || err != nil {
			t.Errorf("%s: length %d, error %v", method, resp.ContentLength, err)
		}
		if method == "HEAD" {
			want = 0
		}
		if len(body) != want {
			t.Errorf("%s: got %d bytes, want %d", method, len(body), want)
		}
	}
}

func TestCacheControlOfHandlers(t *testing.T) {
	s := newServer(t, rest.Routes{"GET /api/v1/it": {rest.Anyone, func(r *rest.Request) (any, error) {
		r.ResponseHeader().Set("Cache-Control", "public, max-age=60")
		return nil, nil
	}}})
	if got := call(s, "GET", "/api/v1/it", "").Header().Get("Cache-Control"); got != "public, max-age=60" {
		t.Errorf("got %q", got)
	}
}

func TestHandlersServeThemselves(t *testing.T) {
	stream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "one ")
		w.(http.Flusher).Flush()
		fmt.Fprint(w, "two")
	})
	var log lockedBuffer // the server does not wait for hijacked connections
	s := rest.New(rest.Config{Settings: settings(), Log: logTo(&log, slog.LevelDebug)}, rest.Routes{
		"POST /api/v1/done": {rest.Anyone, rest.Always(rest.NoContent)},
		"GET /api/v1/away":  {rest.Anyone, rest.Always(http.RedirectHandler("https://example.org/", http.StatusFound))},
		"GET /api/v1/flow":  {rest.Anyone, rest.Always(stream)},
		"GET /api/v1/raw": {rest.Anyone, rest.Always(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, buffer, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			buffer.WriteString("HTTP/1.1 299 Mine\r\nContent-Length: 0\r\n\r\n")
			buffer.Flush()
		}))},
	})
	srv := httptest.NewServer(s)
	defer srv.Close()
	client := srv.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, tt := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"POST", "/api/v1/done", 204, ""},
		{"GET", "/api/v1/away", 302, "<a href=\"https://example.org/\">Found</a>.\n\n"},
		{"GET", "/api/v1/flow", 200, "one two"},
		{"GET", "/api/v1/raw", 299, ""},
	} {
		req, _ := http.NewRequest(tt.method, srv.URL+tt.path, nil)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", tt.path, err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got := resp.Header.Get("Cache-Control"); got != "private, no-store" && tt.status != 299 {
			t.Errorf("%s: Cache-Control: %q", tt.path, got)
		}
		if resp.StatusCode != tt.status || string(body) != tt.body {
			t.Errorf("%s: got %d %q, want %d %q", tt.path, resp.StatusCode, body, tt.status, tt.body)
		}
	}
	srv.Close()
	for _, want := range []string{"status=204", "status=302", `route=/api/v1/flow status=200`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not contain %s:\n%s", want, log.String())
		}
	}
}

// lockedBuffer is a buffer that several goroutines may use.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// TestStreamOutlastsTimeout checks that the timeout of responses does not apply to streams.
func TestStreamOutlastsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, rest.Routes{"GET /api/v1/stream": {rest.Anyone, rest.Always(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range 8 {
				time.Sleep(100 * time.Millisecond)
				if _, err := fmt.Fprint(w, "."); err != nil {
					t.Error(err)
				}
				w.(http.Flusher).Flush()
			}
		}))}}, func(c *config.Config) { c.Server.WriteTimeout = 400 * time.Millisecond })
		resp, err := servePipes(t, s).Get("/api/v1/stream")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, err := io.ReadAll(resp.Body); string(body) != "........" || err != nil {
			t.Errorf("got %q, %v", body, err)
		}
	})
}

func TestPanics(t *testing.T) {
	var log bytes.Buffer
	s := rest.New(rest.Config{Settings: settings(), Log: logTo(&log, slog.LevelInfo)}, rest.Routes{
		"GET /api/v1/bug": {rest.Anyone, func(*rest.Request) (any, error) {
			var nothing *struct{ n int }
			return nothing.n, nil
		}},
		"GET /api/v1/late": {rest.Anyone, rest.Always(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, strings.Repeat("x", 10_000))
			panic("half-way")
		}))},
		"GET /api/v1/early": {rest.Anyone, rest.Always(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			panic("at once")
		}))},
	})
	for _, path := range []string{"/api/v1/bug", "/api/v1/early"} {
		if w := call(s, "GET", path, ""); w.Code != 500 || w.Body.String() != `{"error":"Something went wrong"}` {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
	func() {
		defer func() {
			if v := recover(); v != http.ErrAbortHandler {
				t.Errorf("got %v, want the connection to be aborted", v)
			}
		}()
		call(s, "GET", "/api/v1/late", "")
	}()
	for _, want := range []string{"nil pointer dereference", "at once", "half-way", "respond_test.go"} {
		if n := strings.Count(log.String(), want); n == 0 {
			t.Errorf("the log does not contain %q:\n%s", want, &log)
		}
	}
}

func TestErrorLog(t *testing.T) {
	var log bytes.Buffer
	cause := errors.New("disk on fire")
	table := rest.Routes{}
	for name, err := range map[string]error{
		"bug":     fmt.Errorf("archive: %w", cause),
		"fine":    errs.NotFound("Record not found"),
		"refused": &errs.Error{Status: 422, Message: "no", Err: errors.New("why not")},
	} {
		table["GET /api/v1/"+name+"/:id"] = rest.Route{Access: rest.Anyone, Handle: func(*rest.Request) (any, error) { return nil, err }}
	}
	s := rest.New(rest.Config{Settings: settings(), Log: logTo(&log, slog.LevelInfo)}, table)
	w := call(s, "GET", "/api/v1/bug/7?access_token=verysecret", "")
	call(s, "GET", "/api/v1/fine/7", "")
	call(s, "GET", "/api/v1/refused/7", "")
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 1 {
		t.Fatalf("got %d lines, want one:\n%s", len(lines), &log)
	}
	for _, want := range []string{"level=ERROR", "archive: disk on fire", w.Header().Get("X-Request-Id"), "route=/api/v1/bug/:id"} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("the line does not contain %q: %s", want, lines[0])
		}
	}
	if strings.Contains(log.String(), "verysecret") {
		t.Errorf("the log has the token: %s", &log)
	}

	log.Reset()
	s = rest.New(rest.Config{Settings: settings(), Log: logTo(&log, slog.LevelDebug)}, table)
	call(s, "GET", "/api/v1/refused/7?access_token=verysecret", "")
	if got := log.String(); !strings.Contains(got, "why not") || !strings.Contains(got, "status=422") || strings.Contains(got, "verysecret") {
		t.Errorf("at level debug the log is %s", got)
	}
}

// TestDisconnectIsNoError checks that a request whose client has disconnected is not logged as an error.
func TestDisconnectIsNoError(t *testing.T) {
	var log bytes.Buffer
	s := rest.New(rest.Config{Settings: settings(), Log: logTo(&log, slog.LevelInfo)}, rest.Routes{
		"GET /api/v1/it": {rest.Anyone, func(r *rest.Request) (any, error) { return nil, r.Context().Err() }},
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/api/v1/it", nil))
	if log.Len() > 0 {
		t.Errorf("the log is %s", &log)
	}
}
