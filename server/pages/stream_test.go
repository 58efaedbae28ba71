package pages_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestPageStream reads new posts from the stream of the pages, which the session of the browser opens.
func TestPageStream(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	browser := alice.SignedIn()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	open := func(path, site string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, "GET", srv.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Sec-Fetch-Site", site)
		for _, c := range browser.Cookies {
			req.AddCookie(c)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	if got := open("/web/stream/local", "cross-site").StatusCode; got != 403 {
		t.Errorf("a page of another site gets %d", got)
	}
	if got := open("/web/stream/direct", "same-origin").StatusCode; got != 404 {
		t.Errorf("another stream: %d", got)
	}
	if resp, err := http.Get(srv.URL + "/web/stream/user"); err != nil {
		t.Error(err)
	} else {
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.Header.Get("Content-Type") != "text/event-stream" || string(body) != "event: signed_out\ndata:\n\n" {
			t.Errorf("without a session: %d %q", resp.StatusCode, body)
		}
	}
	resp := open("/web/stream/local", "same-origin")
	if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("%d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	bob.Publish("hello stream")
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "hello stream") {
			return
		}
	}
	t.Errorf("the stream ended: %v", lines.Err())
}
