package limit

import (
	"time"

	"svc/internal/cache"
)

// Backoff delays further attempts after failures, by key. The delay doubles with each failure in a row.
type Backoff[K comparable] struct {
	first, max time.Duration
	failures   *cache.Expiring[K, int] // in a row, until the next attempt
}

// NewBackoff returns a Backoff whose delays grow from first to max. Beyond maxKeys keys, those whose delay is over are forgotten first, then
// arbitrary ones.
func NewBackoff[K comparable](maxKeys int, first, max time.Duration) *Backoff[K] {
	return &Backoff[K]{first, max, cache.NewExpiring[K, int](maxKeys)}
}

// RetryAt returns when the next attempt may be made, the zero time if it may be made now.
func (b *Backoff[K]) RetryAt(key K, now time.Time) time.Time {
	return b.Reserve(key, 0, now)
}

// Reserve is RetryAt, but if the key has failed before and may be tried now, other callers have to wait for hold, so that only one tries.
func (b *Backoff[K]) Reserve(key K, hold time.Duration, now time.Time) (retryAt time.Time) {
	b.failures.Update(key, now, func(failures int, until time.Time) (int, time.Time) {
		if until.After(now) {
			retryAt = until
		} else if hold > 0 && failures > 0 {
			until = now.Add(hold)
		}
		return failures, until
	})
	return retryAt
}

// Failed records a failure.
func (b *Backoff[K]) Failed(key K, now time.Time) {
	b.failures.Update(key, now, func(failures int, _ time.Time) (int, time.Time) {
		return failures + 1, now.Add(min(b.max, b.first<<min(failures, 10)))
	})
}

// Succeeded forgets the failures of a key.
func (b *Backoff[K]) Succeeded(key K) { b.failures.Delete(key) }
