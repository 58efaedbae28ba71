package federation

import (
	"fmt"
	"testing"
	"time"
)

// A host that does not answer is left alone for longer each time, until it does.
func TestSilence(t *testing.T) {
	a := newFailureCache()
	now := time.Unix(1_700_000_000, 0)
	for _, want := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second} {
		for range 6 { // at once
			a.recordHost("slow.example", false, now)
		}
		if !a.backingOff("slow.example", now.Add(want-1)) || a.backingOff("slow.example", now.Add(want)) {
			t.Errorf("it is not left alone for %v", want)
		}
		now = now.Add(want)
	}
	for range 20 {
		a.recordHost("slow.example", false, now)
		now = now.Add(time.Hour)
	}
	a.recordHost("slow.example", false, now)
	if a.backingOff("slow.example", now.Add(maxHostBackoff)) || a.backingOff("other.example", now) {
		t.Error("it is left alone for ever, or another one is")
	}
	a.recordHost("slow.example", true, now)
	if a.backingOff("slow.example", now) {
		t.Error("it is left alone though it has answered")
	}
	for i := range 2 * maxCachedFailures {
		a.recordHost(fmt.Sprint(i), false, now)
	}
	if len(a.hosts) > maxCachedFailures {
		t.Errorf("%d hosts are remembered", len(a.hosts))
	}
}
