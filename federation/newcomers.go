package federation

import (
	"context"
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

// newcomers are servers that were met of late. Whoever owns a domain has as many host names below it as they like: without a limit, each
// could bring accounts of its own.
type newcomers struct {
	mu sync.Mutex
	of map[string]*newcomer // by registered domain
}

type newcomer struct {
	since time.Time
	hosts map[string]bool
}

func newNewcomers() *newcomers { return &newcomers{of: make(map[string]*newcomer)} }

// admit tells whether there is room for another host of its domain.
func (n *newcomers) admit(host string, now time.Time) bool {
	name, _, _ := strings.Cut(host, ":")
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil || domain == name {
		return true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.of[domain]
	if known == nil || now.Sub(known.since) > newcomerTime {
		for other := range n.of {
			if len(n.of) < maxNewcomers {
				break
			}
			delete(n.of, other)
		}
		known = &newcomer{since: now, hosts: make(map[string]bool)}
		n.of[domain] = known
	}
	if !known.hosts[host] && len(known.hosts) == maxNewHosts {
		return false
	}
	known.hosts[host] = true
	return true
}

// mayMeet refuses actors of servers that are not known yet, if too many of the same domain have turned up.
func (s *Service) mayMeet(ctx context.Context, host string) error {
	known, err := s.db.KnowsDomain(ctx, host)
	if err != nil || known {
		return err
	}
	if !s.met.admit(host, s.now()) {
		return refuse("too many servers below the domain of %s have turned up today", host)
	}
	return nil
}
