package federation

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
)

const (
	newcomerTime = 24 * time.Hour
	maxNewHosts  = 10 // of one registered domain, in that time (federation 3.9)
	maxNewcomers = 5000
)

// newcomers are servers that were met of late. Whoever owns a domain has as many host names below it, and ports, as they like: without a
// limit, each could bring accounts of its own. Only those count that had an account: nobody can use up the room of others by making
// names up.
type newcomers struct {
	mu sync.Mutex
	of map[string]*newcomer // by registered domain
}

type newcomer struct {
	since time.Time
	hosts map[string]bool
}

func newNewcomers() *newcomers { return &newcomers{of: make(map[string]*newcomer)} }

// domainOf returns the registered domain of a host. A machine that has no name, as in trials, is one with its port.
func domainOf(host string) string {
	name, _, _ := strings.Cut(host, ":")
	if _, err := netip.ParseAddr(name); err == nil {
		return host
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil {
		return host
	}
	return domain
}

// room tells whether there is room for another host of its domain, and takes it if that is wanted.
func (n *newcomers) room(host string, take bool, now time.Time) bool {
	domain := domainOf(host)
	if domain == host {
		return true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.of[domain]
	if known == nil || now.Sub(known.since) > newcomerTime {
		known = &newcomer{since: now, hosts: make(map[string]bool)}
	}
	switch {
	case !known.hosts[host] && len(known.hosts) == maxNewHosts:
		return false
	case !take:
		return true
	}
	for other := range n.of {
		if len(n.of) < maxNewcomers {
			break
		}
		delete(n.of, other)
	}
	known.hosts[host] = true
	n.of[domain] = known
	return true
}

// mayMeet refuses actors of a server that is not known yet, if too many of the same domain have turned up. found says that there is one,
// which makes the server one of those.
func (s *Service) mayMeet(ctx context.Context, host string, found bool) error {
	known, err := s.db.KnowsDomain(ctx, host)
	if err != nil || known {
		return err
	}
	if !s.met.room(host, found, s.now()) {
		return refuse("too many servers below the domain of %s have turned up today", host)
	}
	return nil
}
