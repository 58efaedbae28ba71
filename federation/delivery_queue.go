package federation

import (
	"context"
	"sync"
	"time"

	"svc/store"
)

// How many deliveries are under way. One that takes long leaves its place to others, and hosts that were never reached or failed the last
// time have places of their own, so that neither those that hang nor the dead keep the living waiting.
const (
	reachableSlots     = 208
	untriedSlots       = 128
	failingSlots       = 40
	slowSlots          = 256
	maxInFlightPerHost = 4
	slowAfter          = time.Second // after which one is slow

	maxCachedPayloads = 64 // activities kept in memory
)

// deliveryQueue delivers what is queued, host by host: what waits for one keeps nobody else waiting.
type deliveryQueue struct {
	s         *Service
	results   chan *deliveryResult
	slotFreed chan struct{} // there is room again

	mu           sync.Mutex
	freeSlots    [slotClasses]int
	hosts        map[string]*deliveryHost      // hosts to which something is under way
	inFlight     map[store.DeliveryID]bool     // under way
	finished     map[store.DeliveryID]bool     // since the database was read the last time: what was read of them is no longer so
	busySubjects map[subjectKey]bool           // what that is about
	payloads     map[store.ActivityID]*payload // the latest, which go to many
	unreachable  map[string]bool               // hosts that could not be reached the last time
}

// slotClass is one of the kinds of places that deliveries under way take: one for each standing of hosts, and one for those that take long.
type slotClass int

const (
	classReachable = slotClass(store.HostReachable)
	classUntried   = slotClass(store.HostUntried)
	classFailing   = slotClass(store.HostFailing)
	classSlow      = classFailing + 1
	slotClasses    = classSlow + 1
)

// deliveryHost is a host to which something is under way.
type deliveryHost struct {
	inFlight     int
	slowInFlight int
	drained      bool // all that is due for it is under way
}

// subjectKey is something that an inbox is told of: one thing after another (federation 3.4).
type subjectKey struct {
	subject int64
	inbox   string
}

// deliveryAttempt is a delivery that is under way.
type deliveryAttempt struct {
	*store.Delivery
	host  *store.Host
	class slotClass
	slow  bool // it takes long
	timer *time.Timer
}

// deliveryResult is how a delivery went.
type deliveryResult struct {
	*deliveryAttempt
	err          error // nil: delivered
	retryAt      time.Time
	permanent    bool      // for ever
	answered     bool      // by the host
	unreachable  bool      // the host could not be reached
	hostError    bool      // the host answered that something is wrong with it
	backoffUntil time.Time // until when it wants to be left alone; zero: it did not say
}

func newDeliveryQueue(s *Service) *deliveryQueue {
	return &deliveryQueue{
		s: s, results: make(chan *deliveryResult, maxRecordBatch), slotFreed: make(chan struct{}, 1),
		freeSlots: [slotClasses]int{classReachable: reachableSlots, classUntried: untriedSlots, classFailing: failingSlots, classSlow: slowSlots},
		hosts:     make(map[string]*deliveryHost), inFlight: make(map[store.DeliveryID]bool), busySubjects: make(map[subjectKey]bool),
		finished: make(map[store.DeliveryID]bool), payloads: make(map[store.ActivityID]*payload),
	}
}

// run delivers until ctx ends, then waits for what is under way.
func (c *deliveryQueue) run(ctx context.Context) {
	var under, clerk sync.WaitGroup
	clerk.Go(func() { c.record(ctx) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			continue
		case <-c.s.db.DeliveryWake():
			c.clearDrained()
		case <-c.slotFreed:
		case <-timer.C:
			c.clearDrained()
		}
		pause, err := c.startDue(ctx, &under)
		if err != nil && ctx.Err() == nil {
			c.s.log.Error("reading the deliveries", "err", err)
			pause = recordRetryPause
		}
		timer.Reset(pause)
	}
	under.Wait()
	close(c.results)
	clerk.Wait()
}

// clearDrained has hosts looked at again of which all that was due is under way.
func (c *deliveryQueue) clearDrained() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, stop := range c.hosts {
		stop.drained = false
	}
}

// wake has it looked again for what can be sent.
func (c *deliveryQueue) wake() {
	select {
	case c.slotFreed <- struct{}{}:
	default:
	}
}

// startDue starts what is due and has room. It returns how long nothing else will be due.
func (c *deliveryQueue) startDue(ctx context.Context, under *sync.WaitGroup) (time.Duration, error) {
	for _, p := range []slotClass{classReachable, classUntried, classFailing} {
		if err := c.startDueClass(ctx, under, p); err != nil {
			return 0, err
		}
	}
	next, err := c.s.db.NextHostDue(ctx)
	if err != nil || next.IsZero() {
		return maxPollInterval, err
	}
	return min(max(next.Sub(c.s.now()), time.Millisecond), maxPollInterval), nil
}

