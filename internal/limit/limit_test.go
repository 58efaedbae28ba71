package limit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc/internal/limit"
)

var start = time.Unix(1_700_000_000, 0)

func TestWindow(t *testing.T) {
	w := limit.NewWindow[string](10)
	rate := limit.Rate{Count: 2, Window: time.Minute}
	for _, tt := range []struct {
		key       string
		after     time.Duration
		ok        bool
		remaining int
		reset     time.Duration
	}{
		{"a", 0, true, 1, time.Minute},
		{"a", 30 * time.Second, true, 0, time.Minute},
		{"a", 59 * time.Second, false, 0, time.Minute},
		{"b", 59 * time.Second, true, 1, 119 * time.Second},
		{"a", 60 * time.Second, true, 1, 2 * time.Minute},
	} {
		now := start.Add(tt.after)
		want := limit.Quota{Limit: 2, Remaining: tt.remaining, Reset: start.Add(tt.reset)}
		if q, ok := w.Allow(tt.key, rate, now); ok != tt.ok || q != want {
			t.Errorf("%s after %v: got %v, %v, want %v, %v", tt.key, tt.after, q, ok, want, tt.ok)
		}
		if q := w.Peek(tt.key, rate, now); q != want {
			t.Errorf("%s after %v: peek got %v, want %v", tt.key, tt.after, q, want)
		}
	}
	if q := w.Peek("unknown", rate, start); q != (limit.Quota{Limit: 2, Remaining: 2}) {
		t.Errorf("unknown: got %v", q)
	}
	if q := w.Peek("a", rate, start.Add(time.Hour)); q.Remaining != 2 {
		t.Errorf("after the window: got %v", q)
	}
}

func TestRefund(t *testing.T) {
	w := limit.NewWindow[string](10)
	rate := limit.Rate{Count: 1, Window: time.Minute}
	w.Refund("a", start)
	w.Allow("a", rate, start)
	w.Refund("a", start)
	w.Refund("a", start)
	if _, ok := w.Allow("a", rate, start); !ok {
		t.Error("refused after a refund")
	}
	if _, ok := w.Allow("a", rate, start); ok {
		t.Error("refunded twice")
	}
	later := start.Add(time.Hour)
	w.Allow("a", rate, later)
	if q := w.Peek("a", rate, later); q.Remaining != 0 {
		t.Errorf("got %v", q)
	}
}

func TestWindowIsBounded(t *testing.T) {
	w := limit.NewWindow[int](100)
	rate := limit.Rate{Count: 1, Window: time.Minute}
	w.Allow(-1, rate, start)
	for i := range 99 {
		w.Allow(i, rate, start.Add(-2*time.Minute))
	}
	for i := range 50 {
		w.Allow(i+1000, rate, start)
	}
	if _, ok := w.Allow(-1, rate, start); ok {
		t.Error("a window that has not ended was forgotten before those that have")
	}
}

func TestWindowConcurrently(t *testing.T) {
	w := limit.NewWindow[int](10)
	rate := limit.Rate{Count: 500, Window: time.Minute}
	var allowed atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if _, ok := w.Allow(1, rate, start); ok {
					allowed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if allowed.Load() != 500 {
		t.Errorf("%d were allowed", allowed.Load())
	}
}

func TestBackoff(t *testing.T) {
	b := limit.NewBackoff[string](10, 5*time.Second, time.Minute)
	if at := b.Reserve("a", time.Hour, start); !at.IsZero() {
		t.Errorf("has to wait until %v without a failure", at)
	}
	now := start
	for _, want := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute} {
		b.Failed("a", now)
		if at := b.RetryAt("a", now.Add(want-1)); at != now.Add(want) {
			t.Errorf("got %v, want %v", at.Sub(now), want)
		}
		now = now.Add(want)
		if at := b.RetryAt("a", now); !at.IsZero() {
			t.Errorf("has to wait after %v", want)
		}
	}
	if at := b.RetryAt("b", start); !at.IsZero() {
		t.Error("another key has to wait")
	}
	b.Reserve("a", time.Second, now)
	if at := b.RetryAt("a", now); at != now.Add(time.Second) {
		t.Errorf("two may try at once: %v", at)
	}
	b.Succeeded("a")
	b.Failed("a", now)
	if at := b.RetryAt("a", now); at != now.Add(5*time.Second) {
		t.Errorf("got %v after a success", at.Sub(now))
	}
}

