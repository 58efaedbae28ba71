package store

import (
	"context"
	"time"
)

// HostQueue is what waits for a host.
type HostQueue struct {
	Domain    string
	Count     int
	FirstID   DeliveryID // the oldest
	RunAt     Time       // when the first of them is due
	Attempts  int        // of the one that was tried most
	LastError string     // of any of them
}

// HostQueues returns what waits for hosts, by host in order of name, from one on; parked: what has been given up instead.
func (r reader) HostQueues(ctx context.Context, parked bool, after string, limit int) ([]*HostQueue, error) {
	if parked {
		return list[*HostQueue](ctx, r, "given up", `
			SELECT domain, count(*) AS count, min(id) AS first_id, min(run_at) AS run_at, max(attempts) AS attempts, max(last_error) AS last_error
			FROM deliveries INDEXED BY deliveries_parked
			WHERE parked = 1 AND domain > ?
			GROUP BY domain
			LIMIT ?`, after, limit)
	}
	return list[*HostQueue](ctx, r, "queued", `
		SELECT domain, count(*) AS count, min(id) AS first_id, min(run_at) AS run_at, max(attempts) AS attempts, max(last_error) AS last_error
		FROM deliveries INDEXED BY deliveries_due
		WHERE parked = 0 AND domain > ?
		GROUP BY domain
		LIMIT ?`, after, limit)
}

// DeliveriesTo returns what waits for a host, and what has been given up, from an id on.
func (r reader) DeliveriesTo(ctx context.Context, domain string, limit int) ([]*Delivery, error) {
	return list[*Delivery](ctx, r, "deliveries to a host", `
		SELECT *
		FROM (SELECT * FROM deliveries INDEXED BY deliveries_parked WHERE parked = 1 AND domain = ?1 ORDER BY id LIMIT ?2)
		UNION ALL
		SELECT *
		FROM (SELECT * FROM deliveries INDEXED BY deliveries_due WHERE parked = 0 AND domain = ?1 LIMIT ?2)
		LIMIT ?2`, domain, limit)
}

// ParkedDeliveries returns what has been given up, the oldest host by host.
func (r reader) ParkedDeliveries(ctx context.Context, limit int) ([]*Delivery, error) {
	return list[*Delivery](ctx, r, "failed deliveries", `
		SELECT *
		FROM deliveries INDEXED BY deliveries_parked
		WHERE parked = 1
		ORDER BY domain, id
		LIMIT ?`, limit)
}

// QueuedActivityCounts tells how much of what has come in is not done with.
type QueuedActivityCounts struct {
	Waiting int // for the first time, or again
	Failed  int // has failed at least once, and is tried again
	Parked  int
}

// QueuedActivityCounts counts up to a number of each.
func (r reader) QueuedActivityCounts(ctx context.Context, most int) (QueuedActivityCounts, error) {
	s, err := one[QueuedActivityCounts](ctx, r, "state of the inbox", `
		SELECT
			(SELECT count(*) FROM (SELECT 1 FROM queued_activities INDEXED BY queued_activities_due WHERE parked = 0 LIMIT ?1)) AS waiting,
			(SELECT count(*) FROM (SELECT 1 FROM queued_activities INDEXED BY queued_activities_due WHERE parked = 0 AND attempts > 0 LIMIT ?1)) AS failed,
			(SELECT count(*) FROM (SELECT 1 FROM queued_activities INDEXED BY queued_activities_parked WHERE parked = 1 LIMIT ?1)) AS parked`, most)
	if err != nil {
		return QueuedActivityCounts{}, err
	}
	return *s, nil
}

// FailedQueuedActivities returns what has come in and failed, the given up first, the oldest of each first. about: what is in it, "" for any;
// then also what has not been tried yet.
func (r reader) FailedQueuedActivities(ctx context.Context, about string, limit int) ([]*QueuedActivity, error) {
	return list[*QueuedActivity](ctx, r, "troubled received", `
		SELECT *
		FROM (SELECT * FROM queued_activities INDEXED BY queued_activities_parked WHERE parked = 1 AND (?1 = '' OR instr(body, ?1) > 0) ORDER BY id LIMIT ?2)
		UNION ALL
		SELECT *
		FROM (
			SELECT *
			FROM queued_activities INDEXED BY queued_activities_due
			WHERE parked = 0 AND iif(?1 = '', attempts > 0, instr(body, ?1) > 0)
			ORDER BY run_at
			LIMIT ?2)
		LIMIT ?2`, about, limit)
}

