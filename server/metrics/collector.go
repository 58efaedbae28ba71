package metrics

import (
	"context"
	"fmt"
	"strings"

	"github.com/VictoriaMetrics/metrics"

	"svc/internal/cache"
	"svc/store"
)

// Descriptions of the metrics that are read when the page is requested.
var (
	buildInfo = describe("svc_build_info", "The version; the value is 1.", "version")

	connections   = describe("svc_database_connections", "Reading connections by state.", "state")
	queries       = describe("svc_database_queries_total", "Queries of the reading connections.")
	databaseState = describe("svc_database_state", "1 for the state of the database: writable, full, read_only or failed.", "state")
	readAge       = describe("svc_database_oldest_read_seconds", "Age of the oldest query or task of maintenance that reads the database.")
	logBytes      = describe("svc_database_log_bytes", "Size of the write-ahead log.")
	jobs          = describe("svc_jobs", "Jobs by kind and state. Running ones are queued, too. Parked ones failed at their last attempt.", "kind", "state")

	deliveries      = describe("svc_deliveries", "Outgoing deliveries by state. Those in flight are queued, too.", "state")
	deliveryResults = describe("svc_delivery_attempts_total", "Attempts of deliveries by result.", "result")
	inboxQueue      = describe("svc_inbox_queue", "Incoming activities that are queued, by state. Failed ones are queued for another attempt.", "state")
	inboxResults    = describe("svc_inbox_activities_total", "Attempts to process incoming activities by result; full: not accepted.", "result")

	streams = describe("svc_streams", "Open streams by kind.", "kind")

	cacheEntries   = describe("svc_cache_entries", "Entries of a cache.", "cache")
	cacheWeight    = describe("svc_cache_weight", "What the entries of a cache weigh: approximate bytes, or their number.", "cache")
	cacheMaxWeight = describe("svc_cache_max_weight", "The most that the entries of a cache may weigh.", "cache")
	cacheHits      = describe("svc_cache_hits_total", "Lookups that found an entry.", "cache")
	cacheMisses    = describe("svc_cache_misses_total", "Lookups that found none.", "cache")
	cacheEvictions = describe("svc_cache_evictions_total", "Entries that had to make room for others.", "cache")

	storageBytes    = describe("svc_storage_bytes", "Bytes in the data directory by class.", "class")
	storageFiles    = describe("svc_storage_files", "Files in the data directory by class.", "class")
	storageLimit    = describe("svc_storage_limit_bytes", "The setting storage.limit; 0 is no limit.")
	diskFree        = describe("svc_disk_free_bytes", "Free bytes on the disk of the data directory.")
	backupTime      = describe("svc_backup_last_success_timestamp_seconds", "When the last scheduled backup was complete.")
	backupBytes     = describe("svc_backup_last_bytes", "Size of the last scheduled backup.")
	backupTook      = describe("svc_backup_last_duration_seconds", "How long the last scheduled backup took.")
	replicaPending  = describe("svc_replica_pending_files", "Files that wait to be copied to the place of the continuous copy.")
	replicaLag      = describe("svc_replica_lag_seconds", "For how long the oldest of them waits.")
	replicaTime     = describe("svc_replica_last_success_timestamp_seconds", "When a file was last copied, or the place compared with the files.")
	replicaFailures = describe("svc_replica_failures_total", "Transfers to the continuous copy that failed, and were repeated.")

	backupFailed = describe("svc_backup_failed", "1 if the last scheduled backup failed, lacks uploads or is late, else 0.")
	remotePosts  = describe("svc_remote_posts", "Posts of other servers, with boosts.")
)

// help is what the page says about each metric, by name. These are measured by other packages; describe adds those that are read here.
var help = map[string]string{
	"svc_http_requests_total":           "Answered requests by method and path of the route, and status.",
	"svc_http_request_duration_seconds": "Time from the headers of a request to the end of its answer, except for answers that stream events.",
	"svc_http_requests_in_flight":       "Requests that are being answered.",

	"svc_writer_wait_seconds":       "Time that a transaction waited for the writer.",
	"svc_writer_commit_seconds":     "Time of a commit, the write to the disk included.",
	"svc_writer_group_transactions": "Transactions in a commit.",
	"svc_writer_queue":              "Transactions that wait for the writer.",
}

// description is a name and its labels.
type description struct {
	name   string
	labels []string
}

func describe(name, text string, labels ...string) *description {
	help[name] = text
	return &description{name, labels}
}

// escape escapes the value of a label.
var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// with returns the name with values of the labels.
func (d *description) with(values []string) string {
	if len(values) != len(d.labels) {
		panic(fmt.Sprintf("%s: %d values for %d labels", d.name, len(values), len(d.labels)))
	}
	if len(values) == 0 {
		return d.name
	}
	pairs := make([]string, len(values))
	for i, v := range values {
		pairs[i] = d.labels[i] + `="` + escape.Replace(v) + `"`
	}
	return d.name + "{" + strings.Join(pairs, ",") + "}"
}

// collector reads the state of the server. What cannot be read is logged and missing on the page.
type collector struct{ Config }

