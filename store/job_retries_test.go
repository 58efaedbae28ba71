package store_test

import (
	"testing"
	"time"

	"svc/store"
)

// TestRetryDelay checks the pauses after failed attempts (federation 3.4): they spread by a fifth, and end after two days in all.
func TestRetryDelay(t *testing.T) {
	var all time.Duration
	for attempts, want := range map[int]time.Duration{
		1: 30 * time.Second, 2: 2 * time.Minute, 3: 5 * time.Minute, 4: 15 * time.Minute, 5: 30 * time.Minute, 6: time.Hour, 7: 2 * time.Hour,
		8: 4 * time.Hour, 9: 8 * time.Hour, 10: 12 * time.Hour, 11: 24 * time.Hour, 12: 24 * time.Hour, 1000: 24 * time.Hour,
	} {
		least, most := want, want
		for range 1000 {
			d := store.RetryDelay(attempts)
			least, most = min(least, d), max(most, d)
		}
		if least < want*4/5 || most > want*6/5 || most-least < want/5 {
			t.Errorf("after %d attempts: from %v to %v, want %v more or less", attempts, least, most, want)
		}
		if attempts < store.MaxAttempts {
			all += want
		}
	}
	if store.MaxAttempts != 12 || all < 48*time.Hour || all > 56*time.Hour {
		t.Errorf("%d attempts within %v, want 12 within about two days", store.MaxAttempts, all)
	}
}
