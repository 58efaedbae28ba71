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
	promptPlaces  = 208
	unmetPlaces   = 128
	failingPlaces = 40
	slowPlaces    = 256
	atOncePerHost = 4
	promptTime    = time.Second // after which one is slow

	maxBodies = 64 // activities kept in memory
)

// courier delivers what is queued, host by host: what waits for one keeps nobody else waiting.
type courier struct {
	s     *Service
	done  chan *outcome
	again chan struct{} // there is room again

	mu     sync.Mutex
	free   [places]int
	stops  map[string]*stop             // hosts to which something is under way
	going  map[store.DeliveryID]bool    // under way
	ended  map[store.DeliveryID]bool    // since the database was read the last time: what was read of them is no longer so
	about  map[matter]bool              // what that is about
	bodies map[store.ActivityID]*parcel // the latest, which go to many
	away   map[string]bool              // hosts that could not be reached the last time
}

// place is one of the kinds of places that deliveries under way take: one for each standing of hosts, and one for those that take long.
type place int

const (
	prompt  = place(store.ReachedHosts)
	unmet   = place(store.UnmetHosts)
	failing = place(store.FailingHosts)
	slow    = failing + 1
	places  = slow + 1
)

// stop is a host to which something is under way.
type stop struct {
	busy  int
	slow  int
	quiet bool // all that is due for it is under way
}

// matter is something that an inbox is told of: one thing after another (federation 3.4).
type matter struct {
	subject int64
	inbox   string
}

// trip is a delivery that is under way.
type trip struct {
	*store.Delivery
	host  *store.Host
	place place
	tired bool // it takes long
	timer *time.Timer
}

// outcome is how a delivery went.
type outcome struct {
	*trip
	err      error // nil: delivered
	retry    time.Time
	lost     bool      // for ever
	answered bool      // by the host
	far      bool      // the host could not be reached
	ill      bool      // the host answered that something is wrong with it
	rest     time.Time // until when it wants to be left alone; zero: it did not say
}

func newCourier(s *Service) *courier {
	return &courier{
		s: s, done: make(chan *outcome, recordMost), again: make(chan struct{}, 1),
		free:  [places]int{prompt: promptPlaces, unmet: unmetPlaces, failing: failingPlaces, slow: slowPlaces},
		stops: make(map[string]*stop), going: make(map[store.DeliveryID]bool), about: make(map[matter]bool),
		ended: make(map[store.DeliveryID]bool), bodies: make(map[store.ActivityID]*parcel),
	}
}

// run delivers until ctx ends, then waits for what is under way.
func (c *courier) run(ctx context.Context) {
	var under, clerk sync.WaitGroup
	clerk.Go(func() { c.record(ctx) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			continue
		case <-c.s.db.Post():
			c.listen()
		case <-c.again:
		case <-timer.C:
			c.listen()
		}
		pause, err := c.sendDue(ctx, &under)
		if err != nil && ctx.Err() == nil {
			c.s.log.Error("reading the deliveries", "err", err)
			pause = recordPause
		}
		timer.Reset(pause)
	}
	under.Wait()
	close(c.done)
	clerk.Wait()
}

// listen has hosts looked at again of which all that was due is under way.
func (c *courier) listen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, stop := range c.stops {
		stop.quiet = false
	}
}

// wake has it looked again for what can be sent.
func (c *courier) wake() {
	select {
	case c.again <- struct{}{}:
	default:
	}
}

// sendDue starts what is due and has room. It returns how long nothing else will be due.
func (c *courier) sendDue(ctx context.Context, under *sync.WaitGroup) (time.Duration, error) {
	for _, p := range []place{prompt, unmet, failing} {
		if err := c.sendFrom(ctx, under, p); err != nil {
			return 0, err
		}
	}
	next, err := c.s.db.NextDelivery(ctx)
	if err != nil || next.IsZero() {
		return longestSleep, err
	}
	return min(max(next.Sub(c.s.now()), time.Millisecond), longestSleep), nil
}

