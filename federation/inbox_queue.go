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
	maxWaiting   = 50_000  // activities that wait in the database: others are asked to try again later. A long one counts as several
	lengthOfOne  = 16_000  // bytes
	maxInMemory  = 4 << 20 // bytes of their bodies that are kept at hand; the others are read again when their turn comes
	slowWorkers  = 8       // activities that wait for other servers at the same time
	slowPerHost  = 6       // of them, of the senders of one host
	quickWorkers = 16      // other activities that are done at the same time
	atOnce       = 64      // activities that are done at the same time before their senders are answered
)

// queue knows all activities that have come in and are not done with. What those of one actor are about is done in the order in which
// they came. Those who do them get one of each host in turn, and of a host one of each actor: however much one sends, it keeps nobody
// else waiting. What is in the queue is in the database, too.
type queue struct {
	mu       sync.Mutex
	quickly  *sync.Cond
	slowly   *sync.Cond
	sooner   chan struct{} // something is to be tried again earlier than all that was known
	known    map[store.ReceivedID]*item
	senders  map[store.AccountID]*sender
	hosts    map[string]*sendingHost
	quick    []*sendingHost // in turn: those with senders that have something to be done
	slow     []*sendingHost // in turn: those with something that takes time
	later    laterHeap
	total    int // activities, those included that are about to be added, by weight
	inMemory int // bytes
}

// sender is an actor who has sent something that is not done with.
type sender struct {
	id      store.AccountID
	host    *sendingHost
	count   int     // of what it has sent and is not done with, by weight
	waiting []*item // in the order in which it came
	slow    []*item // that takes time
	listed  bool    // it is among those of its host whose turn comes
	busy    bool    // something it has sent is being done
	blocked bool    // what is next must wait for something slow
}

// sendingHost is the server of senders, with all others of its registered domain: more names do not make for more of the queue.
type sendingHost struct {
	name   string
	count  int
	ready  []*sender // in turn
	slow   []*item
	busy   int  // of the slow that are under way
	listed bool // among those that have something slow whose turn comes
}

// item is an activity that has come in, with what was found out about it on the way.
type item struct {
	id     store.ReceivedID
	from   *sender
	weight int
	row    *store.Received // nil: in the database only
	doc    activity.Object // likewise
	mark   uint64          // when it was not heard of; 0: nobody has looked
	fresh  bool            // nor that it was taken back
	about  [2]string       // its id, and what it is about; known once its content was read
	at     time.Time       // when it is to be tried again
	index  int             // among what is tried later, from 1 on; 0: it is not there
	slow   bool            // it was handed to those who have time
	signer *store.Account
	in     *incoming // nil: it has not come as far
	err    error
}

func newQueue() *queue {
	q := &queue{
		known: make(map[store.ReceivedID]*item), senders: make(map[store.AccountID]*sender), hosts: make(map[string]*sendingHost),
		sooner: make(chan struct{}, 1),
	}
	q.quickly, q.slowly = sync.NewCond(&q.mu), sync.NewCond(&q.mu)
	return q
}

// begin takes up an activity that need not wait, before it is in the database: nothing in the queue does, nothing of its sender is under
// way that it would have to come after, and there is room for it should it turn out to take time. It tells whether that is so.
func (q *queue) begin(it *item, id store.AccountID, host string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	it.learnAbout()
	sn := q.senders[id]
	if len(q.quick) > 0 || sn != nil && (sn.busy || len(sn.waiting) > 0 || slices.ContainsFunc(sn.slow, it.concerns)) || !q.hasRoom(id, host) {
		return false
	}
	it.from = q.count(id, host, it.weight)
	it.from.busy = true
	q.inMemory += len(it.row.Body) // of those under way there are few
	return true
}

// enter notes that an activity which was begun is in the database by now. It is under way no more if it was found there meanwhile; then
// enter returns false.
func (q *queue) enter(it *item) bool {
	q.mu.Lock()
	known := q.known[it.row.ID] != nil
	if !known {
		it.id = it.row.ID
		q.known[it.id] = it
	}
	q.mu.Unlock()
	if known {
		q.done(it)
		q.forget(it)
	}
	return !known
}

// add puts in an activity for which there is room reserved.
func (q *queue) add(it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.known[it.id] != nil { // it was found in the database a moment ago
		q.uncount(it.from, it.weight)
		return
	}
	q.put(it)
}

// found puts in an activity that was found in the database, unless it is known, and has one that waits for another try tried when
// the database says.
func (q *queue) found(id store.ReceivedID, from store.AccountID, host string, size int, at time.Time, tried bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if it := q.known[id]; it != nil {
		if it.index > 0 && at.Before(it.at) {
			it.at = at
			heap.Fix(&q.later, it.index-1)
			q.signal()
		}
		return
	}
	it := &item{id: id, weight: weightOf(size), at: at}
	it.from = q.count(from, host, it.weight)
	if !tried {
		q.put(it)
		return
	}
	q.known[id] = it
	heap.Push(&q.later, it)
	q.signal()
}

