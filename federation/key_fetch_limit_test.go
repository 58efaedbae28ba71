package federation

import (
	"fmt"
	"testing"
	"time"
)

// Who has too much asked for in vain is left alone for a while, and so is who is asked; others are not affected.
func TestVain(t *testing.T) {
	v := newKeyFetchLimit()
	now := time.Unix(1_700_000_000, 0)
	for i := range maxKeyFailuresPerSource {
		if v.exceeded("a", "evil.example", now) {
			t.Fatalf("enough after %d", i)
		}
		v.add("a", fmt.Sprintf("d%d.example", i), now)
	}
	if !v.exceeded("a", "other.example", now) {
		t.Error("a source can go on")
	}
	if v.exceeded("b", "d1.example", now) {
		t.Error("another source cannot ask")
	}
	for i := range maxKeyFailuresPerDomain {
		if v.exceeded("b", "evil.example", now) {
			t.Fatalf("a domain has enough after %d", i)
		}
		v.add(fmt.Sprint("s", i), "evil.example", now)
	}
	if !v.exceeded("b", "evil.example", now) {
		t.Error("a domain is asked without end")
	}
	for i := range 2 * maxKeyFailuresPerSource {
		v.add("", fmt.Sprint("unsaid", i, ".example"), now)
	}
	if v.exceeded("", "third.example", now) {
		t.Error("all are left alone of whom it is not known where they come from")
	}
	if later := now.Add(keyFetchWindow); v.exceeded("a", "evil.example", later) {
		t.Error("it does not end")
	}
	for i := range 2 * maxKeyFailureEntries {
		v.add(fmt.Sprint("x", i), fmt.Sprint("y", i), now)
	}
	if len(v.counts) > maxKeyFailureEntries {
		t.Errorf("%d are counted", len(v.counts))
	}
}
