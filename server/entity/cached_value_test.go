package entity

import (
	"errors"
	"sync"
	"testing"
	"time"
)

func TestKept(t *testing.T) {
	var k cachedValue[int]
	built := 0
	build := func() (int, error) { built++; return built, nil }
	now := time.Unix(1_700_000_000, 0)
	want := func(at time.Time, want int) {
		t.Helper()
		if got, err := k.get(at, time.Minute, build); got != want || err != nil {
			t.Errorf("got %d, %v, want %d", got, err, want)
		}
	}
	want(now, 1)
	want(now.Add(59*time.Second), 1)
	want(now.Add(60*time.Second), 2)
	k.invalidate()
	want(now.Add(61*time.Second), 3)

	// What is dropped while it is built is not kept.
	k.invalidate()
	if got, _ := k.get(now, time.Minute, func() (int, error) { k.invalidate(); return 100, nil }); got != 100 {
		t.Errorf("got %d", got)
	}
	want(now, 4)

	// An error is not kept, and while there is a new value to be built others get the old one.
	later := now.Add(time.Hour)
	if _, err := k.get(later, time.Minute, func() (int, error) { return 0, errors.New("no") }); err == nil {
		t.Error("no error")
	}
	began, finish := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		k.get(later, time.Minute, func() (int, error) { close(began); <-finish; return 200, nil })
	})
	<-began
	want(later, 4)
	close(finish)
	wg.Wait()
	want(later, 200)
}
