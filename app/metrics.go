package app

import (
	"fmt"
	"log/slog"
	"net/http"

	"svc/internal/cache"
	"svc/internal/config"
	"svc/internal/replica"
	"svc/server/metrics"
	"svc/server/rest"
)

// metricsPage returns the page of metrics.
func (s *Server) metricsPage(requests *rest.Metrics) http.Handler {
	var status func() replica.Status
	if s.replica != nil {
		status = s.replica.Status
	}
	return metrics.New(metrics.Config{
		Replica:    status,
		Version:    s.version,
		DB:         s.DB,
		Worker:     s.Worker,
		Federation: s.Federation,
		Budget:     s.Budget,
		Admin:      s.Admin,
		Requests:   requests,
		Streams:    s.HTTP.Streams.Open,
		Caches:     []func() map[string]cache.Stats{s.DB.CacheStats, s.Entities.CacheStats, s.HTTP.CacheStats, s.Federation.CacheStats},
		Log:        s.log,
	})
}

// serveMetrics serves the page of metrics on metrics.listen, if it is enabled.
func serveMetrics(c *config.Config, page http.Handler, log *slog.Logger) (stop func(), err error) {
	if page == nil {
		return func() {}, nil
	}
	ln, err := openListener(c.MetricsAddress())
	if err != nil {
		return nil, fmt.Errorf("metrics.listen: %w", err)
	}
	stop = serveSide(ln, page, "metrics", log)
	log.Info("metrics are served", "listen", ln.Addr().String(), "path", metrics.Path)
	return stop, nil
}
