package store

import (
	"context"
	"time"
)

// Host is another server, as it is known from exchanging things with it.
type Host struct {
	Domain           string
	DueAt            *Time // when the next delivery is to be tried
	Failures         int   // in a row
	BackoffUntil     Time  // nothing is tried before
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

// HostState is what is to be expected of a host.
type HostState int

// The standings of hosts.
const (
	HostReachable HostState = iota // were reached the last time
	HostUntried                    // were never reached, nor tried in vain
	HostFailing                    // failed the last time
)

// DueHosts returns hosts of a standing for which something waits whose time has come, the longest due first.
func (r reader) DueHosts(ctx context.Context, standing HostState, limit int) ([]*Host, error) {
	return list[*Host](ctx, r, "due hosts", `
		SELECT *
		FROM hosts INDEXED BY hosts_due
		WHERE iif(failures > 0, 2, last_success_at IS NULL) = ? AND due_at <= ?
		ORDER BY due_at
		LIMIT ?`, standing, At(r.db.now()), limit)
}

// NextHostDue returns when the next host is due after now, the zero time if none is.
func (r reader) NextHostDue(ctx context.Context) (time.Time, error) {
	var next time.Time
	for _, standing := range []HostState{HostReachable, HostUntried, HostFailing} {
		at, err := one[Time](ctx, r, "next delivery", `
			SELECT due_at
			FROM hosts INDEXED BY hosts_due
			WHERE iif(failures > 0, 2, last_success_at IS NULL) = ? AND due_at > ?
			ORDER BY due_at
			LIMIT 1`, standing, At(r.db.now()))
		if err != nil {
			return next, err
		}
		if at != nil && (next.IsZero() || at.Time().Before(next)) {
			next = at.Time()
		}
	}
	return next, nil
}

// UnreachableDomains returns hosts that could not be reached lately, those first that have been away for longest.
func (r reader) UnreachableDomains(ctx context.Context, limit int) ([]string, error) {
	return list[string](ctx, r, "failing hosts", `
		SELECT domain
		FROM hosts INDEXED BY hosts_unreachable
		WHERE unreachable_since IS NOT NULL
		ORDER BY unreachable_since
		LIMIT ?`, limit)
}

// outageMinimum is how long a host must have been away that all that waits for it is tried at once when it is back.
const outageMinimum = 10 * time.Minute

// HostsReached notes that hosts were reached, or have reached us. What waits for one that had been away is tried at once. When the last
// time was is kept to the hour.
func (tx *Tx) HostsReached(ctx context.Context, domains []string) error {
	if len(domains) == 0 {
		return nil
	}
	now, list := tx.db.now(), JSON[[]string]{domains}
	if _, err := tx.exec(ctx, "bring deliveries forward", `
		UPDATE deliveries
		SET run_at = ?2
		WHERE parked = 0 AND run_at > ?2 AND domain IN (
			SELECT h.domain
			FROM json_each(?1) j
			CROSS JOIN hosts h ON h.domain = j.value
			WHERE h.unreachable_since < ?3)`, list, At(now), At(now.Add(-outageMinimum))); err != nil {
		return err
	}
	n, err := tx.exec(ctx, "hosts reached", `
		INSERT INTO hosts (domain, last_success_at)
		SELECT value, ?2
		FROM json_each(?1)
		WHERE true
		ON CONFLICT (domain) DO UPDATE SET last_success_at = ?2, failures = 0, backoff_until = 0, unreachable_since = NULL, last_error = ''
		WHERE failures > 0 OR unreachable_since IS NOT NULL OR ifnull(last_success_at, 0) < ?2 - ?3`,
		list, At(now), time.Hour.Milliseconds())
	if err != nil || n == 0 {
		return err
	}
	tx.newDeliveries = true
	return tx.ScheduleHosts(ctx, domains)
}

// HostFailed notes that a host could not be reached, or not be talked with, and lets it rest until a time.
func (tx *Tx) HostFailed(ctx context.Context, domain string, until time.Time, reason string) error {
	_, err := tx.exec(ctx, "host failed", `
		INSERT INTO hosts (domain, failures, backoff_until, unreachable_since, last_error)
		VALUES (?1, 1, ?2, ?3, ?4)
		ON CONFLICT (domain) DO UPDATE SET failures = failures + 1, backoff_until = ?2, unreachable_since = ifnull(unreachable_since, ?3), last_error = ?4`,
		domain, At(until), At(tx.db.now()), truncate(reason, 500))
	return err
}

// BackOffHost lets a host rest until a time, at least.
func (tx *Tx) BackOffHost(ctx context.Context, domain string, until time.Time) error {
	_, err := tx.exec(ctx, "rest host", `UPDATE hosts SET backoff_until = max(backoff_until, ?) WHERE domain = ?`, At(until), domain)
	return err
}

// ScheduleHosts sets when hosts are due next: when the first of what waits for one is, but not before it has rested.
func (tx *Tx) ScheduleHosts(ctx context.Context, domains []string) error {
	if len(domains) == 0 {
		return nil
	}
	_, err := tx.exec(ctx, "schedule hosts", `
		UPDATE hosts
		SET due_at = (
			SELECT max(hosts.backoff_until, d.run_at)
			FROM deliveries d INDEXED BY deliveries_time
			WHERE d.domain = hosts.domain AND d.parked = 0
			ORDER BY d.run_at
			LIMIT 1)
		WHERE domain IN (SELECT value FROM json_each(?))`, JSON[[]string]{domains})
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

// SetHostSoftware notes which software a server says it runs, "" if it does not say. When it was asked is noted as well.
func (tx *Tx) SetHostSoftware(ctx context.Context, domain, name, version string) error {
	_, err := tx.exec(ctx, "set host software", `
		INSERT INTO hosts (domain, software, version, checked_at)
		VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (domain) DO UPDATE SET software = iif(?2 = '', software, ?2), version = iif(?2 = '', version, ?3), checked_at = ?4`,
		domain, name, version, At(tx.db.now()))
	return err
}
