package fetch

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// TestService checks that the client of one service reaches it on loopback, and nothing else.
func TestService(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	service, other := httptest.NewServer(answer), httptest.NewServer(answer)
	defer service.Close()
	defer other.Close()
	base, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := New(Options{Service: base})
	if resp, err := c.Get(t.Context(), service.URL+"/path", Limits{}); err != nil || string(resp.Body) != "hello" {
		t.Errorf("the service: %v", err)
	}
	for _, address := range []string{other.URL, "https://example.org/", "ftp://" + base.Host, "http://user@" + base.Host} {
		if _, err := c.Get(t.Context(), address, Limits{}); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: got %v, want ErrRefused", address, err)
		}
	}
}
