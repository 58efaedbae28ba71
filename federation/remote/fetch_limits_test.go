package remote

import (
	"fmt"
	"testing"
	"time"
)

// TestKeyFetchLimit checks that a source and a domain with too many failed key fetches are limited for a while, but others are not.
func TestKeyFetchLimit(t *testing.T) {
	v := newKeyFetchLimit()
	now := time.Unix(1_700_000_000, 0)
	for i := range keyFailuresPerSource.Count {
		if v.exceeded("a", "evil.example", now) {
			t.Fatalf("limited after %d", i)
		}
		v.add("a", fmt.Sprintf("d%d.example", i), now)
	}
	if !v.exceeded("a", "other.example", now) {
		t.Error("a source is not limited")
	}
	if v.exceeded("b", "d1.example", now) {
		t.Error("another source is limited")
	}
	for i := range keyFailuresPerDomain.Count {
		if v.exceeded("b", "evil.example", now) {
			t.Fatalf("a domain is limited after %d", i)
		}
		v.add(fmt.Sprint("s", i), "evil.example", now)
	}
	if !v.exceeded("b", "evil.example", now) {
		t.Error("a domain is not limited")
	}
	for i := range 2 * keyFailuresPerSource.Count {
		v.add("", fmt.Sprint("unknown", i, ".example"), now)
	}
	if v.exceeded("", "third.example", now) {
		t.Error("unknown sources are limited together")
	}
	if later := now.Add(keyFailuresPerSource.Window); v.exceeded("a", "evil.example", later) {
		t.Error("the limit does not end")
	}
}

// TestNewHostLimit checks that the number of new hosts per domain and day is limited.
func TestNewHostLimit(t *testing.T) {
	n := newNewHostLimit()
	now := time.Unix(1_700_000_000, 0)
	admitted := 0
	for i := range 1000 {
		if n.allow(fmt.Sprintf("h%d.evil.example.com", i), true, now) {
			admitted++
		}
	}
	if admitted != newHostsPerDomain.Count {
		t.Errorf("%d hosts of one domain", admitted)
	}
	for _, host := range []string{"h3.evil.example.com", "example.com", "other.example.org", "a.co.uk", "127.0.0.1:4000", "localhost:4000"} {
		if !n.allow(host, true, now) {
			t.Errorf("%s is refused", host)
		}
	}
	if !n.allow("new.example.com", true, now.Add(newHostsPerDomain.Window+1)) {
		t.Error("refused for longer than a day")
	}
}
