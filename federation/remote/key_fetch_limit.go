package remote

import (
	"context"
	"time"

	"svc/internal/limit"
)

// Limits on fetching keys that do not exist (federation 2.3). Anyone can send requests that name keys on any server, without having one.
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
