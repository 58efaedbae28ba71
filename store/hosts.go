package store

import (
	"context"
	"time"
)

// Host is another server: the state of deliveries to it, accepted signatures, software.
type Host struct {
	Domain           string
	DueAt            *Time // of the next delivery
	Failures         int   // consecutive
	BackoffUntil     Time  // no delivery before
	UnreachableSince *Time
	LastSuccessAt    *Time
	LastError        string
	Signature        string // cavage, rfc9421 or neither; "": not known
	PathOnly         bool   // it wants signatures without the query
	SignatureAt      Time
	Software         string
	Version          string
	CheckedAt        Time
	Ed25519          Ed25519Support
	Ed25519At        Time
}

// Ed25519Support is whether a host accepts RFC 9421 signatures by Ed25519 keys.
type Ed25519Support string

const (
	VerifiesEd25519 Ed25519Support = "verifies" // it says so, or has made one
	RefusesEd25519  Ed25519Support = "refuses"
)

// Host returns the row of a host, an empty one if there is none.
func (r reader) Host(ctx context.Context, domain string) (*Host, error) {
	h, err := one[Host](ctx, r, "host", `SELECT * FROM hosts WHERE domain = ?`, domain)
	if h == nil && err == nil {
		h = &Host{Domain: domain}
	}
	return h, err
}

// HostState is the result of the last attempts to reach a host.
type HostState int

const (
	HostReachable HostState = iota // the last attempt succeeded
	HostUntried                    // there was no attempt yet
	HostFailing                    // the last attempt failed
)

// DueHosts returns the hosts of a state that have due deliveries, longest due first.
func (r reader) DueHosts(ctx context.Context, standing HostState, limit int) ([]*Host, error) {
	return list[*Host](ctx, r, "due hosts", `
		SELECT *
		FROM hosts INDEXED BY hosts_due
		WHERE iif(failures > 0, 2, last_success_at IS NULL) = ? AND due_at <= ?
		ORDER BY due_at
		LIMIT ?`, standing, At(r.db.now()), limit)
}

// NextHostDue returns when the next host becomes due, the zero time if none does.
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

// outageMinimum is how long a host must be unreachable so that all deliveries for it are due when it is reachable again.
const outageMinimum = 10 * time.Minute

// HostsReached records that hosts were reached or sent a request. Deliveries that wait for the end of a host's backoff become due, and after an
// outage all of them. LastSuccessAt is exact to the hour.
func (tx *Tx) HostsReached(ctx context.Context, domains []string) error {
	if len(domains) == 0 {
		return nil
	}
	now, list := tx.db.now(), JSON[[]string]{domains}
	if err := tx.exec(ctx, "make deliveries due", `
		UPDATE deliveries
		SET run_at = ?2
		WHERE parked = 0 AND run_at > ?2 AND domain IN (SELECT value FROM json_each(?1)) AND (
			SELECT h.unreachable_since < ?3 OR deliveries.run_at <= h.backoff_until
			FROM hosts h
			WHERE h.domain = deliveries.domain)`, list, At(now), At(now.Add(-outageMinimum))); err != nil {
		return err
	}
	n, err := tx.execRows(ctx, "hosts reached", `
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

// HostFailed records that a host could not be reached or answered with an error, and sets its backoff. unreachable says that it counts as not
// reachable from now on, if it does not already.
func (tx *Tx) HostFailed(ctx context.Context, domain string, until time.Time, unreachable bool, reason string) error {
	var since *Time
	if unreachable {
		since = new(At(tx.db.now()))
	}
	return tx.exec(ctx, "host failed", `
		INSERT INTO hosts (domain, failures, backoff_until, unreachable_since, last_error)
		VALUES (?1, 1, ?2, ?3, ?4)
		ON CONFLICT (domain) DO UPDATE SET failures = failures + 1, backoff_until = ?2, unreachable_since = ifnull(unreachable_since, ?3), last_error = ?4`,
		domain, At(until), since, truncate(reason, maxErrorBytes))
}

// BackOffHost extends the backoff of a host.
func (tx *Tx) BackOffHost(ctx context.Context, domain string, until time.Time) error {
	return tx.exec(ctx, "back off host", `UPDATE hosts SET backoff_until = max(backoff_until, ?) WHERE domain = ?`, At(until), domain)
}

// ScheduleHosts sets when hosts are due: when the first delivery is, but not before the end of the backoff.
func (tx *Tx) ScheduleHosts(ctx context.Context, domains []string) error {
	if len(domains) == 0 {
		return nil
	}
	return tx.exec(ctx, "schedule hosts", `
		UPDATE hosts
		SET due_at = (
			SELECT max(hosts.backoff_until, d.run_at)
			FROM deliveries d INDEXED BY deliveries_time
			WHERE d.domain = hosts.domain AND d.parked = 0
			ORDER BY d.run_at
			LIMIT 1)
		WHERE domain IN (SELECT value FROM json_each(?))`, JSON[[]string]{domains})
}

// SetHostSignature stores which signatures a host accepts.
func (tx *Tx) SetHostSignature(ctx context.Context, domain, signature string, pathOnly bool) error {
	return tx.exec(ctx, "set host signature", `
		INSERT INTO hosts (domain, signature, path_only, signature_at)
		VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (domain) DO UPDATE SET signature = ?2, path_only = ?3, signature_at = ?4`, domain, signature, pathOnly, At(tx.db.now()))
}

// SetHostEd25519 stores whether a host accepts signatures by Ed25519 keys.
func (tx *Tx) SetHostEd25519(ctx context.Context, domain string, support Ed25519Support) error {
	return tx.exec(ctx, "set host support of Ed25519", `
		INSERT INTO hosts (domain, ed25519, ed25519_at)
		VALUES (?1, ?2, ?3)
		ON CONFLICT (domain) DO UPDATE SET ed25519 = ?2, ed25519_at = ?3`, domain, support, At(tx.db.now()))
}

// Hosts returns hosts after a domain, sorted by domain.
func (r reader) Hosts(ctx context.Context, after string, limit int) ([]*Host, error) {
	return list[*Host](ctx, r, "hosts", `
		SELECT *
		FROM hosts
		WHERE domain > ?
		ORDER BY domain
		LIMIT ?`, after, limit)
}

// HostsByDomain returns the hosts with one of the domains that are known.
func (r reader) HostsByDomain(ctx context.Context, domains []string) (map[string]*Host, error) {
	rows, err := list[*Host](ctx, r, "hosts by domain", `
		SELECT h.*
		FROM json_each(?) j
		CROSS JOIN hosts h ON h.domain = j.value`, JSON[[]string]{domains})
	of := make(map[string]*Host, len(rows))
	for _, h := range rows {
		of[h.Domain] = h
	}
	return of, err
}

// UnreachableHosts returns the unreachable hosts, longest outage first.
func (r reader) UnreachableHosts(ctx context.Context, limit int) ([]*Host, error) {
	return list[*Host](ctx, r, "unreachable hosts", `
		SELECT *
		FROM hosts INDEXED BY hosts_unreachable
		WHERE unreachable_since IS NOT NULL
		ORDER BY unreachable_since
		LIMIT ?`, limit)
}

// SetHostSoftware stores the software that a host runs and when it was asked; "": it did not say.
func (tx *Tx) SetHostSoftware(ctx context.Context, domain, name, version string) error {
	return tx.exec(ctx, "set host software", `
		INSERT INTO hosts (domain, software, version, checked_at)
		VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (domain) DO UPDATE SET software = iif(?2 = '', software, ?2), version = iif(?2 = '', version, ?3), checked_at = ?4`,
		domain, name, version, At(tx.db.now()))
}
