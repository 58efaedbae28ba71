package entity

import (
	"container/list"
	"sync"
)

// cache keeps rendered entities, bounded by their bytes, the least recently used leaving first.
//
// Nothing stale gets in: who renders an entity takes the generation before it reads the rows, and put refuses what was dropped
// since then.
type cache[K comparable, V sized] struct {
	mu         sync.Mutex
	limit      int
	size       int
	entries    map[K]*list.Element
	recent     *list.List // of *cached[K, V], most recent first
	generation uint64
	dropped    map[K]uint64 // the generation in which a key was dropped last
	forgotten  uint64       // drops up to this generation are no longer in dropped
}

// sized tells how many bytes it holds.
type sized interface{ size() int }

type cached[K comparable, V sized] struct {
	key   K
	value V
	size  int
}

// droppedKept bounds the memory of drops; it has to cover the time that one rendering takes.
const droppedKept = 4096

func newCache[K comparable, V sized](limit int) *cache[K, V] {
	return &cache[K, V]{limit: limit, entries: make(map[K]*list.Element), recent: list.New(), dropped: make(map[K]uint64)}
}

// get fills found with the entries of keys that are there, and returns the missing keys and the generation to put them with.
func (c *cache[K, V]) get(keys []K, found map[K]V) (missing []K, generation uint64) {
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

// now returns the generation.
func (c *cache[K, V]) now() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.generation
}

// put keeps an entry that was rendered from rows read in or after generation.
func (c *cache[K, V]) put(k K, v V, generation uint64) {
	size := v.size() + 200 // the map's, the list's and the entry's own
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

// drop removes entries whose rows have changed.
func (c *cache[K, V]) drop(keys ...K) {
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

// clear removes everything.
func (c *cache[K, V]) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	c.forgotten = c.generation
	clear(c.dropped)
	clear(c.entries)
	c.recent.Init()
	c.size = 0
}

func (c *cache[K, V]) remove(k K) {
	if e, ok := c.entries[k]; ok {
		c.size -= e.Value.(*cached[K, V]).size
		c.recent.Remove(e)
		delete(c.entries, k)
	}
}
