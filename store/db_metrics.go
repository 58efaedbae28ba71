package store

import (
	"context"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"svc/internal/cache"
)

// writerBuckets are the upper bounds of what the writer waits for, in seconds.
var writerBuckets = []float64{.0001, .0005, .001, .005, .025, .1, .5, 2}

// writerMetrics measure the writer. They cost about 0.1 µs a transaction.
type writerMetrics struct {
	set                 *metrics.Set
	wait, commit, group *metrics.PrometheusHistogram
}

// newWriterMetrics returns metrics of a writer that receives requests.
func newWriterMetrics(requests <-chan *request) *writerMetrics {
	set := metrics.NewSet()
	set.NewGauge("svc_writer_queue", func() float64 { return float64(len(requests)) })
	return &writerMetrics{
		set:    set,
		wait:   set.NewPrometheusHistogramExt("svc_writer_wait_seconds", writerBuckets),
		commit: set.NewPrometheusHistogramExt("svc_writer_commit_seconds", writerBuckets),
		group:  set.NewPrometheusHistogramExt("svc_writer_group_transactions", []float64{1, 2, 4, 8, 16, 64}),
	}
}

func (m *writerMetrics) committed(transactions int, d time.Duration) {
	m.group.Update(float64(transactions))
	m.commit.Update(d.Seconds())
}

// Metrics returns what the writer measures.
func (db *DB) Metrics() *metrics.Set { return db.writer.metrics.set }

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
