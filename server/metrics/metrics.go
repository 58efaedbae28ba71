// Package metrics is the page of metrics in the format of Prometheus. It collects what the packages measure; it measures nothing itself.
//
// Two rules. No label has a value that depends on clients or other servers, so that the size of the page is bounded. What the page shows
// is read when it is requested: without a monitoring system, metrics cost some counters.
//
// Limits: 2 requests at a time, 10 s each; queues are counted up to 100 000.
package metrics

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"svc/admin"
	"svc/federation"
	"svc/internal/cache"
	"svc/internal/replica"
	"svc/media"
	"svc/server/rest"
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
	Replica    func() replica.Status // of the continuous copy; nil: there is none
	Requests   *rest.Metrics
	Streams    func() map[string]int           // open streams by kind
	Caches     []func() map[string]cache.Stats // by name
	Log        *slog.Logger
}

// New returns the handler of the page. It answers with 503 if two requests are being answered, or if one takes longer than 10 s.
func New(c Config) http.Handler {
	metrics.ExposeMetadata(true) // for the process: the library writes HELP and TYPE for all sets or for none
	page := &page{collector: collector{c}, running: make(chan struct{}, maxRequests)}
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, http.TimeoutHandler(page, timeout, fmt.Sprintf("The metrics could not be read within %v.\n", timeout)))
	return mux
}

// page is the handler below the timeout: a request counts as running until it has ended, even if its client was answered before.
type page struct {
	collector collector
	running   chan struct{}
}

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case p.running <- struct{}{}:
		defer func() { <-p.running }()
	default:
		http.Error(w, fmt.Sprintf("%d requests are being answered already, try again later.", maxRequests), http.StatusServiceUnavailable)
		return
	}
	text := p.text()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Vary", "Accept-Encoding")
	if rest.AcceptsGzip(r.Header) {
		if zipped := rest.Gzip(nil, text); zipped != nil {
			w.Header().Set("Content-Encoding", "gzip")
			text = zipped
		}
	}
	w.Write(text)
}

// text returns the page as it is now.
func (p *page) text() []byte {
	var b bytes.Buffer
	p.collector.collect().WritePrometheus(&b)
	p.collector.Requests.Set().WritePrometheus(&b)
	p.collector.DB.Metrics().WritePrometheus(&b)
	metrics.WriteGoMetrics(&b)
	metrics.WriteProcMetrics(&b)
	metrics.WriteFDMetrics(&b)
	return addHelp(b.Bytes())
}

// addHelp completes the HELP lines of a page, which the library leaves without a text. Lines that would stay so are removed.
func addHelp(page []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(page) {
		name, ok := bytes.CutPrefix(line, []byte("# HELP "))
		if !ok {
			b.Write(line)
		} else if text := help[string(bytes.TrimSpace(name))]; text != "" {
			fmt.Fprintf(&b, "# HELP %s %s\n", bytes.TrimSpace(name), text)
		}
	}
	return b.Bytes()
}
