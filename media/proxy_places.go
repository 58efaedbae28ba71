package media

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"svc/internal/cache"
	"svc/internal/limit"
)

// Bounds of the transfers that run at the same time. Slow ones have places of their own, so that they do not keep others waiting.
const (
	maxTransfers       = 24
	transfersPerDomain = 6 // registered domain
	waitingTransfers   = 200
	slowTransfers      = 12
	slowPerDomain      = 3

	// MaxTransfers is how many requests the proxy makes at the same time.
	MaxTransfers = maxTransfers + slowTransfers

	downloadsPerClient = 8   // files that a client's network receives while they are fetched
	waitingPerClient   = 100 // requests for more of them
	maxClients         = 4096

	slowRate       = 16 << 10 // bytes per second; a transfer below that is slow
	slowDomainTime = 10 * time.Minute
	maxSlowDomains = 10_000
)

// errAbandoned is the error of a transfer for which no client waits any more.
var errAbandoned = errors.New("no client waits for the file")

// places are the places of transfers.
type places struct {
	common, slow *limit.Slots[string]              // by registered domain; nobody waits for a slow one
	slowDomains  *cache.Expiring[string, struct{}] // their transfers are slow from the beginning
}

func newPlaces() *places {
	return &places{
		common: limit.NewSlots[string](maxTransfers, transfersPerDomain, waitingTransfers),
		slow:   limit.NewSlots[string](slowTransfers, slowPerDomain, 0), slowDomains: cache.NewExpiring[string, struct{}](maxSlowDomains),
	}
}

func newClients() *limit.Slots[netip.Addr] {
	return limit.NewSlots[netip.Addr](maxClients, downloadsPerClient, waitingPerClient)
}

// place is the place of a transfer.
type place struct {
	places *places
	domain string

	mu      sync.Mutex
	release func()
	isSlow  bool
	ended   bool
}

// take waits for a place. It does not wait if the domain is slow and has no place left.
func (s *places) take(ctx context.Context, domain string) (p *place, err error) {
	p = &place{places: s, domain: domain}
	slots := s.common
	if _, p.isSlow = s.slowDomains.Get(domain, time.Now()); p.isSlow {
		slots = s.slow
	}
	if p.release, err = slots.Take(ctx, domain); err != nil {
		return nil, err
	}
	return p, nil
}

// moveToSlow gives a slow transfer another place. It returns false if there is none left: the transfer has to end.
func (p *place) moveToSlow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.places.slowDomains.Put(p.domain, struct{}{}, slowDomainTime, time.Now())
	if p.isSlow || p.ended {
		return true
	}
	release, err := p.places.slow.Take(context.Background(), p.domain) // does not wait
	if err != nil {
		return false
	}
	p.release()
	p.release, p.isSlow = release, true
	return true
}

func (p *place) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.release()
}

// watchRate moves a transfer to a slow place if it falls below slowRate, and ends it if there is none. It returns when the transfer ends.
func (p *Proxy) watchRate(ctx context.Context, d *download, at *place) {
	ticker := time.NewTicker(p.SlowAfter)
	defer ticker.Stop()
	for last := int64(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		received, _, _, _ := d.state()
		if received-last < int64(p.SlowAfter.Seconds()*slowRate) {
			if !at.moveToSlow() {
				d.cancel(errTooSlow)
			}
			return
		}
		last = received
	}
}

// abandonLater ends a transfer after a while if no client waits for it then. p.mu is held.
func (p *Proxy) abandonLater(d *download) {
	time.AfterFunc(p.AbandonAfter, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if d.users == 1 && !d.background && p.downloads[d.key] == d {
			delete(p.downloads, d.key) // the next request starts another
			d.cancel(errAbandoned)
		}
	})
}
