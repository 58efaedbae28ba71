package store

import (
	"context"
	"time"
)

// clockSlack is how far the clock may be set back without a change to the queues.
const clockSlack = time.Minute

// followClock notices that the clock was set back, also while the server was stopped. Jobs, deliveries and incoming activities that were queued
// with the time before would wait until the clock has come there again.
func (g *guard) followClock() {
	now := g.db.now().Round(0) // without the monotonic reading, which goes on when the clock is set back
	back := g.clock.Sub(now)
	if back > 0 && back <= clockSlack {
		return
	}
	g.clock = now
	if back < 0 {
		return
	}
	g.db.log.Warn("the clock was set back: jobs and deliveries that were queued before are due now", "by", back.Round(time.Second).String())
	g.db.background.Go(func() {
		err := g.db.Update(AllowWhenFull(context.Background()), func(tx *Tx) error { return tx.advanceQueues(context.Background(), now) })
		if err != nil && g.db.closing.Err() == nil {
			g.db.log.Error("jobs and deliveries that were queued before the clock was set back are late by as much", "err", err)
		}
		wake(g.db.clockSetBack)
		g.db.wakeWorker()
		wake(g.db.deliveryWake)
	})
}

// advanceQueues makes the jobs, deliveries and activities due that were queued after now, and those that have failed before, because their
// next attempts may be late by the same time. A job that was queued for a later time stays. Its id does not tell, because ids of jobs go on
// from the newest one.
func (tx *Tx) advanceQueues(ctx context.Context, now time.Time) error {
	for _, query := range []string{`
		UPDATE jobs
		SET run_at = ?1
		WHERE run_at > ?1 AND parked = 0 AND (attempts > 0 OR delayed = 0)`, `
		UPDATE deliveries
		SET run_at = ?1
		WHERE run_at > ?1 AND parked = 0 AND (attempts > 0 OR id > ?2)`, `
		UPDATE queued_activities
		SET run_at = ?1
		WHERE run_at > ?1 AND parked = 0 AND (attempts > 0 OR id > ?2)`,
	} {
		if err := tx.exec(ctx, "advance queues", query, At(now), now.UnixMilli()<<sequenceBits); err != nil {
			return err
		}
	}
	return tx.exec(ctx, "advance hosts", `UPDATE hosts SET due_at = ?1, backoff_until = min(backoff_until, ?1) WHERE due_at > ?1`, At(now))
}
