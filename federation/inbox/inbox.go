// Package inbox is the durable queue of incoming activities. It knows no activity types: its caller passes a function that processes them.
//
// An activity is on disk before its sender is answered and stays there until it was processed, so that a crash repeats work, but loses none.
// Activities of one sender about the same object run in the order in which they came. Hosts take turns, and the senders of a host do: nobody
// delays the others, however much they send. Workers that must not wait for other servers come first; an activity that needs a fetch is
// passed to workers that may.
//
// Limits: 50 000 queued activities (a long one counts as several), of which one host can have half and one sender a quarter; 4 MiB of them in
// memory; 16 fast workers; 8 that may fetch, of which one registered domain has 2 at most; 64 activities processed before their senders are
// answered, of which 32 wait for their turn (a second at most, 4 of one sender). One attempt takes 60 s at most. A domain with an activity that
// takes longer than 5 s has to share 4 other workers with its kind for 10 minutes.
package inbox

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/store"
)

const (
	maxPollInterval   = time.Minute
	loadBatch         = 1000
	loadRetryInterval = time.Second // after the database could not be read
	activityTimeout   = time.Minute // for one attempt, with all that it fetches
	demoteAfter       = 5 * time.Second
)

// ErrFull is returned by Add if the queue, or the sender's share of it, is full.
var ErrFull = errors.New("the inbox is full")

// errSlow is the error of an attempt that was ended because other slow domains have all the workers for them. The activity is retried.
var errSlow = errors.New("the servers that it refers to are slow, and so are others")

// Config is what an inbox needs.
type Config struct {
	DB  *store.DB
	Log *slog.Logger

	// Process handles an activity. It may be called again for one that it has handled. If mayFetch is false it does not wait for other servers, but
	// returns an error for which NeedsFetch is true.
	Process    func(ctx context.Context, a *Activity, mayFetch bool) error
	NeedsFetch func(error) bool
	IsFinal    func(error) bool            // false: another attempt may succeed
	HostOf     func(*store.Account) string // the host of an account's id
}

// Inbox processes incoming activities: at once if that is quick and delays nobody, else from the queue.
type Inbox struct {
	Seen *Seen

	c         Config
	queue     *queue
	running   atomic.Bool
	reload    chan struct{} // load is to run
	results   chan *Activity
	counts    counts
	syncSlots chan struct{} // of activities processed before their senders are answered; all are taken while Run does not run
}

// counts are the recorded results.
type counts struct{ processed, refused, failed, full atomic.Uint64 }

// Stats are the results since the start.
type Stats struct {
	Processed uint64
	Refused   uint64 // the error is final
	Failed    uint64 // attempts that are repeated, unless it was the last
	Full      uint64 // not accepted, because the queue or the sender's share of it was full
}

// Stats returns the results since the start.
func (b *Inbox) Stats() Stats {
	return Stats{b.counts.processed.Load(), b.counts.refused.Load(), b.counts.failed.Load(), b.counts.full.Load()}
}

// New returns an inbox. It processes nothing until Run or ProcessDue.
func New(c Config) *Inbox {
	b := &Inbox{
		Seen: newSeen(c.DB), c: c, queue: newQueue(), reload: make(chan struct{}, 1), results: make(chan *Activity, recordBatch),
		syncSlots: make(chan struct{}, maxSync),
	}
	b.acquireAllSlots()
	return b
}

// Add processes or queues an activity whose Signer is verified. It returns once the result, or the queued activity, is on disk. If fast is true the
// activity is processed at once where possible.
func (b *Inbox) Add(ctx context.Context, a *Activity, fast bool) error {
	domain := activity.RegisteredDomain(b.c.HostOf(a.Signer))
	a.weight = weightOf(len(a.Row.Body))
	if fast && b.startSync(a, domain) {
		defer func() { <-b.syncSlots }()
		return b.processSync(ctx, a)
	}
	sender := b.queue.reserve(a.Signer.ID, domain, a.weight)
	if sender == nil {
		b.counts.full.Add(1)
		return ErrFull
	}
	if err := b.store(ctx, a); err != nil {
		b.queue.unreserve(sender, a.weight)
		return err
	}
	if !b.running.Load() {
		b.queue.unreserve(sender, a.weight) // the next Run loads it from the database
		return nil
	}
	a.id, a.sender = a.Row.ID, sender
	b.queue.add(a)
	return nil
}

