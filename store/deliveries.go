package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Activity is one on its way to others.
type Activity struct {
	ID        ActivityID
	AccountID AccountID // who signs it
	StatusID  *StatusID // the post that it hands over, which must be there still, and its author in service
	Body      string
}

// Delivery is an activity that is to go to an inbox.
type Delivery struct {
	ID         DeliveryID
	ActivityID ActivityID
	Inbox      string
	Domain     string
	Priority   int
	Subject    int64 // what the activity is about; 0: nothing that others could be about
	RunAt      Time
	Attempts   int
	Parked     bool
	LastError  string
}

// DeliveryTarget is an inbox and the host that it is on.
type DeliveryTarget struct{ Inbox, Domain string }

// DeliveryPriority says what goes first of what waits for a host (federation 3.4).
const (
	HighPriority   = iota // follows and their answers, what is addressed to somebody
	StatusPriority        // other posts
	UpdatePriority        // edits, boosts, favourites
	LowPriority           // what goes to everybody: deletions, profiles
)

// Replacement says which activities about the same subject need not be delivered any more once there is another.
type Replacement int

const (
	ReplaceNothing Replacement = iota
	ReplaceChanges             // those that said how it had changed: an edit tells all of it
	ReplaceAll                 // all: it is taken back
)

// OutgoingActivity is an activity with what is to be known to deliver it.
type OutgoingActivity struct {
	Activity // ID may be 0: it is given one
	Priority int
	Subject  int64
	Replaces Replacement
	Targets  []DeliveryTarget
}

// How long a host must have been unreachable so that hardly anything is queued for it any more, and that nothing waits any longer
// (federation 3.5); and how long what was given up is kept.
const (
	limitQueueAfter   = 7 * 24 * time.Hour
	dropQueueAfter    = 30 * 24 * time.Hour
	parkedDeliveryTTL = 30 * 24 * time.Hour
)

// EnqueueDeliveries queues an activity for inboxes. One that waits already is not queued again. For a host that has been unreachable for long one
// delivery waits at most, which tells when it is back.
func (tx *Tx) EnqueueDeliveries(ctx context.Context, d *OutgoingActivity) error {
	if d.ID == 0 {
		d.ID = ActivityID(tx.newID())
	}
	n, err := tx.exec(ctx, "add activity", `
		INSERT OR IGNORE INTO activities (id, account_id, status_id, body)
		VALUES (?, ?, ?, ?)`, d.ID, d.AccountID, d.StatusID, d.Body)
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
	n, err = tx.exec(ctx, "add deliveries", `
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
		_, err := tx.exec(ctx, "drop activity", `DELETE FROM activities WHERE id = ?`, d.ID)
		return err
	}
	tx.newDeliveries = true
	_, err = tx.exec(ctx, "hosts are due", `
		INSERT INTO hosts (domain, due_at)
		SELECT domain, min(run_at)
		FROM deliveries
		WHERE activity_id = ?
		GROUP BY domain
		ON CONFLICT (domain) DO UPDATE SET due_at = max(backoff_until, excluded.due_at)
		WHERE due_at IS NULL OR due_at > max(backoff_until, excluded.due_at)`, d.ID)
	return err
}

// dropReplaced drops what need not be delivered any more to inboxes that get a new activity about the same; also what was given up, so that it
// does not come after that if it is tried once more.
func (tx *Tx) dropReplaced(ctx context.Context, d *OutgoingActivity, to string) error {
	if d.Replaces == ReplaceNothing || d.Subject == 0 {
		return nil
	}
	from := HighPriority
	if d.Replaces == ReplaceChanges {
		from = UpdatePriority
	}
	gone, err := ids[ActivityID](ctx, tx.reader, "replace deliveries", `
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
	return tx.dropUnusedActivities(ctx, gone)
}

// dropUnusedActivities removes those of the activities that wait for nobody any more.
func (tx *Tx) dropUnusedActivities(ctx context.Context, list []ActivityID) error {
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	_, err := tx.exec(ctx, "drop activities", `
		DELETE FROM activities
		WHERE id IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.activity_id = activities.id)`,
		jsonArray(slices.Compact(list)))
	return err
}

// WakeDelivery has it looked again for what is to be delivered.
func (db *DB) WakeDelivery() {
	select {
	case db.deliveryWake <- struct{}{}:
	default:
	}
}

// DueDeliveries returns what waits for hosts and is due, of each in the order in which it is to go and no more than so many. What is about
// something that an earlier one is about is not due before that is delivered.
func (r reader) DueDeliveries(ctx context.Context, domains []string, most int) (map[string][]*Delivery, error) {
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
			LIMIT ?3)`, JSON[[]string]{domains}, At(r.db.now()), most)
	of := make(map[string][]*Delivery, len(domains))
	for _, d := range due {
		of[d.Domain] = append(of[d.Domain], d)
	}
	for _, list := range of {
		slices.SortFunc(list, func(a, b *Delivery) int {
			if a.Priority != b.Priority {
				return a.Priority - b.Priority
			}
			return int(a.ID - b.ID)
		})
	}
	return of, err
}

// Activities returns activities on their way, in no order.
func (r reader) Activities(ctx context.Context, ids []ActivityID) ([]*Activity, error) {
	return list[*Activity](ctx, r, "activities", `
		SELECT a.*
		FROM json_each(?) j
		CROSS JOIN activities a ON a.id = j.value`, jsonArray(ids))
}

// DropDeliveries removes deliveries that are done, or that will never be.
func (tx *Tx) DropDeliveries(ctx context.Context, list []*Delivery) error {
	if len(list) == 0 {
		return nil
	}
	done, of := make([]DeliveryID, len(list)), make([]ActivityID, len(list))
	for i, d := range list {
		done[i], of[i] = d.ID, d.ActivityID
	}
	if _, err := tx.exec(ctx, "drop deliveries", `DELETE FROM deliveries WHERE id IN (SELECT value FROM json_each(?))`, jsonArray(done)); err != nil {
		return err
	}
	return tx.dropUnusedActivities(ctx, of)
}

func (d *Delivery) String() string { return fmt.Sprintf("delivery %d to %s", d.ID, d.Inbox) }

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
