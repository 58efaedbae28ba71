package rest

import (
	"cmp"
	"maps"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// Limits of the memory of request bodies.
const (
	defaultBodyBudget = 32 << 20 // without Config.Bodies
	networkPart       = 8        // the part of a share that one client network may use
	bodyWait          = 2 * time.Second
	bodyRetry         = 5 * time.Second // Retry-After
	newBody           = 200 * time.Millisecond
	budgetInterval    = 100 * time.Millisecond // between looks for bodies that have become slow
)

// bodyClass is whose body a request has. Each class has a share of the budget that the others cannot use.
type bodyClass int

const (
	memberBodies bodyClass = iota
	inboxBodies
	anonymousBodies
	bodyClasses
)

// partOf is the part of the budget that a class has: a half, a quarter, a quarter.
var partOf = [bodyClasses]int64{memberBodies: 2, inboxBodies: 4, anonymousBodies: 4}

var (
	errBodiesBusy  = &errs.Error{Status: http.StatusServiceUnavailable, Message: "The server is receiving too much at the moment. Try again later", RetryAfter: bodyRetry}
	errBodyDropped = &errs.Error{Status: http.StatusServiceUnavailable, Message: "The request body came too slowly while the server was busy. Try again later", RetryAfter: bodyRetry}
)

// bodyBudget bounds the memory of all request bodies, and of the values parsed from them, until their requests are answered. It counts bytes as they
// arrive, not as they are declared. If a share is full, the slowest unfinished body of the network that uses most of it is dropped. Other bodies
// wait, those first whose network uses least, and fail after bodyWait.
type bodyBudget struct {
	wait   time.Duration // for room
	mu     sync.Mutex
	shares [bodyClasses]bodyShare
}

// bodyShare is the share of a class.
type bodyShare struct {
	size, used, peak int64
	senders          map[senderKey]*bodySender
	waiting          []*bodyHold
}

// senderKey is who sends bodies: a client network, or an account on one that many clients may share. The zero key is everyone on such a
// network without an account.
type senderKey struct {
	network netip.Addr
	account store.AccountID
}

// bodySender has the bodies of one sender that use memory or wait for it.
type bodySender struct {
	limit    int64 // of expected
	used     int64
	expected int64 // of the bodies that use memory
	holds    []*bodyHold
}

// bodyHold is what one request takes of the budget.
type bodyHold struct {
	budget   *bodyBudget
	share    *bodyShare
	sender   *bodySender // nil until it takes something
	key      senderKey
	used     int64
	expected int64 // at least used; of a short body all that it is going to use, so that the bodies of a sender do not keep each other from ending
	counted  int64 // of expected, in that of the sender
	arrived  int64 // bytes of the body
	begun    time.Time
	cut      func() // makes the next read fail; nil once the body was read
	dropped  bool

	need    int64         // while it waits
	granted chan struct{} // closed when it has got what it needs, or was dropped
}

func newBodyBudget(size int64) *bodyBudget {
	b := &bodyBudget{wait: bodyWait}
	for class := range b.shares {
		b.shares[class] = bodyShare{size: size / partOf[class], senders: make(map[senderKey]*bodySender)}
	}
	return b
}

// begin prepares h to take of the share of a class.
func (b *bodyBudget) begin(h *bodyHold, class bodyClass, key senderKey, cut func()) {
	*h = bodyHold{budget: b, share: &b.shares[class], key: key, begun: time.Now(), cut: cut}
}

// take takes n bytes. expected is the number that h is going to use in all, as far as it is known. It waits if the share is full.
func (h *bodyHold) take(n, expected int64) error {
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	if h.dropped {
		return errBodyDropped
	}
	h.enter()
	h.expected = max(h.expected, expected, h.used+n)
	if len(h.share.waiting) == 0 && h.fitsShare(n) && h.fitsSender() {
		h.add(n)
		return nil
	}
	return h.wait(n)
}

// enter registers h with its sender.
func (h *bodyHold) enter() {
	if h.sender != nil {
		return
	}
	s := h.share.senders[h.key]
	if s == nil {
		s = &bodySender{limit: h.share.size}
		if h.key != (senderKey{}) {
			s.limit /= networkPart
		}
		h.share.senders[h.key] = s
	}
	h.sender = s
	s.holds = append(s.holds, h)
}

// fitsShare returns true if the share has room for n more bytes of h. A body that is alone fits always, because one of any permitted length has to
// be possible.
func (h *bodyHold) fitsShare(n int64) bool {
	return h.share.used+n <= h.share.size || h.share.used == h.used
}

// fitsSender is fitsShare for what the sender may use.
func (h *bodyHold) fitsSender() bool {
	others := h.sender.expected - h.counted
	return others == 0 || others+h.expected <= h.sender.limit
}

func (h *bodyHold) add(n int64) {
	h.used += n
	h.sender.used += n
	h.sender.expected += h.expected - h.counted
	h.counted = h.expected
	h.share.used += n
	h.share.peak = max(h.share.peak, h.share.used)
}

// wait waits until n bytes are granted. The caller has the lock.
func (h *bodyHold) wait(n int64) error {
	h.need, h.granted = n, make(chan struct{})
	h.share.waiting = append(h.share.waiting, h)
	timeout := time.NewTimer(h.budget.wait)
	defer timeout.Stop()
	tick := time.NewTicker(budgetInterval)
	defer tick.Stop()
	h.share.grant()
	for expired := false; ; {
		switch {
		case h.dropped:
			return h.stopWaiting(errBodyDropped)
		case h.need == 0:
			return nil
		case expired:
			return h.stopWaiting(errBodiesBusy)
		}
		h.makeRoom()
		h.budget.mu.Unlock()
		select {
		case <-h.granted:
		case <-tick.C:
		case <-timeout.C:
			expired = true
		}
		h.budget.mu.Lock()
	}
}

func (h *bodyHold) stopWaiting(err error) error {
	h.need = 0
	h.share.waiting = slices.DeleteFunc(h.share.waiting, func(o *bodyHold) bool { return o == h })
	h.share.grant()
	return err
}

// grant gives waiting bodies their bytes, first those whose sender uses least. It stops at the first that does not fit into the share, so that many
// small ones do not keep it waiting.
func (s *bodyShare) grant() {
	if len(s.waiting) == 0 {
		return
	}
	slices.SortStableFunc(s.waiting, func(a, b *bodyHold) int { return cmp.Compare(a.sender.used, b.sender.used) })
	full := false
	s.waiting = slices.DeleteFunc(s.waiting, func(h *bodyHold) bool {
		if h.dropped {
			return true
		}
		if full || !h.fitsSender() {
			return false
		}
		if full = !h.fitsShare(h.need); full {
			return false
		}
		h.add(h.need)
		h.need = 0
		close(h.granted)
		return true
	})
}

// makeRoom drops unfinished bodies so that h gets what it needs. Of h's own sender, those are slow ones only. Of others, it is the slowest of the
// sender that uses most, if that uses more than h's would, else a slow one.
func (h *bodyHold) makeRoom() {
	if !h.fitsSender() {
		if h.sender.leaving() == 0 {
			h.sender.dropSlowest(h, slowBody)
		}
		return
	}
	missing := h.share.used + h.need - h.share.size
	senders := slices.SortedFunc(maps.Values(h.share.senders), func(a, b *bodySender) int { return cmp.Compare(b.used, a.used) })
	for _, s := range senders {
		for missing -= s.leaving(); missing > 0; {
			age := time.Duration(0)
			if s == h.sender || s.used <= h.sender.used+h.need {
				age = slowBody
			}
			dropped := s.dropSlowest(h, age)
			if dropped == 0 {
				break
			}
			missing -= dropped
		}
	}
}

// leaving returns what the bodies that were dropped still use.
func (s *bodySender) leaving() (sum int64) {
	for _, h := range s.holds {
		if h.dropped {
			sum += h.used
		}
	}
	return sum
}

// dropSlowest drops the slowest unfinished body that has been arriving for an age at least. It returns what that body uses, 0 if there is none.
func (s *bodySender) dropSlowest(except *bodyHold, age time.Duration) int64 {
	var slowest *bodyHold
	now := time.Now()
	for _, h := range s.holds {
		if h != except && h.cut != nil && !h.dropped && h.used > 0 && now.Sub(h.begun) >= age && (slowest == nil || h.rate(now) < slowest.rate(now)) {
			slowest = h
		}
	}
	if slowest == nil {
		return 0
	}
	slowest.dropped = true
	slowest.cut()
	if slowest.need > 0 {
		slowest.need = 0
		close(slowest.granted)
	}
	return slowest.used
}

// rate returns how fast a body arrives, in bytes per second. A new one counts as fast.
func (h *bodyHold) rate(now time.Time) float64 {
	age := now.Sub(h.begun)
	if age < newBody {
		return math.MaxFloat64
	}
	return float64(h.arrived) / age.Seconds()
}

// read records that n more bytes of the body arrived, and until when the next ones have to. A zero deadline changes nothing.
func (h *bodyHold) read(n int, setDeadline func(time.Time) error, deadline time.Time) {
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.arrived += int64(n)
	if !h.dropped && !deadline.IsZero() {
		setDeadline(deadline)
	}
}

// finish records that the body arrived, so that it is not dropped any more. It returns false if it was.
func (h *bodyHold) finish() bool {
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.cut = nil
	return !h.dropped
}

// release gives everything back.
func (h *bodyHold) release() {
	if h.budget == nil {
		return
	}
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.cut = nil
	s := h.sender
	if s == nil {
		return
	}
	h.sender = nil
	s.holds = slices.DeleteFunc(s.holds, func(o *bodyHold) bool { return o == h })
	s.used -= h.used
	s.expected -= h.counted
	h.share.used -= h.used
	h.used, h.counted = 0, 0
	if len(s.holds) == 0 {
		delete(h.share.senders, h.key)
	}
	h.share.grant()
}
