package server_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/server"
)

// settings returns the standard ones with changes.
func settings(change ...func(*config.Config)) *config.Config {
	c := config.Default()
	c.Server.URL = "https://social.example.org"
	c.RateLimit.Enabled = false
	for _, f := range change {
		f(c)
	}
	return c
}

// call sends a request straight to the handler. Headers are given as name and value.
func call(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, content)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "RemoteAddr" {
			r.RemoteAddr = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// field returns a member of a JSON answer as text.
func field(t testing.TB, w *httptest.ResponseRecorder, name string) string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &object); err != nil {
		t.Fatalf("answer %d %q is no JSON object: %v", w.Code, w.Body, err)
	}
	text, _ := object[name].(string)
	return text
}

// logTo returns a logger that writes to w.
func logTo(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// site is a server on a port of its own.
type site struct {
	http.Client
	t       *testing.T
	address string
	stop    func()     // as SIGTERM does
	done    chan error // what Serve returned
}

// serve runs s until the test ends.
func serve(t *testing.T, s *server.Server) *site {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	st := &site{t: t, address: ln.Addr().String(), stop: stop, done: make(chan error, 1)}
	ended := make(chan struct{})
	go func() {
		st.done <- s.Serve(ctx, ln)
		close(ended)
	}()
	t.Cleanup(func() {
		stop()
		st.CloseIdleConnections()
		<-ended
	})
	return st
}

func (st *site) Get(path string) (*http.Response, error) {
	return st.Client.Get("http://" + st.address + path)
}

// TestRoutesAreUnique lists the routes, which panics on mistakes in the tables.
func TestRoutesAreUnique(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range server.Routes() {
		key := r.Method + " " + r.Path
		if seen[key] {
			t.Errorf("%s is listed twice", key)
		}
		seen[key] = true
	}
}
