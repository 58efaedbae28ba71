package store

import (
	"context"
)

// PurgeInstance is the job that removes everything that is stored of another server.
type PurgeInstance struct {
	Domain string `json:"domain"`
}

func (PurgeInstance) Kind() JobKind {
	return JobKind{Name: "purge_instance", Timeout: NoTimeout, Parallel: 1, Deletes: true}
}

// PurgeInstanceKey is the unique key of the job that purges an instance.
func PurgeInstanceKey(domain string) string { return "purge_instance:" + domain }

// InstancePurge is the progress of a PurgeInstance job.
type InstancePurge struct {
	Domain       string
	RequestedAt  Time
	Accounts     int // when it began
	Statuses     int // the same
	AccountsDone int
	StatusesDone int
	BeganAt      *Time
	FinishedAt   *Time
}

const (
	maxInstancePurges = 1000      // finished ones beyond it are forgotten, the oldest first
	maxPurgeCount     = 1_000_000 // rows that are counted for the progress
	purgeRowBatch     = 100       // rows of one table in one step of an account
)

// InstancePurge returns the last purge of an instance, nil if there was none.
func (r reader) InstancePurge(ctx context.Context, domain string) (*InstancePurge, error) {
	return one[InstancePurge](ctx, r, "instance purge", `SELECT * FROM instance_purges WHERE domain = ?`, domain)
}

// InstancePurges returns the last purges, the newest first.
func (r reader) InstancePurges(ctx context.Context, limit int) ([]*InstancePurge, error) {
	return list[*InstancePurge](ctx, r, "instance purges", `SELECT * FROM instance_purges ORDER BY requested_at DESC LIMIT ?`, limit)
}

// AddInstancePurge enqueues the purge of an instance. It returns false if one is queued already.
func (tx *Tx) AddInstancePurge(ctx context.Context, domain string) (bool, error) {
	p, err := tx.InstancePurge(ctx, domain)
	if err != nil || p != nil && p.FinishedAt == nil {
		return false, err
	}
	if err := tx.exec(ctx, "drop instance purges", `
		DELETE FROM instance_purges
		WHERE domain IN (
			SELECT domain
			FROM instance_purges
			WHERE finished_at IS NOT NULL
			ORDER BY requested_at DESC
			LIMIT -1 OFFSET ?)`, maxInstancePurges); err != nil {
		return false, err
	}
	if err := tx.exec(ctx, "add instance purge", `
		INSERT OR REPLACE INTO instance_purges (domain, requested_at)
		VALUES (?, ?)`, domain, At(tx.db.now())); err != nil {
		return false, err
	}
	return true, tx.EnqueueUnique(ctx, tx.db.now(), PurgeInstanceKey(domain), PurgeInstance{Domain: domain})
}

// CountInstance returns how many accounts and statuses of an instance are stored, each up to a million.
func (r reader) CountInstance(ctx context.Context, domain string) (accounts, statuses int, err error) {
	accounts, err = value[int](ctx, r, "count accounts of an instance", `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM accounts a INDEXED BY accounts_domain
			WHERE a.domain = ?
			LIMIT ?)`, domain, maxPurgeCount)
	if err != nil {
		return 0, 0, err
	}
	statuses, err = value[int](ctx, r, "count statuses of an instance", `
		SELECT count(*)
		FROM (
			SELECT 1
			FROM accounts a INDEXED BY accounts_domain
			CROSS JOIN statuses s INDEXED BY statuses_account ON s.account_id = a.id
			WHERE a.domain = ?
			LIMIT ?)`, domain, maxPurgeCount)
	return accounts, statuses, err
}

// BeginInstancePurge stores what there is to do. One that began before keeps its counts.
func (tx *Tx) BeginInstancePurge(ctx context.Context, domain string, accounts, statuses int) error {
	return tx.exec(ctx, "begin instance purge", `
		UPDATE instance_purges
		SET accounts = ?2, statuses = ?3, began_at = ?4
		WHERE domain = ?1 AND began_at IS NULL`, domain, accounts, statuses, At(tx.db.now()))
}

// CountPurged adds the numbers of removed rows to the progress of a purge.
func (tx *Tx) CountPurged(ctx context.Context, domain string, accounts, statuses int) error {
	return tx.exec(ctx, "count purged", `
		UPDATE instance_purges
		SET accounts_done = accounts_done + ?2, statuses_done = statuses_done + ?3
		WHERE domain = ?1`, domain, accounts, statuses)
}

