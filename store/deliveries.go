package store

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Activity is one on its way to others.
type Activity struct {
	ID        ActivityID
	AccountID AccountID // who signs it
	StatusID  *StatusID // the post that it hands over, which must be there still
	Body      string
}

// Delivery is an activity that is to go to an inbox.
type Delivery struct {
	ID         DeliveryID
	ActivityID ActivityID
	Inbox      string
	Domain     string
	Priority   int
	RunAt      Time
	Attempts   int
	Parked     bool
	LastError  string
}

// Destination is an inbox and the host that it is on.
type Destination struct{ Inbox, Domain string }

// DeliveryPriority says what goes first of what waits for a host (federation 3.4).
const (
	FirstPriority  = iota // follows and their answers, what is addressed to somebody
	PostPriority          // other posts
	ChangePriority        // edits, boosts, favourites
	LastPriority          // what goes to everybody: deletions, profiles
)

// hostGone is how long a host must have been unreachable that nothing is queued for it any more (federation 3.5).
const hostGone = 7 * 24 * time.Hour

// Dispatch queues an activity for inboxes, those of hosts left out that have been unreachable for long. An activity that is there
// already is not queued again.
func (tx *Tx) Dispatch(ctx context.Context, a *Activity, priority int, to []Destination) error {
	now := At(tx.db.now())
	n, err := tx.exec(ctx, "add activity", `
		INSERT OR IGNORE INTO activities (id, account_id, status_id, body)
		VALUES (?, ?, ?, ?)`, a.ID, a.AccountID, a.StatusID, a.Body)
	if err != nil || n == 0 {
		return err
	}
	queued := 0
	for _, d := range to {
		n, err := tx.exec(ctx, "add delivery", `
			INSERT OR IGNORE INTO deliveries (id, activity_id, inbox, domain, priority, run_at)
			SELECT ?1, ?2, ?3, ?4, ?5, ?6
			WHERE NOT EXISTS (SELECT 1 FROM hosts WHERE domain = ?4 AND unreachable_since < ?7)`,
			tx.newID(), a.ID, d.Inbox, d.Domain, priority, now, At(now.Time().Add(-hostGone)))
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		queued++
		if _, err := tx.exec(ctx, "host is due", `
			INSERT INTO hosts (domain, due_at)
			VALUES (?1, ?2)
			ON CONFLICT (domain) DO UPDATE SET due_at = max(rest_until, ?2)
			WHERE due_at IS NULL OR due_at > max(rest_until, ?2)`, d.Domain, now); err != nil {
			return err
		}
	}
	if queued == 0 {
		_, err := tx.exec(ctx, "drop activity", `DELETE FROM activities WHERE id = ?`, a.ID)
		return err
	}
	tx.newDeliveries = true
	return nil
}

// WakePost has it looked again for what is to be delivered.
func (db *DB) WakePost() {
	select {
	case db.post <- struct{}{}:
	default:
	}
}

