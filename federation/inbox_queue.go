package federation

import (
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"

	"svc/internal/activity"
	"svc/store"
)

const (
	maxQueued        = 50_000  // activities that wait in the database: others are asked to try again later. A long one counts as several
	bytesPerUnit     = 16_000  // bytes
	maxBytesInMemory = 4 << 20 // bytes of their bodies that are kept at hand; the others are read again when their turn comes
	slowWorkers      = 8       // activities that wait for other servers at the same time
	slowPerHost      = 6       // of them, of the senders of one host
	fastWorkers      = 16      // other activities that are done at the same time
	maxSync          = 64      // activities that are done at the same time before their senders are answered
)

// queue knows all activities that have come in and are not done with. What those of one actor are about is done in the order in which
// they came. Those who do them get one of each host in turn, and of a host one of each actor: however much one sends, it keeps nobody
// else waiting. What is in the queue is in the database, too.
type queue struct {
	mu          sync.Mutex
	fastReady   *sync.Cond
	slowReady   *sync.Cond
	rescheduled chan struct{} // something is to be tried again earlier than all that was known
	items       map[store.QueuedActivityID]*item
	senders     map[store.AccountID]*senderQueue
	hosts       map[string]*hostQueue
	fast        []*hostQueue // in turn: those with senders that have something to be done
	slow        []*hostQueue // in turn: those with something that takes time
	retries     retryHeap
	total       int // activities, those included that are about to be added, by weight
	bytes       int // bytes
}

// senderQueue is an actor who has sent something that is not done with.
type senderQueue struct {
	id        store.AccountID
	host      *hostQueue
	weight    int     // of what it has sent and is not done with, by weight
	waiting   []*item // in the order in which it came
	slow      []*item // that takes time
	scheduled bool    // it is among those of its host whose turn comes
	busy      bool    // something it has sent is being done
	blocked   bool    // what is next must wait for something slow
}

// hostQueue is the server of senders, with all others of its registered domain: more names do not make for more of the queue.
type hostQueue struct {
	name      string
	weight    int
	ready     []*senderQueue // in turn
	slow      []*item
	busy      int  // of the slow that are under way
	scheduled bool // among those that have something slow whose turn comes
}

// item is an activity that has come in, with what was found out about it on the way.
type item struct {
	id        store.QueuedActivityID
	sender    *senderQueue
	weight    int
	row       *store.QueuedActivity // nil: in the database only
	doc       activity.Object       // likewise
	seenMark  uint64                // when it was not heard of; 0: nobody has looked
	notUndone bool                  // nor that it was taken back
	refs      [2]string             // its id, and what it is about; known once its content was read
	retryAt   time.Time             // when it is to be tried again
	index     int                   // among what is tried later, from 1 on; 0: it is not there
	slow      bool                  // it was handed to those who have time
	signer    *store.Account
	in        *incoming // nil: it has not come as far
	err       error
}

func newQueue() *queue {
	q := &queue{
		items: make(map[store.QueuedActivityID]*item), senders: make(map[store.AccountID]*senderQueue), hosts: make(map[string]*hostQueue),
		rescheduled: make(chan struct{}, 1),
	}
	q.fastReady, q.slowReady = sync.NewCond(&q.mu), sync.NewCond(&q.mu)
	return q
}

// start takes up an activity that need not wait, before it is in the database: nothing in the queue does, nothing of its sender is under
// way that it would have to come after, and there is room for it should it turn out to take time. It tells whether that is so.
func (q *queue) start(it *item, id store.AccountID, host string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	it.setRefs()
	sn := q.senders[id]
	if len(q.fast) > 0 || sn != nil && (sn.busy || len(sn.waiting) > 0 || slices.ContainsFunc(sn.slow, it.sharesRef)) || !q.hasCapacity(id, host) {
		return false
	}
	it.sender = q.addWeight(id, host, it.weight)
	it.sender.busy = true
	q.bytes += len(it.row.Body) // of those under way there are few
	return true
}

// markStored notes that an activity which was begun is in the database by now. It is under way no more if it was found there meanwhile; then
// enter returns false.
func (q *queue) markStored(it *item) bool {
	q.mu.Lock()
	known := q.items[it.row.ID] != nil
	if !known {
		it.id = it.row.ID
		q.items[it.id] = it
	}
	q.mu.Unlock()
	if known {
		q.done(it)
		q.remove(it)
	}
	return !known
}

// add puts in an activity for which there is room reserved.
func (q *queue) add(it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.items[it.id] != nil { // it was found in the database a moment ago
		q.removeWeight(it.sender, it.weight)
		return
	}
	q.insert(it)
}

// addStored puts in an activity that was found in the database, unless it is known, and has one that waits for another try tried when
// the database says.
func (q *queue) addStored(id store.QueuedActivityID, from store.AccountID, host string, size int, at time.Time, tried bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if it := q.items[id]; it != nil {
		if it.index > 0 && at.Before(it.retryAt) {
			it.retryAt = at
			heap.Fix(&q.retries, it.index-1)
			q.signal()
		}
		return
	}
	it := &item{id: id, weight: weightOf(size), retryAt: at}
	it.sender = q.addWeight(from, host, it.weight)
	if !tried {
		q.insert(it)
		return
	}
	q.items[id] = it
	heap.Push(&q.retries, it)
	q.signal()
}

