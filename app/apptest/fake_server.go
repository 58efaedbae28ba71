package apptest

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/httpsig"
)

// Public is the collection that addresses everyone.
const Public = "https://www.w3.org/ns/activitystreams#Public"

// FakeServer is a remote server that serves the documents of a test, records deliveries and signs requests with a chosen scheme. Actor
// ids are URL/users/NAME.
type FakeServer struct {
	T    testing.TB
	URL  string // http://127.0.0.1:port
	Host string // 127.0.0.1:port

	Close func() // stops it; the test's cleanup does, too

	// Check is called for each request; it answers the request and returns false, or lets it pass. nil: all pass.
	Check func(w http.ResponseWriter, r *http.Request, body []byte) bool

	// How requests are signed. The zero value is draft-cavage with RSA.
	Scheme httpsig.Scheme
	Ahead  time.Duration // of the clock by which it signs

	mu          sync.Mutex
	responses   map[string]*fakeResponse // by path
	fetches     map[string]int           // GETs, by path with query
	deliveries  []Doc                    // in order of arrival
	inboxStatus int                      // of responses to deliveries; 0: 202
	Keys        map[string]crypto.Signer
	KeyIDs      map[string]string // by actor; default ACTOR#main-key
	lastID      int
}

// fakeResponse is the response to GETs of a path.
type fakeResponse struct {
	status    int
	mediaType string
	body      []byte
	onRequest func(*http.Request) // nil: nothing
}

// StartFake starts a FakeServer without actors.
func StartFake(t testing.TB) *FakeServer {
	t.Helper()
	p := &FakeServer{
		T: t, Scheme: httpsig.Cavage,
		responses: make(map[string]*fakeResponse), fetches: make(map[string]int), Keys: make(map[string]crypto.Signer), KeyIDs: make(map[string]string),
	}
	ts := httptest.NewServer(p)
	t.Cleanup(ts.Close)
	p.Close = ts.Close
	p.URL, p.Host = ts.URL, strings.TrimPrefix(ts.URL, "http://")
	return p
}

// ServeHTTP records deliveries and serves documents.
func (p *FakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if p.Check != nil && !p.Check(w, r, body) {
		return
	}
	p.mu.Lock()
	if r.Method == http.MethodPost {
		var d Doc
		if json.Unmarshal(body, &d) == nil {
			p.deliveries = append(p.deliveries, d)
		}
		status := p.inboxStatus
		p.mu.Unlock()
		w.WriteHeader(max(status, http.StatusAccepted))
		return
	}
	p.fetches[r.URL.RequestURI()]++
	a := p.responses[r.URL.RequestURI()]
	p.mu.Unlock()
	if a == nil {
		http.NotFound(w, r)
		return
	}
	if a.onRequest != nil {
		a.onRequest(r)
	}
	w.Header().Set("Content-Type", a.mediaType)
	w.WriteHeader(a.status)
	w.Write(a.body)
}

// Serve serves a document at its id. It replaces an existing one.
func (p *FakeServer) Serve(d Doc) {
	p.T.Helper()
	p.ServeAt(d["id"].(string), d)
}

// ServeAt serves a document at a URL of this server.
func (p *FakeServer) ServeAt(address string, d Doc) {
	p.T.Helper()
	if _, ok := d["@context"]; !ok {
		d = maps.Clone(d)
		d["@context"] = "https://www.w3.org/ns/activitystreams"
	}
	b, err := json.Marshal(d)
	if err != nil {
		p.T.Fatal(err)
	}
	p.Respond(strings.TrimPrefix(address, p.URL), http.StatusOK, "application/activity+json", b)
}

// Respond sets the response to GETs of a path.
func (p *FakeServer) Respond(path string, status int, media string, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.responses[path] = &fakeResponse{status: status, mediaType: media, body: body}
}

// Replace replaces text in the document at a URL, which need not be JSON then.
func (p *FakeServer) Replace(address, text, by string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := *p.responses[strings.TrimPrefix(address, p.URL)]
	changed.body = bytes.ReplaceAll(changed.body, []byte(text), []byte(by))
	p.responses[strings.TrimPrefix(address, p.URL)] = &changed
}

// Remove replaces the document at a URL by a status such as 410.
func (p *FakeServer) Remove(address string, status int) {
	p.Respond(strings.TrimPrefix(address, p.URL), status, "text/plain", []byte("gone"))
}

// Fetches returns how often a URL was fetched.
func (p *FakeServer) Fetches(address string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetches[strings.TrimPrefix(address, p.URL)]
}

// AllFetches returns the number of all fetches.
func (p *FakeServer) AllFetches() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, count := range p.fetches {
		n += count
	}
	return n
}

