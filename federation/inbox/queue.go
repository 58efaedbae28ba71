package inbox

import (
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"

	"svc/internal/activity"
	"svc/internal/limit"
	"svc/store"
)

const (
	maxQueued        = 50_000  // weight of all queued activities
	bytesPerUnit     = 16_000  // of a body, for each unit of weight beyond the first
	maxBytesInMemory = 4 << 20 // of bodies; the others are read from the database when their turn comes
	fastWorkers      = 16      // they never wait for other servers
	slowWorkers      = 8
	slowPerHost      = 2  // of them, for the senders of one host
	demotedWorkers   = 4  // more of them, for hosts that were slow
	maxSync          = 64 // activities that are processed at the same time before their senders are answered
	maxTurns         = 32 // of them, that wait for their turn
	maxSenderTurns   = 4  // of them, of one sender
)

// queue knows all activities that are queued or being processed. The activities of one sender run in the order in which they came. Workers get
// one activity of each host in turn, and within a host one of each sender. Everything in the queue is also in the database, except activities that
// are processed before their senders are answered.
type queue struct {
	mu          sync.Mutex
	fastReady   *sync.Cond
	slowReady   *sync.Cond
	rescheduled chan struct{} // the next retry is earlier than before
	items       map[store.QueuedActivityID]*Activity
	senders     map[store.AccountID]*senderQueue
	hosts       map[string]*hostQueue
	fast        []*hostQueue          // with activities for fast workers, in turn
	slow        []*hostQueue          // with activities for slow workers, in turn
	demoted     []*hostQueue          // of them, those that were slow
	shares      *limit.Shares[string] // of the slow workers
	retries     retryHeap
	weight      int // of all activities and reservations
	bytes       int // of bodies in memory
	turns       int // activities that wait for their turn and are not in the database
}

// senderQueue has the activities of one sender.
type senderQueue struct {
	id        store.AccountID
	host      *hostQueue
	weight    int
	waiting   []*Activity // for a fast worker or their turn, in the order in which they came
	slow      []*Activity // for a slow worker, or with one
	scheduled bool        // it is in host.ready
	busy      bool        // a fast worker or a request has one of its activities
	blocked   bool        // the first waiting one shares its object with a slow one
}

// hostQueue has the senders of one registered domain, so that more host names do not bring a larger share.
type hostQueue struct {
	name      string
	weight    int
	ready     []*senderQueue // in turn
	slow      []*Activity    // for slow workers
	scheduled bool           // it is in queue.slow or queue.demoted
}

func newQueue() *queue {
	q := &queue{
		items: make(map[store.QueuedActivityID]*Activity), senders: make(map[store.AccountID]*senderQueue), hosts: make(map[string]*hostQueue),
		rescheduled: make(chan struct{}, 1), shares: limit.NewShares[string](slowWorkers, slowPerHost, demotedWorkers),
	}
	q.fastReady, q.slowReady = sync.NewCond(&q.mu), sync.NewCond(&q.mu)
	return q
}

// start begins an activity that is not in the database. If another one of its sender or of other hosts comes first, the activity waits and
// gets a turn; see queue_turns.go. start returns false if the activity has to be stored: many wait, or it could not be queued if it needs a fetch.
func (q *queue) start(a *Activity, sender store.AccountID, host string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	a.setRefs()
	s := q.senders[sender]
	if !q.hasCapacity(sender, host) || s != nil && (s.blocked || slices.ContainsFunc(s.slow, a.sharesRef)) {
		return false
	}
	waits := len(q.fast) > 0 || s != nil && (s.busy || len(s.waiting) > 0)
	if waits && (q.turns == maxTurns || s != nil && len(s.waiting) >= maxSenderTurns) {
		return false
	}
	a.sender = q.addWeight(sender, host, a.weight)
	q.bytes += len(a.Row.Body) // whatever there is already: few are being processed
	if waits {
		q.addTurn(a)
	} else {
		a.sender.busy = true
	}
	return true
}

// markStored records that a started activity is in the database now. It returns false, and removes the activity, if load has found it there first.
func (q *queue) markStored(a *Activity) bool {
	q.mu.Lock()
	loaded := q.items[a.Row.ID] != nil
	if !loaded {
		a.id = a.Row.ID
		q.items[a.id] = a
	}
	q.mu.Unlock()
	if loaded {
		q.done(a)
		q.remove(a)
	}
	return !loaded
}

