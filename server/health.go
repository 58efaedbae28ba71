package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/metrics"
	"sync"
	"time"

	"svc/server/rest"
	"svc/store"
)

// routes tell whether the server works.
func (h *healthChecker) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/healthcheck": {rest.Anonymous, h.showHealth},
	}
}

const (
	healthTTL     = 5 * time.Second  // how long a finding is good
	healthTimeout = 5 * time.Second  // how long one waits for a new one
	maxJobDelay   = 30 * time.Minute // a job that has been due for so long is not being done
)

// health is the answer of the health check.
type health struct {
	PoolSize   int                  `json:"pool_size"`
	Active     int                  `json:"active"`
	Idle       int                  `json:"idle"`
	MemoryUsed float64              `json:"memory_used"` // megabytes
	Healthy    bool                 `json:"healthy"`
	Queue      map[string]jobCounts `json:"job_queue_stats"`
}

// jobCounts is how many jobs of a kind there are.
type jobCounts struct {
	Waiting int `json:"waiting"`
	Failed  int `json:"failed"` // for the last time
}

// showHealth answers 503 if the server cannot store anything, or does not do its jobs.
func (h *healthChecker) showHealth(r *rest.Request) (any, error) {
	found := h.result(r.Context())
	if found.err != nil {
		r.SetStatus(http.StatusServiceUnavailable)
	}
	c := h.db.Connections()
	return health{c.Pool, c.Active, c.Idle, memoryUsed(), found.err == nil, found.queue}, nil
}

// healthChecker looks at the database, once for all who ask at about the same time. One look at most is under way, however long it takes.
type healthChecker struct {
	db        *store.DB
	log       *slog.Logger
	startedAt time.Time // the server did

	mu         sync.Mutex
	checkedAt  time.Time // of the last finding
	lastResult healthResult
	running    chan struct{} // closed at the end of the look that is under way; nil: none is
}

// healthResult is what a look at the database found out.
type healthResult struct {
	queue map[string]jobCounts
	err   error // what is wrong
}

func newHealthChecker(db *store.DB, log *slog.Logger) *healthChecker {
	return &healthChecker{db: db, log: log, startedAt: time.Now()}
}

var errDatabaseTimeout = errors.New("the database does not answer")

// result returns what was found lately, or finds out.
func (p *healthChecker) result(ctx context.Context) healthResult {
	p.mu.Lock()
	if p.running == nil && time.Since(p.checkedAt) < healthTTL {
		defer p.mu.Unlock()
		return p.lastResult
	}
	if p.running == nil {
		p.running = make(chan struct{})
		go p.run()
	}
	under := p.running
	p.mu.Unlock()

	wait := time.NewTimer(healthTimeout)
	defer wait.Stop()
	select {
	case <-under:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.lastResult
	case <-wait.C:
		return healthResult{queue: map[string]jobCounts{}, err: errDatabaseTimeout}
	case <-ctx.Done():
		return healthResult{queue: map[string]jobCounts{}, err: ctx.Err()}
	}
}

func (p *healthChecker) run() {
	f := healthResult{queue: make(map[string]jobCounts)}
	if f.err = p.check(context.Background(), f.queue); f.err != nil {
		p.log.Error("the health check failed", "err", f.err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastResult, p.checkedAt = f, time.Now()
	close(p.running)
	p.running = nil
}

func (p *healthChecker) check(ctx context.Context, queue map[string]jobCounts) error {
	counts, err := p.db.JobCounts(ctx)
	if err != nil {
		return err
	}
	for _, c := range counts {
		queue[c.Kind] = jobCounts{Waiting: c.N - c.Parked, Failed: c.Parked}
	}
	overdue, err := p.db.OldestDueJobAge(ctx)
	if err != nil {
		return err
	}
	if min(overdue, time.Since(p.startedAt)) > maxJobDelay {
		return errors.New("jobs are not being done")
	}
	return p.db.CheckWritable(ctx)
}

// memoryUsed returns what the program has taken from the system and not given back, apart from what SQLite has, in megabytes.
func memoryUsed() float64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return float64(samples[0].Value.Uint64()-samples[1].Value.Uint64()) / 1e6
}
