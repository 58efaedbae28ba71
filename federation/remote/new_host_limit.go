package remote

import (
	"context"
	"time"

	"svc/internal/activity"
	"svc/internal/limit"
)

const maxNewHostDomains = 5000

var (
	newHostsPerDomain = limit.Rate{Count: 10, Window: 24 * time.Hour} // per registered domain (federation 3.9)
	newHostOnce       = limit.Rate{Count: 1, Window: newHostsPerDomain.Window}
)

// newHostLimit limits the new instances per registered domain and day. The owner of a domain has any number of host names below it, and of
// ports, each of which could have accounts. Only hosts with an account count, so that made-up names do not use up the limit.
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

// allow returns whether another host of its domain is allowed. If count is set, it counts the host.
func (l *newHostLimit) allow(host string, count bool, now time.Time) bool {
	domain := activity.RegisteredDomain(host)
	switch {
	case domain == host, l.hosts.Peek(host, newHostOnce, now).Remaining == 0:
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

// checkNewHost refuses actors of an unknown instance if its domain has reached the limit of new hosts. found means that the actor exists, so
// that the host counts.
func (a *Actors) checkNewHost(ctx context.Context, host string, found bool) error {
	known, err := a.db.IsKnownDomain(ctx, host)
	if err != nil || known {
		return err
	}
	if !a.newHosts.allow(host, found, a.db.Now()) {
		return Refuse("too many new hosts in the domain of %s today", host)
	}
	return nil
}
