package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/metrics"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"svc/media"
	"svc/server/rest"
	"svc/store"
)

func (h *healthChecker) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/healthcheck": {rest.Anonymous.Answers("object").WhenClosed(), h.show},
		"GET /health":                 {rest.Anonymous.WhenClosed(), h.showPlain},
		"GET /ready":                  {rest.Anonymous.WhenClosed(), h.showReady},
	}
}

const (
	healthTTL     = 5 * time.Second
	healthTimeout = 5 * time.Second
	maxJobDelay   = 30 * time.Minute // the server is unhealthy if a job has been due for longer
)

// health is the answer of the health check.
type health struct {
	PoolSize   int                  `json:"pool_size"`
	Active     int                  `json:"active"`
	Idle       int                  `json:"idle"`
	MemoryUsed float64              `json:"memory_used"` // megabytes
	Healthy    bool                 `json:"healthy"`
	Queue      map[string]jobCounts `json:"job_queue_stats"`
	ParkedJobs int                  `json:"parked_jobs"` // of all kinds: an admin has to look at them (svc job)
	Storage    *media.Usage         `json:"storage"`     // null: could not be measured
	Database   databaseHealth       `json:"database"`
	Backup     *backupHealth        `json:"backup,omitempty"` // missing: none are scheduled
}

// databaseHealth says whether the database accepts writes.
type databaseHealth struct {
	State  store.State `json:"state"`
	Reason string      `json:"reason,omitempty"`
	Since  time.Time   `json:"since"`
}

// backupHealth is the state of the scheduled backups. Why one failed is for the operator (svc doctor).
type backupHealth struct {
	LastAt  *store.Time `json:"last_at"` // of the last complete one
	Healthy bool        `json:"healthy"`
}

type jobCounts struct {
	Queued int `json:"queued"`
	Parked int `json:"parked"` // after their last attempt
}

// show answers 503 if the database cannot be written, or jobs are not run.
func (h *healthChecker) show(r *rest.Request) (any, error) {
	found := h.result(r.Context())
	if found.err != nil || h.DB.Condition().State != store.Writable {
		r.SetStatus(http.StatusServiceUnavailable)
	}
	parked := 0
	for _, c := range found.queue {
		parked += c.Parked
	}
	c := h.DB.Connections()
	now := h.DB.Condition()
	healthy := found.err == nil && now.State == store.Writable
	return health{
		c.Pool, c.Active, c.Idle, memoryUsed(), healthy, found.queue, parked, found.storage, databaseHealth{now.State, now.Message, now.Since.UTC()},
		found.backup,
	}, nil
}

// showPlain is show for load balancers, which read the status only.
func (h *healthChecker) showPlain(r *rest.Request) (any, error) {
	return plainHealth{h.result(r.Context()).err == nil && h.DB.Condition().State == store.Writable}, nil
}

// showReady says whether requests should be sent here: not before the start is complete, and not once the server stops. It reads nothing, so that
// it can be asked often. A server that stores nothing is ready, because it serves what there is.
func (h *healthChecker) showReady(*rest.Request) (any, error) {
	return plainHealth{h.Ready() && h.DB.Condition().State != store.Failed}, nil
}

type plainHealth struct{ healthy bool }

func (p plainHealth) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	text := "OK"
	if !p.healthy {
		w.WriteHeader(http.StatusServiceUnavailable)
		text = "unhealthy"
	}
	io.WriteString(w, text)
}

// healthChecker checks the database, once for all requests of the same seconds. A check that hangs is not started again.
type healthChecker struct {
	*parts
	startedAt time.Time // of the server
	checks    singleflight.Group

	mu        sync.Mutex
	last      healthResult
	checkedAt time.Time
}

type healthResult struct {
	queue   map[string]jobCounts
	storage *media.Usage
	backup  *backupHealth
	since   time.Time // of the state of the database
	err     error     // nil: healthy
}

var errDatabaseTimeout = errors.New("the database does not answer")

// result returns the last result, or that of a new check if it is older than healthTTL.
func (h *healthChecker) result(ctx context.Context) healthResult {
	h.mu.Lock()
	last, fresh := h.last, time.Since(h.checkedAt) < healthTTL && h.last.since.Equal(h.DB.Condition().Since)
	h.mu.Unlock()
	if fresh {
		return last
	}
	ctx, cancel := context.WithTimeoutCause(ctx, healthTimeout, errDatabaseTimeout)
	defer cancel()
	select {
	case r := <-h.checks.DoChan("", h.run):
		return r.Val.(healthResult)
	case <-ctx.Done():
		return healthResult{queue: map[string]jobCounts{}, err: context.Cause(ctx)}
	}
}

func (h *healthChecker) run() (any, error) {
	r := healthResult{queue: make(map[string]jobCounts), since: h.DB.Condition().Since}
	if r.err = h.check(context.Background(), r.queue); r.err != nil {
		h.Log.Error("health check failed", "err", r.err)
	}
	if h.Budget != nil {
		var err error
		if r.storage, err = h.Budget.Usage(context.Background(), false); err != nil {
			h.Log.Error("storage could not be measured", "err", err)
		}
	}
	if r.err == nil {
		if status, err := h.Admin.BackupStatus(context.Background()); err != nil {
			h.Log.Error("state of backups could not be read", "err", err)
		} else if status != nil {
			r.backup = &backupHealth{status.Last, status.Problem == ""}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last, h.checkedAt = r, time.Now()
	return r, nil
}

func (h *healthChecker) check(ctx context.Context, queue map[string]jobCounts) error {
	counts, err := h.DB.JobCounts(ctx)
	if err != nil {
		return err
	}
	for _, c := range counts {
		queue[c.Kind] = jobCounts{Queued: c.N - c.Parked, Parked: c.Parked}
	}
	overdue, err := h.DB.OldestDueJobAge(ctx)
	if err != nil {
		return err
	}
	if min(overdue, time.Since(h.startedAt)) > maxJobDelay {
		return errors.New("jobs are overdue")
	}
	return h.DB.CheckWritable(ctx)
}

// memoryUsed returns the memory that the Go runtime holds, in megabytes. SQLite's is not included.
func memoryUsed() float64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return float64(samples[0].Value.Uint64()-samples[1].Value.Uint64()) / 1e6
}
