package stream_test

import (
	"bufio"
	"net/http"
	"strings"
	"sync"
	"testing"

	"svc/app/apptest"
)

// sseClient reads server-sent events.
type sseClient struct {
	t      testing.TB
	header http.Header

	mu       sync.Mutex
	change   *sync.Cond
	events   []string // "event data"
	comments int
	ended    bool
}

// openSSE opens an event stream and reads it in the background.
func openSSE(a *apptest.Server, c *apptest.Client, path string, params ...string) *sseClient {
	a.T.Helper()
	req, err := http.NewRequestWithContext(a.T.Context(), "GET", a.URL+path+"?"+apptest.Pairs(params).Encode(), nil)
	if err != nil {
		a.T.Fatal(err)
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		a.T.Fatal(err)
	}
	a.T.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 {
		a.T.Fatalf("%s: got %d", path, resp.StatusCode)
	}
	e := &sseClient{t: a.T, header: resp.Header}
	e.change = sync.NewCond(&e.mu)
	go e.read(bufio.NewReader(resp.Body))
	return e
}

func (e *sseClient) read(body *bufio.Reader) {
	event, data := "", ""
	for {
		line, err := body.ReadString('\n')
		e.mu.Lock()
		switch line = strings.TrimSuffix(line, "\n"); {
		case err != nil:
			e.ended = true
			e.change.Broadcast()
			e.mu.Unlock()
			return
		case strings.HasPrefix(line, ":"):
			e.comments++
		case strings.HasPrefix(line, "event: "):
			event = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data = line[len("data: "):]
		case line == "" && event != "" && data != "":
			e.events = append(e.events, event+" "+data)
			event, data = "", ""
		default:
			e.t.Errorf("invalid line: %q", line)
		}
		e.change.Broadcast()
		e.mu.Unlock()
	}
}

// Next waits for the next event and returns it, or "end".
func (e *sseClient) Next() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.events) == 0 && !e.ended {
		e.change.Wait()
	}
	if len(e.events) == 0 {
		return "end"
	}
	first := e.events[0]
	e.events = e.events[1:]
	return first
}

// WaitEnd waits until the server ends the stream.
func (e *sseClient) WaitEnd() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for !e.ended {
		e.change.Wait()
	}
}

// TestServerSentEvents reads each stream as server-sent events.
func TestServerSentEvents(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	bob.AccountAction(alice.ID, "follow")
	list := srv.AddList(bob, alice)
	readers := map[string]*sseClient{}
	for _, s := range []struct {
		path   string
		as     *apptest.User
		params []string
	}{
		{"user", bob, nil}, {"user/notification", bob, nil}, {"direct", bob, nil}, {"list", bob, []string{"list", list}},
		{"public", nil, nil}, {"public/local", nil, nil}, {"public/remote", nil, nil}, {"hashtag", nil, []string{"tag", "Cats"}},
		{"hashtag/local", nil, []string{"tag", "cats"}},
	} {
		readers[s.path] = openSSE(srv, srv.As(s.as), "/api/v1/streaming/"+s.path, s.params...)
	}
	readers["media"] = openSSE(srv, srv.As(nil), "/api/v1/streaming/public/local", "only_media", "true")
	readers["by name"] = openSSE(srv, srv.As(nil), "/api/v1/streaming", "stream", "public")
	readers["user by name"] = openSSE(srv, bob.Client, "/api/v1/streaming/", "stream", "user")
	h := readers["user"].header
	if h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-store" || h.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("headers are %v", h)
	}
	readers["user"].mu.Lock()
	for readers["user"].comments == 0 { // which makes proxies forward the headers
		readers["user"].change.Wait()
	}
	readers["user"].mu.Unlock()
	next := func(name, want string) {
		t.Helper()
		if got := readers[name].Next(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	text := "hello <b> \u2028 #cats\n\nand more"
	id := alice.Publish(text, "media_ids[]", srv.AddMedia(alice)).ID()
	for _, name := range []string{"user", "list", "public", "public/local", "hashtag", "hashtag/local", "media", "by name", "user by name"} {
		next(name, `update {"id":"`+id+`"`)
	}
	alice.EditStatus(id, map[string]any{"status": "edited #cats"}).Want(200)
	timelines := []string{"user", "list", "public", "public/local", "hashtag", "hashtag/local"}
	for _, name := range timelines { // before the deletion: an edit of a deleted post is not sent
		next(name, `status.update {"id":"`+id+`"`)
	}
	alice.Do("DELETE", "/api/v1/statuses/"+id, "", nil).Want(200)
	for _, name := range timelines {
		next(name, "delete "+id)
	}
	secret := alice.Publish("psst @bob", "visibility", "direct").ID()
	next("direct", "conversation {")
	next("direct", `update {"id":"`+secret+`"`)
	next("user/notification", `notification {"id":`)
	next("user", `notification {"id":`)
	srv.EmitFiltersChanged(bob)
	next("user", `update {"id":"`+secret+`"`)
	next("user", "filters_changed undefined")
	next("user/notification", "filters_changed undefined")

	for _, tt := range []struct {
		path, params string
		as           *apptest.Client
		want         int
	}{
		{"user", "", srv.As(nil), 401},
		{"user", "", srv.NewToken(bob, "read:notifications"), 403},
		{"user", "", srv.NewToken(nil, "read"), 422},
		{"user/notification", "", srv.NewToken(bob, "read:statuses"), 403},
		{"list", "", bob.Client, 400},
		{"list", "list=" + list, alice.Client, 404},
		{"list", "list=1", bob.Client, 404},
		{"hashtag", "", bob.Client, 400},
		{"hashtag/local", "tag=%23", bob.Client, 404},
		{"nothing", "", bob.Client, 404},
		{"user/chat", "", bob.Client, 404},
		{"health", "", srv.As(nil), 200},
		{"public", "", &apptest.Client{Server: srv, Token: "wrong"}, 200}, // routes for everyone ignore wrong tokens
	} {
		a := tt.as.Do("GET", "/api/v1/streaming/"+tt.path+"?"+tt.params, "", nil).Want(tt.want)
		if tt.want >= 400 && !a.Object().Has("error") {
			t.Errorf("%s: %s", tt.path, a.Body)
		}
	}
	if got := string(srv.As(nil).Get("/api/v1/streaming/health").Body); got != "OK" {
		t.Errorf("health is %q", got)
	}
	for _, header := range []string{"Cookie", "Authorization"} {
		req, _ := http.NewRequest("GET", srv.URL+"/api/v1/streaming/user", nil)
		req.Header.Set(header, map[string]string{"Cookie": "_svc_key=" + bob.Token, "Authorization": "Basic Ym9iOmNvcnJlY3QgaG9yc2UgYmF0dGVyeSBzdGFwbGU="}[header])
		srv.As(nil).DoRequest(req).Want(401)
	}
	srv.As(nil).Do("HEAD", "/api/v1/streaming/public", "", nil).Want(200)

	srv.RevokeToken(bob.Token).Want(200)
	for _, name := range []string{"user", "user/notification", "direct", "list"} {
		readers[name].WaitEnd()
	}
}
