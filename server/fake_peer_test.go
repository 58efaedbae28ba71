package server_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
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

// doc is a document of a test's own making.
type doc = map[string]any

// toPublic is what addresses everybody.
const toPublic = "https://www.w3.org/ns/activitystreams#Public"

// fakePeer is a server of another kind on a port of its own: it has the documents that a test gives it, keeps what is delivered to it,
// and signs what it sends in the way that the test chooses. Its addresses are like PEER/users/NAME and PEER/NAME.
type fakePeer struct {
	t    testing.TB
	url  string // http://127.0.0.1:port
	host string // 127.0.0.1:port

	close func() // ends it before the test does

	// How requests are signed. The zero value is draft-cavage with RSA.
	scheme httpsig.Scheme

	mu       sync.Mutex
	answers  map[string]*fakeAnswer // by path
	requests map[string]int         // GETs, by path with query
	inbox    []doc                  // what was delivered, in order
	answer   int                    // to deliveries; 0: 202
	keys     map[string]crypto.Signer
	keyIDs   map[string]string // of actors whose key is not called ACTOR#main-key
	serial   int
}

// fakeAnswer is what a peer answers for a path.
type fakeAnswer struct {
	status int
	media  string
	body   []byte
	before func(*http.Request) // nil: nothing
}

// startFake starts a peer without actors.
func startFake(t testing.TB) *fakePeer {
	t.Helper()
	p := &fakePeer{
		t: t, scheme: httpsig.Cavage,
		answers: make(map[string]*fakeAnswer), requests: make(map[string]int), keys: make(map[string]crypto.Signer), keyIDs: make(map[string]string),
	}
	ts := httptest.NewServer(p)
	t.Cleanup(ts.Close)
	p.close = ts.Close
	p.url, p.host = ts.URL, strings.TrimPrefix(ts.URL, "http://")
	return p
}

// ServeHTTP answers as the test has said.
func (p *fakePeer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	if r.Method == http.MethodPost {
		var d doc
		if json.Unmarshal(body, &d) == nil {
			p.inbox = append(p.inbox, d)
		}
		status := p.answer
		p.mu.Unlock()
		w.WriteHeader(max(status, http.StatusAccepted))
		return
	}
	p.requests[r.URL.RequestURI()]++
	a := p.answers[r.URL.RequestURI()]
	p.mu.Unlock()
	if a == nil {
		http.NotFound(w, r)
		return
	}
	if a.before != nil {
		a.before(r)
	}
	w.Header().Set("Content-Type", a.media)
	w.WriteHeader(a.status)
	w.Write(a.body)
}

// fakeKeys are made once: that takes a while.
var fakeKeys = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := testKey()
	if err != nil {
		panic(err)
	}
	return key
})

// actor makes a Person that can be fetched and found by WebFinger, and returns its id. Members of the document other than the
// usual ones come in changes; nil removes one.
func (p *fakePeer) actor(name string, changes ...doc) string {
	p.t.Helper()
	id := p.url + "/users/" + name
	key := p.keys[id]
	if key == nil {
		key = fakeKeys()
		p.keys[id] = key
	}
	pem, err := httpsig.FormatPublicKey(key.Public())
	if err != nil {
		p.t.Fatal(err)
	}
	d := doc{
		"@context": []any{"https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"},
		"id":       id, "type": "Person", "preferredUsername": name, "name": strings.ToUpper(name[:1]) + name[1:],
		"inbox": id + "/inbox", "outbox": id + "/outbox", "followers": id + "/followers", "following": id + "/following",
		"url": p.url + "/@" + name, "endpoints": doc{"sharedInbox": p.url + "/inbox"},
		"publicKey": doc{"id": id + "#main-key", "owner": id, "publicKeyPem": pem},
	}
	for _, c := range changes {
		maps.Copy(d, c)
	}
	maps.DeleteFunc(d, func(_ string, v any) bool { return v == nil })
	p.serve(d)
	p.finger(name, id)
	return id
}

// finger has an actor found by WebFinger.
func (p *fakePeer) finger(name, id string) {
	finger := doc{
		"subject": "acct:" + name + "@" + p.host,
		"links":   []any{doc{"rel": "self", "type": "application/activity+json", "href": id}},
	}
	b, _ := json.Marshal(finger)
	handle := name + "%40" + p.host
	for _, resource := range []string{"acct:" + name + "@" + p.host, "acct:" + handle, "acct%3A" + name + "@" + p.host, "acct%3A" + strings.ReplaceAll(handle, ":", "%3A")} {
		p.respond("/.well-known/webfinger?resource="+resource, http.StatusOK, "application/jrd+json", b)
	}
}

// rotate gives an actor another key, which is in its document from now on.
func (p *fakePeer) rotate(name string) {
	p.t.Helper()
	key, err := testKey()
	if err != nil {
		p.t.Fatal(err)
	}
	p.keys[p.url+"/users/"+name] = key
	p.actor(name)
}

// edKey has an actor sign with Ed25519, and returns what its document must have for that.
func (p *fakePeer) edKey(name string) doc {
	p.t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	id := p.url + "/users/" + name
	p.keys[id+"#ed25519-key"] = private
	return doc{"assertionMethod": []any{doc{
		"id": id + "#ed25519-key", "type": "Multikey", "controller": id, "publicKeyMultibase": httpsig.FormatMultikey(public),
	}}}
}

