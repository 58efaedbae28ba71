package limit

import (
	"context"
	"sync"
	"time"
)

// Pace bounds how many operations of one key run at the same time, and how soon one begins after another. Unlike Slots, it keeps the keys apart
// altogether.
type Pace[K comparable] struct {
	perKey   int
	interval time.Duration

	mu   sync.Mutex
	keys map[K]*paced // in use, or used within interval
}

type paced struct {
	slots chan struct{}
	users int
	next  time.Time // when another operation may begin
}

// maxIdlePaced is how many keys are kept until those that are not in use are dropped.
const maxIdlePaced = 1000

// NewPace returns a Pace of perKey operations at a time for each key, and one in each interval.
func NewPace[K comparable](perKey int, interval time.Duration) *Pace[K] {
	return &Pace[K]{perKey: perKey, interval: interval, keys: make(map[K]*paced)}
}

// Begin waits until an operation of a key may begin, and returns the function that ends it. The error is the cause of ctx.
func (p *Pace[K]) Begin(ctx context.Context, key K) (end func(), err error) {
	k := p.enter(key)
	select {
	case k.slots <- struct{}{}:
	case <-ctx.Done():
		p.leave(k)
		return nil, context.Cause(ctx)
	}
	end = func() {
		<-k.slots
		p.leave(k)
	}
	timer := time.NewTimer(p.turn(k))
	defer timer.Stop()
	select {
	case <-timer.C:
		return end, nil
	case <-ctx.Done():
		end()
		return nil, context.Cause(ctx)
	}
}

func (p *Pace[K]) enter(key K) *paced {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.keys[key]
	if k == nil {
		if len(p.keys) >= maxIdlePaced {
			p.dropIdle()
		}
		k = &paced{slots: make(chan struct{}, p.perKey)}
		p.keys[key] = k
	}
	k.users++
	return k
}

// dropIdle drops the keys that nothing has to wait for.
func (p *Pace[K]) dropIdle() {
	now := time.Now()
	for key, k := range p.keys {
		if k.users == 0 && !k.next.After(now) {
			delete(p.keys, key)
		}
	}
}

func (p *Pace[K]) leave(k *paced) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k.users--
}

// turn takes the next time at which an operation may begin, and returns how long it is until then.
func (p *Pace[K]) turn(k *paced) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	at := now
	if k.next.After(now) {
		at = k.next
	}
	k.next = at.Add(p.interval)
	return at.Sub(now)
}
