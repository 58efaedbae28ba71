// Package metrics is the page of metrics in the format of Prometheus. It collects what the packages measure; it measures nothing itself.
//
// Two rules. No label has a value that depends on clients or other servers, so that the size of the page is bounded. What the page shows
// is read when it is requested: without a monitoring system, metrics cost some counters.
//
// Limits: 2 requests at a time, 10 s each; queues are counted up to 100 000.
package metrics

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"svc/admin"
	"svc/federation"
	"svc/internal/cache"
	"svc/media"
	"svc/store"
)

const (
	maxRequests = 2
	timeout     = 10 * time.Second
	maxCounted  = 100_000
)

// Path is where the page is served.
const Path = "/metrics"

// Config is what a page shows.
type Config struct {
	Version    string
	DB         *store.DB
	Worker     *store.Worker
	Federation *federation.Service
	Budget     *media.Budget
	Admin      *admin.Service
	Requests   prometheus.Collector
	Streams    func() map[string]int           // open streams by kind
	Caches     []func() map[string]cache.Stats // by name
	Log        *slog.Logger
}

// New returns the handler of the page.
func New(c Config) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(c.Requests, &collector{c}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(c.DB.Metrics()...)
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxRequests,
		Timeout:             timeout,
		ErrorLog:            slog.NewLogLogger(c.Log.Handler(), slog.LevelError),
	}))
	return mux
}
