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
	longestSleep = time.Minute
	loadAtOnce   = 1000
	loadPause    = time.Second     // after the database could not be read
	itemTime     = 5 * time.Minute // for one activity
)

// inbox does what has come in. What is queued is on disk before its sender is answered, and stays there until it is done with: a crash
// has it done again, which changes nothing.
type inbox struct {
	s       *Service
	queue   *queue
	running atomic.Bool
	poll    chan struct{} // the database is to be looked through
	results chan *item
	recent  *recent
}

func newInbox(s *Service) *inbox {
	return &inbox{s: s, queue: newQueue(), poll: make(chan struct{}, 1), results: make(chan *item, recordAtOnce), recent: newRecent()}
}

// add queues an activity whose signature was verified. It returns once that is on disk. mark tells when it was not heard of.
func (b *inbox) add(ctx context.Context, doc activity.Object, mark uint64, in Inbound, signer *store.Account) error {
	weight := weightOf(len(in.Body))
	from := b.queue.reserve(signer.ID, domainOf(b.s.hostOf(signer)), weight)
	if from == nil {
		return errFull
	}
	row := &store.Received{SignerID: signer.ID, Body: string(in.Body)}
	if in.Recipient != nil {
		row.RecipientID = &in.Recipient.ID
	}
	if err := b.s.db.Update(ctx, func(tx *store.Tx) error { return tx.AddReceived(ctx, row) }); err != nil {
		b.queue.forgo(from, weight)
		return err
	}
	if !b.running.Load() {
		b.queue.forgo(from, weight) // it is found in the database once there is somebody to look
		return nil
	}
	b.queue.add(&item{id: row.ID, from: from, weight: weight, row: row, doc: doc, mark: mark})
	return nil
}

// look has the database looked through for what is not known in memory.
func (b *inbox) look() {
	select {
	case b.poll <- struct{}{}:
	default:
	}
}

// run works until ctx ends. What is under way by then and cannot be finished at once is done again the next time.
func (b *inbox) run(ctx context.Context) {
	b.running.Store(true)
	defer context.AfterFunc(ctx, b.queue.end)()
	var workers, clerk sync.WaitGroup
	for range quickWorkers {
		workers.Go(func() { b.work(ctx, b.queue.next, b.quickly) })
	}
	for range slowWorkers {
		workers.Go(func() { b.work(ctx, b.queue.nextSlow, b.slowly) })
	}
	clerk.Go(b.record)
	b.feed(ctx)
	b.running.Store(false)
	workers.Wait()
	close(b.results)
	clerk.Wait()
}

// feed finds what was queued before the start, and whatever else only the database knows of, and sees to it that what failed is tried
// again in time.
func (b *inbox) feed(ctx context.Context) {
	b.look()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.poll:
			if err := safely(func() error { return b.load(ctx) }); err != nil && ctx.Err() == nil {
				b.s.log.Error("reading the inbox", "err", err)
				time.AfterFunc(loadPause, b.look)
			}
		case <-b.queue.sooner:
		case <-timer.C:
		}
		pause := longestSleep // at most: the clock may be set
		if next := b.queue.ripen(b.s.now()); !next.IsZero() {
			pause = min(max(next.Sub(b.s.now()), time.Millisecond), longestSleep)
		}
		timer.Reset(pause)
	}
}

// load puts into the queue what waits in the database.
func (b *inbox) load(ctx context.Context) error {
	for after := store.ReceivedID(0); ; {
		heads, err := b.s.db.WaitingReceived(ctx, after, loadAtOnce)
		if err != nil {
			return err
		}
		for _, h := range heads {
			after = h.ID
			host, _ := activity.Host(h.SignerURI, b.s.Trial)
			b.queue.found(h.ID, h.SignerID, domainOf(host), h.Size, h.RunAt.Time(), h.Attempts > 0)
		}
		if len(heads) < loadAtOnce {
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

// quickly does an activity, unless other servers have to be asked: that is left to those who have time.
func (b *inbox) quickly(ctx context.Context, it *item) {
	if !b.read(ctx, it) || b.queue.mustWait(it) {
		return
	}
	if it.err = b.try(withoutAsking(ctx), it); isLater(it.err) {
		b.queue.toSlow(it)
		return
	}
	b.finish(ctx, it)
}

// slowly does an activity and takes the time that it needs.
func (b *inbox) slowly(ctx context.Context, it *item) {
	if !b.read(ctx, it) {
		return
	}
	it.err = b.try(ctx, it)
	b.finish(ctx, it)
}

// read reads an activity that is not at hand. If that cannot be done it has seen to it, and returns false.
func (b *inbox) read(ctx context.Context, it *item) bool {
	if it.row != nil {
		return true
	}
	row, err := b.s.db.ReceivedBy(ctx, it.id)
	switch {
	case errs.IsNotFound(err): // whose it was is gone, and all of theirs
		b.queue.done(it)
		b.queue.forget(it)
		return false
	case err != nil:
		if ctx.Err() == nil {
			b.s.log.Error("reading the inbox", "err", err)
			b.queue.done(it)
			b.queue.putOff(it, b.s.now().Add(longestSleep))
		}
		return false
	}
	var doc activity.Object
	it.err = safely(func() error {
		doc, err = activity.Parse([]byte(row.Body))
		return err
	})
	b.queue.loaded(it, row, doc)
	if it.err != nil {
		b.finish(ctx, it)
		return false
	}
	return true
}

// safely makes an error of a panic.
func safely(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return fn()
}

// finish has it recorded what became of an activity. What was interrupted stays as it is.
func (b *inbox) finish(ctx context.Context, it *item) {
	if it.err != nil && ctx.Err() != nil {
		return
	}
	if key := it.heard(); key != nil {
		b.recent.add(*key)
	}
	b.queue.done(it)
	b.results <- it
}

// try does an activity.
func (b *inbox) try(ctx context.Context, it *item) error {
	ctx, cancel := context.WithTimeout(ctx, itemTime)
	defer cancel()
	return safely(func() (err error) {
		if it.signer, err = b.s.senders.account(ctx, it.row.SignerID); err != nil {
			return ignoreMissing(err)
		}
		return b.s.process(ctx, it)
	})
}

// heard returns what is to be remembered of an activity so that it is not done again; nil: it may be. Its id must be its actor's: nobody
// is to keep us from hearing what others have to say.
func (it *item) heard() *store.HeardKey {
	if it.in == nil || !it.in.certain || it.err != nil && !lasting(it.err) {
		return nil
	}
	return &it.in.key
}

// settle does all that is due, one after another.
func (b *inbox) settle(ctx context.Context) error {
	for {
		rows, err := b.s.db.DueReceived(ctx, recordAtOnce)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			it := &item{id: row.ID, row: row}
			if it.doc, it.err = activity.Parse([]byte(row.Body)); it.err == nil {
				it.err = b.try(ctx, it)
			}
			if err := b.closeAll([]*item{it}); err != nil {
				return err
			}
		}
	}
}

// hostOf returns the host that an account is on, which need not be that of its handle.
func (s *Service) hostOf(a *store.Account) string {
	host, err := activity.Host(a.URI, s.Trial)
	if err != nil {
		return a.Domain
	}
	return host
}

// hashOf returns what stands for a content.
func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}
