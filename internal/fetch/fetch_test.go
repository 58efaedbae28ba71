package fetch_test

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"svc/internal/fetch"
)

const agent = "svc/1.2.3 (+https://example.org)"

// startServer starts a server with handlers by path, over https if secure.
func startServer(t *testing.T, secure bool, paths map[string]http.HandlerFunc) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	for path, fn := range paths {
		mux.HandleFunc(path, fn)
	}
	ts := httptest.NewUnstartedServer(mux)
	ts.EnableHTTP2 = true
	if secure {
		ts.StartTLS()
	} else {
		ts.Start()
	}
	t.Cleanup(ts.Close)
	return ts
}

// newClient returns a client that may reach loopback addresses and trusts the server.
func newClient(ts *httptest.Server, o fetch.Options) *fetch.Client {
	o.UserAgent, o.AllowLoopback = agent, true
	if ts != nil && ts.TLS != nil {
		o.RootCAs = x509.NewCertPool()
		o.RootCAs.AddCert(ts.Certificate())
	}
	return fetch.New(o)
}

func respondWith(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

func redirectTo(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", address)
		w.WriteHeader(http.StatusFound)
	}
}

func TestGet(t *testing.T) {
	large := strings.Repeat("x", 10_000)
	zipped := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				t.Error("gzip is not requested")
			}
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			io.WriteString(z, text)
			z.Close()
		}
	}
	typed := func(contentType string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{contentType}
			io.WriteString(w, "<p>")
		}
	}
	ts := startServer(t, true, map[string]http.HandlerFunc{
		"/text": func(w http.ResponseWriter, r *http.Request) {
			for _, name := range []string{"Cookie", "Referer", "Authorization"} {
				if v := r.Header.Get(name); v != "" {
					t.Errorf("%s is %q", name, v)
				}
			}
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b", Path: "/"})
			fmt.Fprintf(w, "%s %s %s", r.Proto, r.UserAgent(), r.Header.Get("Accept"))
		},
		"/size/limit":   respondWith(large[:1000]),
		"/size/more":    respondWith(large[:1001]),
		"/size/unsaid":  func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush(); io.WriteString(w, large) },
		"/zip":          zipped("short"),
		"/zip/limit":    zipped(large[:1000]),
		"/zip/bomb":     zipped(large),
		"/zip/br":       func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", "br") },
		"/missing":      http.NotFound,
		"/type/html":    typed("Text/HTML; charset=utf-8"),
		"/type/broken":  typed("text/html; charset"),
		"/type/json":    typed("application/json"),
		"/type/none":    typed(""),
		"/headers":      func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 100_000)) },
		"/hop1":         redirectTo("/text"),
		"/hop3":         redirectTo("hop2"),
		"/hop2":         redirectTo("/hop1"),
		"/hop4":         redirectTo("/hop3"),
		"/loop":         redirectTo("/loop"),
		"/to/nowhere":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) },
		"/to/nonsense":  redirectTo("http://[::1"),
		"/to/inside":    redirectTo("https://10.1.2.3/"),
		"/to/metadata":  redirectTo("https://169.254.169.254/latest"),
		"/to/file":      redirectTo("file:///etc/passwd"),
		"/to/ourselves": redirectTo("https://EXAMPLE.org./"),
		"/to/user":      redirectTo("https://user:secret@example.com/"),
	})
	c := newClient(ts, fetch.Options{OwnHosts: []string{"example.org", "münchen.example"}})
	for _, tt := range []struct {
		path string
		want string // body
		err  error
	}{
		{"/text", "HTTP/2.0 " + agent + " text/plain", nil},
		{"/text#part", "HTTP/2.0 " + agent + " text/plain", nil},
		{"/size/limit", large[:1000], nil},
		{"/size/more", "", fetch.ErrTooLarge},
		{"/size/unsaid", "", fetch.ErrTooLarge},
		{"/zip", "short", nil},
		{"/zip/limit", large[:1000], nil},
		{"/zip/bomb", "", fetch.ErrTooLarge},
		{"/zip/br", "", fetch.ErrContentType},
		{"/missing", "", &fetch.StatusError{Status: 404}},
		{"/headers", "", errAny},
		{"/hop1", "HTTP/2.0 " + agent + " text/plain", nil},
		{"/hop3", "HTTP/2.0 " + agent + " text/plain", nil},
		{"/hop4", "", fetch.ErrRedirects},
		{"/loop", "", fetch.ErrRedirects},
		{"/to/nowhere", "", &fetch.StatusError{Status: 302}},
		{"/to/nonsense", "", fetch.ErrRefused},
		{"/to/inside", "", fetch.ErrRefused},
		{"/to/metadata", "", fetch.ErrRefused},
		{"/to/file", "", fetch.ErrRefused},
		{"/to/ourselves", "", fetch.ErrRefused},
		{"/to/user", "", fetch.ErrRefused},
		{"https://example.org/", "", fetch.ErrRefused},
		{"https://example.org:443/", "", fetch.ErrRefused},
		{"http://example.org/", "", fetch.ErrRefused},
		{"https://xn--mnchen-3ya.example/", "", fetch.ErrRefused},
		{"https://ＭÜNCHEN.example/", "", fetch.ErrRefused},
		{"ftp://example.com/", "", fetch.ErrRefused},
		{"//example.com/", "", fetch.ErrRefused},
		{"https:///path", "", fetch.ErrRefused},
		{"https:opaque", "", fetch.ErrRefused},
		{"https://example.com:0/", "", fetch.ErrRefused},
		{"https://example.com:99999/", "", fetch.ErrRefused},
		{"https://example.com/" + large, "", fetch.ErrRefused},
		{"https://example.com/\r\nX: y", "", fetch.ErrRefused},
		{"https://[::ffff:10.0.0.1]/", "", fetch.ErrRefused},
		{"", "", fetch.ErrRefused},
	} {
		address := tt.path
		if strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//") {
			address = ts.URL + address
		}
		got, err := c.Get(t.Context(), address, fetch.Limits{MaxBody: 1000, Accept: "text/plain"})
		if !sameError(err, tt.err) {
			t.Errorf("%.60s: got error %v, want %v", tt.path, err, tt.err)
		}
		if err == nil && string(got.Body) != tt.want {
			t.Errorf("%.60s: got %.60q, want %.60q", tt.path, got.Body, tt.want)
		}
	}
	for path, fine := range map[string]bool{"/type/html": true, "/type/broken": true, "/type/json": false, "/type/none": false} {
		got, err := c.Get(t.Context(), ts.URL+path, fetch.Limits{Accepts: fetch.OneOf("text/html")})
		if fine && (err != nil || got.Type != "text/html") || !fine && !errors.Is(err, fetch.ErrContentType) {
			t.Errorf("%s as HTML: %v, %v", path, got, err)
		}
	}
	got, err := c.Get(t.Context(), ts.URL+"/hop2", fetch.Limits{})
	if err != nil || got.URL.Path != "/text" || got.Header.Get("Date") == "" {
		t.Errorf("got %+v, %v, want the last address", got, err)
	}
}