func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := limit.NewSlots[string](2, 1, 3)
		ctx, cancel := context.WithCancel(t.Context())
		first, err := s.Take(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan error)
		for range 3 {
			go func() {
				_, err := s.Take(ctx, "a")
				failed <- err
			}()
		}
		synctest.Wait()
		if _, err := s.Take(ctx, "a"); !errors.Is(err, limit.ErrBusy) {
			t.Errorf("got %v, want ErrBusy", err)
		}
		second, err := s.Take(ctx, "b")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Take(ctx, "c"); !errors.Is(err, limit.ErrBusy) { // as many as may be, in all
			t.Errorf("got %v, want ErrBusy", err)
		}
		cancel()
		for range 3 {
			if err := <-failed; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled", err)
			}
		}
		first()
		first() // a second call does nothing
		second()
		for i := range 100 {
			release, err := s.Take(t.Context(), fmt.Sprint(i))
			if err != nil {
				t.Fatal(err)
			}
			release()
		}
	})
}

func TestSlotsOfOneKeyDoNotDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("too slow")
		s := limit.NewSlots[string](2, 1, 10)
		release, _ := s.Take(t.Context(), "a")
		waited := make(chan error)
		go func() {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, cause)
			defer cancel()
			_, err := s.Take(ctx, "a")
			waited <- err
		}()
		synctest.Wait()
		other, err := s.Take(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		if err := <-waited; err != cause {
			t.Errorf("got %v, want the cause of the context", err)
		}
		other()
		release()
		if _, err := s.Take(t.Context(), "a"); err != nil {
			t.Error(err)
		}
	})
}

func TestGauge(t *testing.T) {
	g := make(limit.Gauge[string])
	for i, want := range []bool{true, true, false} {
		if ok := g.Add("a", 2); ok != want {
			t.Errorf("%d: got %v", i, ok)
		}
	}
	g.Done("a")
	if !g.Add("a", 2) {
		t.Error("refused after one was done")
	}
	g.Done("a")
	g.Done("a")
	if len(g) != 0 {
		t.Errorf("%v is left", g)
	}
}

func BenchmarkWindow(b *testing.B) {
	w := limit.NewWindow[int](50_000)
	rate := limit.Rate{Count: 1 << 30, Window: time.Hour}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			w.Allow(i%10_000, rate, start)
		}
	})
}

// Each event is of a key of its own.
func BenchmarkWindowOverflow(b *testing.B) {
	w := limit.NewWindow[int](50_000)
	rate := limit.Rate{Count: 10, Window: time.Hour}
	for i := 0; b.Loop(); i++ {
		w.Allow(i, rate, start)
	}
}

// TestShares checks that a key has few slots, and that slow keys leave theirs to others.
func TestShares(t *testing.T) {
	s := limit.NewShares[string](4, 2, 1)
	a, other := s.Start("a", start), s.Start("a", start)
	if a == nil || other == nil || s.Start("a", start) != nil || !s.Full("a") {
		t.Fatal("want two slots for a key")
	}
	b, c := s.Start("b", start), s.Start("c", start)
	if b == nil || c == nil || s.Start("d", start) != nil {
		t.Fatal("want four slots in all")
	}
	if !a.Demote(start) || !s.IsDemoted("a", start) {
		t.Fatal("a slow key is not demoted")
	}
	if free, freeDemoted := s.Free(); free != 1 || freeDemoted != 0 {
		t.Errorf("%d and %d slots are free, want 1 and 0", free, freeDemoted)
	}
	if b.Demote(start) || !s.IsDemoted("b", start) {
		t.Error("a slow operation keeps its slot though none for demoted keys is free")
	}
	other.End()
	other.End() // a second call does nothing
	if s.Start("a", start) != nil {
		t.Error("a demoted key has a slot for others")
	}
	if !other.Demote(start) || s.Start("d", start) == nil || s.Start("e", start) == nil {
		t.Error("keys have no slots besides a demoted one")
	}
	a.End()
	if s.Start("b", start) == nil {
		t.Error("a demoted key has no slot")
	}
	c.End()
	if s.IsDemoted("a", start.Add(10*time.Minute)) || s.Start("a", start.Add(10*time.Minute)) == nil {
		t.Error("a key is demoted for more than ten minutes")
	}
}
