package remote

import (
	"fmt"
	"testing"
	"time"
)

// The number of new hosts per domain and day is limited; other domains are not affected.
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