// EndInstancePurge removes the state of deliveries of a host, unless something was queued for it meanwhile, and marks its purge as finished.
func (tx *Tx) EndInstancePurge(ctx context.Context, domain string) error {
	if err := tx.exec(ctx, "remove host", `
		DELETE FROM hosts
		WHERE domain = ?1 AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.domain = ?1)`, domain); err != nil {
		return err
	}
	return tx.exec(ctx, "end instance purge", `UPDATE instance_purges SET finished_at = ? WHERE domain = ?`, At(tx.db.now()), domain)
}

// AccountsOfDomain returns accounts of a domain after an id, in the order of ids.
func (r reader) AccountsOfDomain(ctx context.Context, domain string, after AccountID, limit int) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "accounts of domain", `
		SELECT id
		FROM accounts INDEXED BY accounts_domain
		WHERE domain = ? AND id > ?
		ORDER BY id
		LIMIT ?`, domain, after, limit)
}

// RemoteMediaOf returns remote attachments of an account after an id, in the order of ids.
func (r reader) RemoteMediaOf(ctx context.Context, id AccountID, after MediaID, limit int) ([]*Media, error) {
	return list[*Media](ctx, r, "remote media of account", `
		SELECT *
		FROM media INDEXED BY media_account
		WHERE account_id = ? AND id > ?
		ORDER BY id
		LIMIT ?`, id, after, limit)
}

// RemoveDeliveriesTo drops a batch of the deliveries to a host with the payloads that nobody else gets. It returns whether there may be
// more.
func (tx *Tx) RemoveDeliveriesTo(ctx context.Context, domain string) (more bool, err error) {
	n := 0
	for _, query := range []string{
		`DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries INDEXED BY deliveries_due WHERE domain = ? AND parked = 0 LIMIT ?) RETURNING activity_id`,
		`DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries INDEXED BY deliveries_parked WHERE domain = ? AND parked = 1 LIMIT ?) RETURNING activity_id`,
	} {
		of, err := ids[ActivityID](ctx, tx.reader, "remove deliveries to host", query, domain, purgeRowBatch)
		if err != nil {
			return false, err
		}
		if err := tx.dropUnusedActivities(ctx, of); err != nil {
			return false, err
		}
		n = max(n, len(of))
	}
	return n == purgeRowBatch, tx.ScheduleHosts(ctx, []string{domain})
}

// RemoveStatus is DeleteStatus without a tombstone, so that the status can be fetched again.
func (tx *Tx) RemoveStatus(ctx context.Context, s *Status) ([]*Status, error) {
	return tx.removeStatus(ctx, s)
}

// PurgeAccountRows deletes a batch of the rows that belong to an account or are about it, as DB.PurgeAccount does. It returns whether there
// may be more.
func (tx *Tx) PurgeAccountRows(ctx context.Context, id AccountID) (more bool, err error) {
	for _, query := range purges {
		n, err := tx.execRows(ctx, "purge rows of account", query, id, purgeRowBatch)
		if err != nil || n == purgeRowBatch {
			return n == purgeRowBatch, err
		}
	}
	n, err := tx.execRows(ctx, "purge media of account", `
		DELETE FROM media
		WHERE id IN (SELECT id FROM media INDEXED BY media_account WHERE account_id = ? LIMIT ?)`, id, purgeRowBatch)
	return n == purgeRowBatch, err
}

// accountKeepers has a row if something refers to the account that must not vanish with it: a reply of another author, a report, a relay.
const accountKeepers = `
	SELECT 1 FROM statuses WHERE in_reply_to_account_id = ?1
	UNION ALL
	SELECT 1 FROM reports WHERE account_id = ?1
	UNION ALL
	SELECT 1 FROM reports WHERE target_id = ?1
	UNION ALL
	SELECT 1 FROM relays WHERE account_id = ?1
	LIMIT 1`

// RemovePurgedAccount removes the row of a remote account whose other rows were purged. If a reply or a report refers to it, the row stays as
// that of a deleted account, without its profile.
func (tx *Tx) RemovePurgedAccount(ctx context.Context, id AccountID) error {
	kept, err := tx.exists(ctx, accountKeepers, id)
	if err != nil {
		return err
	}
	if !kept {
		return tx.RemoveAccount(ctx, id)
	}
	if err := tx.MarkAccountDeleted(ctx, id); err != nil {
		return err
	}
	return tx.RemoveActor(ctx, id)
}

// IsRelayActor returns true if an account is the actor of a relay.
func (r reader) IsRelayActor(ctx context.Context, id AccountID) (bool, error) {
	return r.exists(ctx, `SELECT 1 FROM relays WHERE account_id = ?`, id)
}
