package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Activity is the payload of deliveries.
type Activity struct {
	ID        ActivityID
	AccountID AccountID // the sender
	StatusID  *StatusID // the payload is dropped if this status is deleted or its author becomes unavailable
	Body      string
}

// Delivery is one activity queued for one inbox.
type Delivery struct {
	ID         DeliveryID
	ActivityID ActivityID
	Inbox      string
	Domain     string
	Priority   int
	Subject    int64 // deliveries about one subject go to an inbox one after another; 0: no subject
	RunAt      Time
	Attempts   int
	Parked     bool
	LastError  string
}

// DeliveryTarget is an inbox and its host.
type DeliveryTarget struct{ Inbox, Domain string }

// Priorities of the deliveries for a host (federation 3.4).
const (
	HighPriority   = iota // follows, their answers, and activities for single accounts
	StatusPriority        // other posts
	UpdatePriority        // edits, boosts, favourites
	LowPriority           // what goes to all: deletions, profiles
)

// Replacement says which queued activities about the same subject a new one makes superfluous.
type Replacement int

const (
	ReplaceNothing Replacement = iota
	ReplaceChanges             // earlier changes: an edit has all of them
	ReplaceAll                 // all: the subject is deleted or undone
)

// OutgoingActivity is an activity to queue for inboxes.
type OutgoingActivity struct {
	Activity // a new ID is set if it is 0
	Priority int
	Subject  int64
	Replaces Replacement
	Targets  []DeliveryTarget
}

// limitQueueAfter and dropQueueAfter are how long a host must be unreachable until at most one delivery is queued for it, and until its
// queue is dropped (federation 3.5).
const (
	limitQueueAfter = 7 * 24 * time.Hour
	dropQueueAfter  = 30 * 24 * time.Hour
)

// EnqueueDeliveries queues an activity for inboxes. An activity that is queued already is not queued again. At most one delivery is queued
// for a host that is unreachable for long, which shows when it is reachable again.
func (tx *Tx) EnqueueDeliveries(ctx context.Context, d *OutgoingActivity) error {
	if d.ID == 0 {
		d.ID = ActivityID(tx.newID())
	}
	n, err := tx.execRows(ctx, "add activity", insertActivity.text, insertActivity.args(&d.Activity)...)
	if err != nil || n == 0 {
		return err
	}
	rows := make([][3]any, len(d.Targets))
	for i, to := range d.Targets {
		rows[i] = [3]any{tx.newID(), to.Inbox, to.Domain}
	}
	list, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("add deliveries: %w", err)
	}
	if err := tx.dropReplaced(ctx, d, string(list)); err != nil {
		return err
	}
	now := At(tx.db.now())
	n, err = tx.execRows(ctx, "add deliveries", `
		INSERT OR IGNORE INTO deliveries (id, activity_id, inbox, domain, priority, subject, run_at)
		SELECT j.value ->> 0, ?2, j.value ->> 1, j.value ->> 2, ?3, ?4, max(?5, ifnull((
			SELECT max(e.run_at)
			FROM deliveries e INDEXED BY deliveries_subject
			WHERE e.subject = ?4 AND e.subject <> 0 AND e.inbox = j.value ->> 1 AND e.parked = 0), 0))
		FROM json_each(?1) j
		WHERE NOT EXISTS (
			SELECT 1
			FROM hosts h
			WHERE h.domain = j.value ->> 2 AND h.unreachable_since < ?6 AND EXISTS (
				SELECT 1 FROM deliveries e INDEXED BY deliveries_due WHERE e.domain = h.domain AND e.parked = 0))`,
		string(list), d.ID, d.Priority, d.Subject, now, At(now.Time().Add(-limitQueueAfter)))
	if err != nil {
		return err
	}
	if n == 0 {
		return tx.exec(ctx, "drop activity", `DELETE FROM activities WHERE id = ?`, d.ID)
	}
	tx.newDeliveries = true
	return tx.exec(ctx, "schedule hosts", `
		INSERT INTO hosts (domain, due_at)
		SELECT domain, min(run_at)
		FROM deliveries
		WHERE activity_id = ?
		GROUP BY domain
		ON CONFLICT (domain) DO UPDATE SET due_at = max(backoff_until, excluded.due_at)
		WHERE due_at IS NULL OR due_at > max(backoff_until, excluded.due_at)`, d.ID)
}

// dropReplaced deletes deliveries that a new activity makes superfluous, parked ones too, so that a retry does not deliver them after it.
func (tx *Tx) dropReplaced(ctx context.Context, d *OutgoingActivity, to string) error {
	if d.Replaces == ReplaceNothing || d.Subject == 0 {
		return nil
	}
	from := HighPriority
	if d.Replaces == ReplaceChanges {
		from = UpdatePriority
	}
	dropped, err := ids[ActivityID](ctx, tx.reader, "replace deliveries", `
		DELETE FROM deliveries
		WHERE id IN (
			SELECT e.id
			FROM json_each(?1) j
			CROSS JOIN deliveries e INDEXED BY deliveries_subject ON e.inbox = j.value ->> 1
			WHERE e.subject = ?2 AND e.subject <> 0 AND e.priority >= ?3)
		RETURNING activity_id`, to, d.Subject, from)
	if err != nil {
		return err
	}
	return tx.dropUnusedActivities(ctx, dropped)
}

// dropUnusedActivities deletes those of the activities that have no deliveries.
func (tx *Tx) dropUnusedActivities(ctx context.Context, list []ActivityID) error {
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	return tx.exec(ctx, "drop activities", `
		DELETE FROM activities
		WHERE id IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.activity_id = activities.id)`,
		jsonArray(slices.Compact(list)))
}

