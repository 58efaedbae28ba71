package federation

import (
	"context"
	"sync"
	"time"
)

// Limits of what can be had done by who names keys (federation 2.3): a stranger needs none of their own to have us ask anybody.
const (
	vainTime      = 5 * time.Minute
	vainOfSource  = 30  // keys that were asked for in vain because of one who sends requests, before that is enough for this time
	vainOfDomain  = 100 // and at the servers of one registered domain
	maxVain       = 10_000
	keysAtOnce    = 32 // that are asked for at a time, which is half of what can be asked at all
	keysOfDomain  = 6  // of them, at the servers of one registered domain
	keysThatQueue = 200
)

// vain counts what was asked for in vain.
type vain struct {
	mu sync.Mutex
	of map[vainName]*vainCount
}

// vainName is what is counted apart: where requests come from, or a registered domain.
type vainName struct{ source, domain string }

type vainCount struct {
	since time.Time
	count int
}

func newVain() *vain { return &vain{of: make(map[vainName]*vainCount)} }

// enough tells whether for now no more is to be asked for because of a source, or at a domain.
func (v *vain) enough(source, domain string, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.reached(vainName{source: source}, vainOfSource, now) || v.reached(vainName{domain: domain}, vainOfDomain, now)
}

func (v *vain) reached(name vainName, most int, now time.Time) bool {
	c := v.of[name]
	return c != nil && c.count >= most && now.Sub(c.since) < vainTime
}

// add notes that something was asked for in vain.
func (v *vain) add(source, domain string, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, name := range []vainName{{source: source}, {domain: domain}} {
		if name == (vainName{}) { // nobody knows where it came from
			continue
		}
		c := v.of[name]
		if c == nil || now.Sub(c.since) >= vainTime {
			c = &vainCount{since: now}
			v.makeRoom()
			v.of[name] = c
		}
		c.count++
	}
}

// makeRoom forgets one or another, if there are many.
func (v *vain) makeRoom() {
	for name := range v.of {
		if len(v.of) < maxVain {
			return
		}
		delete(v.of, name)
	}
}

// sourceKey marks contexts of requests with where they come from.
type sourceKey struct{}

// WithSource returns a context of a request that comes from source: a network address, or whatever else is one.
func WithSource(ctx context.Context, source string) context.Context {
	return context.WithValue(ctx, sourceKey{}, source)
}

func sourceOf(ctx context.Context) string {
	source, _ := ctx.Value(sourceKey{}).(string)
	return source
}
