package replica

import (
	"context"
	"sync"
	"time"
)

// maxQueued is how many names wait at most. More are found by comparing the place with the folders.
const maxQueued = 20_000

// item is a name that changed.
type item struct {
	name    string
	tree    bool // a folder with all in it
	since   time.Time
	running bool
	again   bool // it changed while it was transferred
}

// queue has each name once, in the order of their changes. A name is with one worker at a time.
type queue struct {
	now   func() time.Time
	limit int // names
	mu    sync.Mutex
	wake  *sync.Cond
	items map[string]*item
	ready []*item

	overflow bool // a name was not added
	closed   bool
	failures int       // in a row
	paused   time.Time // until then nothing is taken
}

func newQueue(now func() time.Time) *queue {
	q := &queue{now: now, limit: maxQueued, items: make(map[string]*item)}
	q.wake = sync.NewCond(&q.mu)
	return q
}

// add adds a name, or notes that the queue is full. It does not wait.
func (q *queue) add(name string, tree bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := q.items[name]; i != nil {
		i.tree = i.tree || tree
		i.again = i.running
		return
	}
	if len(q.items) >= q.limit {
		q.overflow = true
		return
	}
	i := &item{name: name, tree: tree, since: q.now()}
	q.items[name] = i
	q.ready = append(q.ready, i)
	q.wake.Signal()
}

// addSlowly waits until half of the queue is free, and adds a name.
func (q *queue) addSlowly(ctx context.Context, name string) error {
	for q.len() >= q.limit/2 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	q.add(name, false)
	return nil
}

// take waits for a name and returns it, nil if the queue is closed.
func (q *queue) take(ctx context.Context) *item {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch pause := time.Until(q.paused); {
		case q.closed || ctx.Err() != nil:
			return nil
		case len(q.ready) == 0:
			q.wake.Wait()
		case pause > 0:
			timer := time.AfterFunc(pause, q.wake.Broadcast)
			q.wake.Wait()
			timer.Stop()
		default:
			i := q.ready[0]
			q.ready[0] = nil
			q.ready = q.ready[1:]
			i.running = true
			return i
		}
	}
}

// done removes a name, unless it changed meanwhile.
func (q *queue) done(i *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failures = 0
	if !i.again {
		delete(q.items, i.name)
		return
	}
	i.running, i.again, i.since = false, false, q.now()
	q.ready = append(q.ready, i)
	q.wake.Signal()
}

// retry puts a name back, and pauses all workers, because the place is likely to fail for others, too.
func (q *queue) retry(i *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i.running, i.again = false, false
	q.ready = append(q.ready, i)
	if time.Until(q.paused) <= 0 { // one of several that failed at once
		q.paused = time.Now().Add(min(firstPause<<min(q.failures, 10), longestPause))
		q.failures++
	}
	q.wake.Signal()
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake.Broadcast()
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// state returns how many names wait, and since when the oldest does.
func (q *queue) state() (n int, oldest time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, i := range q.items {
		if oldest.IsZero() || i.since.Before(oldest) {
			oldest = i.since
		}
	}
	return len(q.items), oldest
}

// overflowed returns true once after names were not added, when there is room again.
func (q *queue) overflowed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.overflow || len(q.items) > q.limit/2 {
		return false
	}
	q.overflow = false
	return true
}