// insert puts an activity behind those of its sender that came before.
func (q *queue) insert(it *item) {
	q.items[it.id] = it
	if it.doc != nil {
		it.setRefs()
	}
	q.keepContent(it)
	i := len(it.sender.waiting)
	for i > 0 && it.sender.waiting[i-1].id > it.id {
		i--
	}
	it.sender.waiting = slices.Insert(it.sender.waiting, i, it)
	q.schedule(it.sender)
}

// keepContent keeps the content of an activity at hand, if there is room for it.
func (q *queue) keepContent(it *item) {
	if it.row == nil {
		return
	}
	if q.bytes+len(it.row.Body) > maxBytesInMemory {
		it.row, it.doc = nil, nil
		return
	}
	q.bytes += len(it.row.Body)
}

// dropContent gives up what is at hand of an activity.
func (q *queue) dropContent(it *item) {
	if it.row != nil {
		q.bytes -= len(it.row.Body)
	}
	it.row, it.doc, it.in = nil, nil, nil
}

// schedule gives a sender a turn, if there is something to be done for it.
func (q *queue) schedule(sn *senderQueue) {
	if sn.scheduled || sn.busy || sn.blocked || len(sn.waiting) == 0 {
		return
	}
	sn.scheduled = true
	sn.host.ready = append(sn.host.ready, sn)
	if len(sn.host.ready) == 1 {
		q.fast = append(q.fast, sn.host)
	}
	q.fastReady.Signal()
}

// next waits for an activity to be done, and returns nil when ctx ends.
func (q *queue) next(ctx context.Context) *item {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil {
		if len(q.fast) == 0 {
			q.fastReady.Wait()
			continue
		}
		h := q.fast[0]
		q.fast = q.fast[1:]
		sn := h.ready[0]
		if h.ready = h.ready[1:]; len(h.ready) > 0 {
			q.fast = append(q.fast, h)
		}
		it := sn.waiting[0]
		sn.waiting[0] = nil
		sn.waiting = sn.waiting[1:]
		sn.scheduled, sn.busy = false, true
		return it
	}
	return nil
}

// wakeAll wakes all who wait, because their context has ended.
func (q *queue) wakeAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fastReady.Broadcast()
	q.slowReady.Broadcast()
}

// setContent notes that the content of an activity was read again.
func (q *queue) setContent(it *item, row *store.QueuedActivity, doc activity.Object) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it.row, it.doc = row, doc
	q.bytes += len(row.Body) // of those under way there are few
	it.setRefs()
}

func (it *item) setRefs() { it.refs = [2]string{it.doc.ID(), it.doc.Ref("object")} }

// requeueIfBlocked puts an activity back if something slow of its sender is about the same. It tells whether that is so.
func (q *queue) requeueIfBlocked(it *item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	sn := it.sender
	if !slices.ContainsFunc(sn.slow, it.sharesRef) {
		return false
	}
	sn.waiting = slices.Insert(sn.waiting, 0, it)
	sn.busy, sn.blocked = false, true
	return true
}

// sharesRef tells whether an activity has to do with what another one is about.
func (it *item) sharesRef(other *item) bool {
	for _, ref := range it.refs {
		if ref != "" && slices.Contains(other.refs[:], ref) {
			return true
		}
	}
	return false
}

// done notes that an activity is not under way any more, so that the next one of its sender is. It is to be forgotten or put off once
// that is in the database.
func (q *queue) done(it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	sn := it.sender
	if it.slow {
		it.slow = false
		sn.slow = slices.DeleteFunc(sn.slow, func(other *item) bool { return other == it })
		sn.host.busy--
		q.scheduleSlow(sn.host)
	} else {
		sn.busy = false
	}
	sn.blocked = false
	q.schedule(sn)
}

// moveToSlow hands an activity to those who have time.
func (q *queue) moveToSlow(it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	sn := it.sender
	sn.busy = false
	q.schedule(sn)
	q.addSlow(it)
	if q.bytes > maxBytesInMemory {
		q.dropContent(it)
	}
}

func (q *queue) addSlow(it *item) {
	it.slow = true
	it.sender.slow = append(it.sender.slow, it)
	it.sender.host.slow = append(it.sender.host.slow, it)
	q.scheduleSlow(it.sender.host)
}

func (q *queue) scheduleSlow(h *hostQueue) {
	if h.scheduled || len(h.slow) == 0 || h.busy >= slowPerHost {
		return
	}
	h.scheduled = true
	q.slow = append(q.slow, h)
	q.slowReady.Signal()
}

// nextSlow is next for activities that take time.
func (q *queue) nextSlow(ctx context.Context) *item {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil {
		if len(q.slow) == 0 {
			q.slowReady.Wait()
			continue
		}
		h := q.slow[0]
		q.slow = q.slow[1:]
		it := h.slow[0]
		h.slow[0] = nil
		h.slow = h.slow[1:]
		h.busy++
		h.scheduled = false
		q.scheduleSlow(h)
		return it
	}
	return nil
}

// remove removes an activity that is done with.
func (q *queue) remove(it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropContent(it)
	delete(q.items, it.id)
	q.removeWeight(it.sender, it.weight)
}