// WakeDelivery makes the delivery queue look for due deliveries.
func (db *DB) WakeDelivery() { wake(db.deliveryWake) }

// DueDeliveries returns the due deliveries of each host in the order in which they are sent, at most limit for each. A delivery is not due
// before earlier ones about its subject are delivered.
func (r reader) DueDeliveries(ctx context.Context, domains []string, limit int) (map[string][]*Delivery, error) {
	due, err := list[*Delivery](ctx, r, "due deliveries", `
		SELECT d.*
		FROM json_each(?1) j
		CROSS JOIN deliveries d ON d.id IN (
			SELECT e.id
			FROM deliveries e INDEXED BY deliveries_due
			WHERE e.domain = j.value AND e.parked = 0 AND e.run_at <= ?2 AND (e.subject = 0 OR NOT EXISTS (
				SELECT 1
				FROM deliveries b INDEXED BY deliveries_subject
				WHERE b.subject = e.subject AND b.subject <> 0 AND b.inbox = e.inbox AND b.parked = 0 AND b.id < e.id))
			ORDER BY e.priority, e.id
			LIMIT ?3)`, JSON[[]string]{domains}, At(r.db.now()), limit)
	of := make(map[string][]*Delivery, len(domains))
	for _, d := range due {
		of[d.Domain] = append(of[d.Domain], d)
	}
	for _, list := range of {
		slices.SortFunc(list, func(a, b *Delivery) int {
			return cmp.Or(a.Priority-b.Priority, cmp.Compare(a.ID, b.ID))
		})
	}
	return of, err
}

// Activities returns the activities with the ids, in no order.
func (r reader) Activities(ctx context.Context, ids []ActivityID) ([]*Activity, error) {
	return list[*Activity](ctx, r, "activities", `
		SELECT a.*
		FROM json_each(?) j
		CROSS JOIN activities a ON a.id = j.value`, jsonArray(ids))
}

// DropDeliveries deletes deliveries that succeeded or are superfluous, and activities without deliveries.
func (tx *Tx) DropDeliveries(ctx context.Context, list []*Delivery) error {
	if len(list) == 0 {
		return nil
	}
	done, of := make([]DeliveryID, len(list)), make([]ActivityID, len(list))
	for i, d := range list {
		done[i], of[i] = d.ID, d.ActivityID
	}
	if err := tx.exec(ctx, "drop deliveries", `DELETE FROM deliveries WHERE id IN (SELECT value FROM json_each(?))`, jsonArray(done)); err != nil {
		return err
	}
	return tx.dropUnusedActivities(ctx, of)
}

func (d *Delivery) String() string { return fmt.Sprintf("delivery %d to %s", d.ID, d.Inbox) }

// HostQueue sums up the deliveries for a host.
type HostQueue struct {
	Domain    string
	Count     int
	FirstID   DeliveryID // the oldest
	RunAt     Time       // of the first one
	Attempts  int        // the highest of them
	LastError string     // of any of them
}

// HostQueues returns the queues of hosts after a domain, sorted by domain; if parked is true, of parked deliveries.
func (r reader) HostQueues(ctx context.Context, parked bool, after string, limit int) ([]*HostQueue, error) {
	if parked {
		return list[*HostQueue](ctx, r, "parked deliveries by host", `
			SELECT domain, count(*) AS count, min(id) AS first_id, min(run_at) AS run_at, max(attempts) AS attempts, max(last_error) AS last_error
			FROM deliveries INDEXED BY deliveries_parked
			WHERE parked = 1 AND domain > ?
			GROUP BY domain
			LIMIT ?`, after, limit)
	}
	return list[*HostQueue](ctx, r, "deliveries by host", `
		SELECT domain, count(*) AS count, min(id) AS first_id, min(run_at) AS run_at, max(attempts) AS attempts, max(last_error) AS last_error
		FROM deliveries INDEXED BY deliveries_due
		WHERE parked = 0 AND domain > ?
		GROUP BY domain
		LIMIT ?`, after, limit)
}

// DeliveriesTo returns the deliveries for a host, parked ones first.
func (r reader) DeliveriesTo(ctx context.Context, domain string, limit int) ([]*Delivery, error) {
	return list[*Delivery](ctx, r, "deliveries to a host", `
		SELECT *
		FROM (SELECT * FROM deliveries INDEXED BY deliveries_parked WHERE parked = 1 AND domain = ?1 ORDER BY id LIMIT ?2)
		UNION ALL
		SELECT *
		FROM (SELECT * FROM deliveries INDEXED BY deliveries_due WHERE parked = 0 AND domain = ?1 LIMIT ?2)
		LIMIT ?2`, domain, limit)
}

// DeliveriesAbout returns the queued and parked deliveries about a subject, sorted by inbox.
func (r reader) DeliveriesAbout(ctx context.Context, subject int64, limit int) ([]*Delivery, error) {
	return list[*Delivery](ctx, r, "deliveries about a subject", `
		SELECT *
		FROM deliveries INDEXED BY deliveries_subject
		WHERE subject = ? AND subject <> 0
		ORDER BY inbox
		LIMIT ?`, subject, limit)
}

// ParkedDeliveries returns parked deliveries, sorted by host and id.
func (r reader) ParkedDeliveries(ctx context.Context, limit int) ([]*Delivery, error) {
	return list[*Delivery](ctx, r, "failed deliveries", `
		SELECT *
		FROM deliveries INDEXED BY deliveries_parked
		WHERE parked = 1
		ORDER BY domain, id
		LIMIT ?`, limit)
}