func (b *Inbox) store(ctx context.Context, a *Activity) error {
	return b.c.DB.Update(ctx, func(tx *store.Tx) error { return tx.AddQueuedActivity(ctx, a.Row) })
}

// startSync takes a slot for an activity that can be processed now or after a short wait. It returns false if it cannot.
func (b *Inbox) startSync(a *Activity, domain string) bool {
	select {
	case b.syncSlots <- struct{}{}:
	default:
		return false
	}
	if b.queue.start(a, a.Signer.ID, domain) && b.queue.waitForTurn(a) {
		return true
	}
	<-b.syncSlots
	return false
}

// processSync processes an activity that is not in the database. It stores the activity only if that failed and another attempt may succeed.
func (b *Inbox) processSync(ctx context.Context, a *Activity) error {
	ctx = context.WithoutCancel(ctx)
	a.Row.ReceivedAt = store.At(b.c.DB.Now())
	if a.err = b.process(ctx, a, false); a.err == nil || b.c.IsFinal(a.err) {
		b.finish(ctx, a)
		return nil
	}
	if err := b.store(ctx, a); err != nil {
		b.queue.done(a)
		b.queue.remove(a)
		return err
	}
	switch {
	case !b.queue.markStored(a):
	case b.c.NeedsFetch(a.err):
		b.queue.moveToSlow(a)
	default:
		b.finish(ctx, a)
	}
	return nil
}

// acquireAllSlots waits until no activity is processed at once, and prevents that until releaseAllSlots.
func (b *Inbox) acquireAllSlots() {
	for range cap(b.syncSlots) {
		b.syncSlots <- struct{}{}
	}
}

func (b *Inbox) releaseAllSlots() {
	for range cap(b.syncSlots) {
		<-b.syncSlots
	}
}

// Reload loads what changed in the database, such as the time of a retry.
func (b *Inbox) Reload() {
	select {
	case b.reload <- struct{}{}:
	default:
	}
}

// Run processes activities until ctx ends. Activities that are interrupted are processed again by the next Run.
func (b *Inbox) Run(ctx context.Context) {
	b.running.Store(true)
	b.releaseAllSlots()
	defer context.AfterFunc(ctx, b.queue.wakeAll)()
	var workers, recorder sync.WaitGroup
	for range fastWorkers {
		workers.Go(func() { b.work(ctx, b.queue.next, b.processFast) })
	}
	for range slowWorkers + demotedWorkers {
		workers.Go(func() { b.work(ctx, b.queue.nextSlow, b.processSlow) })
	}
	recorder.Go(b.record)
	workers.Go(func() { b.loadSeen(ctx) })
	b.schedule(ctx)
	b.running.Store(false)
	b.acquireAllSlots()
	workers.Wait()
	close(b.results)
	recorder.Wait()
}

// schedule loads activities that were queued before the start, and schedules retries when they are due.
func (b *Inbox) schedule(ctx context.Context) {
	b.Reload()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.reload:
			if err := errs.CatchPanic(func() error { return b.load(ctx) }); err != nil && ctx.Err() == nil {
				b.c.Log.Error("could not load queued activities", "err", err)
				time.AfterFunc(loadRetryInterval, b.Reload)
			}
		case <-b.queue.rescheduled:
		case <-timer.C:
		}
		now := b.c.DB.Now()
		pause := maxPollInterval // at most, because the clock may be set
		if next := b.queue.scheduleDue(now); !next.IsZero() {
			pause = min(max(next.Sub(now), time.Millisecond), maxPollInterval)
		}
		timer.Reset(pause)
	}
}

// loadSeen reads the ids of seen activities into memory. Until then, or if it fails, the database is asked for each.
func (b *Inbox) loadSeen(ctx context.Context) {
	if err := errs.CatchPanic(func() error { return b.c.DB.LoadSeen(ctx) }); err != nil && ctx.Err() == nil {
		b.c.Log.Warn("could not load the ids of seen activities", "err", err)
	}
}

