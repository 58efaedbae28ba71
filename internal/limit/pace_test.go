package limit_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc/internal/limit"
)

// TestPace checks how many operations of a key run at a time and how soon they follow each other, and that keys do not delay each other.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := limit.NewPace[string](2, 100*time.Millisecond)
		began := time.Now()
		var running, most atomic.Int32
		var wg sync.WaitGroup
		run := func(key string, takes time.Duration) {
			wg.Go(func() {
				end, err := p.Begin(t.Context(), key)
				if err != nil {
					t.Error(err)
					return
				}
				defer end()
				if key == "a" {
					n := running.Add(1)
					defer running.Add(-1)
					for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
					}
				}
				time.Sleep(takes)
			})
		}
		for range 21 {
			run("a", 10*time.Millisecond)
		}
		wg.Wait()
		if took := time.Since(began); took != 2010*time.Millisecond {
			t.Errorf("21 short ones took %v, want 2.01 s", took)
		}
		time.Sleep(time.Second)
		began = time.Now()
		for range 4 {
			run("a", time.Second)
		}
		run("b", 0)
		wg.Wait()
		if took := time.Since(began); most.Load() != 2 || took < 2*time.Second || took > 2200*time.Millisecond {
			t.Errorf("%d of 4 long ones at a time, took %v", most.Load(), took)
		}
	})
}

// TestPaceEnds checks that a caller who goes away takes no slot, and that keys are not kept for ever.
func TestPaceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := limit.NewPace[int](1, time.Millisecond)
		end, err := p.Begin(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Begin(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		end()
		for key := range 3 * limit.MaxIdlePaced {
			end, err := p.Begin(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			end()
			time.Sleep(time.Millisecond)
		}
		if p.Keys() > limit.MaxIdlePaced {
			t.Errorf("%d keys are kept, want %d at most", p.Keys(), limit.MaxIdlePaced)
		}
	})
}
