package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/metrics"
	"sync"
	"time"

	"svc/store"
)

// healthRoutes tell whether the server works.
var healthRoutes = routes{
	"GET /api/v1/svc/healthcheck": {anonymous, (*Server).showHealth},
}

const (
	pulseTime = 5 * time.Second  // how long a finding is good
	pulseWait = 5 * time.Second  // how long one waits for a new one
	jobsHang  = 30 * time.Minute // a job that has been due for so long is not being done
)

// health is the answer of the health check.
type health struct {
	PoolSize   int                  `json:"pool_size"`
	Active     int                  `json:"active"`
	Idle       int                  `json:"idle"`
	MemoryUsed float64              `json:"memory_used"` // megabytes
	Healthy    bool                 `json:"healthy"`
	Queue      map[string]queueLoad `json:"job_queue_stats"`
}

// queueLoad is how many jobs of a kind there are.
type queueLoad struct {
	Waiting int `json:"waiting"`
	Failed  int `json:"failed"` // for the last time
}

// showHealth answers 503 if the server cannot store anything, or does not do its jobs.
func (s *Server) showHealth(r *Request) (any, error) {
	found := s.pulse.take(r.Context())
	if found.err != nil {
		r.SetStatus(http.StatusServiceUnavailable)
	}
	c := s.db.Connections()
	return health{c.Pool, c.Active, c.Idle, memoryUsed(), found.err == nil, found.queue}, nil
}

// pulse looks at the database, once for all who ask at about the same time. One look at most is under way, however long it takes.
type pulse struct {
	db    *store.DB
	log   *slog.Logger
	began time.Time // the server did

	mu    sync.Mutex
	at    time.Time // of the last finding
	last  finding
	under chan struct{} // closed at the end of the look that is under way; nil: none is
}

// finding is what a look at the database found out.
type finding struct {
	queue map[string]queueLoad
	err   error // what is wrong
}

func newPulse(db *store.DB, log *slog.Logger) *pulse {
	return &pulse{db: db, log: log, began: time.Now()}
}

var errNoPulse = errors.New("the database does not answer")

// take returns what was found lately, or finds out.
func (p *pulse) take(ctx context.Context) finding {
	p.mu.Lock()
	if p.under == nil && time.Since(p.at) < pulseTime {
		defer p.mu.Unlock()
		return p.last
	}
	if p.under == nil {
		p.under = make(chan struct{})
		go p.look()
	}
	under := p.under
	p.mu.Unlock()

	wait := time.NewTimer(pulseWait)
	defer wait.Stop()
	select {
	case <-under:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.last
	case <-wait.C:
		return finding{queue: map[string]queueLoad{}, err: errNoPulse}
	case <-ctx.Done():
		return finding{queue: map[string]queueLoad{}, err: ctx.Err()}
	}
}

func (p *pulse) look() {
	f := finding{queue: make(map[string]queueLoad)}
	if f.err = p.check(context.Background(), f.queue); f.err != nil {
		p.log.Error("the health check failed", "err", f.err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.at = f, time.Now()
	close(p.under)
	p.under = nil
}

func (p *pulse) check(ctx context.Context, queue map[string]queueLoad) error {
	counts, err := p.db.JobCounts(ctx)
	if err != nil {
		return err
	}
	for _, c := range counts {
		queue[c.Kind] = queueLoad{Waiting: c.N - c.Parked, Failed: c.Parked}
	}
	overdue, err := p.db.JobsOverdue(ctx)
	if err != nil {
		return err
	}
	if min(overdue, time.Since(p.began)) > jobsHang {
		return errors.New("jobs are not being done")
	}
	return p.db.TryWrite(ctx)
}

// memoryUsed returns what the program has taken from the system and not given back, apart from what SQLite has, in megabytes.
func memoryUsed() float64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return float64(samples[0].Value.Uint64()-samples[1].Value.Uint64()) / 1e6
}