// add inserts an activity whose weight is reserved.
func (q *queue) add(a *Activity) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.items[a.id] != nil { // load has found it in the meantime
		q.removeWeight(a.sender, a.weight)
		return
	}
	q.insert(a)
}

// addStored inserts an activity of the database. If the queue has it, only an earlier time of its retry counts.
func (q *queue) addStored(h *store.QueuedActivityHeader, host string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := h.RunAt.Time()
	if a := q.items[h.ID]; a != nil {
		if a.index > 0 && at.Before(a.retryAt) {
			a.retryAt = at
			heap.Fix(&q.retries, a.index-1)
			q.signalReschedule()
		}
		return
	}
	a := &Activity{id: h.ID, weight: weightOf(h.Size), retryAt: at}
	a.sender = q.addWeight(h.SignerID, host, a.weight)
	if h.Attempts == 0 {
		q.insert(a)
		return
	}
	q.items[a.id] = a
	heap.Push(&q.retries, a)
	q.signalReschedule()
}

// insert puts an activity behind the earlier ones of its sender.
func (q *queue) insert(a *Activity) {
	q.items[a.id] = a
	if a.Object != nil {
		a.setRefs()
	}
	q.keepContent(a)
	i := len(a.sender.waiting)
	for i > 0 && a.sender.waiting[i-1].id > a.id {
		i--
	}
	a.sender.waiting = slices.Insert(a.sender.waiting, i, a)
	q.schedule(a.sender)
}

// keepContent keeps the content of an activity in memory if there is room.
func (q *queue) keepContent(a *Activity) {
	if a.Row == nil {
		return
	}
	if q.bytes+len(a.Row.Body) > maxBytesInMemory {
		a.Row, a.Object = nil, nil
		return
	}
	q.bytes += len(a.Row.Body)
}

// dropContent releases the content of an activity, which stays in the database.
func (q *queue) dropContent(a *Activity) {
	if a.Row != nil {
		q.bytes -= len(a.Row.Body)
	}
	a.Row, a.Object = nil, nil
	a.Signer, a.Actor, a.Forwarder, a.Recipient = nil, nil, nil, nil
}

// setContent sets the members that were read from the database.
func (q *queue) setContent(a *Activity, row *store.QueuedActivity, doc activity.Object) {
	q.mu.Lock()
	defer q.mu.Unlock()
	a.Row, a.Object = row, doc
	q.bytes += len(row.Body) // whatever there is already: few are being processed
	a.setRefs()
}

// schedule gives a sender a turn if it has an activity for a fast worker.
func (q *queue) schedule(s *senderQueue) {
	if s.scheduled || s.busy || s.blocked || len(s.waiting) == 0 {
		return
	}
	if s.waiting[0].turn != nil && len(q.fast) == 0 {
		q.giveTurn(s.takeFirst())
		return
	}
	s.scheduled = true
	s.host.ready = append(s.host.ready, s)
	if len(s.host.ready) == 1 {
		q.fast = append(q.fast, s.host)
	}
	q.fastReady.Signal()
}

// next returns an activity for a fast worker once there is one, nil when ctx ends.
func (q *queue) next(ctx context.Context) *Activity {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil {
		if len(q.fast) == 0 {
			q.fastReady.Wait()
			continue
		}
		h := q.fast[0]
		q.fast = q.fast[1:]
		s := h.ready[0]
		if h.ready = h.ready[1:]; len(h.ready) > 0 {
			q.fast = append(q.fast, h)
		}
		s.scheduled = false
		a := s.takeFirst()
		if a.turn == nil {
			return a
		}
		q.giveTurn(a)
	}
	return nil
}

// takeFirst removes and returns the first waiting activity, which begins.
func (s *senderQueue) takeFirst() *Activity {
	a := s.waiting[0]
	s.waiting[0] = nil
	s.waiting = s.waiting[1:]
	s.busy = true
	return a
}

func (q *queue) nextSlow(ctx context.Context) *Activity {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil {
		h, share := q.nextSlowHost(time.Now())
		if share == nil {
			q.slowReady.Wait()
			continue
		}
		a := h.slow[0]
		h.slow[0] = nil
		h.slow = h.slow[1:]
		a.share = share
		h.scheduled = false
		q.scheduleSlow(h)
		return a
	}
	return nil
}