var errAny = errors.New("any")

func sameError(got, want error) bool {
	var a, b *fetch.StatusError
	if errors.As(want, &b) {
		return errors.As(got, &a) && *a == *b
	}
	return want == errAny && got != nil || errors.Is(got, want)
}

// A client without AllowLoopback only speaks https with the public internet, whatever a name resolves to.
func TestAddressChecks(t *testing.T) {
	var asked atomic.Int32
	count := map[string]http.HandlerFunc{"/": func(http.ResponseWriter, *http.Request) { asked.Add(1) }}
	secure, plain := startServer(t, true, count), startServer(t, false, count)
	pool := x509.NewCertPool()
	pool.AddCert(secure.Certificate())
	c := fetch.New(fetch.Options{UserAgent: agent, RootCAs: pool})
	port := secure.URL[strings.LastIndexByte(secure.URL, ':'):]
	for _, address := range []string{
		secure.URL, plain.URL, "https://localhost" + port, "https://[::1]" + port, "https://[::ffff:127.0.0.1]" + port,
		"https://0.0.0.0" + port, "https://example.com:22", "https://example.com:3306",
	} {
		if _, err := c.Get(t.Context(), address, fetch.Limits{Timeout: 5 * time.Second}); err == nil {
			t.Errorf("%s was requested", address)
		}
		req, err := http.NewRequestWithContext(t.Context(), "POST", address, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Do(req); err == nil {
			t.Errorf("%s was posted to", address)
		}
	}
	if asked.Load() > 0 {
		t.Error("a server on this machine was reached")
	}
	if _, err := c.Get(t.Context(), secure.URL, fetch.Limits{}); !errors.Is(err, fetch.ErrRefused) {
		t.Errorf("got %v, want ErrRefused", err)
	}
	if c.AllowsHTTP() || !newClient(nil, fetch.Options{}).AllowsHTTP() {
		t.Error("AllowsHTTP is not AllowLoopback")
	}
}

// A proxy of the environment is not used.
func TestNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	ts := startServer(t, true, map[string]http.HandlerFunc{"/": respondWith("here")})
	if _, err := newClient(ts, fetch.Options{}).Get(t.Context(), ts.URL, fetch.Limits{}); err != nil {
		t.Error(err)
	}
}

