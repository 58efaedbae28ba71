package remote

import (
	"testing"
	"time"
)

// TestHostBackoff checks that a host that does not respond is retried at growing intervals until it does.
func TestHostBackoff(t *testing.T) {
	a := newFailureCache()
	now := time.Unix(1_700_000_000, 0)
	for _, want := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second} {
		for range 6 { // at once
			a.recordHost("slow.example", false, now)
		}
		if !a.backingOff("slow.example", now.Add(want-1)) || a.backingOff("slow.example", now.Add(want)) {
			t.Errorf("no backoff of %v", want)
		}
		now = now.Add(want)
	}
	for range 20 {
		a.recordHost("slow.example", false, now)
		now = now.Add(time.Hour)
	}
	a.recordHost("slow.example", false, now)
	if a.backingOff("slow.example", now.Add(maxHostBackoff)) || a.backingOff("other.example", now) {
		t.Error("the backoff does not end, or affects another host")
	}
	a.recordHost("slow.example", true, now)
	if a.backingOff("slow.example", now) {
		t.Error("the backoff continues after a response")
	}
}
