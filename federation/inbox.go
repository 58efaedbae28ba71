package federation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"svc/internal/activity"
	"svc/store"
)

const (
	lanes        = 4      // activities that are done at the same time, those of one actor one after another
	laneLength   = 256    // that wait in memory for one lane; more wait in the database only
	slowWorkers  = 8      // activities that wait for other servers at the same time
	slowLength   = 512    // that wait in memory for these
	maxWaiting   = 50_000 // that wait in the database: others are asked to try again later
	forgetEvery  = 10 * time.Millisecond
	longestSleep = time.Minute
)

// inbox does what has come in, in the order in which it came from each actor. What is queued is in the database; what there is
// room for is handed over in memory, too.
type inbox struct {
	s       *Service
	seed    maphash.Seed
	running atomic.Bool
	lanes   [lanes]chan *item
	slow    chan *item
	wake    chan struct{} // something waits in the database only
	done    chan *item

	mu    sync.Mutex
	taken map[store.ReceivedID]bool // handed over, or under way

	waiting atomic.Int64 // about how many are in the database
}

// item is an activity that has come in, with what was found out about it on the way.
type item struct {
	row    *store.Received
	doc    activity.Object // nil: not read yet
	signer *store.Account  // likewise
	err    error
}

func newInbox(s *Service) *inbox {
	in := &inbox{
		s: s, seed: maphash.MakeSeed(), taken: make(map[store.ReceivedID]bool),
		slow: make(chan *item, slowLength), wake: make(chan struct{}, 1), done: make(chan *item, laneLength),
	}
	for i := range in.lanes {
		in.lanes[i] = make(chan *item, laneLength)
	}
	return in
}

// add queues an activity whose signature was verified. It returns once that is on disk.
func (b *inbox) add(ctx context.Context, doc activity.Object, in Inbound, signer *store.Account) error {
	row := &store.Received{SignerID: signer.ID, Body: string(in.Body)}
	if in.Recipient != nil {
		row.RecipientID = &in.Recipient.ID
	}
	if b.waiting.Load() >= maxWaiting {
		return errFull
	}
	err := b.s.db.Update(ctx, func(tx *store.Tx) error {
		err := tx.AddReceived(ctx, row)
		b.take(row.ID) // before anybody can see the row
		return err
	})
	if err != nil {
		b.release(row.ID)
		return err
	}
	b.waiting.Add(1)
	if !b.running.Load() || !b.offer(b.lane(signer), &item{row: row, doc: doc, signer: signer}) {
		b.release(row.ID)
		b.poll()
	}
	return nil
}

func (b *inbox) lane(signer *store.Account) chan *item {
	var text [8]byte
	for i := range text {
		text[i] = byte(signer.ID >> (8 * i))
	}
	return b.lanes[maphash.Bytes(b.seed, text[:])%lanes]
}

// offer hands an item over if there is room.
func (b *inbox) offer(to chan *item, it *item) bool {
	select {
	case to <- it:
		return true
	default:
		return false
	}
}

// poll has somebody look for what waits in the database only.
func (b *inbox) poll() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take marks an activity as being seen to; it tells whether nobody did yet.
func (b *inbox) take(id store.ReceivedID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.taken[id] {
		return false
	}
	b.taken[id] = true
	return true
}

func (b *inbox) release(id store.ReceivedID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.taken, id)
}

// run works until ctx ends, then waits for what is under way.
func (b *inbox) run(ctx context.Context) {
	if n, err := b.s.db.CountReceived(ctx, maxWaiting); err == nil {
		b.waiting.Store(int64(n))
	}
	b.running.Store(true)
	var workers, clerk sync.WaitGroup
	for _, lane := range b.lanes {
		workers.Go(func() { b.work(ctx, lane, b.quickly) })
	}
	for range slowWorkers {
		workers.Go(func() { b.work(ctx, b.slow, b.slowly) })
	}
	clerk.Go(b.record)
	b.feed(ctx)
	b.running.Store(false)
	workers.Wait()
	close(b.done)
	clerk.Wait()
}

// feed hands over what waits in the database until ctx ends.
func (b *inbox) feed(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		case <-timer.C:
		}
		pause, err := b.handOver(ctx)
		if err != nil && ctx.Err() == nil {
			b.s.log.Error("reading the inbox", "err", err)
		}
		timer.Reset(pause)
	}
}

