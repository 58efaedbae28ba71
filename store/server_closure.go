package store

import (
	"context"
	"math"
	"time"
)

// CloseServer is the job that sends the Deletes of all local accounts to all known servers. It runs in slices: each enqueues the next one.
type CloseServer struct{}

func (CloseServer) Kind() JobKind {
	return JobKind{Name: "close_server", Timeout: NoTimeout, Parallel: 1}
}

// closeServerKey is the unique key of the job that closes the server.
const closeServerKey = "close_server"

// ServerClosure is the permanent closing of this server.
type ServerClosure struct {
	ID           int64
	BeganAt      Time
	Accounts     int       // whose Deletes are sent
	LastPosition AccountID // the last one of them
	ListedAt     *Time     // when the inboxes were listed; nil: not yet, and no Delete was queued
	FinishedAt   *Time
}

// ClosureInbox is an inbox that receives the Deletes of all local accounts.
type ClosureInbox struct {
	Domain   string
	Inbox    string
	Position AccountID // the last account whose Delete was queued
	Queued   int       // Deletes
}

// ReadyInbox is an inbox whose host has no deliveries in the queue, so that further Deletes can be queued for it.
type ReadyInbox struct {
	Domain      string
	Inbox       string
	Position    AccountID
	Unreachable bool // the host
}

// ClosureProgress counts the servers of a closure by what they were sent.
type ClosureProgress struct {
	Servers   int
	Reached   int // have answered all Deletes
	Unreached int // did not answer one of them within ClosurePatience
	Waiting   int // the others
	Deletes   int // all, one for each inbox and account
	Queued    int // of these
	Live      int // of these, not answered yet
}

const (
	// ClosurePatience is how long a host may be unreachable during the closure until it does not wait for it any more: as long as a delivery is
	// retried.
	ClosurePatience = 48 * time.Hour

	maxLiveCount = 1000 // deliveries of a host that are counted for the progress
)

// ServerClosed returns true once this server is closed permanently. It reads no row.
func (db *DB) ServerClosed() bool { return db.serverClosed.Load() }

// findClosure sets whether the server is closed. A database that cannot be read says that it is not: it cannot be changed either.
func (db *DB) findClosure(ctx context.Context) {
	c, err := db.ServerClosure(ctx)
	db.serverClosed.Store(c != nil && err == nil)
}

// noteClosure follows the beginning and the cancellation of the closure.
func (db *DB) noteClosure(events []Event) {
	for _, e := range events {
		if c, ok := e.(ServerClosureChanged); ok {
			db.serverClosed.Store(c.Closed)
		}
	}
}

// ServerClosure returns the closing of this server, nil if it is not being closed.
func (r reader) ServerClosure(ctx context.Context) (*ServerClosure, error) {
	return one[ServerClosure](ctx, r, "server closure", `SELECT * FROM server_closure WHERE id = 1`)
}

// BeginServerClosure closes the server and enqueues the job that sends the Deletes. It must not be closed yet.
func (tx *Tx) BeginServerClosure(ctx context.Context) error {
	if err := tx.exec(ctx, "begin server closure", `INSERT INTO server_closure (id, began_at) VALUES (1, ?)`, At(tx.db.now())); err != nil {
		return err
	}
	tx.Emit(ServerClosureChanged{Closed: true})
	tx.Emit(InstanceChanged{})
	return tx.ContinueServerClosure(ctx, tx.db.now())
}

// ContinueServerClosure enqueues the next slice of the job.
func (tx *Tx) ContinueServerClosure(ctx context.Context, at time.Time) error {
	return tx.EnqueueUnique(ctx, at, closeServerKey, CloseServer{})
}

// HurryServerClosure makes the next slice of the job due now, if the server is being closed.
func (tx *Tx) HurryServerClosure(ctx context.Context) error {
	if !tx.db.ServerClosed() {
		return nil
	}
	c, err := tx.ServerClosure(ctx)
	if err != nil || c == nil || c.FinishedAt != nil {
		return err
	}
	return tx.ContinueServerClosure(ctx, tx.db.now())
}

// CancelServerClosure opens the server again. No Delete may be queued yet.
func (tx *Tx) CancelServerClosure(ctx context.Context) error {
	if err := tx.exec(ctx, "cancel server closure", `DELETE FROM server_closure`); err != nil {
		return err
	}
	tx.Emit(ServerClosureChanged{})
	tx.Emit(InstanceChanged{})
	if err := tx.exec(ctx, "drop closure inboxes", `DELETE FROM server_closure_inboxes`); err != nil {
		return err
	}
	return tx.DropJob(ctx, closeServerKey)
}

// AddClosureInboxes adds inboxes that receive the Deletes.
func (tx *Tx) AddClosureInboxes(ctx context.Context, to []DeliveryTarget) error {
	rows := make([][2]string, len(to))
	for i, t := range to {
		rows[i] = [2]string{t.Domain, t.Inbox}
	}
	return tx.exec(ctx, "add closure inboxes", `
		INSERT OR IGNORE INTO server_closure_inboxes (domain, inbox)
		SELECT value ->> 0, value ->> 1
		FROM json_each(?)`, JSON[[][2]string]{rows})
}

