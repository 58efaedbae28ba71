// Package cache keeps what was made of rows of the database, bounded by its bytes, the least recently used leaving first.
//
// Nothing stale gets in: who makes an entry takes the generation before reading the rows, and Put refuses what was dropped since then.
package cache

import (
	"container/list"
	"sync"
)

// Cache is one. Its methods may be called from any goroutine.
type Cache[K comparable, V any] struct {
	mu         sync.Mutex
	sizeOf     func(V) int
	limit      int
	size       int
	entries    map[K]*list.Element
	recent     *list.List // of *cached[K, V], most recent first
	generation uint64
	dropped    map[K]uint64 // the generation in which a key was dropped last
	forgotten  uint64       // drops up to this generation are no longer in dropped
}

type cached[K comparable, V any] struct {
	key   K
	value V
	size  int
}

// droppedKept bounds the memory of drops; it has to cover the time that one rendering takes.
const droppedKept = 4096

// NewWeighted makes a cache for so many bytes. sizeOf tells about how many an entry holds.
func NewWeighted[K comparable, V any](limit int, sizeOf func(V) int) *Cache[K, V] {
	return &Cache[K, V]{
		sizeOf: sizeOf, limit: limit, entries: make(map[K]*list.Element), recent: list.New(), dropped: make(map[K]uint64),
	}
}

// GetAll fills found with the entries of keys that are there, and returns the missing keys and the generation to put them with.
func (c *Cache[K, V]) GetAll(keys []K, found map[K]V) (missing []K, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range keys {
		if e, ok := c.entries[k]; ok {
			c.recent.MoveToFront(e)
			found[k] = e.Value.(*cached[K, V]).value
		} else {
			missing = append(missing, k)
		}
	}
	return missing, c.generation
}

// Generation returns the generation.
func (c *Cache[K, V]) Generation() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.generation
}

// Put keeps an entry that was rendered from rows read in or after generation.
func (c *Cache[K, V]) Put(k K, v V, generation uint64) {
	size := c.sizeOf(v) + 200 // the map's, the list's and the entry's own
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation < c.forgotten || c.dropped[k] > generation || size > c.limit/8 {
		return
	}
	c.remove(k)
	c.entries[k] = c.recent.PushFront(&cached[K, V]{k, v, size})
	c.size += size
	for c.size > c.limit {
		c.remove(c.recent.Back().Value.(*cached[K, V]).key)
	}
}

// Drop removes entries whose rows have changed.
func (c *Cache[K, V]) Drop(keys ...K) {
	if len(keys) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	if len(c.dropped)+len(keys) > droppedKept {
		clear(c.dropped)
		c.forgotten = c.generation
	}
	for _, k := range keys {
		c.dropped[k] = c.generation
		c.remove(k)
	}
}

// Clear removes everything.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	c.forgotten = c.generation
	clear(c.dropped)
	clear(c.entries)
	c.recent.Init()
	c.size = 0
}

func (c *Cache[K, V]) remove(k K) {
	if e, ok := c.entries[k]; ok {
		c.size -= e.Value.(*cached[K, V]).size
		c.recent.Remove(e)
		delete(c.entries, k)
	}
}
