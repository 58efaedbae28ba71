package server_test

import (
	"bufio"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// eventReader is a client that listens to server-sent events.
type eventReader struct {
	t      testing.TB
	header http.Header

	mu     sync.Mutex
	change *sync.Cond
	got    []string // "event data"
	quiet  int      // comments
	ended  bool
}

// events opens a stream of events.
func (a *api) events(c *caller, path string, params ...string) *eventReader {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), "GET", a.url+path+"?"+pairs(params).Encode(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 {
		a.t.Fatalf("%s: got %d", path, resp.StatusCode)
	}
	e := &eventReader{t: a.t, header: resp.Header}
	e.change = sync.NewCond(&e.mu)
	go e.read(bufio.NewReader(resp.Body))
	return e
}

func (e *eventReader) read(body *bufio.Reader) {
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
			e.quiet++
		case strings.HasPrefix(line, "event: "):
			event = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data = line[len("data: "):]
		case line == "" && event != "" && data != "":
			e.got = append(e.got, event+" "+data)
			event, data = "", ""
		default:
			e.t.Errorf("a line that is none: %q", line)
		}
		e.change.Broadcast()
		e.mu.Unlock()
	}
}

// next waits for the next event.
func (e *eventReader) next() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.got) == 0 && !e.ended {
		e.change.Wait()
	}
	if len(e.got) == 0 {
		return "end"
	}
	first := e.got[0]
	e.got = e.got[1:]
	return first
}

// waitEnd waits until the server ends the stream.
func (e *eventReader) waitEnd() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for !e.ended {
		e.change.Wait()
	}
}

// TestServerSentEvents listens to all that there is as events.
func TestServerSentEvents(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	bob.to(alice.id, "follow")
	list := srv.letList(bob, alice)
	readers := map[string]*eventReader{}
	for _, s := range []struct {
		path   string
		as     *member
		params []string
	}{
		{"user", bob, nil}, {"user/notification", bob, nil}, {"direct", bob, nil}, {"list", bob, []string{"list", list}},
		{"public", nil, nil}, {"public/local", nil, nil}, {"public/remote", nil, nil}, {"hashtag", nil, []string{"tag", "Cats"}},
		{"hashtag/local", nil, []string{"tag", "cats"}},
	} {
		readers[s.path] = srv.events(srv.as(s.as), "/api/v1/streaming/"+s.path, s.params...)
	}
	readers["media"] = srv.events(srv.as(nil), "/api/v1/streaming/public/local", "only_media", "true")
	readers["by name"] = srv.events(srv.as(nil), "/api/v1/streaming", "stream", "public")
	readers["user by name"] = srv.events(bob.caller, "/api/v1/streaming/", "stream", "user")
	h := readers["user"].header
	if h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-store" || h.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("headers are %v", h)
	}
	readers["user"].mu.Lock()
	for readers["user"].quiet == 0 { // so that proxies hand on the headers
		readers["user"].change.Wait()
	}
	readers["user"].mu.Unlock()
	next := func(name, want string) {
		t.Helper()
		if got := readers[name].next(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	text := "hello <b> \u2028 #cats\n\nand more"
	id := alice.publish(text, "media_ids[]", srv.letUpload(alice)).id()
	for _, name := range []string{"user", "list", "public", "public/local", "hashtag", "hashtag/local", "media", "by name", "user by name"} {
		next(name, `update {"id":"`+id+`"`)
	}
	alice.edit(id, map[string]any{"status": "edited #cats"}).want(200)
	alice.do("DELETE", "/api/v1/statuses/"+id, "", nil).want(200)
	for _, name := range []string{"user", "list", "public", "public/local", "hashtag", "hashtag/local"} {
		next(name, `status.update {"id":"`+id+`"`)
		next(name, "delete "+id)
	}
	secret := alice.publish("psst @bob", "visibility", "direct").id()
	next("direct", `update {"id":"`+secret+`"`)
	next("user/notification", `notification {"id":`)
	next("user", `notification {"id":`)
	srv.emitFiltersChanged(bob)
	next("user", `update {"id":"`+secret+`"`)
	next("user", "filters_changed undefined")
	next("user/notification", "filters_changed undefined")

	for _, tt := range []struct {
		path, params string
		as           *caller
		want         int
	}{
		{"user", "", srv.as(nil), 401},
		{"user", "", srv.newToken(bob, "read:notifications"), 403},
		{"user", "", srv.newToken(nil, "read"), 422},
		{"user/notification", "", srv.newToken(bob, "read:statuses"), 403},
		{"list", "", bob.caller, 400},
		{"list", "list=" + list, alice.caller, 404},
		{"list", "list=1", bob.caller, 404},
		{"hashtag", "", bob.caller, 400},
		{"hashtag/local", "tag=%23", bob.caller, 404},
		{"nothing", "", bob.caller, 404},
		{"user/chat", "", bob.caller, 404},
		{"health", "", srv.as(nil), 200},
		{"public", "", &caller{srv, "wrong"}, 200}, // as everywhere that does not need one
	} {
		a := tt.as.do("GET", "/api/v1/streaming/"+tt.path+"?"+tt.params, "", nil).want(tt.want)
		if tt.want >= 400 && !a.object().has("error") {
			t.Errorf("%s: %s", tt.path, a.body)
		}
	}
	if got := string(srv.as(nil).get("/api/v1/streaming/health").body); got != "OK" {
		t.Errorf("health is %q", got)
	}
	for _, cookie := range []string{"Cookie", "Authorization"} {
		req, _ := http.NewRequest("GET", srv.url+"/api/v1/streaming/user", nil)
		req.Header.Set(cookie, map[string]string{"Cookie": "_svc_key=" + bob.token, "Authorization": "Basic Ym9iOmNvcnJlY3QgaG9yc2UgYmF0dGVyeSBzdGFwbGU="}[cookie])
		srv.as(nil).request(req).want(401)
	}
	srv.as(nil).do("HEAD", "/api/v1/streaming/public", "", nil).want(200)

	app := srv.registerApp()
	bob.post("/oauth/revoke", "token", bob.token, "client_id", app.id, "client_secret", app.secret).want(200)
	for _, name := range []string{"user", "user/notification", "direct", "list"} {
		readers[name].waitEnd()
	}
}
