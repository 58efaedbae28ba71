package cache

import (
	"sync"
	"time"
)

// Expiring is a bounded map whose entries have a time to live each, such as a negative cache. If it is full, expired entries are evicted
// first, then arbitrary ones.
type Expiring[K comparable, V any] struct {
	mu         sync.Mutex
	maxEntries int
	entries    map[K]expiring[V]
	swept      time.Time
}

type expiring[V any] struct {
	value V
	until time.Time
}

// sweepInterval is the least time between two searches for expired entries, because each looks at all entries.
const sweepInterval = time.Second

// NewExpiring returns a map of at most maxEntries entries.
func NewExpiring[K comparable, V any](maxEntries int) *Expiring[K, V] {
	return &Expiring[K, V]{maxEntries: maxEntries, entries: make(map[K]expiring[V])}
}

// Get returns the value of a key unless it has expired.
func (e *Expiring[K, V]) Get(key K, now time.Time) (value V, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x, ok := e.entries[key]; ok && x.until.After(now) {
		return x.value, true
	}
	return value, false
}

// Put stores a value for ttl. If ttl is 0, it removes the key.
func (e *Expiring[K, V]) Put(key K, value V, ttl time.Duration, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.put(key, value, now.Add(ttl), now)
}

// Update stores what change returns for the entry of a key, expired or not. The zero time stands for no entry, as argument and as result.
// The map is locked meanwhile.
func (e *Expiring[K, V]) Update(key K, now time.Time, change func(value V, until time.Time) (V, time.Time)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	x := e.entries[key]
	value, until := change(x.value, x.until)
	if until.IsZero() {
		delete(e.entries, key)
		return
	}
	e.put(key, value, until, now)
}

// Delete removes a key.
func (e *Expiring[K, V]) Delete(key K) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.entries, key)
}

func (e *Expiring[K, V]) put(key K, value V, until, now time.Time) {
	if len(e.entries) >= e.maxEntries {
		if _, ok := e.entries[key]; !ok {
			e.evict(now)
		}
	}
	e.entries[key] = expiring[V]{value, until}
}

func (e *Expiring[K, V]) evict(now time.Time) {
	if now.Sub(e.swept) >= sweepInterval {
		e.swept = now
		for key, x := range e.entries {
			if !x.until.After(now) {
				delete(e.entries, key)
			}
		}
	}
	for key := range e.entries {
		if len(e.entries) < e.maxEntries {
			return
		}
		delete(e.entries, key)
	}
}