// nextSlowHost returns a host with an activity for which there is a worker, and the share of that worker; nil if there is none.
func (q *queue) nextSlowHost(now time.Time) (h *hostQueue, share *limit.Share[string]) {
	free, freeDemoted := q.shares.Free()
	for len(q.slow) > 0 && free > 0 {
		h, q.slow = q.slow[0], q.slow[1:]
		if !q.shares.IsDemoted(h.name, now) {
			return h, q.shares.Start(h.name, now)
		}
		q.demoted = append(q.demoted, h)
	}
	if len(q.demoted) == 0 || freeDemoted == 0 {
		return nil, nil
	}
	h, q.demoted = q.demoted[0], q.demoted[1:]
	if share = q.shares.Start(h.name, now); share == nil { // it is not demoted any more, and has to wait for the others
		q.slow = append(q.slow, h)
	}
	return h, share
}

// demote moves the host of an activity that takes long, and its worker, out of the common class. It returns false if there is no such worker
// left: the attempt has to end.
func (q *queue) demote(a *Activity, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if a.share == nil {
		return true
	}
	ok := a.share.Demote(now)
	q.slowReady.Signal()
	return ok
}

// wakeAll wakes the workers, whose context has ended.
func (q *queue) wakeAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fastReady.Broadcast()
	q.slowReady.Broadcast()
}

// requeueIfBlocked puts an activity back, and returns true, if it shares its object with a slow one of its sender.
func (q *queue) requeueIfBlocked(a *Activity) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := a.sender
	if !slices.ContainsFunc(s.slow, a.sharesRef) {
		return false
	}
	s.waiting = slices.Insert(s.waiting, 0, a)
	s.busy, s.blocked = false, true
	return true
}

// moveToSlow hands an activity from a fast worker to the slow ones.
func (q *queue) moveToSlow(a *Activity) {
	q.mu.Lock()
	defer q.mu.Unlock()
	a.sender.busy = false
	q.addSlow(a)
	q.schedule(a.sender)
	if q.bytes > maxBytesInMemory {
		q.dropContent(a)
	}
}

func (q *queue) addSlow(a *Activity) {
	a.slow = true
	a.sender.slow = append(a.sender.slow, a)
	a.sender.host.slow = append(a.sender.host.slow, a)
	q.scheduleSlow(a.sender.host)
}

func (q *queue) scheduleSlow(h *hostQueue) {
	if h.scheduled || len(h.slow) == 0 || q.shares.Full(h.name) {
		return
	}
	h.scheduled = true
	q.slow = append(q.slow, h)
	q.slowReady.Signal()
}

// done takes an activity from its worker, so that the next one of its sender can run. Once its result is in the database, remove or retryLater
// follows.
func (q *queue) done(a *Activity) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := a.sender
	if a.slow {
		a.slow = false
		s.slow = slices.DeleteFunc(s.slow, func(other *Activity) bool { return other == a })
		a.share.End()
		a.share = nil
		q.slowReady.Signal()
		q.scheduleSlow(s.host)
	} else {
		s.busy = false
	}
	s.blocked = false
	q.schedule(s)
}

// remove removes an activity that is no longer in the database.
func (q *queue) remove(a *Activity) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropContent(a)
	delete(q.items, a.id)
	q.removeWeight(a.sender, a.weight)
}

// retryLater schedules another attempt.
func (q *queue) retryLater(a *Activity, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropContent(a)
	a.err, a.seenMark, a.retryAt = nil, 0, at
	heap.Push(&q.retries, a)
	q.signalReschedule()
}

func (q *queue) signalReschedule() {
	select {
	case q.rescheduled <- struct{}{}:
	default:
	}
}

// scheduleDue hands the activities that are to be retried by now to the slow workers. It returns when the next one is due, the zero time if there is
// none.
func (q *queue) scheduleDue(now time.Time) time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.retries) > 0 {
		if q.retries[0].retryAt.After(now) {
			return q.retries[0].retryAt
		}
		q.addSlow(heap.Pop(&q.retries).(*Activity))
	}
	return time.Time{}
}

// retryHeap orders activities by the time of their retry.
type retryHeap []*Activity

func (h retryHeap) Len() int { return len(h) }

func (h retryHeap) Less(i, j int) bool { return h[i].retryAt.Before(h[j].retryAt) }

func (h retryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i+1, j+1
}

func (h *retryHeap) Push(x any) {
	a := x.(*Activity)
	*h = append(*h, a)
	a.index = len(*h)
}

func (h *retryHeap) Pop() any {
	old := *h
	a := old[len(old)-1]
	old[len(old)-1], a.index = nil, 0
	*h = old[:len(old)-1]
	return a
}
