// Package cache has the caches of the program: Cache for values computed from database rows, Expiring for values with a time to live,
// Value for a single value that is costly to compute.
//
// A Cache never stores a stale value. A caller takes the generation before it reads rows, and Put ignores a key that was dropped
// since then; Load does both. All are bounded, in entries or in weight, and safe for concurrent use.
package cache

import (
	"container/list"
	"sync"
)

// Cache is an LRU cache that is invalidated by key.
type Cache[K comparable, V any] struct {
	mu         sync.Mutex
	weigh      func(V) int
	maxWeight  int
	weight     int
	entries    map[K]*list.Element
	recent     *list.List // of *entry[K, V], most recently used first
	generation uint64     // grows with each drop
	dropped    map[K]uint64
	forgotten  uint64 // drops up to this generation are not in dropped any more
	loads      map[K]*load[V]
	stats      Stats
}

// Stats are what a cache holds and how often it was asked, for metrics.
type Stats struct {
	Entries   int
	Weight    int // of the entries; their number if they are not weighted
	MaxWeight int
	Hits      uint64 // keys that were found, since the start
	Misses    uint64
	Evictions uint64 // entries that had to make room
}

// Stats returns the state of the cache.
func (c *Cache[K, V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Entries, s.Weight, s.MaxWeight = len(c.entries), c.weight, c.maxWeight
	return s
}

type entry[K comparable, V any] struct {
	key    K
	value  V
	weight int
}

const (
	// EntryBytes is the approximate overhead of an entry, to be added to the size of a value by caches that count bytes.
	EntryBytes = 200

	// maxDropped bounds the memory of dropped keys. Values whose computation spans more drops than that are not stored.
	maxDropped = 4096
)

// New returns a cache of at most maxEntries entries.
func New[K comparable, V any](maxEntries int) *Cache[K, V] {
	return NewWeighted[K](maxEntries, func(V) int { return 1 })
}

// NewWeighted returns a cache whose entries weigh at most maxWeight together. An entry over an eighth of that is not stored.
func NewWeighted[K comparable, V any](maxWeight int, weigh func(V) int) *Cache[K, V] {
	return &Cache[K, V]{
		weigh: weigh, maxWeight: maxWeight, entries: make(map[K]*list.Element), recent: list.New(), dropped: make(map[K]uint64),
		loads: make(map[K]*load[V]),
	}
}

// Get returns the entry of a key.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ask(key)
}

// GetAll fills found with the entries of keys. It returns the keys that have none, and the generation to Put them with.
func (c *Cache[K, V]) GetAll(keys []K, found map[K]V) (missing []K, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		if e, ok := c.entries[key]; ok { // get, inlined for pages of statuses
			c.recent.MoveToFront(e)
			found[key] = e.Value.(*entry[K, V]).value
		} else {
			missing = append(missing, key)
		}
	}
	c.stats.Misses += uint64(len(missing))
	c.stats.Hits += uint64(len(keys) - len(missing))
	return missing, c.generation
}

// load is a call of Load that reads.
type load[V any] struct {
	generation uint64
	done       chan struct{} // closed when it has ended
	value      V
	ok         bool
}

// Load returns the entry of a key. If there is none, it calls read, and stores the result unless the key was dropped meanwhile.
// Concurrent calls share what one of them reads, so that a large value is there once, unless something was dropped since that began. If its read
// fails, each of the others reads.
func (c *Cache[K, V]) Load(key K, read func() (V, error)) (V, error) {
	c.mu.Lock()
	if value, ok := c.ask(key); ok {
		c.mu.Unlock()
		return value, nil
	}
	other := c.loads[key]
	shared := other != nil && other.generation == c.generation
	l := &load[V]{generation: c.generation, done: make(chan struct{})}
	if !shared {
		c.loads[key] = l
	}
	c.mu.Unlock()
	if shared {
		if <-other.done; other.ok {
			return other.value, nil
		}
	} else {
		defer c.endLoad(key, l)
	}
	value, err := read()
	if err != nil {
		return value, err
	}
	l.value, l.ok = value, true
	c.Put(key, value, l.generation)
	return value, nil
}

