// Package delivery is the durable queue of outgoing deliveries. A delivery is one activity for one inbox. The queue sends due deliveries host
// by host, and records each result: delivered, dropped, to be retried, or parked after the last attempt.
//
// It knows no activity types and no signatures. Rows come from store.Tx.EnqueueDeliveries; Config.Send makes the requests.
//
// Two rules: deliveries about one subject reach an inbox one after another, in order (federation 3.4); and a host that does not answer
// delays no other host, because slots are shared by class of host and a slow delivery leaves its class.
//
// Limits: 632 requests in flight; 4 per host, and 1 per host that failed, was never reached, or is slow; 12 attempts in 2 days; 64 payloads
// and 100 000 unreachable hosts in memory.
package delivery

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"svc/internal/cache"
	"svc/store"
)

const (
	maxPollInterval   = time.Minute
	maxCachedPayloads = 64
)

// Errors of Config.Send that say nothing of the host.
var (
	ErrUndeliverable = errors.New("cannot be delivered") // the delivery is dropped
	ErrNotSent       = errors.New("not sent")            // the delivery is retried
)

// Config is what a Queue works with.
type Config struct {
	DB  *store.DB
	Log *slog.Logger

	// Send posts a message to an inbox. Its errors drop the delivery if they are ErrUndeliverable or
	// fetch.ErrRefused, and retry it if they are ErrNotSent or fetch.ErrBusy. Any other error counts as a failure of the host.
	Send func(ctx context.Context, host *store.Host, inbox string, m *Message) (status int, header http.Header, err error)

	// InboxGone is called when an inbox answers with 404 or 410. It returns true if the whole host is gone.
	InboxGone func(ctx context.Context, inbox string, status int) bool
}

// Queue sends deliveries and records the results.
type Queue struct {
	Config
	results     chan *result
	slotFreed   chan struct{}
	slots       *slots
	unreachable unreachableHosts
	payloads    *cache.Cache[store.ActivityID, *payload]
	counts      counts
}

// counts are the recorded results.
type counts struct{ delivered, dropped, retried, parked atomic.Uint64 }

// Stats are the deliveries in flight and the results since the start.
type Stats struct {
	InFlight                            int
	Delivered, Dropped, Retried, Parked uint64 // parked ones had their last attempt
}

// Stats returns the state of the queue.
func (q *Queue) Stats() Stats {
	return Stats{
		InFlight: q.slots.count(), Delivered: q.counts.delivered.Load(), Dropped: q.counts.dropped.Load(),
		Retried: q.counts.retried.Load(), Parked: q.counts.parked.Load(),
	}
}

// CacheStats returns the state of the cache of payloads.
func (q *Queue) CacheStats() cache.Stats { return q.payloads.Stats() }

// New makes a queue. Run or Settle sends what it holds.
func New(c Config) *Queue {
	return &Queue{
		Config: c, results: make(chan *result, maxRecordBatch), slotFreed: make(chan struct{}, 1), slots: newSlots(),
		payloads: cache.New[store.ActivityID, *payload](maxCachedPayloads),
	}
}

// Run sends deliveries until ctx ends, then waits for those in flight.
func (q *Queue) Run(ctx context.Context) {
	var attempts, recorder sync.WaitGroup
	recorder.Go(func() { q.record(ctx) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			continue
		case <-q.DB.DeliveryWake():
			q.slots.clearDrained()
		case <-q.slotFreed:
		case <-timer.C:
			q.slots.clearDrained()
		}
		if !q.DB.WaitWritable(ctx) { // results could not be recorded
			continue
		}
		wait, err := q.startDue(ctx, &attempts)
		if err != nil && ctx.Err() == nil {
			q.Log.Error("read due deliveries", "err", err)
			wait = recordRetryPause
		}
		timer.Reset(wait)
	}
	attempts.Wait()
	close(q.results)
	recorder.Wait()
}

// wake makes Run look for due deliveries, because a slot is free.
func (q *Queue) wake() {
	select {
	case q.slotFreed <- struct{}{}:
	default:
	}
}

