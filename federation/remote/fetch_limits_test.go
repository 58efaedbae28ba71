package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"svc/internal/activity"
	"svc/internal/errs"
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

// TestNewHostsOfOneDomain checks that too many new servers of one domain within a day are answered with a status that makes them retry later, and
// that servers of a hosting company count one by one.
func TestNewHostsOfOneDomain(t *testing.T) {
	a := newHarness(t)
	addresses := make(map[string][]string)
	for i := range newHostsPerDomain.Count + 1 {
		for _, domain := range []string{"evil.example", "masto.host"} {
			addresses[fmt.Sprintf("h%d.%s", i, domain)] = []string{"127.0.0.1"}
		}
	}
	useNames(t, addresses)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := "http://" + r.Host + "/users/bob"
		if r.URL.Path != "/users/bob" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", activity.MediaType)
		json.NewEncoder(w).Encode(jsonObject{
			"@context": activity.Context, "id": id, "type": "Person", "preferredUsername": "bob", "inbox": id + "/inbox",
			"publicKey": jsonObject{"id": id + "#main-key", "owner": id, "publicKeyPem": pemOf(peerKey())},
		})
	}))
	t.Cleanup(server.Close)
	port := server.URL[strings.LastIndexByte(server.URL, ':'):]
	fetchKey := func(i int, domain string) error {
		keyID := fmt.Sprintf("http://h%d.%s%s/users/bob#main-key", i, domain, port)
		_, err := a.Verifier.VerifyRequest(t.Context(), a.signed(keyID, peerKey()))
		return err
	}
	for i := range newHostsPerDomain.Count + 1 {
		for _, domain := range []string{"evil.example", "masto.host"} {
			var answer *errs.Error
			err := fetchKey(i, domain)
			limited := errors.As(err, &answer) && answer.Status == http.StatusTooManyRequests && answer.RetryAfter > 23*time.Hour
			if want := i == newHostsPerDomain.Count && domain == "evil.example"; limited != want {
				t.Errorf("host %d of %s: got %v, want the limit: %v", i, domain, err, want)
			}
		}
	}
}
