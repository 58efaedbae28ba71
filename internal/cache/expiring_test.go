package cache_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"svc/internal/cache"
)

var start = time.Unix(1_700_000_000, 0)

func TestExpiring(t *testing.T) {
	e := cache.NewExpiring[string, int](3)
	e.Put("short", 1, time.Second, start)
	e.Put("long", 2, time.Hour, start)
	e.Put("none", 3, 0, start)
	for _, tt := range []struct {
		key   string
		after time.Duration
		want  bool
	}{
		{"short", 0, true},
		{"short", time.Second, false},
		{"long", time.Second, true},
		{"none", 0, false},
		{"unknown", 0, false},
	} {
		if _, ok := e.Get(tt.key, start.Add(tt.after)); ok != tt.want {
			t.Errorf("%s after %v: got %v", tt.key, tt.after, ok)
		}
	}
	e.Put("new", 4, time.Hour, start.Add(time.Minute)) // replaces the expired entry
	for _, key := range []string{"long", "new"} {
		if _, ok := e.Get(key, start.Add(time.Minute)); !ok {
			t.Errorf("%s was evicted", key)
		}
	}
	e.Delete("long")
	if _, ok := e.Get("long", start); ok {
		t.Error("long was not deleted")
	}
}

func TestExpiringIsBounded(t *testing.T) {
	e := cache.NewExpiring[int, int](10)
	for i := range 100 {
		e.Put(i, i, time.Hour, start)
	}
	n := 0
	for i := range 100 {
		if _, ok := e.Get(i, start); ok {
			n++
		}
	}
	if n != 10 {
		t.Errorf("%d entries", n)
	}
	if _, ok := e.Get(99, start); !ok {
		t.Error("the latest entry is not there")
	}
}

func TestExpiringUpdate(t *testing.T) {
	e := cache.NewExpiring[string, int](10)
	add := func(n int, until time.Time) (int, time.Time) { return n + 1, start.Add(time.Minute) }
	e.Update("a", start, add)
	e.Update("a", start.Add(time.Hour), add) // of the expired entry
	if n, ok := e.Get("a", start); n != 2 || !ok {
		t.Errorf("got %d, %v", n, ok)
	}
	e.Update("a", start, func(int, time.Time) (int, time.Time) { return 0, time.Time{} })
	if _, ok := e.Get("a", start); ok {
		t.Error("not removed")
	}
}

func TestValue(t *testing.T) {
	var v cache.Value[int]
	computed := 0
	compute := func() (int, error) { computed++; return computed, nil }
	want := func(at time.Time, want int) {
		t.Helper()
		if got, err := v.Load(at, time.Minute, compute); got != want || err != nil {
			t.Errorf("got %d, %v, want %d", got, err, want)
		}
	}
	want(start, 1)
	want(start.Add(59*time.Second), 1)
	want(start.Add(60*time.Second), 2)
	v.Drop()
	want(start.Add(61*time.Second), 3)

	// A value that is dropped while it is computed is not stored.
	v.Drop()
	if got, _ := v.Load(start, time.Minute, func() (int, error) { v.Drop(); return 100, nil }); got != 100 {
		t.Errorf("got %d", got)
	}
	want(start, 4)

	// An error is not stored. While a value is computed, other callers get the expired one.
	later := start.Add(time.Hour)
	if _, err := v.Load(later, time.Minute, func() (int, error) { return 0, errors.New("no") }); err == nil {
		t.Error("no error")
	}
	began, finish := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		v.Load(later, time.Minute, func() (int, error) { close(began); <-finish; return 200, nil })
	})
	<-began
	want(later, 4)
	close(finish)
	wg.Wait()
	want(later, 200)
}
