package federation

import (
	"context"
	"net/http"
	"time"

	"svc/internal/fetch"
	"svc/store"
)

// What is written down of deliveries, and kept in mind of the hosts that they go to.

const (
	recordEvery = 10 * time.Millisecond
	recordMost  = 256         // deliveries of one transaction
	recordPause = time.Second // after a transaction that failed
	maxAway     = 100_000     // hosts that are known to be away: of others it is noticed by a delivery only that they are back
)

// tooMany is what is noted of a host that wants to be left alone.
var tooMany = (&fetch.StatusError{Status: http.StatusTooManyRequests}).Error()

// finish has it recorded how a delivery went. What was interrupted stays as it is: it is delivered again.
func (c *courier) finish(ctx context.Context, o *outcome) {
	if o.err != nil && ctx.Err() != nil {
		c.end(o.trip)
		return
	}
	c.done <- o
}

// record writes down how deliveries went: many at a time, because each alone is little.
func (c *courier) record(ctx context.Context) {
	for o := range c.done {
		some := []*outcome{o}
		soon := time.NewTimer(recordEvery)
	gather:
		for len(some) < recordMost {
			select {
			case o, ok := <-c.done:
				if !ok {
					break gather
				}
				some = append(some, o)
			case <-soon.C:
				break gather
			}
		}
		soon.Stop()
		if err := c.close(some); err != nil {
			c.s.log.Error("recording how deliveries went", "err", err)
			select { // what was delivered is delivered again: not at once, and again and again
			case <-ctx.Done():
			case <-time.After(recordPause):
			}
		}
		for _, o := range some {
			c.end(o.trip)
		}
		c.wake()
	}
}

// close removes what is delivered from the database and puts off what failed.
func (c *courier) close(some []*outcome) error {
	var done []*store.Delivery
	var failed []*outcome
	reached := make(map[string]bool) // and whether that is news
	lost := make(map[string]*outcome)
	rests := make(map[string]time.Time) // until when hosts that were reached want to be left alone
	for _, o := range some {
		switch _, up := reached[o.Domain]; {
		case o.far || o.ill:
			lost[o.Domain] = o
		case o.answered:
			reached[o.Domain] = up && reached[o.Domain] || c.news(o.host)
		}
		if o.err == nil || o.lost {
			done = append(done, o.Delivery)
		} else {
			failed = append(failed, o)
		}
		if o.lost {
			c.s.log.Debug("delivery refused", "inbox", o.Inbox, "err", o.err)
		}
	}
	var hosts, up []string
	for _, o := range some {
		news, ok := reached[o.Domain]
		if ok {
			delete(lost, o.Domain)
			rests[o.Domain] = later(rests[o.Domain], o.rest)
			if news {
				up = append(up, o.Domain)
				reached[o.Domain] = false
			}
		}
		hosts = append(hosts, o.Domain)
	}
	ctx := context.Background()
	err := c.s.db.Update(ctx, func(tx *store.Tx) error {
		if err := tx.DropDeliveries(ctx, done); err != nil {
			return err
		}
		for _, o := range failed {
			if err := c.putOff(ctx, tx, o); err != nil {
				return err
			}
		}
		if err := tx.HostsReached(ctx, up); err != nil {
			return err
		}
		for _, o := range lost {
			if err := c.hostFailed(ctx, tx, o); err != nil {
				return err
			}
		}
		for domain, until := range rests {
			if until.IsZero() {
				continue
			}
			if err := tx.RestHost(ctx, domain, until); err != nil {
				return err
			}
		}
		return tx.ScheduleHosts(ctx, hosts)
	})
	if err == nil {
		c.remember(up, lost)
	}
	return err
}

// news tells whether it would be news that a host was reached.
func (c *courier) news(h *store.Host) bool {
	return h.Failures > 0 || h.UnreachableSince != nil || h.LastSuccessAt == nil || c.s.now().Sub(h.LastSuccessAt.Time()) > time.Hour
}

func (c *courier) putOff(ctx context.Context, tx *store.Tx, o *outcome) error {
	parked := o.Attempts >= len(pauses)
	if parked {
		c.s.log.Info("delivery given up", "inbox", o.Inbox, "err", o.err)
	}
	return tx.PutOffDelivery(ctx, o.Delivery, o.retry, parked, o.err.Error())
}

// hostFailed lets a host rest: one that cannot be reached at once, and one that wants it so; one that answers otherwise only after it has
// failed again and again.
func (c *courier) hostFailed(ctx context.Context, tx *store.Tx, o *outcome) error {
	h, err := tx.Host(ctx, o.Domain)
	if err != nil {
		return err
	}
	rest := c.s.now()
	if steps := h.Failures; o.far {
		rest = rest.Add(hostPause(steps))
	} else if steps -= circuitAfter - 1; steps >= 0 {
		rest = rest.Add(hostPause(steps))
	}
	return tx.HostFailed(ctx, o.Domain, later(rest, o.rest), o.err.Error())
}

// remember keeps in mind which hosts are away.
func (c *courier) remember(up []string, lost map[string]*outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away == nil {
		return // not read yet
	}
	for _, domain := range up {
		delete(c.away, domain)
	}
	for domain := range lost {
		if len(c.away) < maxAway {
			c.away[domain] = true
		}
	}
}

// heard notes that a host has made itself heard: if it was thought to be away, what waits for it is tried at once (federation 3.5).
func (c *courier) heard(ctx context.Context, domain string) error {
	c.mu.Lock()
	known, away := c.away != nil, c.away[domain]
	c.mu.Unlock()
	if !known {
		list, err := c.s.db.HostsAway(ctx, maxAway)
		if err != nil {
			return err
		}
		c.mu.Lock()
		if c.away == nil {
			c.away = make(map[string]bool, len(list))
		}
		for _, d := range list {
			c.away[d] = true
		}
		away = c.away[domain]
		c.mu.Unlock()
	}
	if !away {
		return nil
	}
	if h, err := c.s.db.Host(ctx, domain); err != nil || h.LastError == tooMany && h.RestUntil.Time().After(c.s.now()) {
		return err // it is not away, but has said when it wants to be asked again
	}
	if err := c.s.db.Update(ctx, func(tx *store.Tx) error { return tx.HostsReached(ctx, []string{domain}) }); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.away, domain)
	return nil
}
