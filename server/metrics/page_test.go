package metrics_test

import (
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc/app/apptest"
	"svc/server/metrics"
	"svc/server/rest"
)

// TestFormat checks that the lines of a metric stand together, below one type and, for metrics of this program, one description.
func TestFormat(t *testing.T) {
	srv, alice := start(t)
	alice.Publish("short", "expires_in", "7200") // a job
	alice.Get("/api/v1/timelines/home").Want(200)
	w := httptest.NewRecorder()
	srv.Metrics.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if got, want := w.Header().Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8"; got != want {
		t.Errorf("Content-Type is %q, want %q", got, want)
	}
	types, described := make(map[string]string), make(map[string]bool)
	current := "" // the metric of the last TYPE
	for line := range strings.Lines(w.Body.String()) {
		line = strings.TrimSuffix(line, "\n")
		if header, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, text, _ := strings.Cut(header, " ")
			if text == "" || described[name] {
				t.Errorf("%q is empty or a second one", line)
			}
			described[name] = true
		} else if header, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(header, " ")
			if types[name] != "" {
				t.Errorf("%s is in two places", name)
			}
			if strings.HasPrefix(name, "svc_") && !described[name] {
				t.Errorf("%s has no description", name)
			}
			current, types[name] = name, kind
		} else if suffix, ok := strings.CutPrefix(line, current); !ok || !strings.ContainsAny(suffix[:1], " {_") {
			t.Errorf("%q is not below the type of its metric", line)
		}
	}
	for name, want := range map[string]string{
		"svc_http_requests_total": "counter", "svc_http_request_duration_seconds": "histogram", "svc_http_requests_in_flight": "gauge",
		"svc_writer_queue": "gauge", "svc_writer_wait_seconds": "histogram", "svc_writer_group_transactions": "histogram",
		"svc_jobs": "gauge", "svc_cache_hits_total": "counter", "svc_database_queries_total": "counter", "svc_build_info": "gauge",
		"process_cpu_seconds_total": "counter", "process_open_fds": "gauge", "go_goroutines": "gauge",
	} {
		if types[name] != want {
			t.Errorf("%s has the type %q, want %q", name, types[name], want)
		}
	}
	bucket := `svc_http_request_duration_seconds_bucket{method="GET",route="/api/v1/timelines/home",le="+Inf"} 1`
	if !strings.Contains(w.Body.String(), bucket+"\n") {
		t.Errorf("the page has no %s", bucket)
	}
}

// TestGzip reads the page as a client that accepts gzip.
func TestGzip(t *testing.T) {
	srv, _ := start(t)
	r := httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	srv.Metrics.ServeHTTP(w, r)
	if got := w.Header().Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("Content-Encoding is %q", got)
	}
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || !strings.Contains(string(text), "\nsvc_writer_queue 0\n") {
		t.Errorf("%v, %d bytes", err, len(text))
	}
}

// TestBounds makes reading block. Two requests read at a time and are answered after 10 s; more are refused at once, also while those that were
// answered still read.
func TestBounds(t *testing.T) {
	srv, _ := start(t)
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		page := newPage(srv, func() map[string]int { <-block; return nil })
		codes := make(chan int, 2)
		begin := time.Now()
		for range 2 {
			go func() { codes <- status(page) }()
		}
		synctest.Wait()
		if got, took := status(page), time.Since(begin); got != http.StatusServiceUnavailable || took != 0 {
			t.Errorf("a third request: %d after %v", got, took)
		}
		for range 2 {
			if got := <-codes; got != http.StatusServiceUnavailable {
				t.Errorf("a request that takes too long: %d", got)
			}
		}
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("answered after %v", took)
		}
		if got := status(page); got != http.StatusServiceUnavailable {
			t.Errorf("while two still read: %d", got)
		}
		close(block)
		synctest.Wait()
		if got := status(page); got != http.StatusOK {
			t.Errorf("when both have ended: %d", got)
		}
	})
}

// newPage returns a page of a server with a function of its own that counts streams.
func newPage(srv *apptest.Server, streams func() map[string]int) http.Handler {
	return metrics.New(metrics.Config{
		Version: "1.2.3", DB: srv.DB, Worker: srv.Worker, Federation: srv.Federation, Budget: srv.Budget, Admin: srv.Admin,
		Requests: rest.NewMetrics(), Streams: streams, Log: slog.New(slog.DiscardHandler),
	})
}

func status(page http.Handler) int {
	w := httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Code
}
