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
	recordInterval   = 10 * time.Millisecond
	maxRecordBatch   = 256         // deliveries of one transaction
	recordRetryPause = time.Second // after a transaction that failed
	maxUnreachable   = 100_000     // hosts that are known to be away: of others it is noticed by a delivery only that they are back
)

// tooManyRequests is what is noted of a host that wants to be left alone.
var tooManyRequests = (&fetch.StatusError{Status: http.StatusTooManyRequests}).Error()

// finish has it recorded how a delivery went. What was interrupted stays as it is: it is delivered again.
func (c *deliveryQueue) finish(ctx context.Context, o *deliveryResult) {
	if o.err != nil && ctx.Err() != nil {
		c.release(o.deliveryAttempt)
		return
	}
	c.results <- o
}

// record writes down how deliveries went: many at a time, because each alone is little.
func (c *deliveryQueue) record(ctx context.Context) {
	for o := range c.results {
		some := []*deliveryResult{o}
		soon := time.NewTimer(recordInterval)
	gather:
		for len(some) < maxRecordBatch {
			select {
			case o, ok := <-c.results:
				if !ok {
					break gather
				}
				some = append(some, o)
			case <-soon.C:
				break gather
			}
		}
		soon.Stop()
		if err := c.recordBatch(some); err != nil {
			c.s.log.Error("recording how deliveries went", "err", err)
			select { // what was delivered is delivered again: not at once, and again and again
			case <-ctx.Done():
			case <-time.After(recordRetryPause):
			}
		}
		for _, o := range some {
			c.release(o.deliveryAttempt)
		}
		c.wake()
	}
}

// recordBatch removes what is delivered from the database and puts off what failed.
func (c *deliveryQueue) recordBatch(some []*deliveryResult) error {
	var done []*store.Delivery
	var failed []*deliveryResult
	reached := make(map[string]bool) // and whether that is news
	lost := make(map[string]*deliveryResult)
	rests := make(map[string]time.Time) // until when hosts that were reached want to be left alone
	for _, o := range some {
		switch _, up := reached[o.Domain]; {
		case o.unreachable || o.hostError:
			lost[o.Domain] = o
		case o.answered:
			reached[o.Domain] = up && reached[o.Domain] || c.shouldRecordSuccess(o.host)
		}
		if o.err == nil || o.permanent {
			done = append(done, o.Delivery)
		} else {
			failed = append(failed, o)
		}
		if o.permanent {
			c.s.log.Debug("delivery refused", "inbox", o.Inbox, "err", o.err)
		}
	}
	var hosts, up []string
	for _, o := range some {
		news, ok := reached[o.Domain]
		if ok {
			delete(lost, o.Domain)
			rests[o.Domain] = laterOf(rests[o.Domain], o.backoffUntil)
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
			if err := c.reschedule(ctx, tx, o); err != nil {
				return err
			}
		}
		if err := tx.HostsReached(ctx, up); err != nil {
			return err
		}
		for _, o := range lost {
			if err := c.recordHostFailure(ctx, tx, o); err != nil {
				return err
			}
		}
		for domain, until := range rests {
			if until.IsZero() {
				continue
			}
			if err := tx.BackOffHost(ctx, domain, until); err != nil {
				return err
			}
		}
		return tx.ScheduleHosts(ctx, hosts)
	})
	if err == nil {
		c.updateUnreachable(up, lost)
	}
	return err
}

// shouldRecordSuccess tells whether it would be news that a host was reached.
func (c *deliveryQueue) shouldRecordSuccess(h *store.Host) bool {
	return h.Failures > 0 || h.UnreachableSince != nil || h.LastSuccessAt == nil || c.s.now().Sub(h.LastSuccessAt.Time()) > time.Hour
}

func (c *deliveryQueue) reschedule(ctx context.Context, tx *store.Tx, o *deliveryResult) error {
	parked := o.Attempts >= len(retryDelays)
	if parked {
		c.s.log.Info("delivery given up", "inbox", o.Inbox, "err", o.err)
	}
	return tx.RecordDeliveryFailure(ctx, o.Delivery, o.retryAt, parked, o.err.Error())
}

// recordHostFailure lets a host rest: one that cannot be reached at once, and one that wants it so; one that answers otherwise only after it has
// failed again and again.
func (c *deliveryQueue) recordHostFailure(ctx context.Context, tx *store.Tx, o *deliveryResult) error {
	h, err := tx.Host(ctx, o.Domain)
	if err != nil {
		return err
	}
	rest := c.s.now()
	if steps := h.Failures; o.unreachable {
		rest = rest.Add(hostBackoff(steps))
	} else if steps -= circuitBreakerFailures - 1; steps >= 0 {
		rest = rest.Add(hostBackoff(steps))
	}
	return tx.HostFailed(ctx, o.Domain, laterOf(rest, o.backoffUntil), o.err.Error())
}

// updateUnreachable keeps in mind which hosts are away.
func (c *deliveryQueue) updateUnreachable(up []string, lost map[string]*deliveryResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unreachable == nil {
		return // not read yet
	}
	for _, domain := range up {
		delete(c.unreachable, domain)
	}
	for domain := range lost {
		if len(c.unreachable) < maxUnreachable {
			c.unreachable[domain] = true
		}
	}
}

// markReachable notes that a host has made itself heard: if it was thought to be away, what waits for it is tried at once (federation 3.5).
func (c *deliveryQueue) markReachable(ctx context.Context, domain string) error {
	c.mu.Lock()
	known, away := c.unreachable != nil, c.unreachable[domain]
	c.mu.Unlock()
	if !known {
		list, err := c.s.db.UnreachableDomains(ctx, maxUnreachable)
		if err != nil {
			return err
		}
		c.mu.Lock()
		if c.unreachable == nil {
			c.unreachable = make(map[string]bool, len(list))
		}
		for _, d := range list {
			c.unreachable[d] = true
		}
		away = c.unreachable[domain]
		c.mu.Unlock()
	}
	if !away {
		return nil
	}
	if h, err := c.s.db.Host(ctx, domain); err != nil || h.LastError == tooManyRequests && h.BackoffUntil.Time().After(c.s.now()) {
		return err // it is not away, but has said when it wants to be asked again
	}
	if err := c.s.db.Update(ctx, func(tx *store.Tx) error { return tx.HostsReached(ctx, []string{domain}) }); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.unreachable, domain)
	return nil
}
