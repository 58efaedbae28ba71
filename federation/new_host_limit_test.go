package federation

import (
	"fmt"
	"testing"
	"time"
)

// A domain with any number of host names brings a few servers a day only; others are not affected by it.
func TestNewcomers(t *testing.T) {
	n := newNewHostLimit()
	now := time.Unix(1_700_000_000, 0)
	admitted := 0
	for i := range 1000 {
		if n.allow(fmt.Sprintf("h%d.evil.example.com", i), true, now) {
			admitted++
		}
	}
	if admitted != maxNewHostsPerDomain {
		t.Errorf("%d hosts of one domain", admitted)
	}
	for _, host := range []string{"h3.evil.example.com", "example.com", "other.example.org", "a.co.uk", "127.0.0.1:4000", "localhost:4000"} {
		if !n.allow(host, true, now) {
			t.Errorf("%s is refused", host)
		}
	}
	if !n.allow("new.example.com", true, now.Add(newHostWindow+1)) {
		t.Error("refused for longer than a day")
	}
	for i := range 2 * maxNewHostDomains {
		n.allow(fmt.Sprintf("a.domain%d.net", i), true, now)
	}
	if len(n.domains) > maxNewHostDomains {
		t.Errorf("%d domains are remembered", len(n.domains))
	}
}
