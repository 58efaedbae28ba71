package pages_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
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
	first := bob.Publish("before the page").ID()
	newest := bob.Publish("before the stream").ID()
	direct := bob.Publish("@alice before the stream of the user", "visibility", "direct").ID()
	state := firstEvent(t, open("/web/stream/user?noticed=", "same-origin").Body)
	if state.Notifications != 1 || len(state.Noticed) != 1 || state.Notified != state.Noticed[0] || state.Chats != 0 || !state.Waiting || len(state.Newer) != 0 {
		t.Errorf("the stream of the user begins with %+v", state)
	}
	alice.AccountAction(bob.ID, "follow")
	list := alice.Post("/api/v1/lists", "title", "Friends").Want(200).Object().ID()
	alice.Post("/api/v1/lists/"+list+"/accounts", "account_ids[]", bob.ID).Want(200)
	inList := bob.Publish("for the list", "visibility", "private").ID()
	if state := firstEvent(t, open("/web/stream/list?list="+list+"&after="+direct, "same-origin").Body); !slices.Equal(state.Newer, []string{inList}) {
		t.Errorf("the stream of a list begins with %+v, want the post %s", state, inList)
	}
	for after, want := range map[string][]string{"?after=": {newest, first}, "?after=" + first: {newest}, "?after=" + newest: {}, "": {}} {
		if state := firstEvent(t, open("/web/stream/local"+after, "same-origin").Body); !slices.Equal(state.Newer, want) {
			t.Errorf("%s: the local stream begins with %+v, want posts %s", after, state, want)
		}
	}
	if n := alice.Get("/api/v1/markers?timeline[]=home").Want(200).Body; string(n) != "{}" {
		t.Errorf("a stream marks as read: %s", n)
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

// streamState is the first event of a stream.
type streamState struct {
	Newer, Noticed       []string
	Notified             string
	Notifications, Chats int
	Waiting              bool
}

func firstEvent(t *testing.T, body io.Reader) (state streamState) {
	t.Helper()
	lines := bufio.NewScanner(body)
	for _, want := range []string{"event: state", "data: "} {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
			t.Fatalf("the stream begins with %q instead of %q", lines.Text(), want)
		}
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(lines.Text(), "data: ")), &state); err != nil {
		t.Fatal(err)
	}
	return state
}
