package store

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ErrReadInterrupted is the error of a query that was open for longer than maxReadAge.
var ErrReadInterrupted = errors.New("the query was open for too long and was interrupted")

// errLogHasGrown is the error of a task of maintenance that kept the write-ahead log from being emptied.
var errLogHasGrown = errors.New("it was interrupted because the database's log has grown: repeat it when less is written")

// openReads are the queries that are being read on the reading connections, and the tasks of maintenance, which have connections of their own.
type openReads struct {
	tick  atomic.Int64 // guardIntervals since the start: a clock that costs a query nothing
	count atomic.Int64 // of all queries since the start
	mu    sync.Mutex
	conns map[*observedConn]struct{}
	tasks map[*readTask]struct{}
}

// QueryCount returns how many queries the reading connections have run since the start.
func (db *DB) QueryCount() int64 { return db.reads.count.Load() }

// readTask is a task of maintenance, which may read for long.
type readTask struct {
	what   string
	since  time.Time
	cancel context.CancelCauseFunc
}

func newOpenReads() *openReads {
	return &openReads{conns: make(map[*observedConn]struct{}), tasks: make(map[*readTask]struct{})}
}

func (o *openReads) addConn(c *observedConn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.conns[c] = struct{}{}
}

func (o *openReads) removeConn(c *observedConn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.conns, c)
}

// age returns how long a query has been open, to guardInterval.
func (o *openReads) age(r *observedRows) time.Duration {
	return time.Duration(o.tick.Load()-r.since) * guardInterval
}

// begin lists a task until end is called. Its context ends when it has to make way.
func (o *openReads) begin(ctx context.Context, what string) (taskCtx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &readTask{what, time.Now(), cancel}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tasks[t] = struct{}{}
	return ctx, func() {
		cancel(nil)
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.tasks, t)
	}
}

// cancelTasks ends the tasks that read.
func (o *openReads) cancelTasks() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for t := range o.tasks {
		t.cancel(errLogHasGrown)
	}
}

// olderThan returns the queries that have been open for longer than age.
func (o *openReads) olderThan(age time.Duration) (list []*observedRows) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for c := range o.conns {
		if r := c.open.Load(); r != nil && o.age(r) > age {
			list = append(list, r)
		}
	}
	return list
}

// oldest returns the age and the text of the query or task that has been open for longest, "" if none is.
func (o *openReads) oldest() (age time.Duration, what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for c := range o.conns {
		if r := c.open.Load(); r != nil && (what == "" || o.age(r) > age) {
			age, what = o.age(r), oneLine(r.query)
		}
	}
	for t := range o.tasks {
		if since := time.Since(t.since); since > age {
			age, what = since, t.what
		}
	}
	return age, what
}

// maxLoggedQuery is how much of a query is logged.
const maxLoggedQuery = 300

// oneLine returns the text of a query for the log. It has no values, because they are parameters.
func oneLine(query string) string {
	return truncate(strings.Join(strings.Fields(query), " "), maxLoggedQuery)
}