// endLoad lets those go on who wait for the load.
func (c *Cache[K, V]) endLoad(key K, l *load[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loads[key] == l {
		delete(c.loads, key)
	}
	close(l.done)
}

// View calls look with the entry of a key, the zero value if there is none, and returns the generation. The cache is locked
// meanwhile, so that look may read a value that Update changes in place.
func (c *Cache[K, V]) View(key K, look func(V)) (generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, _ := c.ask(key)
	look(value)
	return c.generation
}

// Generation returns the current generation, for a later Put.
func (c *Cache[K, V]) Generation() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.generation
}

// Put stores a value that was computed from rows read in or after generation. It does nothing if the key was dropped since then.
func (c *Cache[K, V]) Put(key K, value V, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current(key, generation) {
		c.put(key, value)
	}
}

// Update is Put of the value that change makes of the present one, the zero value if there is none. The cache is locked meanwhile.
func (c *Cache[K, V]) Update(key K, generation uint64, change func(V) V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current(key, generation) {
		old, _ := c.get(key)
		c.put(key, change(old))
	}
}

// Replace is Drop for a key whose new value follows from the present one: if there is one, the result of change takes its place.
func (c *Cache[K, V]) Replace(key K, change func(V) V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, ok := c.get(key)
	c.drop(key)
	if ok {
		c.put(key, change(old))
	}
}

// Drop removes the entries of keys whose rows have changed.
func (c *Cache[K, V]) Drop(keys ...K) {
	if len(keys) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(keys...)
}

// DropFunc removes the entries that match. It looks at all of them.
func (c *Cache[K, V]) DropFunc(match func(K, V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetDrops()
	for key, e := range c.entries {
		if match(key, e.Value.(*entry[K, V]).value) {
			c.remove(key)
		}
	}
}

// Clear removes everything.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetDrops()
	clear(c.entries)
	c.recent.Init()
	c.weight = 0
}

// ask is get for a caller of the cache, which is counted.
func (c *Cache[K, V]) ask(key K) (value V, ok bool) {
	if value, ok = c.get(key); ok {
		c.stats.Hits++
	} else {
		c.stats.Misses++
	}
	return value, ok
}

func (c *Cache[K, V]) get(key K) (value V, ok bool) {
	e, ok := c.entries[key]
	if !ok {
		return value, false
	}
	c.recent.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// current returns false if a value computed in generation may be stale.
func (c *Cache[K, V]) current(key K, generation uint64) bool {
	return generation >= c.forgotten && c.dropped[key] <= generation
}

func (c *Cache[K, V]) put(key K, value V) {
	c.remove(key)
	weight := c.weigh(value)
	if weight > max(1, c.maxWeight/8) {
		return
	}
	c.entries[key] = c.recent.PushFront(&entry[K, V]{key, value, weight})
	c.weight += weight
	for c.weight > c.maxWeight {
		c.stats.Evictions++
		c.remove(c.recent.Back().Value.(*entry[K, V]).key)
	}
}

func (c *Cache[K, V]) drop(keys ...K) {
	c.generation++
	if len(c.dropped)+len(keys) > maxDropped {
		c.forgetDrops()
	}
	for _, key := range keys {
		c.dropped[key] = c.generation
		c.remove(key)
	}
}

// forgetDrops makes every value that is being computed count as stale.
func (c *Cache[K, V]) forgetDrops() {
	c.generation++
	c.forgotten = c.generation
	clear(c.dropped)
}

func (c *Cache[K, V]) remove(key K) {
	if e, ok := c.entries[key]; ok {
		c.weight -= e.Value.(*entry[K, V]).weight
		c.recent.Remove(e)
		delete(c.entries, key)
	}
}