// Delivered returns the delivered activities of the given types, or all, in order of arrival.
func (p *FakeServer) Delivered(types ...string) []Doc {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Doc
	for _, d := range p.deliveries {
		kind, _ := d["type"].(string)
		if len(types) == 0 || slices.Contains(types, kind) {
			list = append(list, d)
		}
	}
	return list
}

// OneDelivered returns the only delivered activity of a type, and fails the test if there is none or several.
func (p *FakeServer) OneDelivered(activityType string) Doc {
	p.T.Helper()
	list := p.Delivered(activityType)
	if len(list) != 1 {
		p.T.Fatalf("%d activities of type %s were delivered, want 1: %v", len(list), activityType, p.Delivered())
	}
	return list[0]
}

// ClearDelivered removes the recorded deliveries.
func (p *FakeServer) ClearDelivered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deliveries = nil
}

// LastDelivered returns the last delivered activity of a type.
func LastDelivered(t *testing.T, p *FakeServer, kind string) Doc {
	t.Helper()
	list := p.Delivered(kind)
	if len(list) == 0 {
		t.Fatalf("no %s was delivered, but %v", kind, p.Delivered())
	}
	return list[len(list)-1]
}

// RefuseDeliveries sets the status of responses to deliveries.
func (p *FakeServer) RefuseDeliveries(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inboxStatus = status
}

// Signer returns the signer of an actor.
func (p *FakeServer) Signer(actor string) *httpsig.Signer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key := p.Keys[actor+"#ed25519-key"]; key != nil && p.Scheme == httpsig.RFC9421 {
		return &httpsig.Signer{KeyID: actor + "#ed25519-key", Key: key}
	}
	return &httpsig.Signer{KeyID: cmp.Or(p.KeyIDs[actor], actor+"#main-key"), Key: p.Keys[actor]}
}

// FetchAs fetches a URL or path of srv with an Accept header, signed by signer unless that is "".
func (p *FakeServer) FetchAs(srv *Server, path, signer, accept string) *Response {
	srv.T.Helper()
	if strings.HasPrefix(path, "/") {
		path = srv.URL + path
	}
	req := srv.NewGet(path, accept)
	if signer != "" {
		p.Sign(req, signer)
	}
	return srv.As(nil).DoRequest(req)
}

// Sign signs a request without a body.
func (p *FakeServer) Sign(req *http.Request, signer string) {
	p.T.Helper()
	if err := p.Signer(signer).Sign(req, nil, httpsig.Options{Scheme: p.Scheme, Now: time.Now().Add(p.Ahead)}); err != nil {
		p.T.Fatal(err)
	}
}

// Post delivers an activity to the shared inbox of a server, signed by its actor, and wants status 202. Settle processes it.
func (p *FakeServer) Post(to *Server, d Doc) *Response {
	p.T.Helper()
	actor, _ := d["actor"].(string)
	return p.Deliver(to, "/inbox", actor, d).Want(http.StatusAccepted)
}

// PostTo delivers an activity to the inbox of a user.
func (p *FakeServer) PostTo(to *Server, m *User, d Doc) *Response {
	p.T.Helper()
	actor, _ := d["actor"].(string)
	return p.Deliver(to, "/users/"+m.ID+"/inbox", actor, d).Want(http.StatusAccepted)
}

// Deliver posts a document to a path of a server, signed by signer.
func (p *FakeServer) Deliver(to *Server, path, signer string, d Doc) *Response {
	p.T.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		p.T.Fatal(err)
	}
	return p.DeliverRaw(to, path, signer, b)
}

// DeliverRaw posts a body that need not be JSON.
func (p *FakeServer) DeliverRaw(to *Server, path, signer string, b []byte) *Response {
	p.T.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, to.URL+path, bytes.NewReader(b))
	if err != nil {
		p.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/activity+json")
	if err := p.Signer(signer).Sign(req, b, httpsig.Options{Scheme: p.Scheme, Now: time.Now().Add(p.Ahead)}); err != nil {
		p.T.Fatal(err)
	}
	return to.As(nil).DoRequest(req)
}

// PostAndSettle delivers an activity and processes it.
func (p *FakeServer) PostAndSettle(to *Server, d Doc) {
	p.T.Helper()
	p.Post(to, d)
	Settle(to)
}

// OnRequest calls f before each response to a path with the prefix. The documents must exist.
func (p *FakeServer) OnRequest(prefix string, f func(*http.Request)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for path, r := range p.responses {
		if strings.HasPrefix(path, prefix) {
			changed := *r
			changed.onRequest = f
			p.responses[path] = &changed
		}
	}
}