// load puts the activities of the database into the queue.
func (b *Inbox) load(ctx context.Context) error {
	for after := store.QueuedActivityID(0); ; {
		headers, err := b.c.DB.QueuedActivityHeaders(ctx, after, loadBatch)
		if err != nil {
			return err
		}
		for _, h := range headers {
			after = h.ID
			b.queue.addStored(h, activity.RegisteredDomain(b.c.HostOf(&store.Account{URI: h.SignerURI})))
		}
		if len(headers) < loadBatch {
			return nil
		}
	}
}

func (b *Inbox) work(ctx context.Context, next func(context.Context) *Activity, process func(context.Context, *Activity)) {
	for b.c.DB.WaitWritable(ctx) {
		a := next(ctx)
		if a == nil {
			return
		}
		process(ctx, a)
	}
}

// processFast processes an activity unless that needs a fetch; then it passes the activity to the slow workers.
func (b *Inbox) processFast(ctx context.Context, a *Activity) {
	if !b.loadContent(ctx, a) || b.queue.requeueIfBlocked(a) {
		return
	}
	if a.err = b.process(ctx, a, false); a.err != nil && b.c.NeedsFetch(a.err) {
		b.queue.moveToSlow(a)
		return
	}
	b.finish(ctx, a)
}

func (b *Inbox) processSlow(ctx context.Context, a *Activity) {
	if !b.loadContent(ctx, a) {
		return
	}
	attempt, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(demoteAfter, func() {
		if !b.queue.demote(a, time.Now()) {
			cancel(errSlow)
		}
	})
	a.err = b.process(attempt, a, true)
	timer.Stop()
	if a.err != nil && context.Cause(attempt) == errSlow {
		a.err = errSlow
	}
	b.finish(ctx, a)
}

// loadContent reads the row of an activity that is not in memory. It returns false if there is nothing to process.
func (b *Inbox) loadContent(ctx context.Context, a *Activity) bool {
	if a.Row != nil {
		return true
	}
	row, err := b.c.DB.QueuedActivity(ctx, a.id)
	switch {
	case errs.IsNotFound(err): // its signer was removed with everything of theirs
		b.queue.done(a)
		b.queue.remove(a)
		return false
	case err != nil:
		if ctx.Err() == nil {
			b.c.Log.Error("could not read a queued activity", "id", a.id, "err", err)
			b.queue.done(a)
			b.queue.retryLater(a, b.c.DB.Now().Add(maxPollInterval))
		}
		return false
	}
	var doc activity.Object
	a.err = errs.CatchPanic(func() error {
		doc, err = activity.Parse([]byte(row.Body))
		return err
	})
	b.queue.setContent(a, row, doc)
	if a.err != nil {
		b.finish(ctx, a)
		return false
	}
	return true
}

// process makes one attempt.
func (b *Inbox) process(ctx context.Context, a *Activity, mayFetch bool) error {
	ctx, cancel := context.WithTimeout(ctx, activityTimeout)
	defer cancel()
	a.Key = store.SeenKey{}
	return errs.CatchPanic(func() error { return b.c.Process(ctx, a, mayFetch) })
}

// finish passes the result of an attempt to record. An interrupted activity stays as it is in the database.
func (b *Inbox) finish(ctx context.Context, a *Activity) {
	if a.err != nil && ctx.Err() != nil {
		return
	}
	if b.isProcessed(a) {
		b.Seen.Add(a.Key)
	}
	b.queue.done(a)
	b.results <- a
}

// isProcessed returns true if an activity with the same id is not to be processed again. Without a verified id anybody could suppress the
// activities of others.
func (b *Inbox) isProcessed(a *Activity) bool {
	return a.Key != (store.SeenKey{}) && (a.err == nil || b.c.IsFinal(a.err))
}

// ProcessDue processes due activities, one after another. Tests use it instead of Run.
func (b *Inbox) ProcessDue(ctx context.Context) error {
	for {
		rows, err := b.c.DB.DueQueuedActivities(ctx, recordBatch)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			a := &Activity{Row: row, id: row.ID}
			if a.Object, a.err = activity.Parse([]byte(row.Body)); a.err == nil {
				a.err = b.process(ctx, a, true)
			}
			if err := b.writeBatch([]*Activity{a}); err != nil {
				return err
			}
		}
	}
}
