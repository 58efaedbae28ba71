package cache_test

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"svc/internal/cache"
)

func want[K comparable, V comparable](t *testing.T, c *cache.Cache[K, V], key K, want V, present bool) {
	t.Helper()
	if got, ok := c.Get(key); got != want || ok != present {
		t.Errorf("%v: got %v, %v, want %v, %v", key, got, ok, want, present)
	}
}

func TestEviction(t *testing.T) {
	c := cache.New[int, string](3)
	for i := range 3 {
		c.Put(i, strconv.Itoa(i), c.Generation())
	}
	c.Get(0)
	c.Put(3, "3", c.Generation())
	want(t, c, 0, "0", true)
	want(t, c, 1, "", false) // the least recently used
	want(t, c, 3, "3", true)
}

func TestWeight(t *testing.T) {
	c := cache.NewWeighted[int](80, func(s string) int { return len(s) })
	c.Put(0, "0123456789A", c.Generation())
	want(t, c, 0, "", false) // over an eighth of the cache
	for i := range 9 {
		c.Put(i, "0123456789", c.Generation())
	}
	want(t, c, 0, "", false)
	want(t, c, 1, "0123456789", true)
	c.Put(1, "", c.Generation()) // makes room for one more
	c.Put(9, "0123456789", c.Generation())
	want(t, c, 2, "0123456789", true)
}

func TestDropWhileReading(t *testing.T) {
	for _, tt := range []struct {
		name string
		drop func(*cache.Cache[int, string])
		kept bool
	}{
		{"nothing", func(c *cache.Cache[int, string]) {}, true},
		{"the key", func(c *cache.Cache[int, string]) { c.Drop(1) }, false},
		{"another key", func(c *cache.Cache[int, string]) { c.Drop(2) }, true},
		{"all", func(c *cache.Cache[int, string]) { c.Clear() }, false},
		{"those that match", func(c *cache.Cache[int, string]) { c.DropFunc(func(int, string) bool { return false }) }, false},
		{"the key, by its new value", func(c *cache.Cache[int, string]) { c.Replace(1, func(s string) string { return s }) }, false},
		{"more keys than are remembered", func(c *cache.Cache[int, string]) {
			for i := range 5000 {
				c.Drop(i + 2)
			}
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := cache.New[int, string](100)
			got, err := c.Load(1, func() (string, error) { tt.drop(c); return "read", nil })
			if got != "read" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			_, generation := c.GetAll([]int{1}, map[int]string{})
			if _, ok := c.Get(1); ok != tt.kept {
				t.Errorf("stored: %v, want %v", ok, tt.kept)
			}
			c.Put(1, "anew", generation)
			want(t, c, 1, "anew", true)
		})
	}
}

func TestLoad(t *testing.T) {
	c := cache.New[int, string](10)
	if _, err := c.Load(1, func() (string, error) { return "", errors.New("no") }); err == nil {
		t.Error("no error")
	}
	want(t, c, 1, "", false)
	c.Load(1, func() (string, error) { return "one", nil })
	got, _ := c.Load(1, func() (string, error) { t.Error("read twice"); return "", nil })
	if got != "one" {
		t.Errorf("got %q", got)
	}
}

func TestGetAll(t *testing.T) {
	c := cache.New[int, string](10)
	c.Put(1, "one", 0)
	found := make(map[int]string)
	missing, _ := c.GetAll([]int{1, 2}, found)
	if len(found) != 1 || found[1] != "one" || len(missing) != 1 || missing[0] != 2 {
		t.Errorf("got %v, missing %v", found, missing)
	}
}

func TestUpdateAndReplace(t *testing.T) {
	c := cache.NewWeighted[int](80, func(n []int) int { return len(n) })
	add := func(n []int) []int { return append(n, 1) }
	count := func() (n int) {
		c.View(1, func(list []int) { n = len(list) })
		return n
	}
	c.Replace(1, add)
	if n := count(); n != 0 {
		t.Errorf("got %d after replacing nothing", n)
	}
	generation := c.Generation()
	c.Update(1, generation, add)
	c.Update(1, generation, add)
	if n := count(); n != 2 {
		t.Errorf("got %d after two updates", n)
	}
	c.Replace(1, add)
	c.Update(1, generation, add) // of an earlier generation
	if n := count(); n != 3 {
		t.Errorf("got %d after replacing", n)
	}
	for range 8 {
		c.Update(1, c.Generation(), add)
	}
	if n := count(); n != 0 {
		t.Errorf("got %d, want none because it grew too large", n)
	}
}

func TestDropFunc(t *testing.T) {
	c := cache.New[int, string](10)
	for i := range 4 {
		c.Put(i, strconv.Itoa(i), 0)
	}
	c.DropFunc(func(k int, v string) bool { return k == 1 || v == "2" })
	for i := range 4 {
		if _, ok := c.Get(i); ok != (i == 0 || i == 3) {
			t.Errorf("%d is there: %v", i, ok)
		}
	}
}

// Readers never get a value that is older than the last drop before they asked.
func TestConcurrentLoads(t *testing.T) {
	const keys = 8
	c := cache.New[int, int64](keys / 2)
	var rows [keys]atomic.Int64
	var wg sync.WaitGroup
	for k := range keys {
		wg.Go(func() {
			for range 2000 {
				rows[k].Add(1)
				c.Drop(k)
			}
		})
		for range 2 {
			wg.Go(func() {
				for range 2000 {
					committed := rows[k].Load() - 1 // of the last one, the drop may still be to come
					got, _ := c.Load(k, func() (int64, error) { return rows[k].Load(), nil })
					if got < committed {
						t.Errorf("key %d: got %d after %d was committed", k, got, committed)
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

func BenchmarkGet(b *testing.B) {
	c := cache.New[int, int](10_000)
	for i := range 10_000 {
		c.Put(i, i, 0)
	}
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			c.Get(i % 10_000)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	c := cache.New[int, int](10_000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		n := i % 10_000
		c.Load(n, func() (int, error) { return n, nil })
	}
}

func TestStats(t *testing.T) {
	c := cache.NewWeighted[int](80, func(s string) int { return len(s) })
	for i := range 9 {
		c.Put(i, "0123456789", c.Generation()) // the first one is evicted
	}
	c.Get(0)
	c.Get(8)
	c.GetAll([]int{1, 2, 100}, make(map[int]string))
	c.Load(100, func() (string, error) { return "", nil })
	c.View(8, func(string) {})
	c.Update(8, c.Generation(), func(s string) string { return s })
	c.Replace(8, func(s string) string { return s })
	c.Drop(1)
	want := cache.Stats{Entries: 8, Weight: 70, MaxWeight: 80, Hits: 4, Misses: 3, Evictions: 1}
	if got := c.Stats(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