// closureAccounts selects local accounts that other servers may know: not those that were deleted, whose Deletes were sent, and not those without a
// key, because neither an activity of theirs nor their actor was ever sent. ?1 and ?2 are the ids between which they are; the first is excluded.
const closureAccounts = `
	FROM accounts a INDEXED BY accounts_domain
	WHERE a.domain = '' AND a.id > ?1 AND a.id <= ?2 AND a.deleted_at IS NULL AND EXISTS (
		SELECT 1 FROM actor_keys k WHERE k.account_id = a.id)`

// ListClosure marks the inboxes as listed, and stores how many accounts have Deletes. The last Deletes are those of the last account.
func (tx *Tx) ListClosure(ctx context.Context) error {
	return tx.exec(ctx, "list closure", `
		UPDATE server_closure
		SET listed_at = ?3, accounts = (SELECT count(*) `+closureAccounts+`), last_position = ifnull((SELECT max(a.id) `+closureAccounts+`), 0)`,
		0, int64(math.MaxInt64), At(tx.db.now()))
}

// ClosureAccounts returns local accounts after an id, up to another one, whose Deletes are sent.
func (r reader) ClosureAccounts(ctx context.Context, after, last AccountID, limit int) ([]*Account, error) {
	return list[*Account](ctx, r, "closure accounts", `
		SELECT a.* `+closureAccounts+`
		ORDER BY a.id
		LIMIT ?3`, after, last, limit)
}

// ReadyInboxes returns a page of the inboxes after one that lack Deletes up to an account, and whose hosts have answered all that was queued.
func (r reader) ReadyInboxes(ctx context.Context, after DeliveryTarget, last AccountID, limit int) ([]*ReadyInbox, error) {
	return list[*ReadyInbox](ctx, r, "ready inboxes", `
		SELECT i.domain, i.inbox, i.position, h.unreachable_since IS NOT NULL AS unreachable
		FROM server_closure_inboxes i
		LEFT JOIN hosts h ON h.domain = i.domain
		WHERE (i.domain, i.inbox) > (?1, ?2) AND i.position < ?3 AND NOT EXISTS (
			SELECT 1 FROM deliveries d INDEXED BY deliveries_due WHERE d.domain = i.domain AND d.parked = 0)
		ORDER BY i.domain, i.inbox
		LIMIT ?4`, after.Domain, after.Inbox, last, limit)
}

// AdvanceClosure stores that Deletes up to an account were queued for inboxes: n for each.
func (tx *Tx) AdvanceClosure(ctx context.Context, to []DeliveryTarget, position AccountID, n int) error {
	for _, t := range to {
		if err := tx.exec(ctx, "advance closure", `
			UPDATE server_closure_inboxes
			SET position = ?3, queued = queued + ?4
			WHERE domain = ?1 AND inbox = ?2`, t.Domain, t.Inbox, position, n); err != nil {
			return err
		}
	}
	return nil
}

// ClosureProgress counts how far the closure is.
func (r reader) ClosureProgress(ctx context.Context, c *ServerClosure) (*ClosureProgress, error) {
	return get[ClosureProgress](ctx, r, "closure progress", `
		SELECT count(*) AS servers,
			ifnull(sum(NOT waiting AND NOT unreached), 0) AS reached,
			ifnull(sum(unreached), 0) AS unreached,
			ifnull(sum(waiting AND NOT unreached), 0) AS waiting,
			ifnull(sum(inboxes), 0) * ?5 AS deletes,
			ifnull(sum(queued), 0) AS queued,
			ifnull(sum(min(live, queued)), 0) AS live
		FROM (
			SELECT live, queued, inboxes, position < ?1 OR live > 0 AS waiting,
				since IS NOT NULL AND (max(since, ?2) <= ?3 OR position >= ?1 AND live = 0) OR position >= ?1 AND live = 0 AND parked AS unreached
			FROM (
				SELECT i.domain, min(i.position) AS position, sum(i.queued) AS queued, count(*) AS inboxes, h.unreachable_since AS since,
					(SELECT count(*) FROM (
						SELECT 1 FROM deliveries d INDEXED BY deliveries_due WHERE d.domain = i.domain AND d.parked = 0 LIMIT ?6)) AS live,
					EXISTS (
						SELECT 1 FROM deliveries d INDEXED BY deliveries_parked WHERE d.domain = i.domain AND d.parked = 1 AND d.id >= ?4) AS parked
				FROM server_closure_inboxes i
				LEFT JOIN hosts h ON h.domain = i.domain
				GROUP BY i.domain))`,
		c.LastPosition, c.BeganAt, At(r.db.now().Add(-ClosurePatience)), c.BeganAt.Time().UnixMilli()<<sequenceBits, c.Accounts, maxLiveCount)
}

// FinishServerClosure marks the closure as finished.
func (tx *Tx) FinishServerClosure(ctx context.Context) error {
	return tx.exec(ctx, "finish server closure", `UPDATE server_closure SET finished_at = ?`, At(tx.db.now()))
}

// SignedInAccounts returns some accounts that have tokens.
func (r reader) SignedInAccounts(ctx context.Context, limit int) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "signed-in accounts", `
		SELECT DISTINCT account_id
		FROM oauth_tokens
		WHERE account_id IS NOT NULL
		ORDER BY account_id
		LIMIT ?`, limit)
}
