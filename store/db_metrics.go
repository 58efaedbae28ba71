package store

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"svc/internal/cache"
)

// writerMetrics measure the writer. They cost about 0.1 µs a transaction.
type writerMetrics struct {
	wait, commit, group prometheus.Histogram
}

func newWriterMetrics() *writerMetrics {
	return &writerMetrics{
		wait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "svc_writer_wait_seconds",
			Help:    "Time that a transaction waited for the writer.",
			Buckets: []float64{.0001, .0005, .001, .005, .025, .1, .5, 2},
		}),
		commit: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "svc_writer_commit_seconds",
			Help:    "Time of a commit, the write to the disk included.",
			Buckets: []float64{.0001, .0005, .001, .005, .025, .1, .5, 2},
		}),
		group: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "svc_writer_group_transactions",
			Help:    "Transactions in a commit.",
			Buckets: []float64{1, 2, 4, 8, 16, 64},
		}),
	}
}

func (m *writerMetrics) committed(transactions int, d time.Duration) {
	m.group.Observe(float64(transactions))
	m.commit.Observe(d.Seconds())
}

// Metrics returns what the writer measures.
func (db *DB) Metrics() []prometheus.Collector {
	waiting := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "svc_writer_queue", Help: "Transactions that wait for the writer.",
	}, func() float64 { return float64(len(db.writer.requests)) })
	return []prometheus.Collector{db.writer.metrics.wait, db.writer.metrics.commit, db.writer.metrics.group, waiting}
}

// CacheStats returns the state of the caches by name.
func (db *DB) CacheStats() map[string]cache.Stats {
	return map[string]cache.Stats{"lookups": db.lookupCache.Stats(), "viewer_flags": db.flagCache.Stats(), "filters": db.filterCache.Stats()}
}

// DeliveryCounts are the numbers of deliveries in the queue.
type DeliveryCounts struct {
	Queued int // not parked
	Parked int
}

// DeliveryCounts counts the deliveries in the queue, up to limit of each kind.
func (r reader) DeliveryCounts(ctx context.Context, limit int) (DeliveryCounts, error) {
	return value[DeliveryCounts](ctx, r, "count deliveries", `
		SELECT
			(SELECT count(*) FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_due WHERE parked = 0 LIMIT ?1)) AS queued,
			(SELECT count(*) FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_parked WHERE parked = 1 LIMIT ?1)) AS parked`, limit)
}
