package delivery

import (
	"context"
	"net/http"
	"sync"
	"time"

	"svc/internal/fetch"
	"svc/store"
)

const (
	recordInterval   = 10 * time.Millisecond
	maxRecordBatch   = 256         // results in one transaction
	recordRetryPause = time.Second // after a transaction that failed
	maxUnreachable   = 100_000     // hosts that are remembered; for others only a delivery shows that they are back
)

// finish hands a result to record. A delivery that was interrupted stays as it is, and is sent again.
func (q *Queue) finish(ctx context.Context, r *result) {
	if r.err != nil && ctx.Err() != nil {
		q.slots.release(r.attempt)
		return
	}
	q.results <- r
}

// record writes results until the channel is closed, many in one transaction.
func (q *Queue) record(ctx context.Context) {
	for r := range q.results {
		batch := []*result{r}
		timer := time.NewTimer(recordInterval)
	gather:
		for len(batch) < maxRecordBatch {
			select {
			case r, ok := <-q.results:
				if !ok {
					break gather
				}
				batch = append(batch, r)
			case <-timer.C:
				break gather
			}
		}
		timer.Stop()
		if err := q.recordBatch(batch); err != nil {
			q.Log.Error("record deliveries", "err", err)
			if q.DB.WaitWritable(ctx) { // deliveries that are not recorded are sent again, but not without a pause
				select {
				case <-ctx.Done():
				case <-time.After(recordRetryPause):
				}
			}
		}
		for _, r := range batch {
			q.slots.release(r.attempt)
		}
		q.wake()
	}
}

// batch is what a transaction writes about results.
type batch struct {
	done     []*store.Delivery // delivered or dropped
	failed   []*result
	hosts    []string             // all
	reached  []string             // for which that is new
	failing  map[string]*result   // hosts that were not reached by any of the results
	backoffs map[string]time.Time // that hosts asked for that were reached
}

func newBatch(results []*result, now time.Time) *batch {
	b := &batch{failing: make(map[string]*result), backoffs: make(map[string]time.Time)}
	reached := make(map[string]bool) // and whether that has to be recorded
	for _, r := range results {
		switch {
		case r.unreachable || r.hostError:
			b.failing[r.Domain] = r
		case r.answered:
			reached[r.Domain] = reached[r.Domain] || shouldRecordSuccess(r.host, now)
		}
		if r.err == nil || r.dropped {
			b.done = append(b.done, r.Delivery)
		} else {
			b.failed = append(b.failed, r)
		}
		b.hosts = append(b.hosts, r.Domain)
	}
	for domain, isNew := range reached {
		delete(b.failing, domain)
		if isNew {
			b.reached = append(b.reached, domain)
		}
	}
	for _, r := range results {
		if _, ok := reached[r.Domain]; ok && !r.backoffUntil.IsZero() {
			b.backoffs[r.Domain] = laterOf(b.backoffs[r.Domain], r.backoffUntil)
		}
	}
	return b
}

// shouldRecordSuccess returns false if the row of a host says already that it was reached lately.
func shouldRecordSuccess(h *store.Host, now time.Time) bool {
	return h.Failures > 0 || h.UnreachableSince != nil || h.LastSuccessAt == nil || now.Sub(h.LastSuccessAt.Time()) > time.Hour
}

