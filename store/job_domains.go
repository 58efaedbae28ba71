package store

import (
	"context"
	"net/url"
	"strings"

	"svc/internal/activity"
)

// Bounds of the jobs of one domain. Other servers cause them, so that there could be any number.
const (
	maxJobsPerDomain = 10_000 // queued
	trimJobsEvery    = 500    // new jobs, on average, between two trims
	trimJobsBatch    = 2 * trimJobsEvery
)

// findServer returns the address of the server that a job waits for, "" if it waits for none.
type findServer func(context.Context, *Tx) (address string, err error)

func serverAt(address string) findServer {
	return func(context.Context, *Tx) (string, error) { return address, nil }
}

// serverBy is the server at the address that a query returns, if there is such a row.
func serverBy(query string, id any) findServer {
	return func(ctx context.Context, tx *Tx) (string, error) {
		address, err := one[string](ctx, tx.reader, "server of a job", query, id)
		if err != nil || address == nil {
			return "", err
		}
		return *address, nil
	}
}

// serverOfAccount is the server of a remote account. What belongs to the account is fetched for it, even from others.
func serverOfAccount(id AccountID) findServer {
	return serverBy(`SELECT uri FROM accounts WHERE id = ? AND domain <> ''`, id)
}

// serverOfStatus is the server of the remote author of a status.
func serverOfStatus(id StatusID) findServer {
	return serverBy(`
		SELECT a.uri
		FROM statuses s
		CROSS JOIN accounts a ON a.id = s.account_id
		WHERE s.id = ? AND a.domain <> ''`, id)
}

// domainOf returns the registered domain of an address, "" if it has no host.
func domainOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return activity.RegisteredDomain(strings.ToLower(u.Host))
}

// trimJobs drops the oldest queued jobs of a domain beyond maxJobsPerDomain.
func (tx *Tx) trimJobs(ctx context.Context, domain string) error {
	return tx.exec(ctx, "trim jobs of a domain", `
		DELETE FROM jobs
		WHERE id IN (
			SELECT id
			FROM jobs INDEXED BY jobs_due
			WHERE parked = 0 AND domain = ?
			ORDER BY run_at DESC
			LIMIT ? OFFSET ?)`, domain, trimJobsBatch, maxJobsPerDomain)
}
