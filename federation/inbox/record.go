package inbox

import (
	"context"
	"time"

	"svc/internal/errs"
	"svc/store"
)

const (
	recordBatch         = 256
	recordIdle          = 10 * time.Millisecond  // without another result, then the batch is written
	recordDelay         = 200 * time.Millisecond // at most; recordIdle for a queued activity
	recordRetryInterval = time.Minute            // after a result could not be written
)

// record writes results, many in one transaction, until the channel is closed. An activity whose result cannot be written is processed again later.
func (b *Inbox) record() {
	for a := range b.results {
		for _, a := range b.writeResults(b.collectResults(a)) {
			b.queue.retryLater(a, b.c.DB.Now().Add(recordRetryInterval))
		}
	}
}

// collectResults returns a result with those that follow until none comes for recordIdle, within recordDelay. Ids are hashes, so that each is
// written to a page of its own unless the batch is large. A queued activity waits for recordIdle at most: after a crash it is processed again, and
// what undid it meanwhile may be forgotten.
func (b *Inbox) collectResults(first *Activity) []*Activity {
	list := []*Activity{first}
	timer := time.NewTimer(recordIdle)
	defer timer.Stop()
	until := time.Now().Add(recordDelay)
	for a := first; len(list) < recordBatch; list = append(list, a) {
		if idle := time.Now().Add(recordIdle); a.Row.ID != 0 && idle.Before(until) {
			until = idle
		}
		timer.Reset(min(recordIdle, time.Until(until)))
		var ok bool
		select {
		case a, ok = <-b.results:
			if !ok {
				return list
			}
		case <-timer.C:
			return list
		}
	}
	return list
}

// writeResults writes results to the database and returns those that could not be written.
func (b *Inbox) writeResults(list []*Activity) (failed []*Activity) {
	err := b.writeBatch(list)
	if err == nil {
		return nil
	}
	if len(list) == 1 {
		b.c.Log.Error("could not record the result of an activity", "id", list[0].id, "err", err)
		return list
	}
	for _, a := range list { // one of them must not keep the others from being recorded
		if b.writeBatch([]*Activity{a}) != nil {
			failed = append(failed, a)
		}
	}
	if len(failed) > 0 {
		b.c.Log.Error("could not record the results of activities", "count", len(failed), "err", err)
	}
	return failed
}

func (b *Inbox) writeBatch(list []*Activity) error {
	ctx := context.Background()
	retryAt := make([]time.Time, len(list)) // zero: no further attempt
	err := errs.CatchPanic(func() error {
		return b.c.DB.Update(ctx, func(tx *store.Tx) error {
			var ended []store.QueuedActivityID
			var seen []store.SeenID
			for i, a := range list {
				if a.err != nil {
					at, keep, err := b.recordFailure(ctx, tx, a)
					if err != nil {
						return err
					}
					if retryAt[i] = at; keep {
						continue
					}
				}
				if b.isProcessed(a) {
					seen = append(seen, store.SeenID{Key: a.Key, Source: store.ProcessedFrom(b.c.HostOf(a.Actor))})
				}
				if a.Row.ID != 0 { // else it was never queued
					ended = append(ended, a.Row.ID)
				}
			}
			if err := tx.MarkSeen(ctx, seen...); err != nil {
				return err
			}
			return tx.DropQueuedActivities(ctx, ended)
		})
	})
	if err != nil {
		return err
	}
	for i, a := range list {
		b.count(a)
		switch {
		case a.sender == nil: // of ProcessDue, which has no queue
		case retryAt[i].IsZero():
			b.queue.remove(a)
		default:
			b.queue.retryLater(a, retryAt[i])
		}
	}
	return nil
}

// count counts a recorded result.
func (b *Inbox) count(a *Activity) {
	switch {
	case a.err == nil:
		b.counts.processed.Add(1)
	case b.c.IsFinal(a.err):
		b.counts.refused.Add(1)
	default:
		b.counts.failed.Add(1)
	}
}

// recordFailure records why an activity failed. keep is true if it stays in the database: until at, or parked if that is zero.
func (b *Inbox) recordFailure(ctx context.Context, tx *store.Tx, a *Activity) (at time.Time, keep bool, err error) {
	host := ""
	if a.Signer != nil {
		host = b.c.HostOf(a.Signer)
	}
	if !b.c.IsFinal(a.err) {
		b.c.Log.Warn("activity failed", "id", a.Object.ID(), "host", host, "attempt", a.Row.Attempts+1, "err", a.err)
		at, err = tx.RecordQueuedActivityFailure(ctx, a.Row, a.err)
		return at, true, err
	}
	b.c.Log.Debug("activity refused", "id", a.Object.ID(), "host", host, "err", a.err)
	r := &store.Refusal{URI: a.Object.ID(), Object: a.Ref("object"), Domain: host, Reason: a.err.Error()}
	return time.Time{}, false, tx.AddRefusal(ctx, r)
}
