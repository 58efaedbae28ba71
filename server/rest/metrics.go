package rest

import (
	"cmp"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts requests by endpoint. Labels are the method and path of the route table, so their number does not depend on clients.
// It is a prometheus.Collector.
type Metrics struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	endpoints map[*endpoint]*endpointMetrics
}

// endpointMetrics are the metrics of one endpoint. Its histogram exists from the first request on.
type endpointMetrics struct {
	method, path string
	duration     func() prometheus.Observer
	statuses     sync.Map // int to prometheus.Counter
}

// NewMetrics returns metrics for Config.
func NewMetrics() *Metrics {
	return &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "svc_http_requests_total", Help: "Answered requests by method and path of the route, and status.",
		}, []string{"method", "route", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "svc_http_request_duration_seconds",
			Help:    "Time from the headers of a request to the end of its answer, except for answers that stream events.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .1, .25, 1, 5},
		}, []string{"method", "route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "svc_http_requests_in_flight", Help: "Requests that are being answered.",
		}),
	}
}

// Describe is for prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	m.requests.Describe(ch)
	m.durations.Describe(ch)
	m.inFlight.Describe(ch)
}

// Collect is for prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	m.requests.Collect(ch)
	m.durations.Collect(ch)
	m.inFlight.Collect(ch)
}

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
		em := &endpointMetrics{method: cmp.Or(e.method, "any"), path: e.path}
		em.duration = sync.OnceValue(func() prometheus.Observer { return m.durations.WithLabelValues(em.method, em.path) })
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
		counter, _ = e.statuses.LoadOrStore(status, m.requests.WithLabelValues(e.method, e.path, strconv.Itoa(status)))
	}
	counter.(prometheus.Counter).Inc()
	if !r.streamed {
		e.duration().Observe(time.Since(r.start).Seconds())
	}
}
