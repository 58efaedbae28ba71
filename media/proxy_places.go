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

// Bounds of the transfers that run at the same time. Slow ones have places of their own, so that they do not keep others waiting. Domains
// without a good record have half of the common places at most, because it takes SlowAfter to find out that they are slow.
const (
	maxTransfers       = 24
	transfersPerDomain = 6 // registered domain
	waitingTransfers   = 200
	unknownTransfers   = maxTransfers / 2
	unknownPerDomain   = 1 // until it has shown that it is fast
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

	provenBytes    = 64 << 10 // of a file that arrives fast, before it is complete
	goodDomainTime = 7 * 24 * time.Hour
	maxGoodDomains = 10_000
)

// errAbandoned is the error of a transfer for which no client waits any more.
var errAbandoned = errors.New("no client waits for the file")

// places are the places of transfers.
type places struct {
	common, slow *limit.Slots[string]              // by registered domain; nobody waits for a slow one
	unknown      *limit.Slots[string]              // held in addition to a common one by domains without a good record
	slowDomains  *cache.Expiring[string, struct{}] // their transfers are slow from the beginning
	goodDomains  *cache.Expiring[string, struct{}] // whose last transfer was quick
	quick        time.Duration                     // a transfer that takes less is quick, whatever its rate
}

func newPlaces(slowAfter time.Duration) *places {
	return &places{
		common:  limit.NewSlots[string](maxTransfers, transfersPerDomain, waitingTransfers),
		unknown: limit.NewSlots[string](unknownTransfers, unknownPerDomain, waitingTransfers),
		slow:    limit.NewSlots[string](slowTransfers, slowPerDomain, 0), quick: slowAfter / 2,
		slowDomains: cache.NewExpiring[string, struct{}](maxSlowDomains),
		goodDomains: cache.NewExpiring[string, struct{}](maxGoodDomains),
	}
}

func newClients() *limit.Slots[netip.Addr] {
	return limit.NewSlots[netip.Addr](maxClients, downloadsPerClient, waitingPerClient)
}

// place is the place of a transfer.
type place struct {
	places *places
	domain string
	since  time.Time

	mu      sync.Mutex
	release []func() // of the place, and of the one for unknown domains
	isSlow  bool
	ended   bool
}

func (s *places) isSlow(domain string) bool {
	_, slow := s.slowDomains.Get(domain, time.Now())
	return slow
}

func (s *places) isGood(domain string) bool {
	_, good := s.goodDomains.Get(domain, time.Now())
	return good
}

// take waits for a place. It does not wait if the domain is slow and has no place left.
func (s *places) take(ctx context.Context, domain string) (*place, error) {
	p := &place{places: s, domain: domain}
	if !s.isSlow(domain) {
		if err := p.takeCommon(ctx); err != nil {
			return nil, err
		}
		if s.isSlow(domain) { // by now
			p.releaseAll()
		}
	}
	if len(p.release) == 0 {
		release, err := s.slow.Take(ctx, domain)
		if err != nil {
			return nil, err
		}
		p.release, p.isSlow = []func(){release}, true
	}
	p.since = time.Now()
	return p, nil
}

// takeCommon waits for a common place, and before that for one of those for unknown domains if the domain has no good record. Once it has got
// one, all of its transfers that wait go on.
func (p *place) takeCommon(ctx context.Context) error {
	s := p.places
	if !s.isGood(p.domain) {
		release, err := s.unknown.Take(ctx, p.domain)
		if err != nil {
			return err
		}
		if s.isGood(p.domain) {
			release()
		} else {
			p.release = append(p.release, release)
		}
	}
	release, err := s.common.Take(ctx, p.domain)
	if err != nil {
		p.releaseAll()
		return err
	}
	p.release = append(p.release, release)
	return nil
}

func (p *place) releaseAll() {
	for _, release := range p.release {
		release()
	}
	p.release = nil
}

// prove gives the domain a good record if so many bytes have arrived fast.
func (p *place) prove(received int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isSlow || p.ended || float64(received) < time.Since(p.since).Seconds()*slowRate {
		return
	}
	p.places.goodDomains.Put(p.domain, struct{}{}, goodDomainTime, time.Now())
	if len(p.release) == 2 { // not one of the unknown any more
		p.release[0]()
		p.release = p.release[1:]
	}
}

// moveToSlow gives a slow transfer another place. It returns false if there is none left: the transfer has to end.
func (p *place) moveToSlow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.places.slowDomains.Put(p.domain, struct{}{}, slowDomainTime, time.Now())
	p.places.goodDomains.Delete(p.domain)
	if p.isSlow || p.ended {
		return true
	}
	release, err := p.places.slow.Take(context.Background(), p.domain) // does not wait
	if err != nil {
		return false
	}
	p.releaseAll()
	p.release, p.isSlow = []func(){release}, true
	return true
}

// end gives the place back. The record of the domain is good after a transfer that was complete and quick, and lost after one that was not
// quick, even if it did not take long enough to be moved.
func (p *place) end(complete bool, received int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.releaseAll()
	now := time.Now()
	took := now.Sub(p.since)
	switch quick := took < p.places.quick || float64(received) >= took.Seconds()*slowRate; {
	case !quick:
		p.places.goodDomains.Delete(p.domain)
	case complete && !p.isSlow:
		p.places.goodDomains.Put(p.domain, struct{}{}, goodDomainTime, now)
	}
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
