package federation

import (
	"context"
	"sync"
	"time"

	"svc/store"
)

const (
	recordBatch         = 256
	recordDelay         = 10 * time.Millisecond
	recordRetryInterval = time.Minute // after the database could not be written
	maxRecentlySeen     = 8192
)

// record writes down what became of activities until there are no more results: many at a time, because each alone is little. What cannot
// be written now is done again later.
func (b *inbox) record() {
	for it := range b.results {
		for _, it := range b.writeResults(b.collectResults(it)) {
			b.queue.retryLater(it, b.s.now().Add(recordRetryInterval))
		}
	}
}

// collectResults returns a result with those that come soon after it.
func (b *inbox) collectResults(it *item) []*item {
	some := []*item{it}
	enough := time.NewTimer(recordDelay)
	defer enough.Stop()
	for len(some) < recordBatch {
		select {
		case it, ok := <-b.results:
			if !ok {
				return some
			}
			some = append(some, it)
		case <-enough.C:
			return some
		}
	}
	return some
}

// writeResults removes what is done from the database, and puts off what failed. It returns what could not be recorded.
func (b *inbox) writeResults(some []*item) (left []*item) {
	err := b.writeBatch(some)
	if err == nil {
		return nil
	}
	if len(some) == 1 {
		b.s.log.Error("recording what became of an activity", "id", some[0].id, "err", err)
		return some
	}
	for _, it := range some { // one that cannot be recorded keeps no others from it
		if b.writeBatch([]*item{it}) != nil {
			left = append(left, it)
		}
	}
	if len(left) > 0 {
		b.s.log.Error("recording what became of activities", "count", len(left), "err", err)
	}
	return left
}

func (b *inbox) writeBatch(some []*item) error {
	ctx := context.Background()
	off := make([]time.Time, len(some))
	err := catchPanic(func() error {
		return b.s.db.Update(ctx, func(tx *store.Tx) error {
			var ended []store.QueuedActivityID
			var heard []store.SeenKey
			for i, it := range some {
				if it.err != nil {
					at, again, err := b.recordFailure(ctx, tx, it)
					if err != nil {
						return err
					}
					if off[i] = at; again {
						continue
					}
				}
				if key := it.seenKey(); key != nil {
					heard = append(heard, *key)
				}
				if it.row.ID != 0 { // else it was done without having been queued
					ended = append(ended, it.row.ID)
				}
			}
			if err := tx.MarkSeenKeys(ctx, heard); err != nil {
				return err
			}
			return tx.DropQueuedActivities(ctx, ended)
		})
	})
	if err != nil {
		return err
	}
	for i, it := range some {
		switch {
		case it.sender == nil: // settled
		case off[i].IsZero():
			b.queue.remove(it)
		default:
			b.queue.retryLater(it, off[i])
		}
	}
	return nil
}

// recordFailure notes why an activity could not be done. It tells whether the activity is kept to be tried again, and when: at the zero time if
// that is only if somebody wants it.
func (b *inbox) recordFailure(ctx context.Context, tx *store.Tx, it *item) (at time.Time, again bool, err error) {
	id, host := it.doc.ID(), ""
	if it.signer != nil {
		host = b.s.hostOf(it.signer)
	}
	if !IsFinal(it.err) {
		b.s.log.Warn("activity failed", "id", id, "host", host, "attempt", it.row.Attempts+1, "err", it.err)
		at, err = tx.RecordQueuedActivityFailure(ctx, it.row, it.err)
		return at, true, err
	}
	b.s.log.Debug("activity not accepted", "id", id, "host", host, "err", it.err)
	r := &store.Refusal{URI: id, Object: it.doc.Ref("object"), Domain: host, Reason: it.err.Error()}
	return time.Time{}, false, tx.AddRefusal(ctx, r)
}

// seenCache knows the activities that were done last, also those of which that is not recorded yet. It is asked in place of the database by
// those who know that theirs was not heard of a moment ago.
type seenCache struct {
	mu    sync.Mutex
	keys  map[store.SeenKey]struct{}
	ring  []store.SeenKey // the last ones, from now%maxRecentlySeen on round
	added uint64
}

func newSeenCache() *seenCache {
	return &seenCache{keys: make(map[store.SeenKey]struct{}), added: 1}
}

// mark returns what stands for this moment.
func (r *seenCache) mark() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.added
}

func (r *seenCache) add(key store.SeenKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.keys[key]; ok {
		return
	}
	if len(r.ring) < maxRecentlySeen {
		r.ring = append(r.ring, key)
	} else {
		oldest := &r.ring[(r.added-1)%maxRecentlySeen]
		delete(r.keys, *oldest)
		*oldest = key
	}
	r.keys[key] = struct{}{}
	r.added++
}

// has tells whether an activity is one of those, and whether that is all there is to know for who knows of a moment when it was not
// heard of.
func (r *seenCache) has(key store.SeenKey, mark uint64) (heard, certain bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, heard = r.keys[key]
	return heard, heard || mark != 0 && r.added-mark < maxRecentlySeen
}
