package store_test

import (
	"context"
	"log/slog"
	"math"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"svc/store"
)

// wallClock returns what time.Now returns after the clock was set ahead: the wall clock differs, the monotonic reading in the same value goes on
// as before. No function makes such a value.
func wallClock(ahead time.Duration) time.Time {
	now := time.Now()
	(*struct{ wall uint64 })(unsafe.Pointer(&now)).wall += uint64(ahead/time.Second) << 30
	return now
}

// waitForGuard waits until the guard has looked at the clock: before, it compares it with the newest id.
func waitForGuard(t *testing.T, db *store.DB) {
	for db.GuardTicks() < 2 && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
}

func TestWallClock(t *testing.T) {
	before := time.Now()
	later := wallClock(48 * time.Hour)
	if by := later.Sub(before); by > time.Hour {
		t.Errorf("the monotonic reading is later by %v", by)
	}
	if by := later.Round(0).Sub(before.Round(0)).Round(time.Hour); by != 48*time.Hour {
		t.Errorf("the wall clock is ahead by %v", by)
	}
}

// hourlyJob is a recurring job.
type hourlyJob struct{}

func (hourlyJob) Kind() store.JobKind { return store.JobKind{Name: "hourly_test", Every: time.Hour} }

// TestRecurringAfterClockIsSetBack sets the clock back by two days while a recurring job waits. The job is due one interval later, not after
// two days.
func TestRecurringAfterClockIsSetBack(t *testing.T) {
	var ahead atomic.Int64
	ahead.Store(int64(48 * time.Hour))
	db, _ := openLogged(t, t.TempDir(), func(o *store.Options) {
		o.Now = func() time.Time { return wallClock(time.Duration(ahead.Load())) }
	})
	w := store.NewWorker(db, 1, slog.New(slog.DiscardHandler))
	store.Handle(w, func(context.Context, hourlyJob) error { return nil })
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	ended := make(chan struct{})
	go func() { defer close(ended); w.Run(ctx) }()
	defer func() { stop(); <-ended }()
	waitFor := func(what string, due func(in time.Duration) bool) {
		t.Helper()
		for {
			next, err := db.NextJobAt(t.Context(), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if next != nil && due(time.Until(next.Time())) {
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("the job is not due %s; it is due at %v", what, next)
			}
			time.Sleep(time.Millisecond)
		}
	}
	waitFor("after two days", func(in time.Duration) bool { return in > 48*time.Hour })
	waitForGuard(t, db)
	ahead.Store(0)
	waitFor("within an hour", func(in time.Duration) bool { return in > 50*time.Minute && in <= time.Hour })
}

// TestAge checks that a time in the future counts as long ago, but for differences between clocks.
func TestAge(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct{ ago, want time.Duration }{
		{time.Hour, time.Hour}, {0, 0}, {-30 * time.Second, -30 * time.Second}, {-2 * time.Minute, math.MaxInt64}, {-20000 * time.Hour, math.MaxInt64},
	} {
		if got := store.At(now.Add(-tt.ago)).Age(now); got != tt.want && got.Round(time.Second) != tt.want {
			t.Errorf("stored %v ago: got %v, want %v", tt.ago, got, tt.want)
		}
	}
}
