package remote

import (
	"context"
	"net/http"
	"slices"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
	"svc/internal/limit"
)

// Limits on fetching keys that do not exist (federation 2.3). Anyone can send requests that name keys on any server.
const (
	maxKeyFailureEntries   = 10_000
	maxKeyFetches          = 32 // at a time, half of all requests
	maxKeyFetchesPerDomain = 6  // at a time, per registered domain
	maxQueuedKeyFetches    = 200
)

var (
	keyFailuresPerSource = limit.Rate{Count: 30, Window: 5 * time.Minute}
	keyFailuresPerDomain = limit.Rate{Count: 100, Window: 5 * time.Minute}
)

// keyFetchLimit counts failed key fetches by the source of the request and by the registered domain of the key.
type keyFetchLimit struct{ failures *limit.Window[keyLimitName] }

// keyLimitName is either a source or a registered domain.
type keyLimitName struct{ source, domain string }

func newKeyFetchLimit() *keyFetchLimit {
	return &keyFetchLimit{limit.NewWindow[keyLimitName](maxKeyFailureEntries)}
}

// exceeded returns whether keys may not be fetched for a source or from a domain for now.
func (l *keyFetchLimit) exceeded(source, domain string, now time.Time) bool {
	return l.failures.Peek(keyLimitName{source: source}, keyFailuresPerSource, now).Remaining == 0 ||
		l.failures.Peek(keyLimitName{domain: domain}, keyFailuresPerDomain, now).Remaining == 0
}

// add counts a failed fetch. source is empty if it is not known.
func (l *keyFetchLimit) add(source, domain string, now time.Time) {
	if source != "" {
		l.failures.Allow(keyLimitName{source: source}, keyFailuresPerSource, now)
	}
	if domain != "" {
		l.failures.Allow(keyLimitName{domain: domain}, keyFailuresPerDomain, now)
	}
}

// allowOnce returns false if a key was allowed within interval.
func allowOnce[K comparable](w *limit.Window[K], key K, interval time.Duration, now time.Time) bool {
	_, ok := w.Allow(key, limit.Rate{Count: 1, Window: interval}, now)
	return ok
}

// sourceKey is the context key of the source of a request.
type sourceKey struct{}

// WithSource returns a context for a request from a source, such as a network address.
func WithSource(ctx context.Context, source string) context.Context {
	return context.WithValue(ctx, sourceKey{}, source)
}

func sourceOf(ctx context.Context) string {
	source, _ := ctx.Value(sourceKey{}).(string)
	return source
}

const maxNewHostDomains = 5000

var (
	newHostsPerDomain = limit.Rate{Count: 10, Window: 24 * time.Hour} // per registered domain (federation 3.9)
	newHostOnce       = limit.Rate{Count: 1, Window: newHostsPerDomain.Window}
)

// newHostLimit limits the new instances per registered domain and day, because its owner can create any number of hosts and accounts. Only
// hosts with an account count, so that nonexistent names do not exhaust the limit.
type newHostLimit struct {
	hosts   *limit.Window[string] // counted in domains
	domains *limit.Window[string]
}

func newNewHostLimit() *newHostLimit {
	return &newHostLimit{
		hosts:   limit.NewWindow[string](maxNewHostDomains * newHostsPerDomain.Count),
		domains: limit.NewWindow[string](maxNewHostDomains),
	}
}

// isExempt returns whether a host is allowed whatever the limit says: it is the domain itself, or was counted.
func (l *newHostLimit) isExempt(host string, now time.Time) bool {
	return activity.RegisteredDomain(host) == host || l.hosts.Peek(host, newHostOnce, now).Remaining == 0
}

// allow returns whether another host of its domain is allowed. If count is set, it counts the host.
func (l *newHostLimit) allow(host string, count bool, now time.Time) bool {
	domain := activity.RegisteredDomain(host)
	switch {
	case l.isExempt(host, now):
		return true
	case !count:
		return l.domains.Peek(domain, newHostsPerDomain, now).Remaining > 0
	}
	_, ok := l.domains.Allow(domain, newHostsPerDomain, now)
	if ok {
		l.hosts.Allow(host, newHostOnce, now)
	}
	return ok
}

// wait returns how long no other host of the domain of a host is allowed.
func (l *newHostLimit) wait(host string, now time.Time) time.Duration {
	return l.domains.Peek(activity.RegisteredDomain(host), newHostsPerDomain, now).Reset.Sub(now)
}

// checkNewHost refuses actors of an unknown instance for now if its domain has reached the limit of new hosts. If found is set, the actor
// exists and the host counts.
func (a *Actors) checkNewHost(ctx context.Context, host string, found bool) error {
	now := a.db.Now()
	if a.newHosts.isExempt(host, now) || slices.Contains(a.Settings.Load().Federation.SharedDomains, activity.RegisteredDomain(host)) {
		return nil
	}
	known, err := a.db.IsKnownDomain(ctx, host)
	if err != nil || known {
		return err
	}
	if !a.newHosts.allow(host, found, now) {
		return &errs.Error{
			Status: http.StatusTooManyRequests, RetryAfter: a.newHosts.wait(host, now),
			Message: "Too many new servers of the domain " + activity.RegisteredDomain(host) + " within a day: try again later",
		}
	}
	return nil
}