// HasStatus tells whether a status is there.
func (r reader) HasStatus(ctx context.Context, id StatusID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM statuses WHERE id = ?`, id)
}

// DueHosts returns hosts for which something waits whose time has come, the longest due first.
func (r reader) DueHosts(ctx context.Context, limit int) ([]*Host, error) {
	return list[*Host](ctx, r, "due hosts", `
		SELECT *
		FROM hosts INDEXED BY hosts_due
		WHERE due_at <= ?
		ORDER BY due_at
		LIMIT ?`, At(r.db.now()), limit)
}

// NextDelivery returns when the next host is due after now, the zero time if none is.
func (r reader) NextDelivery(ctx context.Context) (time.Time, error) {
	at, err := one[Time](ctx, r, "next delivery", `
		SELECT due_at
		FROM hosts INDEXED BY hosts_due
		WHERE due_at > ?
		ORDER BY due_at
		LIMIT 1`, At(r.db.now()))
	if at == nil || err != nil {
		return time.Time{}, err
	}
	return at.Time(), nil
}

// DueDeliveries returns what waits for a host, in the order in which it is to go.
func (r reader) DueDeliveries(ctx context.Context, domain string, limit int) ([]*Delivery, error) {
	return list[*Delivery](ctx, r, "due deliveries", `
		SELECT *
		FROM deliveries INDEXED BY deliveries_due
		WHERE domain = ? AND parked = 0 AND run_at <= ?
		ORDER BY priority, id
		LIMIT ?`, domain, At(r.db.now()), limit)
}

// Activities returns activities on their way, in no order.
func (r reader) Activities(ctx context.Context, ids []ActivityID) ([]*Activity, error) {
	return list[*Activity](ctx, r, "activities", `
		SELECT a.*
		FROM json_each(?) j
		CROSS JOIN activities a ON a.id = j.value`, jsonArray(ids))
}

// DropDelivery removes a delivery that is done, or that will never be.
func (tx *Tx) DropDelivery(ctx context.Context, d *Delivery) error {
	if _, err := tx.exec(ctx, "drop delivery", `DELETE FROM deliveries WHERE id = ?`, d.ID); err != nil {
		return err
	}
	_, err := tx.exec(ctx, "drop activity", `
		DELETE FROM activities
		WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM deliveries WHERE activity_id = ?1)`, d.ActivityID)
	return err
}

// PutOffDelivery has a delivery that failed tried again at a time, or parks it.
func (tx *Tx) PutOffDelivery(ctx context.Context, d *Delivery, at time.Time, parked bool, reason string) error {
	_, err := tx.exec(ctx, "put off delivery", `
		UPDATE deliveries
		SET attempts = attempts + 1, run_at = ?, parked = ?, last_error = ?
		WHERE id = ?`, At(at), parked, truncate(reason, 500), d.ID)
	return err
}

// Host is another server, as it is known from exchanging things with it.
type Host struct {
	Domain           string
	DueAt            *Time // when the next delivery is to be tried
	Failures         int   // in a row
	RestUntil        Time  // nothing is tried before
	UnreachableSince *Time
	LastSuccessAt    *Time
	LastError        string
	Signature        string // cavage, rfc9421 or neither; "": not known
	PathOnly         bool   // it wants signatures without the query
	SignatureAt      Time
	Software         string
	Version          string
	CheckedAt        Time
}

// Host returns what is known of a server, one of which nothing is known if that is so.
func (r reader) Host(ctx context.Context, domain string) (*Host, error) {
	h, err := one[Host](ctx, r, "host", `SELECT * FROM hosts WHERE domain = ?`, domain)
	if h == nil && err == nil {
		h = &Host{Domain: domain}
	}
	return h, err
}

// HostReached notes that a host was reached, or has reached us: what waits for it is tried at once. When the last time was is kept to
// the hour.
func (tx *Tx) HostReached(ctx context.Context, domain string) error {
	now := At(tx.db.now())
	n, err := tx.exec(ctx, "host reached", `
		INSERT INTO hosts (domain, last_success_at)
		VALUES (?1, ?2)
		ON CONFLICT (domain) DO UPDATE SET last_success_at = ?2, failures = 0, rest_until = 0, unreachable_since = NULL, last_error = '',
			due_at = iif(rest_until > ?2 AND due_at IS NOT NULL, ?2, due_at)
		WHERE failures > 0 OR unreachable_since IS NOT NULL OR ifnull(last_success_at, 0) < ?2 - ?3`,
		domain, now, time.Hour.Milliseconds())
	tx.newDeliveries = tx.newDeliveries || n > 0
	return err
}

// HostFailed notes that a host could not be reached, and lets it rest until a time.
func (tx *Tx) HostFailed(ctx context.Context, domain string, until time.Time, reason string) error {
	_, err := tx.exec(ctx, "host failed", `
		INSERT INTO hosts (domain, failures, rest_until, unreachable_since, last_error)
		VALUES (?1, 1, ?2, ?3, ?4)
		ON CONFLICT (domain) DO UPDATE SET failures = failures + 1, rest_until = ?2, unreachable_since = ifnull(unreachable_since, ?3), last_error = ?4`,
		domain, At(until), At(tx.db.now()), truncate(reason, 500))
	return err
}

// ScheduleHost sets when a host is due next: when the first of what waits for it is, but not before it has rested.
func (tx *Tx) ScheduleHost(ctx context.Context, domain string) error {
	_, err := tx.exec(ctx, "schedule host", `
		UPDATE hosts
		SET due_at = (
			SELECT max(hosts.rest_until, min(d.run_at))
			FROM deliveries d INDEXED BY deliveries_due
			WHERE d.domain = hosts.domain AND d.parked = 0
			HAVING count(*) > 0)
		WHERE domain = ?`, domain)
	return err
}

// SetHostSignature notes which signatures a host accepts.
func (tx *Tx) SetHostSignature(ctx context.Context, domain, signature string, pathOnly bool) error {
	_, err := tx.exec(ctx, "set host signature", `
		INSERT INTO hosts (domain, signature, path_only, signature_at)
		VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (domain) DO UPDATE SET signature = ?2, path_only = ?3, signature_at = ?4`, domain, signature, pathOnly, At(tx.db.now()))
	return err
}

// FollowerInboxes returns where an account's followers elsewhere take what goes to many, each inbox once.
func (r reader) FollowerInboxes(ctx context.Context, id AccountID) ([]string, error) {
	all, err := list[string](ctx, r, "inboxes of followers", `
		SELECT iif(x.shared_inbox <> '', x.shared_inbox, x.inbox)
		FROM follows f INDEXED BY follows_remote
		CROSS JOIN actors x ON x.account_id = f.follower_id
		WHERE f.target_id = ? AND f.pending = 0 AND f.follower_local = 0`, id)
	slices.Sort(all)
	return slices.Compact(all), err
}

// KnownInboxes returns where all servers that accounts are known of take what is for everybody.
func (r reader) KnownInboxes(ctx context.Context, limit int) ([]string, error) {
	return list[string](ctx, r, "known inboxes", `
		SELECT DISTINCT shared_inbox
		FROM actors INDEXED BY actors_shared
		WHERE shared_inbox <> ''
		LIMIT ?`, limit)
}

func (d *Delivery) String() string { return fmt.Sprintf("delivery %d to %s", d.ID, d.Inbox) }