// sendFrom starts what is due for one kind of hosts.
func (c *courier) sendFrom(ctx context.Context, under *sync.WaitGroup, p place) error {
	c.mu.Lock()
	room, known := c.free[p], len(c.stops)
	clear(c.ended)
	c.mu.Unlock()
	if room == 0 {
		return nil
	}
	hosts, err := c.s.db.DueHosts(ctx, store.HostStanding(p), room+known)
	if err != nil {
		return err
	}
	var open []*store.Host
	var domains []string
	for _, host := range hosts {
		if c.room(host) > 0 && len(open) < room {
			open, domains = append(open, host), append(domains, host.Domain)
		}
	}
	if len(open) == 0 {
		return nil
	}
	due, err := c.s.db.DueDeliveries(ctx, domains, 2*atOncePerHost)
	if err != nil {
		return err
	}
	var wrong []string // which are not due after all
	for _, host := range open {
		waiting, all := due[host.Domain], true
		for _, d := range waiting {
			t, ok := c.begin(host, d, p)
			if !ok {
				all = all && c.underWay(d)
				continue
			}
			under.Go(func() { c.finish(ctx, c.deliver(ctx, t)) })
		}
		switch {
		case len(waiting) == 0 && !c.busy(host):
			wrong = append(wrong, host.Domain)
		case all && len(waiting) < 2*atOncePerHost:
			c.hush(host)
		}
	}
	if len(wrong) > 0 {
		return c.s.db.Update(ctx, func(tx *store.Tx) error { return tx.ScheduleHosts(ctx, wrong) })
	}
	return nil
}

// room returns how many more deliveries may be under way to a host: to one that failed the last time, that was never reached, or that
// takes long, one after another.
func (c *courier) room(host *store.Host) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	stop := c.stops[host.Domain]
	switch {
	case stop == nil:
		return atOncePerHost
	case stop.quiet, stop.slow > 0, !proven(host):
		return 0
	}
	return atOncePerHost - stop.busy
}

// proven tells whether a host was reached the last time.
func proven(host *store.Host) bool { return host.Failures == 0 && host.LastSuccessAt != nil }

func (c *courier) busy(host *store.Host) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stops[host.Domain] != nil
}

func (c *courier) underWay(d *store.Delivery) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.going[d.ID] || c.ended[d.ID]
}

// hush notes that all that is due for a host is under way.
func (c *courier) hush(host *store.Host) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stop := c.stops[host.Domain]; stop != nil {
		stop.quiet = true
	}
}

// begin takes a place for a delivery, if there is one and the delivery is not under way, nor another that is about the same.
func (c *courier) begin(host *store.Host, d *store.Delivery, p place) (*trip, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.stops[d.Domain]
	if at == nil {
		at = new(stop)
	}
	about := matter{d.Subject, d.Inbox}
	switch {
	case c.free[p] == 0, c.going[d.ID], c.ended[d.ID], d.Subject != 0 && c.about[about]:
		return nil, false
	case at.busy == atOncePerHost, !proven(host) && at.busy > 0:
		return nil, false
	}
	c.free[p]--
	at.busy++
	c.stops[d.Domain], c.going[d.ID] = at, true
	if d.Subject != 0 {
		c.about[about] = true
	}
	t := &trip{Delivery: d, host: host, place: p}
	if p != failing {
		t.timer = time.AfterFunc(promptTime, func() { c.tire(t) })
	}
	return t, true
}

// tire has a delivery that takes long leave its place to others.
func (c *courier) tire(t *trip) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.going[t.ID] {
		return
	}
	t.tired = true
	c.stops[t.Domain].slow++
	if c.free[slow] == 0 {
		return
	}
	c.free[t.place]++
	c.free[slow]--
	t.place = slow
	c.wake()
}

// end gives the place of a delivery back.
func (c *courier) end(t *trip) {
	if t.timer != nil {
		t.timer.Stop()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free[t.place]++
	delete(c.going, t.ID)
	c.ended[t.ID] = true
	delete(c.about, matter{t.Subject, t.Inbox})
	at := c.stops[t.Domain]
	if t.tired {
		at.slow--
	}
	at.quiet = false
	if at.busy--; at.busy == 0 {
		delete(c.stops, t.Domain)
	}
}

// settle delivers all that is due, one after another.
func (c *courier) settle(ctx context.Context) error {
	for {
		var hosts []*store.Host
		for _, standing := range []store.HostStanding{store.ReachedHosts, store.UnmetHosts, store.FailingHosts} {
			some, err := c.s.db.DueHosts(ctx, standing, promptPlaces)
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
			clear(c.ended)
			c.mu.Unlock()
			due, err := c.s.db.DueDeliveries(ctx, []string{host.Domain}, 1)
			if err != nil {
				return err
			}
			for _, d := range due[host.Domain] {
				t, _ := c.begin(host, d, prompt)
				err := c.close([]*outcome{c.deliver(ctx, t)})
				c.end(t)
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
