package store

import (
	"context"
	"time"
)

// RecordDeliveryFailure retries a failed delivery at a time, or parks it. Later deliveries about the same subject wait for it.
func (tx *Tx) RecordDeliveryFailure(ctx context.Context, d *Delivery, at time.Time, parked bool, reason string) error {
	n, err := tx.execRows(ctx, "record delivery failure", `
		UPDATE deliveries
		SET attempts = attempts + 1, run_at = ?, parked = ?, last_error = ?
		WHERE id = ?`, At(at), parked, truncate(reason, maxErrorBytes), d.ID)
	if err != nil || n == 0 || parked || d.Subject == 0 {
		return err
	}
	return tx.exec(ctx, "delay later deliveries", `
		UPDATE deliveries INDEXED BY deliveries_subject
		SET run_at = max(run_at, ?)
		WHERE subject = ? AND subject <> 0 AND inbox = ? AND parked = 0 AND id > ?`, At(at), d.Subject, d.Inbox, d.ID)
}

// PruneDeliveries drops a batch of deliveries for hosts that are unreachable for long, and a batch of old parked ones. It returns whether
// there are more.
func (tx *Tx) PruneDeliveries(ctx context.Context) (more bool, err error) {
	now := tx.db.now()
	dead, err := list[string](ctx, tx.reader, "unreachable hosts", `
		SELECT domain
		FROM hosts INDEXED BY hosts_unreachable
		WHERE unreachable_since < ? AND due_at IS NOT NULL
		ORDER BY unreachable_since
		LIMIT ?`, At(now.Add(-dropQueueAfter)), pruneBatch)
	if err != nil {
		return false, err
	}
	of, err := ids[ActivityID](ctx, tx.reader, "prune deliveries", `
		DELETE FROM deliveries
		WHERE id IN (
			SELECT d.id
			FROM json_each(?) j
			CROSS JOIN deliveries d INDEXED BY deliveries_due ON d.domain = j.value AND d.parked = 0
			LIMIT ?)
		RETURNING activity_id`, JSON[[]string]{dead}, pruneBatch)
	if err != nil {
		return false, err
	}
	if err := tx.ScheduleHosts(ctx, dead); err != nil {
		return false, err
	}
	old, err := ids[ActivityID](ctx, tx.reader, "prune parked deliveries", `
		DELETE FROM deliveries
		WHERE id IN (
			SELECT id
			FROM deliveries INDEXED BY deliveries_parked
			WHERE parked = 1 AND id < ?
			LIMIT ?)
		RETURNING activity_id`, now.Add(-parkedTTL).UnixMilli()<<sequenceBits, pruneBatch)
	if err != nil {
		return false, err
	}
	return len(of) == pruneBatch || len(old) == pruneBatch, tx.dropUnusedActivities(ctx, append(of, old...))
}

// RetryDelivery makes a delivery due now, parked or not. It returns the host, "" if there is no such delivery.
func (tx *Tx) RetryDelivery(ctx context.Context, id DeliveryID) (domain string, err error) {
	found, err := one[string](ctx, tx.reader, "retry delivery", `
		UPDATE deliveries
		SET run_at = ?, attempts = iif(parked, 0, attempts), parked = 0
		WHERE id = ?
		RETURNING domain`, At(tx.db.now()), id)
	if found == nil || err != nil {
		return "", err
	}
	return *found, tx.clearBackoff(ctx, *found)
}

// retryBatch is how many deliveries RetryHost makes due in one transaction.
const retryBatch = 2000

// RetryHost makes a batch of the deliveries for a host due now, parked or not. It returns how many, and whether there are more.
func (tx *Tx) RetryHost(ctx context.Context, domain string) (n int, more bool, err error) {
	now := At(tx.db.now())
	given, err := tx.execRows(ctx, "retry parked deliveries", `
		UPDATE deliveries
		SET run_at = ?1, attempts = 0, parked = 0
		WHERE id IN (SELECT id FROM deliveries INDEXED BY deliveries_parked WHERE parked = 1 AND domain = ?2 LIMIT ?3)`, now, domain, retryBatch)
	if err != nil {
		return 0, false, err
	}
	put, err := tx.execRows(ctx, "retry deliveries", `
		UPDATE deliveries
		SET run_at = ?1
		WHERE id IN (SELECT id FROM deliveries INDEXED BY deliveries_due WHERE parked = 0 AND domain = ?2 AND run_at > ?1 LIMIT ?3)`, now, domain, retryBatch)
	if err != nil {
		return 0, false, err
	}
	return int(given + put), given == retryBatch || put == retryBatch, tx.clearBackoff(ctx, domain)
}

// DropDelivery deletes a delivery, parked or not. It returns false if there is none.
func (tx *Tx) DropDelivery(ctx context.Context, id DeliveryID) (bool, error) {
	dropped, err := list[*Delivery](ctx, tx.reader, "drop delivery", `DELETE FROM deliveries WHERE id = ? RETURNING *`, id)
	if err != nil || len(dropped) == 0 {
		return false, err
	}
	if err := tx.dropUnusedActivities(ctx, []ActivityID{dropped[0].ActivityID}); err != nil {
		return false, err
	}
	return true, tx.ScheduleHosts(ctx, []string{dropped[0].Domain})
}

// DropHostDeliveries deletes a batch of the deliveries for a host, parked or not. It returns how many, and whether there are more.
func (tx *Tx) DropHostDeliveries(ctx context.Context, domain string) (n int, more bool, err error) {
	parked, err := ids[ActivityID](ctx, tx.reader, "drop parked deliveries", `
		DELETE FROM deliveries
		WHERE id IN (SELECT id FROM deliveries INDEXED BY deliveries_parked WHERE parked = 1 AND domain = ? LIMIT ?)
		RETURNING activity_id`, domain, retryBatch)
	if err != nil {
		return 0, false, err
	}
	queued, err := ids[ActivityID](ctx, tx.reader, "drop queued deliveries", `
		DELETE FROM deliveries
		WHERE id IN (SELECT id FROM deliveries INDEXED BY deliveries_due WHERE parked = 0 AND domain = ? LIMIT ?)
		RETURNING activity_id`, domain, retryBatch)
	if err != nil {
		return 0, false, err
	}
	if err := tx.ScheduleHosts(ctx, []string{domain}); err != nil {
		return 0, false, err
	}
	n, more = len(parked)+len(queued), len(parked) == retryBatch || len(queued) == retryBatch
	return n, more, tx.dropUnusedActivities(ctx, append(parked, queued...))
}

// clearBackoff ends the backoff of a host.
func (tx *Tx) clearBackoff(ctx context.Context, domain string) error {
	if err := tx.exec(ctx, "clear backoff", `UPDATE hosts SET backoff_until = 0 WHERE domain = ?`, domain); err != nil {
		return err
	}
	tx.newDeliveries = true
	return tx.ScheduleHosts(ctx, []string{domain})
}