func TestPrepare(t *testing.T) {
	ts := startServer(t, false, map[string]http.HandlerFunc{
		"/":    redirectTo("/end"),
		"/end": func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("Signature")) },
	})
	c := newClient(ts, fetch.Options{})
	sign := func(r *http.Request) error {
		r.Header.Set("Signature", "of "+r.URL.Path)
		return nil
	}
	got, err := c.Get(t.Context(), ts.URL+"/", fetch.Limits{Prepare: sign})
	if err != nil || string(got.Body) != "of /end" {
		t.Errorf("got %v, %v, want a signature for each redirect", got, err)
	}
	stop := errors.New("stop")
	refuse := func(r *http.Request) error {
		if r.URL.Path == "/end" {
			return stop
		}
		return nil
	}
	if _, err := c.Get(t.Context(), ts.URL+"/", fetch.Limits{Prepare: refuse}); !errors.Is(err, stop) {
		t.Errorf("got %v, want the refusal of the redirect", err)
	}
}

func TestDo(t *testing.T) {
	ts := startServer(t, false, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			w.Header().Set("Location", "/other")
			w.WriteHeader(http.StatusFound)
			fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Header.Get("Topic"), r.UserAgent(), b)
		},
		"/large": respondWith(strings.Repeat("x", 1<<20+1)),
	})
	c := newClient(ts, fetch.Options{})
	do := func(path string) (int, string, error) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", ts.URL+path, strings.NewReader("hello"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Topic", "news")
		req.Header.Set("User-Agent", "another")
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b), err
	}
	if status, got, err := do("/"); status != 302 || got != "POST news "+agent+" hello" || err != nil {
		t.Errorf("got %d %q, %v", status, got, err)
	}
	if _, _, err := do("/large"); !errors.Is(err, fetch.ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
}

// A response that arrives slowly ends with the timeout (federation 7.2, 117).
func TestTimeout(t *testing.T) {
	ts := startServer(t, false, map[string]http.HandlerFunc{
		"/silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"/drip": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				io.WriteString(w, "x")
				w.(http.Flusher).Flush()
				time.Sleep(time.Millisecond)
			}
		},
	})
	c := newClient(ts, fetch.Options{})
	for _, path := range []string{"/silent", "/drip"} {
		if _, err := c.Get(t.Context(), ts.URL+path, fetch.Limits{Timeout: 50 * time.Millisecond}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v, want a deadline exceeded", path, err)
		}
	}
}

// The number of concurrent requests is limited, and a waiting one ends with its context.
func TestSlots(t *testing.T) {
	var now, most atomic.Int32
	ts := startServer(t, false, map[string]http.HandlerFunc{
		"/": func(http.ResponseWriter, *http.Request) {
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			time.Sleep(5 * time.Millisecond)
			now.Add(-1)
		},
		"/hold": func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	})
	c := newClient(ts, fetch.Options{MaxRequests: 3, MaxPerHost: 2})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := c.Get(t.Context(), ts.URL, fetch.Limits{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most.Load() != 2 {
		t.Errorf("%d requests at a time, want 2", most.Load())
	}

	u, err := url.Parse(ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	other := "http://localhost:" + u.Port() // another host, by name
	var held []io.Closer
	hold := func(base string) error {
		resp, err := c.Open(t.Context(), base+"/hold", fetch.Limits{Timeout: time.Minute})
		if err == nil {
			held = append(held, resp.Body)
		}
		return err
	}
	for _, base := range []string{ts.URL, ts.URL, other} {
		if err := hold(base); err != nil {
			t.Fatal(err)
		}
	}
	for _, base := range []string{ts.URL, other} {
		if _, err := c.Get(t.Context(), base, fetch.Limits{Timeout: 20 * time.Millisecond}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: got %v, want a deadline exceeded", base, err)
		}
	}
	held[0].Close()
	if _, err := c.Get(t.Context(), other, fetch.Limits{}); err != nil {
		t.Errorf("after releasing a slot: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(ctx, ts.URL, fetch.Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	held[1].Close()
	held[2].Close()
}

// A body that is not closed holds its slot only until the timeout.
func TestUnclosedBody(t *testing.T) {
	ts := startServer(t, false, map[string]http.HandlerFunc{"/": respondWith("x")})
	c := newClient(ts, fetch.Options{MaxRequests: 1, MaxPerHost: 1})
	if _, err := c.Open(t.Context(), ts.URL, fetch.Limits{Timeout: 30 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), ts.URL, fetch.Limits{}); err != nil {
		t.Error(err)
	}
}

// TestOpenFiles makes a request when the process cannot open files: that is not an error of the remote host.
func TestOpenFiles(t *testing.T) {
	ts := startServer(t, false, map[string]http.HandlerFunc{"/": respondWith("hello")})
	c := newClient(ts, fetch.Options{})
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Skip(err)
	}
	few := limit
	few.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Skip(err)
	}
	_, err := c.Get(t.Context(), ts.URL, fetch.Limits{})
	if e := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); e != nil {
		t.Fatal(e)
	}
	if !errors.Is(err, fetch.ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	if _, err := c.Get(t.Context(), ts.URL, fetch.Limits{}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