// startDue starts due deliveries as long as slots are free. It returns how long no other delivery will be due.
func (q *Queue) startDue(ctx context.Context, attempts *sync.WaitGroup) (time.Duration, error) {
	for _, class := range []slotClass{classReachable, classUntried, classFailing} {
		if err := q.startDueClass(ctx, attempts, class); err != nil {
			return 0, err
		}
	}
	next, err := q.DB.NextHostDue(ctx)
	if err != nil || next.IsZero() {
		return maxPollInterval, err
	}
	return min(max(next.Sub(q.DB.Now()), time.Millisecond), maxPollInterval), nil
}

// startDueClass starts due deliveries to hosts of one class.
func (q *Queue) startDueClass(ctx context.Context, attempts *sync.WaitGroup, class slotClass) error {
	free, active := q.slots.startRead(class)
	if free == 0 {
		return nil
	}
	hosts, err := q.DB.DueHosts(ctx, store.HostState(class), free+active)
	if err != nil {
		return err
	}
	var open []*store.Host
	var domains []string
	for _, host := range hosts {
		if q.slots.capacity(host) > 0 && len(open) < free {
			open, domains = append(open, host), append(domains, host.Domain)
		}
	}
	if len(open) == 0 {
		return nil
	}
	due, err := q.DB.DueDeliveries(ctx, domains, 2*maxInFlightPerHost)
	if err != nil {
		return err
	}
	var notDue []string // hosts whose due_at is out of date
	for _, host := range open {
		waiting, allInFlight := due[host.Domain], true
		for _, d := range waiting {
			a, ok := q.slots.acquire(host, d, class)
			if !ok {
				allInFlight = allInFlight && q.slots.started(d)
				continue
			}
			q.watch(a)
			attempts.Go(func() { q.finish(ctx, q.attempt(ctx, a)) })
		}
		switch {
		case len(waiting) == 0 && !q.slots.busy(host):
			notDue = append(notDue, host.Domain)
		case allInFlight && len(waiting) < 2*maxInFlightPerHost:
			q.slots.markDrained(host)
		}
	}
	return q.schedule(ctx, notDue)
}

// schedule sets when hosts are due next.
func (q *Queue) schedule(ctx context.Context, domains []string) error {
	if len(domains) == 0 {
		return nil
	}
	return q.DB.Update(ctx, func(tx *store.Tx) error { return tx.ScheduleHosts(ctx, domains) })
}

// watch lets an attempt that takes long leave its slot to others. Failing hosts keep theirs.
func (q *Queue) watch(a *attempt) {
	if a.class == classFailing {
		return
	}
	a.timer = time.AfterFunc(slowAfter, func() {
		if q.slots.markSlow(a) {
			q.wake()
		}
	})
}

// Settle sends all that is due, one delivery after another. Tests call it instead of Run.
func (q *Queue) Settle(ctx context.Context) error {
	for {
		var hosts []*store.Host
		for _, state := range []store.HostState{store.HostReachable, store.HostUntried, store.HostFailing} {
			some, err := q.DB.DueHosts(ctx, state, reachableSlots)
			if err != nil {
				return err
			}
			hosts = append(hosts, some...)
		}
		if len(hosts) == 0 {
			return nil
		}
		for _, host := range hosts {
			if err := q.settleHost(ctx, host); err != nil {
				return err
			}
		}
	}
}

// settleHost sends the first delivery that is due for a host.
func (q *Queue) settleHost(ctx context.Context, host *store.Host) error {
	q.slots.startRead(classReachable)
	due, err := q.DB.DueDeliveries(ctx, []string{host.Domain}, 1)
	if err != nil {
		return err
	}
	if len(due) == 0 {
		return q.schedule(ctx, []string{host.Domain})
	}
	for _, d := range due[host.Domain] {
		a, _ := q.slots.acquire(host, d, classReachable)
		err := q.recordBatch([]*result{q.attempt(ctx, a)})
		q.slots.release(a)
		if err != nil {
			return err
		}
	}
	return nil
}
