package metrics_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// start starts a server with metrics and some data.
func start(t testing.TB) (*apptest.Server, *apptest.User) {
	srv := apptest.Start(t, func(c *config.Config) { c.Metrics.Enabled = true })
	return srv, srv.SignUp("alice")
}

// scrape returns the values of the page by metric with its labels.
func scrape(t testing.TB, srv *apptest.Server) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	srv.Metrics.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	values := make(map[string]float64)
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, text, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if text == "" {
			name, text, _ = strings.Cut(strings.TrimSpace(line), " ")
		} else {
			name += "}"
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		values[name] = value
	}
	return values
}

// TestMetrics checks each metric: that the page has it, and that its value follows what happens.
func TestMetrics(t *testing.T) {
	srv, alice := start(t)
	files := map[string]string{"cat": "cat.png"}
	for _, tt := range []struct {
		name   string
		metric string
		do     func()
		change func(before, after float64) bool
	}{
		{"requests", `svc_http_requests_total{method="GET",route="/api/v1/timelines/home",status="200"}`,
			func() { alice.Get("/api/v1/timelines/home").Want(200) }, by(1)},
		{"refused requests", `svc_http_requests_total{method="GET",route="/api/v1/timelines/home",status="401"}`,
			func() { srv.As(nil).Get("/api/v1/timelines/home").Want(401) }, by(1)},
		{"requests by pattern", `svc_http_requests_total{method="GET",route="/api/v1/statuses/:id",status="404"}`,
			func() { alice.Get("/api/v1/statuses/1").Want(404); alice.Get("/api/v1/statuses/2").Want(404) }, by(2)},
		{"unknown paths", `svc_http_requests_total{method="any",route="unknown",status="404"}`,
			func() { alice.Get("/api/v1/no/such/path").Want(404); alice.Get("/api/v1/other").Want(404) }, by(2)},
		{"latency", `svc_http_request_duration_seconds_count{method="GET",route="/api/v1/timelines/home"}`,
			func() { alice.Get("/api/v1/timelines/home").Want(200) }, by(1)},
		{"latency, sum", `svc_http_request_duration_seconds_sum{method="GET",route="/api/v1/timelines/home"}`,
			func() { alice.Get("/api/v1/timelines/home").Want(200) }, more},
		{"requests in flight", `svc_http_requests_in_flight`, func() {}, by(0)},
		{"waits for the writer", `svc_writer_wait_seconds_count`, func() { alice.Publish("hello") }, more},
		{"commits", `svc_writer_commit_seconds_count`, func() { alice.Publish("hello") }, more},
		{"time of commits", `svc_writer_commit_seconds_sum`, func() { alice.Publish("hello") }, more},
		{"transactions of commits", `svc_writer_group_transactions_sum`, func() { alice.Publish("hello") }, more},
		{"queue of the writer", `svc_writer_queue`, func() {}, by(0)},
		{"jobs", `svc_jobs{kind="expire_status",state="queued"}`, func() { alice.Publish("short", "expires_in", "7200") }, by(1)},
		{"jobs that failed", `svc_jobs{kind="sweep_proxy",state="parked"}`, func() { park(t, srv) }, by(1)},
		{"deliveries", `svc_deliveries{state="queued"}`, func() {}, by(0)},
		{"deliveries in flight", `svc_deliveries{state="in_flight"}`, func() {}, by(0)},
		{"parked deliveries", `svc_deliveries{state="parked"}`, func() {}, by(0)},
		{"inbox", `svc_inbox_queue{state="queued"}`, func() {}, by(0)},
		{"cache hits", `svc_cache_hits_total{cache="rendered_statuses"}`, func() {
			alice.Publish("hello")
			alice.Get("/api/v1/timelines/home").Want(200)
			alice.Get("/api/v1/timelines/home").Want(200)
		}, more},
		{"cache misses", `svc_cache_misses_total{cache="tokens"}`, func() { srv.SignUp("carol").Get("/api/v1/timelines/home").Want(200) }, more},
		{"cached tokens", `svc_cache_entries{cache="tokens"}`, func() { srv.SignUp("bob").Get("/api/v1/timelines/home").Want(200) }, more},
		{"connections", `svc_database_connections{state="idle"}`, func() {}, by(0)},
		{"queries", `svc_database_queries_total`, func() { alice.Get("/api/v1/timelines/home").Want(200) }, more},
		{"streams", `svc_streams{kind="websocket"}`, func() {}, by(0)},
		{"size of the database", `svc_storage_bytes{class="database"}`, func() {}, by(0)},
		{"emoji", `svc_storage_files{class="emoji"}`, func() { srv.AddEmoji("pets", files); srv.Budget.Remeasure() }, more},
		{"memory", `process_resident_memory_bytes`, func() {}, any},
		{"memory of the runtime", `go_memstats_heap_inuse_bytes`, func() {}, any},
		{"version", `svc_build_info{version="1.2.3"}`, func() {}, by(0)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := scrape(t, srv)[tt.metric]
			tt.do()
			values := scrape(t, srv)
			after, ok := values[tt.metric]
			if !ok {
				t.Fatalf("the page has no %s", tt.metric)
			}
			if !tt.change(before, after) {
				t.Errorf("%s went from %v to %v", tt.metric, before, after)
			}
		})
	}
}

