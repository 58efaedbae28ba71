package federation

import (
	"context"
	"sync"
	"time"
)

// Limits of what can be had done by who names keys (federation 2.3): a stranger needs none of their own to have us ask anybody.
const (
	keyFetchWindow          = 5 * time.Minute
	maxKeyFailuresPerSource = 30  // keys that were asked for in vain because of one who sends requests, before that is enough for this time
	maxKeyFailuresPerDomain = 100 // and at the servers of one registered domain
	maxKeyFailureEntries    = 10_000
	maxKeyFetches           = 32 // that are asked for at a time, which is half of what can be asked at all
	maxKeyFetchesPerDomain  = 6  // of them, at the servers of one registered domain
	maxQueuedKeyFetches     = 200
)

// keyFetchLimit counts what was asked for in vain.
type keyFetchLimit struct {
	mu     sync.Mutex
	counts map[keyLimitName]*keyFailureCount
}

// keyLimitName is what is counted apart: where requests come from, or a registered domain.
type keyLimitName struct{ source, domain string }

type keyFailureCount struct {
	since time.Time
	count int
}

func newKeyFetchLimit() *keyFetchLimit {
	return &keyFetchLimit{counts: make(map[keyLimitName]*keyFailureCount)}
}

// exceeded tells whether for now no more is to be asked for because of a source, or at a domain.
func (v *keyFetchLimit) exceeded(source, domain string, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.reached(keyLimitName{source: source}, maxKeyFailuresPerSource, now) || v.reached(keyLimitName{domain: domain}, maxKeyFailuresPerDomain, now)
}

func (v *keyFetchLimit) reached(name keyLimitName, most int, now time.Time) bool {
	c := v.counts[name]
	return c != nil && c.count >= most && now.Sub(c.since) < keyFetchWindow
}

// add notes that something was asked for in vain.
func (v *keyFetchLimit) add(source, domain string, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, name := range []keyLimitName{{source: source}, {domain: domain}} {
		if name == (keyLimitName{}) { // nobody knows where it came from
			continue
		}
		c := v.counts[name]
		if c == nil || now.Sub(c.since) >= keyFetchWindow {
			c = &keyFailureCount{since: now}
			v.evict()
			v.counts[name] = c
		}
		c.count++
	}
}

// evict forgets one or another, if there are many.
func (v *keyFetchLimit) evict() {
	for name := range v.counts {
		if len(v.counts) < maxKeyFailureEntries {
			return
		}
		delete(v.counts, name)
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
