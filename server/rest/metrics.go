package rest

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// durationBuckets are the upper bounds of the histograms of latency, in seconds.
var durationBuckets = []float64{.001, .0025, .005, .01, .025, .1, .25, 1, 5}

// Metrics counts requests by endpoint. Labels are the method and path of the route table, so their number does not depend on clients.
type Metrics struct {
	set       *metrics.Set
	inFlight  *metrics.Gauge
	endpoints map[*endpoint]*endpointMetrics
}

// endpointMetrics are the metrics of one endpoint. Its histogram exists from the first request on, a counter from the first answer with its status on,
// so that a request formats no name.
type endpointMetrics struct {
	labels   string
	duration func() *metrics.PrometheusHistogram
	statuses sync.Map // int to *metrics.Counter
}

// NewMetrics returns metrics for Config.
func NewMetrics() *Metrics {
	set := metrics.NewSet()
	return &Metrics{set: set, inFlight: set.NewGauge("svc_http_requests_in_flight", nil)}
}

// Set returns the measures, for the page of metrics.
func (m *Metrics) Set() *metrics.Set { return m.set }

// register prepares the endpoints of a server. It does nothing for nil, as the other methods.
func (m *Metrics) register(list []*endpoint) {
	if m == nil {
		return
	}
	m.endpoints = make(map[*endpoint]*endpointMetrics, len(list))
	for _, e := range list {
		if e == nil { // there is no fallback
			continue
		}
		em := &endpointMetrics{labels: fmt.Sprintf("method=%q,route=%q", cmp.Or(e.method, "any"), e.path)}
		em.duration = sync.OnceValue(func() *metrics.PrometheusHistogram { // endpoints for errors share labels
			return m.set.GetOrCreatePrometheusHistogramExt("svc_http_request_duration_seconds{"+em.labels+"}", durationBuckets)
		})
		m.endpoints[e] = em
	}
}

// start counts a request that is being answered.
func (m *Metrics) start() {
	if m != nil {
		m.inFlight.Inc()
	}
}

// finish counts an answered request. A panic has the status 0 if the connection was aborted.
func (m *Metrics) finish(r *Request, status int) {
	if m == nil {
		return
	}
	m.inFlight.Dec()
	e := m.endpoints[r.endpoint]
	counter, ok := e.statuses.Load(status)
	if !ok {
		name := fmt.Sprintf(`svc_http_requests_total{%s,status="%d"}`, e.labels, status)
		counter, _ = e.statuses.LoadOrStore(status, m.set.GetOrCreateCounter(name))
	}
	counter.(*metrics.Counter).Inc()
	if !r.streamed {
		e.duration().Update(time.Since(r.start).Seconds())
	}
}
