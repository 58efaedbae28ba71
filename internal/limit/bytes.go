package limit

import (
	"cmp"
	"container/list"
	"context"
	"sync"
	"time"
)

// Bytes bound how much memory large operations take at the same time. Those of anonymous clients use at most half of it together, and one client at
// most a quarter. Of waiting callers, members are served first, and of them the client that uses least and was served longest ago, so that nobody
// keeps it from the others.
type Bytes struct {
	all int64
	now func() time.Time

	mu        sync.Mutex
	used      int64
	anonymous int64         // of used
	served    int64         // counts what was given
	of        map[any]usage // by client that holds something or waits
	peak      int64         // the most that was used
	waiting   list.List     // of *waiter, in the order in which they came
	sending   list.List     // of *Hold whose answer is being sent, the oldest first
}

// usage is what a client does with the memory.
type usage struct {
	held    int64
	served  int64 // Bytes.served when it was given some, 0: not yet
	waiting int   // callers
}

// NewBytes returns room for operations of so many bytes together.
func NewBytes(all int64) *Bytes {
	return &Bytes{all: all, now: time.Now, of: make(map[any]usage)}
}

// Holder is who holds memory. Key is nil for the server itself, which has no limit of its own.
type Holder struct {
	Key       any // comparable
	Anonymous bool
}

// Hold is memory that an operation may use. A nil Hold is one without limit.
type Hold struct {
	bytes  *Bytes
	holder Holder
	n      int64

	// Guarded by bytes.mu.
	place *list.Element // in sending
	since time.Time     // when sending began
	drop  func()
}

type waiter struct {
	hold  *Hold
	more  int64
	ready chan struct{} // closed when more is taken
}

// Take waits for n bytes and returns the function that gives them back. An operation that needs more than all takes all. The error is the
// cause of ctx. Without Bytes (nil) there is no limit.
func (b *Bytes) Take(ctx context.Context, n int64) (release func(), err error) {
	h := b.NewHold(Holder{})
	if err := h.wait(ctx, n, nil); err != nil {
		return nil, err
	}
	return h.Release, nil
}

// NewHold returns a Hold of nothing, nil without Bytes.
func (b *Bytes) NewHold(by Holder) *Hold {
	if b == nil {
		return nil
	}
	return &Hold{bytes: b, holder: by}
}

// Grow waits until the hold has n bytes, but no longer than patience: then it returns ErrBusy, and the hold is what it was. One that has n or
// more stays as it is. More than its holder may have at all counts as that.
func (h *Hold) Grow(ctx context.Context, n int64, patience time.Duration) error {
	if h.TryGrow(n) {
		return nil
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	return h.wait(ctx, n, timeout.C)
}

// share returns how much a holder may have at most.
func (b *Bytes) share(by Holder) int64 {
	if by.Key == nil {
		return b.all
	}
	return b.all / 4
}

// withinShare returns whether a holder may have so many more bytes, if there is room for them.
func (b *Bytes) withinShare(by Holder, more int64) bool {
	return !(by.Anonymous && b.anonymous+more > b.all/2) && !(by.Key != nil && b.of[by.Key].held+more > b.share(by))
}

// TryGrow is Grow if that is possible at once.
func (h *Hold) TryGrow(n int64) bool {
	if h == nil {
		return true
	}
	b := h.bytes
	b.mu.Lock()
	defer b.mu.Unlock()
	more := min(n, b.share(h.holder)) - h.n
	if more <= 0 {
		return true
	}
	if !b.withinShare(h.holder, more) || b.used+more > b.all || b.next() != nil {
		return false
	}
	b.take(h, more)
	return true
}

func (b *Bytes) take(h *Hold, more int64) {
	h.n += more
	b.used += more
	if h.holder.Anonymous {
		b.anonymous += more
	}
	u := b.of[h.holder.Key]
	u.held += more
	if more > 0 {
		b.served++
		u.served = b.served
	}
	b.setUsage(h.holder.Key, u)
	b.peak = max(b.peak, b.used)
}

// setUsage forgets clients that neither hold anything nor wait.
func (b *Bytes) setUsage(key any, u usage) {
	switch {
	case key == nil:
	case u.held == 0 && u.waiting == 0:
		delete(b.of, key)
	default:
		b.of[key] = u
	}
}

func (b *Bytes) push(w *waiter) *list.Element {
	key := w.hold.holder.Key
	u := b.of[key]
	u.waiting++
	b.setUsage(key, u)
	return b.waiting.PushBack(w)
}

func (b *Bytes) remove(e *list.Element) {
	key := b.waiting.Remove(e).(*waiter).hold.holder.Key
	u := b.of[key]
	u.waiting--
	b.setUsage(key, u)
}

// wait waits for the bytes until ctx ends or there is a timeout.
func (h *Hold) wait(ctx context.Context, n int64, timeout <-chan time.Time) error {
	if h == nil {
		return nil
	}
	b := h.bytes
	b.mu.Lock()
	w := &waiter{hold: h, more: min(n, b.share(h.holder)) - h.n, ready: make(chan struct{})}
	place := b.push(w)
	b.admit()
	b.dropSlow(w)
	b.mu.Unlock()
	err := b.await(ctx, w, timeout)
	if err == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-w.ready: // meanwhile
		return nil
	default:
		b.remove(place)
		b.admit()
		return err
	}
}

