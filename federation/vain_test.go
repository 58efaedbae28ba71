package federation

import (
	"fmt"
	"testing"
	"time"
)

// Who has too much asked for in vain is left alone for a while, and so is who is asked; others are not affected.
func TestVain(t *testing.T) {
	v := newVain()
	now := time.Unix(1_700_000_000, 0)
	for i := range vainOfSource {
		if v.enough("a", "evil.example", now) {
			t.Fatalf("enough after %d", i)
		}
		v.add("a", fmt.Sprintf("d%d.example", i), now)
	}
	if !v.enough("a", "other.example", now) {
		t.Error("a source can go on")
	}
	if v.enough("b", "d1.example", now) {
		t.Error("another source cannot ask")
	}
	for i := range vainOfDomain {
		if v.enough("b", "evil.example", now) {
			t.Fatalf("a domain has enough after %d", i)
		}
		v.add(fmt.Sprint("s", i), "evil.example", now)
	}
	if !v.enough("b", "evil.example", now) {
		t.Error("a domain is asked without end")
	}
	for i := range 2 * vainOfSource {
		v.add("", fmt.Sprint("unsaid", i, ".example"), now)
	}
	if v.enough("", "third.example", now) {
		t.Error("all are left alone of whom it is not known where they come from")
	}
	if later := now.Add(vainTime); v.enough("a", "evil.example", later) {
		t.Error("it does not end")
	}
	for i := range 2 * maxVain {
		v.add(fmt.Sprint("x", i), fmt.Sprint("y", i), now)
	}
	if len(v.of) > maxVain {
		t.Errorf("%d are counted", len(v.of))
	}
}

func TestDomainOf(t *testing.T) {
	for host, want := range map[string]string{
		"example.com": "example.com", "a.b.example.com": "example.com", "example.com:8443": "example.com", "a.example.co.uk": "example.co.uk",
		"127.0.0.1:4000": "127.0.0.1:4000", "localhost:4000": "localhost:4000", "[::1]:4000": "[::1]:4000",
	} {
		if got := domainOf(host); got != want {
			t.Errorf("%s: got %s, want %s", host, got, want)
		}
	}
}