// startDueClass starts what is due for one kind of hosts.
func (c *deliveryQueue) startDueClass(ctx context.Context, under *sync.WaitGroup, p slotClass) error {
	c.mu.Lock()
	room, known := c.freeSlots[p], len(c.hosts)
	clear(c.finished)
	c.mu.Unlock()
	if room == 0 {
		return nil
	}
	hosts, err := c.s.db.DueHosts(ctx, store.HostState(p), room+known)
	if err != nil {
		return err
	}
	var open []*store.Host
	var domains []string
	for _, host := range hosts {
		if c.capacity(host) > 0 && len(open) < room {
			open, domains = append(open, host), append(domains, host.Domain)
		}
	}
	if len(open) == 0 {
		return nil
	}
	due, err := c.s.db.DueDeliveries(ctx, domains, 2*maxInFlightPerHost)
	if err != nil {
		return err
	}
	var wrong []string // which are not due after all
	for _, host := range open {
		waiting, all := due[host.Domain], true
		for _, d := range waiting {
			t, ok := c.acquire(host, d, p)
			if !ok {
				all = all && c.isInFlight(d)
				continue
			}
			under.Go(func() { c.finish(ctx, c.attempt(ctx, t)) })
		}
		switch {
		case len(waiting) == 0 && !c.hasInFlight(host):
			wrong = append(wrong, host.Domain)
		case all && len(waiting) < 2*maxInFlightPerHost:
			c.markDrained(host)
		}
	}
	if len(wrong) > 0 {
		return c.s.db.Update(ctx, func(tx *store.Tx) error { return tx.ScheduleHosts(ctx, wrong) })
	}
	return nil
}

// capacity returns how many more deliveries may be under way to a host: to one that failed the last time, that was never reached, or that
// takes long, one after another.
func (c *deliveryQueue) capacity(host *store.Host) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	stop := c.hosts[host.Domain]
	switch {
	case stop == nil:
		return maxInFlightPerHost
	case stop.drained, stop.slowInFlight > 0, !isHealthy(host):
		return 0
	}
	return maxInFlightPerHost - stop.inFlight
}

// isHealthy tells whether a host was reached the last time.
func isHealthy(host *store.Host) bool { return host.Failures == 0 && host.LastSuccessAt != nil }

func (c *deliveryQueue) hasInFlight(host *store.Host) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hosts[host.Domain] != nil
}

func (c *deliveryQueue) isInFlight(d *store.Delivery) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inFlight[d.ID] || c.finished[d.ID]
}

// markDrained notes that all that is due for a host is under way.
func (c *deliveryQueue) markDrained(host *store.Host) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stop := c.hosts[host.Domain]; stop != nil {
		stop.drained = true
	}
}

// acquire takes a place for a delivery, if there is one and the delivery is not under way, nor another that is about the same.
func (c *deliveryQueue) acquire(host *store.Host, d *store.Delivery, p slotClass) (*deliveryAttempt, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.hosts[d.Domain]
	if at == nil {
		at = new(deliveryHost)
	}
	about := subjectKey{d.Subject, d.Inbox}
	switch {
	case c.freeSlots[p] == 0, c.inFlight[d.ID], c.finished[d.ID], d.Subject != 0 && c.busySubjects[about]:
		return nil, false
	case at.inFlight == maxInFlightPerHost, !isHealthy(host) && at.inFlight > 0:
		return nil, false
	}
	c.freeSlots[p]--
	at.inFlight++
	c.hosts[d.Domain], c.inFlight[d.ID] = at, true
	if d.Subject != 0 {
		c.busySubjects[about] = true
	}
	t := &deliveryAttempt{Delivery: d, host: host, class: p}
	if p != classFailing {
		t.timer = time.AfterFunc(slowAfter, func() { c.markSlow(t) })
	}
	return t, true
}

// markSlow has a delivery that takes long leave its place to others.
func (c *deliveryQueue) markSlow(t *deliveryAttempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.inFlight[t.ID] {
		return
	}
	t.slow = true
	c.hosts[t.Domain].slowInFlight++
	if c.freeSlots[classSlow] == 0 {
		return
	}
	c.freeSlots[t.class]++
	c.freeSlots[classSlow]--
	t.class = classSlow
	c.wake()
}

// release gives the place of a delivery back.
func (c *deliveryQueue) release(t *deliveryAttempt) {
	if t.timer != nil {
		t.timer.Stop()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.freeSlots[t.class]++
	delete(c.inFlight, t.ID)
	c.finished[t.ID] = true
	delete(c.busySubjects, subjectKey{t.Subject, t.Inbox})
	at := c.hosts[t.Domain]
	if t.slow {
		at.slowInFlight--
	}
	at.drained = false
	if at.inFlight--; at.inFlight == 0 {
		delete(c.hosts, t.Domain)
	}
}

// settle delivers all that is due, one after another.
func (c *deliveryQueue) settle(ctx context.Context) error {
	for {
		var hosts []*store.Host
		for _, standing := range []store.HostState{store.HostReachable, store.HostUntried, store.HostFailing} {
			some, err := c.s.db.DueHosts(ctx, standing, reachableSlots)
			if err != nil {
				return err
			}
			hosts = append(hosts, some...)
		}
		if len(hosts) == 0 {
			return nil
		}
		for _, host := range hosts {
			c.mu.Lock()
			clear(c.finished)
			c.mu.Unlock()
			due, err := c.s.db.DueDeliveries(ctx, []string{host.Domain}, 1)
			if err != nil {
				return err
			}
			for _, d := range due[host.Domain] {
				t, _ := c.acquire(host, d, classReachable)
				err := c.recordBatch([]*deliveryResult{c.attempt(ctx, t)})
				c.release(t)
				if err != nil {
					return err
				}
			}
			if len(due) == 0 {
				if err := c.s.db.Update(ctx, func(tx *store.Tx) error { return tx.ScheduleHosts(ctx, []string{host.Domain}) }); err != nil {
					return err
				}
			}
		}
	}
}