// handOver hands over what is due. It returns how long nothing else will be.
func (b *inbox) handOver(ctx context.Context) (time.Duration, error) {
	rows, err := b.s.db.DueReceived(ctx, 2*lanes*laneLength+slowLength)
	if err != nil {
		return longestSleep, err
	}
	for _, row := range rows {
		if !b.take(row.ID) {
			continue
		}
		it := &item{row: row}
		if err := b.read(ctx, it); err != nil {
			it.err = err
			b.done <- it
			continue
		}
		to := b.lane(it.signer)
		if row.Attempts > 0 {
			to = b.slow
		}
		select {
		case to <- it:
		case <-ctx.Done():
			b.release(row.ID)
			return 0, ctx.Err()
		}
	}
	next, err := b.s.db.NextReceived(ctx)
	if err != nil || next.IsZero() {
		return longestSleep, err
	}
	return min(max(next.Sub(b.s.now()), time.Millisecond), longestSleep), nil
}

// read reads the document of an item and who has signed it.
func (b *inbox) read(ctx context.Context, it *item) (err error) {
	if it.doc == nil {
		if it.doc, err = activity.Parse([]byte(it.row.Body)); err != nil {
			return err
		}
	}
	if it.signer == nil {
		it.signer, err = b.s.db.Account(ctx, it.row.SignerID)
	}
	return err
}

func (b *inbox) work(ctx context.Context, from chan *item, do func(context.Context, *item)) {
	for {
		select {
		case <-ctx.Done():
			return
		case it := <-from:
			do(ctx, it)
		}
	}
}

// quickly does an activity, unless other servers have to be asked: that is left to those who have time.
func (b *inbox) quickly(ctx context.Context, it *item) {
	it.err = b.try(withoutAsking(ctx), it)
	if isLater(it.err) {
		if !b.offer(b.slow, it) {
			b.release(it.row.ID) // it is in the database
			b.poll()
		}
		return
	}
	b.finish(ctx, it)
}

// slowly does an activity and takes the time that it needs.
func (b *inbox) slowly(ctx context.Context, it *item) {
	it.err = b.try(ctx, it)
	b.finish(ctx, it)
}

// finish has it recorded what became of an item. What was interrupted stays as it is.
func (b *inbox) finish(ctx context.Context, it *item) {
	if it.err != nil && ctx.Err() != nil {
		b.release(it.row.ID)
		return
	}
	b.done <- it
}

const itemTime = 5 * time.Minute

func (b *inbox) try(ctx context.Context, it *item) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			b.s.log.Error("panic in an activity", "id", it.doc.ID(), "panic", p, "stack", string(debug.Stack()))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, itemTime)
	defer cancel()
	return b.s.process(ctx, it.doc, it.row, it.signer)
}

// record writes down what became of activities: many at a time, because each alone is little.
func (b *inbox) record() {
	var some []*item
	timer := time.NewTimer(forgetEvery)
	defer timer.Stop()
	for open := true; open; {
		select {
		case it, ok := <-b.done:
			if open = ok; ok {
				some = append(some, it)
			}
			if len(some) < laneLength && ok {
				continue
			}
		case <-timer.C:
			timer.Reset(forgetEvery)
		}
		if len(some) > 0 {
			b.close(some)
			some = nil
		}
	}
}

// close removes what is done from the database, and puts off what failed.
func (b *inbox) close(some []*item) {
	ctx := context.Background()
	err := b.s.db.Update(ctx, func(tx *store.Tx) error {
		for _, it := range some {
			if err := b.closeOne(ctx, tx, it); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.s.log.Error("recording what became of activities", "err", err)
	}
	for _, it := range some {
		b.release(it.row.ID)
	}
}

func (b *inbox) closeOne(ctx context.Context, tx *store.Tx, it *item) error {
	id, host := it.doc.ID(), ""
	if it.signer != nil {
		host = it.signer.Domain
	}
	switch {
	case it.err == nil:
	case lasting(it.err):
		b.s.log.Debug("activity not accepted", "id", id, "host", host, "err", it.err)
		r := &store.Refusal{URI: id, Object: it.doc.Ref("object"), Domain: host, Reason: it.err.Error()}
		if err := tx.Refuse(ctx, r); err != nil {
			return err
		}
	default:
		b.s.log.Warn("activity failed", "id", id, "host", host, "attempt", it.row.Attempts+1, "err", it.err)
		return tx.PutOffReceived(ctx, it.row, it.err)
	}
	if id != "" {
		if _, err := tx.Hear(ctx, id); err != nil {
			return err
		}
	}
	b.waiting.Add(-1)
	return tx.DropReceived(ctx, it.row.ID)
}

// settle does all that is due, one after another.
func (b *inbox) settle(ctx context.Context) error {
	for {
		rows, err := b.s.db.DueReceived(ctx, laneLength)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			it := &item{row: row}
			if it.err = b.read(ctx, it); it.err == nil {
				it.err = b.try(ctx, it)
			}
			b.close([]*item{it})
		}
	}
}

// hashOf returns what stands for a content.
func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}
