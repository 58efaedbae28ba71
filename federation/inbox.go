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

// inbox does what has come in: at once where that is quickly done and nobody has to wait for it, and from a queue else. What is queued is
// on disk before its sender is answered, and stays there until it is done with: a crash has it done again, which changes nothing.
type inbox struct {
	s       *Service
	queue   *queue
	running atomic.Bool
	poll    chan struct{} // the database is to be looked through
	results chan *item
	recent  *recent
	places  chan struct{} // of those who do something before its sender is answered: all are taken while nobody works
}

func newInbox(s *Service) *inbox {
	b := &inbox{
		s: s, queue: newQueue(), poll: make(chan struct{}, 1), results: make(chan *item, recordAtOnce), recent: newRecent(),
		places: make(chan struct{}, atOnce),
	}
	b.takePlaces()
	return b
}

// add has an activity done whose signature was verified: at once, or else it is queued. It returns once what it has done, or that it is
// queued, is on disk.
func (b *inbox) add(ctx context.Context, it *item, h *handling, signer *store.Account) error {
	domain := domainOf(b.s.hostOf(signer))
	it.weight = weightOf(len(it.row.Body))
	if h.brief && b.begin(it, signer.ID, domain) {
		defer func() { <-b.places }()
		return b.atOnce(ctx, it)
	}
	from := b.queue.reserve(signer.ID, domain, it.weight)
	if from == nil {
		return errFull
	}
	if err := b.s.db.Update(ctx, func(tx *store.Tx) error { return tx.AddReceived(ctx, it.row) }); err != nil {
		b.queue.forgo(from, it.weight)
		return err
	}
	if !b.running.Load() {
		b.queue.forgo(from, it.weight) // it is found in the database once there is somebody to look
		return nil
	}
	it.id, it.from = it.row.ID, from
	b.queue.add(it)
	return nil
}

// begin takes a place for an activity that can be done at once. It tells whether that is so.
func (b *inbox) begin(it *item, signer store.AccountID, host string) bool {
	select {
	case b.places <- struct{}{}:
	default:
		return false
	}
	if !b.queue.begin(it, signer, host) {
		<-b.places
		return false
	}
	return true
}

// atOnce does an activity that was begun before it is in the database. It gets there only if it could not be done.
func (b *inbox) atOnce(ctx context.Context, it *item) error {
	ctx = context.WithoutCancel(ctx)
	it.row.ReceivedAt = store.At(b.s.now())
	if it.err = b.try(withoutAsking(ctx), it); it.err == nil || lasting(it.err) {
		b.finish(ctx, it)
		return nil
	}
	if err := b.s.db.Update(ctx, func(tx *store.Tx) error { return tx.AddReceived(ctx, it.row) }); err != nil {
		b.queue.done(it)
		b.queue.forget(it)
		return err
	}
	switch {
	case !b.queue.enter(it):
	case isLater(it.err):
		b.queue.toSlow(it)
	default:
		b.finish(ctx, it)
	}
	return nil
}

// takePlaces waits until nothing is done at once any more, and nothing will be until givePlaces.
func (b *inbox) takePlaces() {
	for range cap(b.places) {
		b.places <- struct{}{}
	}
}

func (b *inbox) givePlaces() {
	for range cap(b.places) {
		<-b.places
	}
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
	b.givePlaces()
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
	b.takePlaces()
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
