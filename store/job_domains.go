package store

import (
	"context"
	"net/url"
	"strings"

	"svc/internal/activity"
)

// Bounds of the jobs of one domain. Other servers cause them, so that there could be any number.
const (
	maxJobsPerDomain = 10_000 // waiting
	trimJobsEvery    = 500    // new jobs, on average, between two trims
	trimJobsBatch    = 2 * trimJobsEvery
)

// jobDomain returns the registered domain of the server that a job waits for, "" if it waits for none. What belongs to an account or a status
// is fetched for the server that has it, even from others.
func (tx *Tx) jobDomain(ctx context.Context, p JobPayload) (string, error) {
	switch p := p.(type) {
	case FetchNodeInfo:
		return activity.RegisteredDomain(strings.ToLower(p.Domain)), nil
	case CopyEmoji:
		return domainOf(p.URL), nil
	case SumBannedMedia:
		return domainOf(p.Address), nil
	case FetchProxied:
		if len(p.URLs) == 0 {
			return "", nil
		}
		return domainOf(p.URLs[0]), nil
	case RefreshActor:
		return tx.domainBy(ctx, jobOfAccount, p.AccountID)
	case RefreshCollections:
		return tx.domainBy(ctx, jobOfAccount, p.AccountID)
	case SynchronizeFollowers:
		return tx.domainBy(ctx, jobOfAccount, p.AccountID)
	case FetchReferences:
		return tx.domainBy(ctx, jobOfStatus, p.StatusID)
	case FetchReplies:
		return tx.domainBy(ctx, jobOfStatus, p.StatusID)
	case RefreshPoll:
		return tx.domainBy(ctx, jobOfStatus, p.StatusID)
	case FetchCard:
		return tx.domainBy(ctx, `SELECT url FROM cards WHERE id = ?`, p.CardID)
	case PushNotification:
		return tx.domainBy(ctx, `SELECT endpoint FROM push_subscriptions WHERE id = ?`, p.SubscriptionID)
	}
	return "", nil
}

// The URI of the account that a job is about, and of the author of a status.
const (
	jobOfAccount = `SELECT uri FROM accounts WHERE id = ? AND domain <> ''`
	jobOfStatus  = `
		SELECT a.uri
		FROM statuses s
		CROSS JOIN accounts a ON a.id = s.account_id
		WHERE s.id = ? AND a.domain <> ''`
)

// domainBy returns the registered domain of the address that a query returns, "" if there is no row.
func (tx *Tx) domainBy(ctx context.Context, query string, id any) (string, error) {
	address, err := one[string](ctx, tx.reader, "domain of a job", query, id)
	if err != nil || address == nil {
		return "", err
	}
	return domainOf(*address), nil
}

// domainOf returns the registered domain of an address, "" if it has no host.
func domainOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return activity.RegisteredDomain(strings.ToLower(u.Host))
}

// trimJobs drops the oldest waiting jobs of a domain beyond maxJobsPerDomain.
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
