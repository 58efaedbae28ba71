package store

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// ErrReadInterrupted is the error of a query that was open for longer than maxReadAge.
var ErrReadInterrupted = errors.New("the query was open for too long and was interrupted")

// openReads are the queries that are being read on the reading connections, and the tasks of maintenance, which have connections of their own.
type openReads struct {
	mu    sync.Mutex
	rows  map[*observedRows]struct{} // at most one for each connection
	tasks map[*readTask]struct{}
}

// readTask is a task of maintenance, which may read for long.
type readTask struct {
	what   string
	since  time.Time
	cancel context.CancelFunc
}

func newOpenReads() *openReads {
	return &openReads{rows: make(map[*observedRows]struct{}), tasks: make(map[*readTask]struct{})}
}

func (o *openReads) add(r *observedRows) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rows[r] = struct{}{}
}

func (o *openReads) remove(r *observedRows) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.rows, r)
}

// begin lists a task until end is called. Its context ends when it has to make way.
func (o *openReads) begin(ctx context.Context, what string) (taskCtx context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	t := &readTask{what, time.Now(), cancel}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tasks[t] = struct{}{}
	return ctx, func() {
		cancel()
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
		t.cancel()
	}
}

// olderThan returns the queries that have been open for longer than age.
func (o *openReads) olderThan(age time.Duration) (list []*observedRows) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for r := range o.rows {
		if time.Since(r.since) > age {
			list = append(list, r)
		}
	}
	return list
}

// oldest returns the age and the text of the query or task that has been open for longest, "" if none is.
func (o *openReads) oldest() (age time.Duration, what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	since := time.Now()
	for r := range o.rows {
		if r.since.Before(since) {
			since, what = r.since, oneLine(r.query)
		}
	}
	for t := range o.tasks {
		if t.since.Before(since) {
			since, what = t.since, t.what
		}
	}
	return time.Since(since), what
}

// maxLoggedQuery is how much of a query is logged.
const maxLoggedQuery = 300

// oneLine returns the text of a query for the log. It has no values, because they are parameters.
func oneLine(query string) string {
	return truncate(strings.Join(strings.Fields(query), " "), maxLoggedQuery)
}