// collect returns the state of this moment.
func (c *collector) collect() *metrics.Set {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	s := sink{metrics.NewSet()}
	s.gauge(buildInfo, 1, c.Version)
	for _, source := range []struct {
		name string
		read func(context.Context, sink) error
	}{
		{"jobs", c.jobs}, {"deliveries", c.deliveries}, {"inbox", c.inbox}, {"storage", c.storage}, {"backups", c.backups},
	} {
		if err := source.read(ctx, s); err != nil {
			c.Log.Error("metrics could not be read", "source", source.name, "err", err)
		}
	}
	open := c.DB.Connections()
	s.gauge(connections, float64(open.Active), "active")
	s.gauge(connections, float64(open.Idle), "idle")
	s.counter(queries, uint64(c.DB.QueryCount()))
	now := c.DB.Condition().State
	for _, state := range []store.State{store.Writable, store.DiskFull, store.ReadOnly, store.Failed} {
		value := 0.0
		if state == now {
			value = 1
		}
		s.gauge(databaseState, value, string(state))
	}
	s.gauge(readAge, c.DB.OldestRead().Seconds())
	s.gauge(logBytes, float64(c.DB.LogSize()))
	c.replica(s)
	for kind, n := range c.Streams() {
		s.gauge(streams, float64(n), kind)
	}
	for _, stats := range c.Caches {
		for name, stat := range stats() {
			s.cache(name, stat)
		}
	}
	return s.set
}

func (c *collector) backups(ctx context.Context, s sink) error {
	b, err := c.Admin.BackupStatus(ctx)
	if err != nil || b == nil {
		return err
	}
	failed := 0.0
	if b.Problem != "" {
		failed = 1
	}
	s.gauge(backupFailed, failed)
	if b.Last != nil {
		s.gauge(backupTime, float64(b.Last.Time().UnixMilli())/1000)
		s.gauge(backupBytes, float64(b.Bytes))
		s.gauge(backupTook, b.Duration.Seconds())
	}
	return nil
}

// replica is the state of the files of the continuous copy.
func (c *collector) replica(s sink) {
	if c.Replica == nil {
		return
	}
	status := c.Replica()
	s.gauge(replicaPending, float64(status.Pending))
	s.gauge(replicaLag, status.Lag(c.DB.Now()).Seconds())
	s.counter(replicaFailures, uint64(status.Failures))
	if !status.Success.IsZero() {
		s.gauge(replicaTime, float64(status.Success.UnixMilli())/1000)
	}
}

func (c *collector) jobs(ctx context.Context, s sink) error {
	counts, err := c.DB.JobCounts(ctx)
	for _, n := range counts {
		s.gauge(jobs, float64(n.N-n.Parked), n.Kind, "queued")
		s.gauge(jobs, float64(n.Parked), n.Kind, "parked")
	}
	for kind, n := range c.Worker.Running() {
		s.gauge(jobs, float64(n), kind, "running")
	}
	return err
}

func (c *collector) deliveries(ctx context.Context, s sink) error {
	counts, err := c.DB.DeliveryCounts(ctx, maxCounted)
	if err != nil {
		return err
	}
	stats := c.Federation.Stats().Deliveries
	s.gauge(deliveries, float64(counts.Queued), "queued")
	s.gauge(deliveries, float64(counts.Parked), "parked")
	s.gauge(deliveries, float64(stats.InFlight), "in_flight")
	s.counter(deliveryResults, stats.Delivered, "delivered")
	s.counter(deliveryResults, stats.Retried, "retried")
	s.counter(deliveryResults, stats.Dropped, "dropped")
	s.counter(deliveryResults, stats.Parked, "parked")
	return nil
}

func (c *collector) inbox(ctx context.Context, s sink) error {
	counts, err := c.DB.QueuedActivityCounts(ctx, maxCounted)
	if err != nil {
		return err
	}
	s.gauge(inboxQueue, float64(counts.Queued), "queued")
	s.gauge(inboxQueue, float64(counts.Failed), "failed")
	s.gauge(inboxQueue, float64(counts.Parked), "parked")
	stats := c.Federation.Stats().Inbox
	s.counter(inboxResults, stats.Processed, "processed")
	s.counter(inboxResults, stats.Refused, "refused")
	s.counter(inboxResults, stats.Failed, "failed")
	s.counter(inboxResults, stats.Full, "full")
	return nil
}

func (c *collector) storage(ctx context.Context, s sink) error {
	usage, err := c.Budget.Usage(ctx, false)
	if err != nil {
		return err
	}
	for _, class := range usage.Classes {
		s.gauge(storageBytes, float64(class.Bytes), string(class.Name))
		s.gauge(storageFiles, float64(class.Count), string(class.Name))
	}
	s.gauge(storageLimit, float64(usage.Limit))
	s.gauge(diskFree, float64(usage.DiskFree))
	s.gauge(remotePosts, float64(usage.RemotePosts.Count))
	return nil
}

// sink takes metrics. Taking one twice with the same labels panics.
type sink struct{ set *metrics.Set }

func (s sink) gauge(d *description, value float64, labels ...string) {
	s.set.NewGauge(d.with(labels), nil).Set(value)
}

func (s sink) counter(d *description, value uint64, labels ...string) {
	s.set.NewCounter(d.with(labels)).Set(value)
}

func (s sink) cache(name string, stats cache.Stats) {
	s.gauge(cacheEntries, float64(stats.Entries), name)
	s.gauge(cacheWeight, float64(stats.Weight), name)
	s.gauge(cacheMaxWeight, float64(stats.MaxWeight), name)
	s.counter(cacheHits, stats.Hits, name)
	s.counter(cacheMisses, stats.Misses, name)
	s.counter(cacheEvictions, stats.Evictions, name)
}
