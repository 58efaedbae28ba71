// Package limit bounds how often and how many things happen: Window per time window, Backoff after failures, Slots, Shares, Pace and Gauge at
// the same time. The keys of a Window and of a Backoff are bounded, because peers choose them, as are the demoted ones of Shares; apart from those,
// Slots, Shares, Pace and Gauge only hold keys in use.
//
// No type but Pace reads the clock: callers pass the time. All but Gauge are safe for concurrent use.
package limit

import (
	"time"

	"svc/internal/cache"
)

// Rate is a number of events per window of time.
type Rate struct {
	Count  int
	Window time.Duration
}

// Quota is what a key may still do.
type Quota struct {
	Limit, Remaining int
	Reset            time.Time // end of the window; the zero time if none has begun
}

// Window counts events by key in fixed windows. The window of a key begins with its first event. Keys may have different rates.
type Window[K comparable] struct{ used *cache.Expiring[K, int] }

// NewWindow returns a Window of at most maxKeys keys. Beyond that, keys whose window has ended are forgotten first, then arbitrary ones.
func NewWindow[K comparable](maxKeys int) *Window[K] {
	return &Window[K]{cache.NewExpiring[K, int](maxKeys)}
}

// Allow counts an event of a key, and returns false without counting it if its quota is used up.
func (w *Window[K]) Allow(key K, r Rate, now time.Time) (q Quota, ok bool) {
	w.used.Update(key, now, func(used int, reset time.Time) (int, time.Time) {
		if !reset.After(now) {
			used, reset = 0, now.Add(r.Window)
		}
		if ok = used < r.Count; ok {
			used++
		}
		q = Quota{r.Count, r.Count - used, reset}
		return used, reset
	})
	return q, ok
}

// Peek returns the quota of a key without counting an event.
func (w *Window[K]) Peek(key K, r Rate, now time.Time) Quota {
	q := Quota{Limit: r.Count, Remaining: r.Count}
	w.used.Update(key, now, func(used int, reset time.Time) (int, time.Time) {
		if reset.After(now) {
			q.Remaining, q.Reset = max(0, r.Count-used), reset
		}
		return used, reset
	})
	return q
}

// Refund takes back one event of a key, unless its window has ended since.
func (w *Window[K]) Refund(key K, now time.Time) {
	w.used.Update(key, now, func(used int, reset time.Time) (int, time.Time) {
		if reset.After(now) && used > 0 {
			used--
		}
		return used, reset
	})
}
