package federation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	loadRetryInterval = time.Second     // after the database could not be read
	activityTimeout   = 5 * time.Minute // for one activity
)

// inbox does what has come in: at once where that is quickly done and nobody has to wait for it, and from a queue else. What is queued is
// on disk before its sender is answered, and stays there until it is done with: a crash has it done again, which changes nothing.
type inbox struct {
	s         *Service
	queue     *queue
	running   atomic.Bool
	reload    chan struct{} // the database is to be looked through
	results   chan *item
	seen      *seenCache
	syncSlots chan struct{} // of those who do something before its sender is answered: all are taken while nobody works
}

func newInbox(s *Service) *inbox {
	b := &inbox{
		s: s, queue: newQueue(), reload: make(chan struct{}, 1), results: make(chan *item, recordBatch), seen: newSeenCache(),
		syncSlots: make(chan struct{}, maxSync),
	}
	b.acquireAllSlots()
	return b
}

// add has an activity done whose signature was verified: at once, or else it is queued. It returns once what it has done, or that it is
// queued, is on disk.
func (b *inbox) add(ctx context.Context, it *item, h *handler, signer *store.Account) error {
	domain := registeredDomain(b.s.hostOf(signer))
	it.weight = weightOf(len(it.row.Body))
	if h.fast && b.beginSync(it, signer.ID, domain) {
		defer func() { <-b.syncSlots }()
		return b.processSync(ctx, it)
	}
	from := b.queue.reserve(signer.ID, domain, it.weight)
	if from == nil {
		return errInboxFull
	}
	if err := b.s.db.Update(ctx, func(tx *store.Tx) error { return tx.AddQueuedActivity(ctx, it.row) }); err != nil {
		b.queue.unreserve(from, it.weight)
		return err
	}
	if !b.running.Load() {
		b.queue.unreserve(from, it.weight) // it is found in the database once there is somebody to look
		return nil
	}
	it.id, it.sender = it.row.ID, from
	b.queue.add(it)
	return nil
}

// beginSync takes a place for an activity that can be done at once. It tells whether that is so.
func (b *inbox) beginSync(it *item, signer store.AccountID, host string) bool {
	select {
	case b.syncSlots <- struct{}{}:
	default:
		return false
	}
	if !b.queue.start(it, signer, host) {
		<-b.syncSlots
		return false
	}
	return true
}

// processSync does an activity that was begun before it is in the database. It gets there only if it could not be done.
func (b *inbox) processSync(ctx context.Context, it *item) error {
	ctx = context.WithoutCancel(ctx)
	it.row.ReceivedAt = store.At(b.s.now())
	if it.err = b.process(WithoutFetching(ctx), it); it.err == nil || IsFinal(it.err) {
		b.finish(ctx, it)
		return nil
	}
	if err := b.s.db.Update(ctx, func(tx *store.Tx) error { return tx.AddQueuedActivity(ctx, it.row) }); err != nil {
		b.queue.done(it)
		b.queue.remove(it)
		return err
	}
	switch {
	case !b.queue.markStored(it):
	case needsFetch(it.err):
		b.queue.moveToSlow(it)
	default:
		b.finish(ctx, it)
	}
	return nil
}

// acquireAllSlots waits until nothing is done at once any more, and nothing will be until releaseAllSlots.
func (b *inbox) acquireAllSlots() {
	for range cap(b.syncSlots) {
		b.syncSlots <- struct{}{}
	}
}

func (b *inbox) releaseAllSlots() {
	for range cap(b.syncSlots) {
		<-b.syncSlots
	}
}

// requestLoad has the database looked through for what is not known in memory.
func (b *inbox) requestLoad() {
	select {
	case b.reload <- struct{}{}:
	default:
	}
}

// run works until ctx ends. What is under way by then and cannot be finished at once is done again the next time.
func (b *inbox) run(ctx context.Context) {
	b.running.Store(true)
	b.releaseAllSlots()
	defer context.AfterFunc(ctx, b.queue.wakeAll)()
	var workers, clerk sync.WaitGroup
	for range fastWorkers {
		workers.Go(func() { b.work(ctx, b.queue.next, b.processFast) })
	}
	for range slowWorkers {
		workers.Go(func() { b.work(ctx, b.queue.nextSlow, b.processSlow) })
	}
	clerk.Go(b.record)
	b.scheduleLoop(ctx)
	b.running.Store(false)
	b.acquireAllSlots()
	workers.Wait()
	close(b.results)
	clerk.Wait()
}