// await waits until the waiter has its bytes. Meanwhile answers that have become too slow make room.
func (b *Bytes) await(ctx context.Context, w *waiter, timeout <-chan time.Time) error {
	tick := time.NewTicker(patienceOfSenders / 8)
	defer tick.Stop()
	for {
		select {
		case <-w.ready:
			return nil
		case <-timeout:
			return ErrBusy
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			b.mu.Lock()
			b.dropSlow(w)
			b.mu.Unlock()
		}
	}
}

// admit gives bytes to waiting callers.
func (b *Bytes) admit() {
	for {
		e := b.next()
		if e == nil {
			return
		}
		w := e.Value.(*waiter)
		if b.used+w.more > b.all {
			return
		}
		b.take(w.hold, w.more)
		b.remove(e)
		close(w.ready)
	}
}

// next returns the caller to admit next, nil if all have used up their own share: a member before a visitor, then one of the client that holds least,
// then of the one that was served longest ago, then the one that waits longest. So a member waits at most for one answer of each client that
// asks for many, and less if it asks for few.
func (b *Bytes) next() (next *list.Element) {
	var best usage
	for e := b.waiting.Front(); e != nil; e = e.Next() {
		w := e.Value.(*waiter)
		by := w.hold.holder
		if !b.withinShare(by, w.more) {
			continue
		}
		u := b.of[by.Key]
		if by.Anonymous {
			u.held += b.all
		}
		if next == nil || cmp.Or(cmp.Compare(u.held, best.held), cmp.Compare(u.served, best.served)) < 0 {
			next, best = e, u
		}
	}
	return next
}

// patienceOfSenders is how long an answer may take to be sent while others wait for its memory.
const patienceOfSenders = 2 * time.Second

// dropSlow ends the sending of answers in favour of one that waits: those that take longest, while they hold what it waits for.
func (b *Bytes) dropSlow(w *waiter) {
	select {
	case <-w.ready:
		return
	default:
	}
	by, freed := w.hold.holder, int64(0)
	ownShare := by.Key != nil && b.of[by.Key].held+w.more > b.share(by)
	for e := b.sending.Front(); e != nil && freed < w.more; e = e.Next() {
		h := e.Value.(*Hold)
		if b.now().Sub(h.since) < patienceOfSenders {
			return
		}
		if ownShare && h.holder.Key != by.Key || by.Anonymous && !h.holder.Anonymous {
			continue
		}
		freed += h.n
		h.drop()
	}
}

// Sending says that the answer for which the memory is held is being sent. If that takes long and others wait, drop is called to end it,
// perhaps more than once, and never after Release.
func (h *Hold) Sending(drop func()) {
	if h == nil {
		return
	}
	h.bytes.mu.Lock()
	defer h.bytes.mu.Unlock()
	if h.place == nil && h.n > 0 {
		h.since, h.drop = h.bytes.now(), drop
		h.place = h.bytes.sending.PushBack(h)
	}
}

// Shrink gives back what is more than n bytes.
func (h *Hold) Shrink(n int64) {
	if h == nil {
		return
	}
	b := h.bytes
	b.mu.Lock()
	defer b.mu.Unlock()
	if n < h.n {
		b.take(h, n-h.n)
		b.admit()
	}
}

// Release gives back everything.
func (h *Hold) Release() {
	if h == nil {
		return
	}
	h.Shrink(0)
	h.bytes.mu.Lock()
	defer h.bytes.mu.Unlock()
	if h.place != nil {
		h.bytes.sending.Remove(h.place)
		h.place = nil
	}
}

// Used returns how much is in use, and the most that was.
func (b *Bytes) Used() (now, peak int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, b.peak
}