// put puts an activity behind those of its sender that came before.
func (q *queue) put(it *item) {
	q.known[it.id] = it
	if it.doc != nil {
		it.learnAbout()
	}
	q.hold(it)
	i := len(it.from.waiting)
	for i > 0 && it.from.waiting[i-1].id > it.id {
		i--
	}
	it.from.waiting = slices.Insert(it.from.waiting, i, it)
	q.list(it.from)
}

// hold keeps the content of an activity at hand, if there is room for it.
func (q *queue) hold(it *item) {
	if it.row == nil {
		return
	}
	if q.inMemory+len(it.row.Body) > maxInMemory {
		it.row, it.doc = nil, nil
		return
	}
	q.inMemory += len(it.row.Body)
}

// release gives up what is at hand of an activity.
func (q *queue) release(it *item) {
	if it.row != nil {
		q.inMemory -= len(it.row.Body)
	}
	it.row, it.doc, it.in = nil, nil, nil
}

// list gives a sender a turn, if there is something to be done for it.
func (q *queue) list(sn *sender) {
	if sn.listed || sn.busy || sn.blocked || len(sn.waiting) == 0 {
		return
	}
	sn.listed = true
	sn.host.ready = append(sn.host.ready, sn)
	if len(sn.host.ready) == 1 {
		q.quick = append(q.quick, sn.host)
	}
	q.quickly.Signal()
}

// next waits for an activity to be done, and returns nil when ctx ends.
func (q *queue) next(ctx context.Context) *item {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil {
		if len(q.quick) == 0 {
			q.quickly.Wait()
			continue
		}
		h := q.quick[0]
		q.quick = q.quick[1:]
		sn := h.ready[0]
		if h.ready = h.ready[1:]; len(h.ready) > 0 {
			q.quick = append(q.quick, h)
		}
		it := sn.waiting[0]
		sn.waiting[0] = nil
		sn.waiting = sn.waiting[1:]
		sn.listed, sn.busy = false, true
		return it
	}
	return nil
}

// end wakes all who wait, because their context has ended.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.quickly.Broadcast()
	q.slowly.Broadcast()
}

// loaded notes that the content of an activity was read again.
func (q *queue) loaded(it *item, row *store.Received, doc activity.Object) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it.row, it.doc = row, doc
	q.inMemory += len(row.Body) // of those under way there are few
	it.learnAbout()
}

func (it *item) learnAbout() { it.about = [2]string{it.doc.ID(), it.doc.Ref("object")} }

// mustWait puts an activity back if something slow of its sender is about the same. It tells whether that is so.
func (q *queue) mustWait(it *item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	sn := it.from
	if !slices.ContainsFunc(sn.slow, it.concerns) {
		return false
	}
	sn.waiting = slices.Insert(sn.waiting, 0, it)
	sn.busy, sn.blocked = false, true
	return true
}

// concerns tells whether an activity has to do with what another one is about.
func (it *item) concerns(other *item) bool {
	for _, ref := range it.about {
		if ref != "" && slices.Contains(other.about[:], ref) {
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
	sn := it.from
	if it.slow {
		it.slow = false
		sn.slow = slices.DeleteFunc(sn.slow, func(other *item) bool { return other == it })
		sn.host.busy--
		q.listSlow(sn.host)
	} else {
		sn.busy = false
	}
	sn.blocked = false
	q.list(sn)
}

// toSlow hands an activity to those who have time.
func (q *queue) toSlow(it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	sn := it.from
	sn.busy = false
	q.list(sn)
	q.addSlow(it)
	if q.inMemory > maxInMemory {
		q.release(it)
	}
}

func (q *queue) addSlow(it *item) {
	it.slow = true
	it.from.slow = append(it.from.slow, it)
	it.from.host.slow = append(it.from.host.slow, it)
	q.listSlow(it.from.host)
}

func (q *queue) listSlow(h *sendingHost) {
	if h.listed || len(h.slow) == 0 || h.busy >= slowPerHost {
		return
	}
	h.listed = true
	q.slow = append(q.slow, h)
	q.slowly.Signal()
}

// nextSlow is next for activities that take time.
func (q *queue) nextSlow(ctx context.Context) *item {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil {
		if len(q.slow) == 0 {
			q.slowly.Wait()
			continue
		}
		h := q.slow[0]
		q.slow = q.slow[1:]
		it := h.slow[0]
		h.slow[0] = nil
		h.slow = h.slow[1:]
		h.busy++
		h.listed = false
		q.listSlow(h)
		return it
	}
	return nil
}

// forget removes an activity that is done with.
func (q *queue) forget(it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.release(it)
	delete(q.known, it.id)
	q.uncount(it.from, it.weight)
}