// serve has a document answered at its id. It replaces one that was there.
func (p *fakePeer) serve(d doc) {
	p.t.Helper()
	p.serveAt(d["id"].(string), d)
}

// serveAt has a document answered at an address of this peer.
func (p *fakePeer) serveAt(address string, d doc) {
	p.t.Helper()
	if _, ok := d["@context"]; !ok {
		d = maps.Clone(d)
		d["@context"] = "https://www.w3.org/ns/activitystreams"
	}
	b, err := json.Marshal(d)
	if err != nil {
		p.t.Fatal(err)
	}
	p.respond(strings.TrimPrefix(address, p.url), http.StatusOK, "application/activity+json", b)
}

// respond has anything answered for a path.
func (p *fakePeer) respond(path string, status int, media string, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[path] = &fakeAnswer{status: status, media: media, body: body}
}

// remove has an address answered with a status such as 410, and nothing else.
func (p *fakePeer) remove(address string, status int) {
	p.respond(strings.TrimPrefix(address, p.url), status, "text/plain", []byte("gone"))
}

// asked returns how often an address was fetched.
func (p *fakePeer) asked(address string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests[strings.TrimPrefix(address, p.url)]
}

// askedAll returns how often anything was fetched.
func (p *fakePeer) askedAll() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, times := range p.requests {
		n += times
	}
	return n
}

// delivered returns what has been delivered here, in order, of the types given or of all.
func (p *fakePeer) delivered(types ...string) []doc {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []doc
	for _, d := range p.inbox {
		kind, _ := d["type"].(string)
		if len(types) == 0 || slices.Contains(types, kind) {
			list = append(list, d)
		}
	}
	return list
}

// refuse has deliveries answered with a status.
func (p *fakePeer) refuse(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = status
}

// id makes an address that nothing has had before.
func (p *fakePeer) id(kind string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serial++
	return fmt.Sprintf("%s/%s/%d", p.url, kind, p.serial)
}

// note makes a public Note by an actor, as most servers send it. changes are its other members; nil removes one.
func (p *fakePeer) note(actor, content string, changes ...doc) doc {
	id := p.id("notes")
	d := doc{
		"id": id, "type": "Note", "attributedTo": actor, "content": content, "published": time.Now().UTC().Format(time.RFC3339),
		"to": []any{toPublic}, "cc": []any{actor + "/followers"}, "url": id + ".html",
	}
	for _, c := range changes {
		maps.Copy(d, c)
	}
	maps.DeleteFunc(d, func(_ string, v any) bool { return v == nil })
	return d
}

// activity makes an activity by an actor. The addresses of an embedded object are its own, too.
func (p *fakePeer) activity(verb, actor string, object any, changes ...doc) doc {
	d := doc{
		"@context": "https://www.w3.org/ns/activitystreams", "id": p.id("activities"), "type": verb, "actor": actor, "object": object,
	}
	if o, ok := object.(doc); ok {
		for _, key := range []string{"to", "cc"} {
			if v, ok := o[key]; ok {
				d[key] = v
			}
		}
	}
	for _, c := range changes {
		maps.Copy(d, c)
	}
	maps.DeleteFunc(d, func(_ string, v any) bool { return v == nil })
	return d
}

// create makes the Create of a note.
func (p *fakePeer) create(note doc, changes ...doc) doc {
	actor, _ := note["attributedTo"].(string)
	return p.activity("Create", actor, note, changes...)
}

// signerOf returns what an actor signs with.
func (p *fakePeer) signerOf(actor string) *httpsig.Signer {
	if key := p.keys[actor+"#ed25519-key"]; key != nil && p.scheme == httpsig.RFC9421 {
		return &httpsig.Signer{KeyID: actor + "#ed25519-key", Key: key}
	}
	return &httpsig.Signer{KeyID: cmp.Or(p.keyIDs[actor], actor+"#main-key"), Key: p.keys[actor]}
}

// post delivers an activity to the shared inbox of a server, signed by its actor, and wants it to be accepted. Nothing is done with
// it before the server settles.
func (p *fakePeer) post(to *api, d doc) *answer {
	p.t.Helper()
	actor, _ := d["actor"].(string)
	return p.deliver(to, "/inbox", actor, d).want(http.StatusAccepted)
}

// postTo delivers an activity to the own inbox of somebody.
func (p *fakePeer) postTo(to *api, m *member, d doc) *answer {
	p.t.Helper()
	actor, _ := d["actor"].(string)
	return p.deliver(to, "/users/"+m.id+"/inbox", actor, d).want(http.StatusAccepted)
}

// deliver sends a document to a path of a server, signed by anybody.
func (p *fakePeer) deliver(to *api, path, signer string, d doc) *answer {
	p.t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.deliverRaw(to, path, signer, b)
}

// deliverRaw sends any text.
func (p *fakePeer) deliverRaw(to *api, path, signer string, b []byte) *answer {
	p.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, to.url+path, bytes.NewReader(b))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/activity+json")
	if err := p.signerOf(signer).Sign(req, b, httpsig.Options{Scheme: p.scheme, Now: time.Now()}); err != nil {
		p.t.Fatal(err)
	}
	return to.as(nil).request(req)
}

// receive delivers an activity and has it done with.
func (p *fakePeer) receive(to *api, d doc) {
	p.t.Helper()
	p.post(to, d)
	settle(to)
}
