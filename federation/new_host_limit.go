package federation

import (
	"context"
	"sync"
	"time"

	"svc/internal/activity"
)

const (
	newHostWindow        = 24 * time.Hour
	maxNewHostsPerDomain = 10 // of one registered domain, in that time (federation 3.9)
	maxNewHostDomains    = 5000
)

// newHostLimit are servers that were met of late. Whoever owns a domain has as many host names below it, and ports, as they like: without a
// limit, each could bring accounts of its own. Only those count that had an account: nobody can use up the room of others by making
// names up.
type newHostLimit struct {
	mu      sync.Mutex
	domains map[string]*newHostSet // by registered domain
}

type newHostSet struct {
	since time.Time
	hosts map[string]bool
}

func newNewHostLimit() *newHostLimit { return &newHostLimit{domains: make(map[string]*newHostSet)} }

// allow tells whether there is room for another host of its domain, and takes it if that is wanted.
func (n *newHostLimit) allow(host string, take bool, now time.Time) bool {
	domain := activity.RegisteredDomain(host)
	if domain == host {
		return true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.domains[domain]
	if known == nil || now.Sub(known.since) > newHostWindow {
		known = &newHostSet{since: now, hosts: make(map[string]bool)}
	}
	switch {
	case !known.hosts[host] && len(known.hosts) == maxNewHostsPerDomain:
		return false
	case !take:
		return true
	}
	for other := range n.domains {
		if len(n.domains) < maxNewHostDomains {
			break
		}
		delete(n.domains, other)
	}
	known.hosts[host] = true
	n.domains[domain] = known
	return true
}

// checkNewHost refuses actors of a server that is not known yet, if too many of the same domain have turned up. found says that there is one,
// which makes the server one of those.
func (a *Actors) checkNewHost(ctx context.Context, host string, found bool) error {
	known, err := a.db.IsKnownDomain(ctx, host)
	if err != nil || known {
		return err
	}
	if !a.newHosts.allow(host, found, a.db.Now()) {
		return Refuse("too many servers below the domain of %s have turned up today", host)
	}
	return nil
}