// scheduleLoop finds what was queued before the start, and whatever else only the database knows of, and sees to it that what failed is tried
// again in time.
func (b *inbox) scheduleLoop(ctx context.Context) {
	b.requestLoad()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.reload:
			if err := catchPanic(func() error { return b.load(ctx) }); err != nil && ctx.Err() == nil {
				b.s.log.Error("reading the inbox", "err", err)
				time.AfterFunc(loadRetryInterval, b.requestLoad)
			}
		case <-b.queue.rescheduled:
		case <-timer.C:
		}
		pause := maxPollInterval // at most: the clock may be set
		if next := b.queue.scheduleDue(b.s.now()); !next.IsZero() {
			pause = min(max(next.Sub(b.s.now()), time.Millisecond), maxPollInterval)
		}
		timer.Reset(pause)
	}
}

// load puts into the queue what waits in the database.
func (b *inbox) load(ctx context.Context) error {
	for after := store.QueuedActivityID(0); ; {
		heads, err := b.s.db.QueuedActivityHeaders(ctx, after, loadBatch)
		if err != nil {
			return err
		}
		for _, h := range heads {
			after = h.ID
			host, _ := activity.Host(h.SignerURI, b.s.AllowLoopback)
			b.queue.addStored(h.ID, h.SignerID, registeredDomain(host), h.Size, h.RunAt.Time(), h.Attempts > 0)
		}
		if len(heads) < loadBatch {
			return nil
		}
	}
}

func (b *inbox) work(ctx context.Context, next func(context.Context) *item, do func(context.Context, *item)) {
	for {
		it := next(ctx)
		if it == nil {
			return
		}
		do(ctx, it)
	}
}

// processFast does an activity, unless other servers have to be asked: that is left to those who have time.
func (b *inbox) processFast(ctx context.Context, it *item) {
	if !b.loadContent(ctx, it) || b.queue.requeueIfBlocked(it) {
		return
	}
	if it.err = b.process(WithoutFetching(ctx), it); needsFetch(it.err) {
		b.queue.moveToSlow(it)
		return
	}
	b.finish(ctx, it)
}

// processSlow does an activity and takes the time that it needs.
func (b *inbox) processSlow(ctx context.Context, it *item) {
	if !b.loadContent(ctx, it) {
		return
	}
	it.err = b.process(ctx, it)
	b.finish(ctx, it)
}

// loadContent reads an activity that is not at hand. If that cannot be done it has seen to it, and returns false.
func (b *inbox) loadContent(ctx context.Context, it *item) bool {
	if it.row != nil {
		return true
	}
	row, err := b.s.db.QueuedActivity(ctx, it.id)
	switch {
	case errs.IsNotFound(err): // whose it was is gone, and all of theirs
		b.queue.done(it)
		b.queue.remove(it)
		return false
	case err != nil:
		if ctx.Err() == nil {
			b.s.log.Error("reading the inbox", "err", err)
			b.queue.done(it)
			b.queue.retryLater(it, b.s.now().Add(maxPollInterval))
		}
		return false
	}
	var doc activity.Object
	it.err = catchPanic(func() error {
		doc, err = activity.Parse([]byte(row.Body))
		return err
	})
	b.queue.setContent(it, row, doc)
	if it.err != nil {
		b.finish(ctx, it)
		return false
	}
	return true
}

// catchPanic makes an error of a panic.
func catchPanic(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
	}()
	return fn()
}

// finish has it recorded what became of an activity. What was interrupted stays as it is.
func (b *inbox) finish(ctx context.Context, it *item) {
	if it.err != nil && ctx.Err() != nil {
		return
	}
	if key := it.seenKey(); key != nil {
		b.seen.add(*key)
	}
	b.queue.done(it)
	b.results <- it
}

// process does an activity.
func (b *inbox) process(ctx context.Context, it *item) error {
	ctx, cancel := context.WithTimeout(ctx, activityTimeout)
	defer cancel()
	return catchPanic(func() (err error) {
		if it.signer, err = b.s.accounts.Get(ctx, it.row.SignerID); err != nil {
			return ignoreNotFound(err)
		}
		return b.s.process(ctx, it)
	})
}

// seenKey returns what is to be remembered of an activity so that it is not done again; nil: it may be. Its id must be its actor's: nobody
// is to keep us from hearing what others have to say.
func (it *item) seenKey() *store.SeenKey {
	if it.in == nil || !it.in.idVerified || it.err != nil && !IsFinal(it.err) {
		return nil
	}
	return &it.in.key
}

// processDue does all that is due, one after another.
func (b *inbox) processDue(ctx context.Context) error {
	for {
		rows, err := b.s.db.DueQueuedActivities(ctx, recordBatch)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			it := &item{id: row.ID, row: row}
			if it.doc, it.err = activity.Parse([]byte(row.Body)); it.err == nil {
				it.err = b.process(ctx, it)
			}
			if err := b.writeBatch([]*item{it}); err != nil {
				return err
			}
		}
	}
}

// hostOf returns the host that an account is on, which need not be that of its handle.
func (s *Service) hostOf(a *store.Account) string {
	host, err := activity.Host(a.URI, s.AllowLoopback)
	if err != nil {
		return a.Domain
	}
	return host
}

// contentHash returns what stands for a content.
func contentHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}
