package delivery

import (
	"sync"
	"time"

	"svc/store"
)

// Slots by class. Hosts that were never reached or that fail have slots of their own, so that they do not keep others waiting.
const (
	reachableSlots     = 208
	untriedSlots       = 128
	failingSlots       = 40
	slowSlots          = 256
	maxInFlightPerHost = 4
	slowAfter          = time.Second // then an attempt is slow
)

// slotClass is a class of slots: one for each state of hosts, and one for slow attempts.
type slotClass int

const (
	classReachable = slotClass(store.HostReachable)
	classUntried   = slotClass(store.HostUntried)
	classFailing   = slotClass(store.HostFailing)
	classSlow      = classFailing + 1
	slotClasses    = classSlow + 1
)

// slots are the deliveries in flight and the room that is left for more.
type slots struct {
	mu       sync.Mutex
	free     [slotClasses]int
	hosts    map[string]*hostSlots // with deliveries in flight
	inFlight map[store.DeliveryID]bool
	finished map[store.DeliveryID]bool // since the database was read; the rows read are out of date
	subjects map[subjectKey]bool       // of deliveries in flight
}

// hostSlots counts the deliveries in flight to one host.
type hostSlots struct {
	inFlight int
	slow     int
	drained  bool // all that is due is in flight
}

// subjectKey is a subject at an inbox, which gets one delivery about it at a time.
type subjectKey struct {
	subject int64
	inbox   string
}

func newSlots() *slots {
	return &slots{
		free:     [slotClasses]int{classReachable: reachableSlots, classUntried: untriedSlots, classFailing: failingSlots, classSlow: slowSlots},
		hosts:    make(map[string]*hostSlots),
		inFlight: make(map[store.DeliveryID]bool),
		finished: make(map[store.DeliveryID]bool),
		subjects: make(map[subjectKey]bool),
	}
}

// startRead returns the free slots of a class and the number of hosts with deliveries in flight. Call it before the database is read.
func (s *slots) startRead(class slotClass) (free, hosts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.finished)
	return s.free[class], len(s.hosts)
}

// count returns the number of deliveries in flight.
func (s *slots) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.inFlight)
}

// capacity returns how many more deliveries to a host may start. A host that is slow or not healthy gets one at a time.
func (s *slots) capacity(host *store.Host) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hosts[host.Domain]
	switch {
	case h == nil:
		return maxInFlightPerHost
	case h.drained, h.slow > 0, !isHealthy(host):
		return 0
	}
	return maxInFlightPerHost - h.inFlight
}

// isHealthy reports whether the last attempt reached a host.
func isHealthy(host *store.Host) bool { return host.Failures == 0 && host.LastSuccessAt != nil }

// busy reports whether a delivery to a host is in flight.
func (s *slots) busy(host *store.Host) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts[host.Domain] != nil
}

// started reports whether a delivery is in flight, or has finished since the database was read.
func (s *slots) started(d *store.Delivery) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inFlight[d.ID] || s.finished[d.ID]
}

// markDrained notes that all that is due for a host is in flight.
func (s *slots) markDrained(host *store.Host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.hosts[host.Domain]; h != nil {
		h.drained = true
	}
}

// clearDrained makes startDue read the deliveries of all hosts again.
func (s *slots) clearDrained() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.hosts {
		h.drained = false
	}
}

// acquire takes a slot for a delivery. It returns false if no slot is free, or the delivery or another about its subject is in flight.
func (s *slots) acquire(host *store.Host, d *store.Delivery, class slotClass) (*attempt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hosts[d.Domain]
	if h == nil {
		h = new(hostSlots)
	}
	subject := subjectKey{d.Subject, d.Inbox}
	switch {
	case s.free[class] == 0, s.inFlight[d.ID], s.finished[d.ID], d.Subject != 0 && s.subjects[subject]:
		return nil, false
	case h.inFlight == maxInFlightPerHost, !isHealthy(host) && h.inFlight > 0:
		return nil, false
	}
	s.free[class]--
	h.inFlight++
	s.hosts[d.Domain], s.inFlight[d.ID] = h, true
	if d.Subject != 0 {
		s.subjects[subject] = true
	}
	return &attempt{Delivery: d, host: host, class: class}, true
}

// markSlow moves an attempt to the slow class if that has a free slot. It returns true if a slot of the old class is free by that.
func (s *slots) markSlow(a *attempt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.inFlight[a.ID] {
		return false
	}
	a.slow = true
	s.hosts[a.Domain].slow++
	if s.free[classSlow] == 0 {
		return false
	}
	s.free[a.class]++
	s.free[classSlow]--
	a.class = classSlow
	return true
}

// release gives the slot of an attempt back.
func (s *slots) release(a *attempt) {
	if a.timer != nil {
		a.timer.Stop()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free[a.class]++
	delete(s.inFlight, a.ID)
	s.finished[a.ID] = true
	delete(s.subjects, subjectKey{a.Subject, a.Inbox})
	h := s.hosts[a.Domain]
	if a.slow {
		h.slow--
	}
	h.drained = false
	if h.inFlight--; h.inFlight == 0 {
		delete(s.hosts, a.Domain)
	}
}