// Hosts returns the servers that something has been exchanged with, in order of name and from one on.
func (r reader) Hosts(ctx context.Context, after string, limit int) ([]*Host, error) {
	return list[*Host](ctx, r, "hosts", `
		SELECT *
		FROM hosts
		WHERE domain > ?
		ORDER BY domain
		LIMIT ?`, after, limit)
}

// UnreachableHosts returns the servers that cannot be reached, the longest so first.
func (r reader) UnreachableHosts(ctx context.Context, limit int) ([]*Host, error) {
	return list[*Host](ctx, r, "unreachable hosts", `
		SELECT *
		FROM hosts INDEXED BY hosts_unreachable
		WHERE unreachable_since IS NOT NULL
		ORDER BY unreachable_since
		LIMIT ?`, limit)
}

// RetryDelivery has one delivery tried at once, also if it has been given up. It returns the host, "" if there is no such delivery.
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

// retryBatch is how many deliveries are made due in one transaction.
const retryBatch = 2000

// RetryHost has what waits for a host, or has been given up, tried at once, some in one transaction. It returns how many that are;
// fewer than a batch are all.
func (tx *Tx) RetryHost(ctx context.Context, domain string) (n int, more bool, err error) {
	now := At(tx.db.now())
	given, err := tx.exec(ctx, "retry what was given up", `
		UPDATE deliveries
		SET run_at = ?1, attempts = 0, parked = 0
		WHERE id IN (SELECT id FROM deliveries INDEXED BY deliveries_parked WHERE parked = 1 AND domain = ?2 LIMIT ?3)`, now, domain, retryBatch)
	if err != nil {
		return 0, false, err
	}
	put, err := tx.exec(ctx, "retry what was put off", `
		UPDATE deliveries
		SET run_at = ?1
		WHERE id IN (SELECT id FROM deliveries INDEXED BY deliveries_due WHERE parked = 0 AND domain = ?2 AND run_at > ?1 LIMIT ?3)`, now, domain, retryBatch)
	if err != nil {
		return 0, false, err
	}
	return int(given + put), given == retryBatch || put == retryBatch, tx.clearBackoff(ctx, domain)
}

// clearBackoff ends a host's rest.
func (tx *Tx) clearBackoff(ctx context.Context, domain string) error {
	if _, err := tx.exec(ctx, "end of rest", `UPDATE hosts SET backoff_until = 0 WHERE domain = ?`, domain); err != nil {
		return err
	}
	tx.newDeliveries = true
	return tx.ScheduleHosts(ctx, []string{domain})
}

// RetryQueuedActivities has what came in and failed, or was given up, done at once: one of an id, or if that is 0 all, or those that a host has
// sent.
func (tx *Tx) RetryQueuedActivities(ctx context.Context, id QueuedActivityID, domain string) (int, error) {
	now := At(tx.db.now())
	if id != 0 {
		n, err := tx.exec(ctx, "retry received", `
			UPDATE queued_activities
			SET run_at = ?, attempts = 0, parked = 0
			WHERE id = ?`, now, id)
		return int(n), err
	}
	n, err := tx.exec(ctx, "retry all received", `
		UPDATE queued_activities
		SET run_at = ?1, attempts = 0, parked = 0
		WHERE id IN (
			SELECT i.id
			FROM queued_activities i
			CROSS JOIN accounts a ON a.id = i.signer_id
			WHERE i.attempts > 0 AND (?2 = '' OR a.domain = ?2 OR a.uri LIKE '%://' || ?2 || '/%'))`, now, domain)
	return int(n), err
}

// parkedActivityTTL is how long what came in and was given up is kept.
const parkedActivityTTL = 30 * 24 * time.Hour

// PruneQueuedActivities forgets what came in and was given up long ago, some at a time. It tells whether there is more.
func (tx *Tx) PruneQueuedActivities(ctx context.Context) (more bool, err error) {
	n, err := tx.exec(ctx, "prune received", `
		DELETE FROM queued_activities
		WHERE id IN (SELECT id FROM queued_activities INDEXED BY queued_activities_parked WHERE parked = 1 AND id < ? LIMIT ?)`,
		tx.db.now().Add(-parkedActivityTTL).UnixMilli()<<sequenceBits, pruneBatch)
	return n == pruneBatch, err
}