func by(n float64) func(before, after float64) bool {
	return func(before, after float64) bool { return after-before == n }
}

func more(before, after float64) bool { return after > before }

func any(_, after float64) bool { return after > 0 }

// park parks a job.
func park(t testing.TB, srv *apptest.Server) {
	t.Helper()
	w := store.NewWorker(srv.DB, 1, slog.New(slog.DiscardHandler))
	store.Handle(w, func(context.Context, store.SweepProxy) error { return &store.PermanentError{Err: errors.New("no")} })
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.Enqueue(t.Context(), store.SweepProxy{}) })
	if err == nil {
		err = w.Settle(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestStreams opens a stream of each kind. Events are an answer that lasts, so that its duration is not measured.
func TestStreams(t *testing.T) {
	srv, alice := start(t)
	socket := srv.OpenStream(alice.Client, "stream", "user")
	ctx, stop := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", srv.URL+"/api/v1/streaming/user", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+alice.Token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for kind, want := range map[string]float64{"websocket": 1, "events": 1} {
		if got := scrape(t, srv)[`svc_streams{kind="`+kind+`"}`]; got != want {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
	}
	stop()
	socket.Conn.Close()
	const route = `{method="GET",route="/api/v1/streaming/user"`
	apptest.WaitFor(t, "the streams to end", func() bool {
		values := scrape(t, srv)
		return values[`svc_streams{kind="websocket"}`]+values[`svc_streams{kind="events"}`] == 0 && values["svc_http_requests_total"+route+`,status="200"}`] == 1
	})
	if n := scrape(t, srv)["svc_http_request_duration_seconds_count"+route+"}"]; n != 0 {
		t.Errorf("the duration of %v streams was measured", n)
	}
}

// TestFederation counts a post that one server delivers to another.
func TestFederation(t *testing.T) {
	peers := apptest.StartPeers(t, 2, func(c *config.Config) { c.Metrics.Enabled = true })
	alice, bob := peers[0].SignUp("alice"), peers[1].SignUp("bob")
	bob.AccountAction(bob.FindRemote(alice), "follow")
	apptest.Settle(peers...)
	delivered, processed := scrape(t, peers[0]), scrape(t, peers[1])
	alice.Publish("hello")
	if n := scrape(t, peers[0])[`svc_jobs{kind="outbox",state="queued"}`]; n != 1 {
		t.Errorf("%v jobs", n)
	}
	apptest.Settle(peers...)
	const results, activities = `svc_delivery_attempts_total{result="delivered"}`, `svc_inbox_activities_total{result="processed"}`
	if got := scrape(t, peers[0])[results] - delivered[results]; got != 1 {
		t.Errorf("%v deliveries", got)
	}
	if got := scrape(t, peers[1])[activities] - processed[activities]; got != 1 {
		t.Errorf("%v activities", got)
	}
}

// metricNames matches the names of metrics in the queries of a dashboard.
var metricNames = regexp.MustCompile(`\b(?:svc|go|process)_[a-z0-9_]+`)

// TestDashboard checks that each metric of the dashboard for Grafana exists.
func TestDashboard(t *testing.T) {
	srv, alice := start(t)
	alice.Publish("short", "expires_in", "7200") // a job
	known := make(map[string]bool)
	for metric := range scrape(t, srv) {
		name, _, _ := strings.Cut(metric, "{")
		known[name] = true
	}
	file, err := os.ReadFile("../../docs/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Title  string
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(file, &dashboard); err != nil {
		t.Fatal(err)
	}
	if dashboard.Title == "" || len(dashboard.Panels) < 10 {
		t.Errorf("%d panels", len(dashboard.Panels))
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			names := metricNames.FindAllString(target.Expr, -1)
			if len(names) == 0 {
				t.Errorf("%s: no metric in %q", panel.Title, target.Expr)
			}
			for _, name := range names {
				if !known[name] {
					t.Errorf("%s: there is no metric %s", panel.Title, name)
				}
			}
		}
	}
}