// recordBatch removes deliveries that are done, reschedules those that failed, and updates their hosts.
func (q *Queue) recordBatch(results []*result) error {
	b := newBatch(results, q.DB.Now())
	ctx := store.AllowWhenFull(context.Background()) // results are also recorded while the server stops, and make room
	err := q.DB.Update(ctx, func(tx *store.Tx) error {
		if err := tx.DropDeliveries(ctx, b.done); err != nil {
			return err
		}
		resumes := make(map[string]time.Time) // of hosts that were not reached
		for _, r := range b.failing {
			until, err := q.recordHostFailure(ctx, tx, r)
			if err != nil {
				return err
			}
			resumes[r.Domain] = until
		}
		for _, r := range b.failed {
			if until, ok := resumes[r.Domain]; ok && r.unreachable {
				r.retryAt = until // so that it is sent as soon as the host is back
			}
			parked := r.Attempts+1 >= store.MaxAttempts
			if err := tx.RecordDeliveryFailure(ctx, r.Delivery, r.retryAt, parked, r.err.Error()); err != nil {
				return err
			}
		}
		for _, r := range results {
			if r.dropped && r.statusID != nil {
				if err := tx.AddDeliveryRefusal(ctx, *r.statusID, r.Domain, r.err.Error()); err != nil {
					return err
				}
			}
		}
		if err := tx.HostsReached(ctx, b.reached); err != nil {
			return err
		}
		for domain, until := range b.backoffs {
			if err := tx.BackOffHost(ctx, domain, until); err != nil {
				return err
			}
		}
		return tx.ScheduleHosts(ctx, b.hosts)
	})
	if err != nil {
		return err
	}
	q.unreachable.update(b)
	for _, r := range results {
		switch {
		case r.dropped:
			q.counts.dropped.Add(1)
			q.Log.Debug("delivery dropped", "inbox", r.Inbox, "err", r.err)
		case r.err == nil:
			q.counts.delivered.Add(1)
		case r.Attempts+1 >= store.MaxAttempts:
			q.counts.parked.Add(1)
			q.Log.Info("delivery parked after the last attempt", "inbox", r.Inbox, "err", r.err)
		default:
			q.counts.retried.Add(1)
		}
	}
	return nil
}

// recordHostFailure gives a host a backoff, and returns its end: at once if it is unreachable or asks for one, else after circuitBreakerFailures
// in a row. Until then an answer with an error may be the fault of one activity.
func (q *Queue) recordHostFailure(ctx context.Context, tx *store.Tx, r *result) (until time.Time, err error) {
	h, err := tx.Host(ctx, r.Domain)
	if err != nil {
		return time.Time{}, err
	}
	failures, known := h.Failures+1, true
	if !r.unreachable {
		failures -= circuitBreakerFailures - 1
		known = failures > 0 || r.status < http.StatusInternalServerError
	}
	if until = q.DB.Now(); failures > 0 {
		until = until.Add(hostBackoff(failures))
	}
	until = laterOf(until, r.backoffUntil)
	return until, tx.HostFailed(ctx, r.Domain, until, known, r.err.Error())
}

// unreachableHosts mirrors which hosts the database knows as unreachable.
type unreachableHosts struct {
	mu      sync.Mutex
	domains map[string]bool // nil: not read yet
}

// update applies recorded results.
func (u *unreachableHosts) update(b *batch) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.domains == nil {
		return
	}
	for _, domain := range b.reached {
		delete(u.domains, domain)
	}
	for domain := range b.failing {
		if len(u.domains) < maxUnreachable {
			u.domains[domain] = true
		}
	}
}

// has returns true if a host is unreachable. It reads them all the first time.
func (u *unreachableHosts) has(ctx context.Context, db *store.DB, domain string) (bool, error) {
	u.mu.Lock()
	known, has := u.domains != nil, u.domains[domain]
	u.mu.Unlock()
	if known {
		return has, nil
	}
	list, err := db.UnreachableHosts(ctx, maxUnreachable)
	if err != nil {
		return false, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.domains == nil {
		u.domains = make(map[string]bool, len(list))
	}
	for _, h := range list {
		u.domains[h.Domain] = true
	}
	return u.domains[domain], nil
}

// MarkReachable notes that a host has sent us something. If it was unreachable, its deliveries are sent at once (federation 3.5).
func (q *Queue) MarkReachable(ctx context.Context, domain string) error {
	if is, err := q.unreachable.has(ctx, q.DB, domain); err != nil || !is {
		return err
	}
	if h, err := q.DB.Host(ctx, domain); err != nil || h.LastError == tooManyRequests && h.BackoffUntil.Time().After(q.DB.Now()) {
		return err // it is reachable, and has said when it accepts requests again
	}
	err := q.DB.Update(ctx, func(tx *store.Tx) error { return tx.HostsReached(ctx, []string{domain}) })
	if err != nil {
		return err
	}
	q.unreachable.update(&batch{reached: []string{domain}})
	return nil
}

// tooManyRequests is the last error of a host that asked for a backoff.
var tooManyRequests = (&fetch.StatusError{Status: http.StatusTooManyRequests}).Error()
