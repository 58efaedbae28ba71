package remote

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc/internal/config"
	"svc/internal/fetch"
	"svc/internal/httpsig"
	"svc/internal/keys"
	"svc/media"
	"svc/policy"
	"svc/social"
	"svc/store"
)

// jsonObject is a document written by a test.
type jsonObject = map[string]any

// harness is a Remote with its own database and a clock that tests advance.
type harness struct {
	*Remote
	db     *store.DB
	t      testing.TB
	worker *store.Worker
	ahead  atomic.Int64
}

func newHarness(t testing.TB) *harness {
	t.Helper()
	schema, err := os.ReadFile("../../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := &harness{t: t}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	db, err := store.Open(t.Context(), store.Options{
		Dir: dir, Schema: string(schema), Log: log, Federated: func() bool { return true },
		Now: func() time.Time { return time.Now().Add(time.Duration(a.ahead.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	secrets, err := keys.Open(dir + "/keys")
	if err != nil {
		t.Fatal(err)
	}
	files, err := media.Open(dir+"/media", media.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	c := config.Default()
	c.Server.URL, c.Federation.AllowLoopback = "http://localhost:4", true
	live := config.NewLive(c)
	people := social.New(db, files, social.Config{Settings: live}, log)
	policies := policy.New(live, policy.Deps{Log: log, Now: db.Now, Accounts: db, HasEmoji: func(string) bool { return false }, CheckNetwork: MayFetch})
	a.db = db
	a.Remote = New(Config{Settings: live, Policies: policies}, db, people,
		fetch.New(fetch.Options{UserAgent: "svc", OwnHosts: []string{"localhost:4"}, AllowLoopback: true}), secrets, log)
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		uri := "http://localhost:4" + FetchActorPath
		return tx.AddAccount(t.Context(), &store.Account{Nickname: "internal.fetch", URI: uri, URL: uri, ActorType: "Application", Unavailable: true})
	})
	if err != nil {
		t.Fatal(err)
	}
	a.worker = store.NewWorker(db, 1, log)
	people.Register(a.worker)
	a.Register(a.worker)
	return a
}

// wait advances the clock and runs due jobs.
func (a *harness) wait(d time.Duration) {
	a.t.Helper()
	a.ahead.Add(int64(d))
	if err := a.worker.Settle(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
}

// row returns the stored account.
func (a *harness) row(uri string) *store.Account {
	a.t.Helper()
	row, err := a.db.AccountByURI(a.t.Context(), uri)
	if err != nil {
		a.t.Fatal(err)
	}
	return row
}

// fakePeer is a remote server with handlers that tests set. It counts requests.
type fakePeer struct {
	t    testing.TB
	url  string
	host string

	mu        sync.Mutex
	handlers  map[string]http.HandlerFunc // by path with query
	requested []string
}

func newFakePeer(t testing.TB) *fakePeer {
	t.Helper()
	p := &fakePeer{t: t, handlers: make(map[string]http.HandlerFunc)}
	ts := httptest.NewServer(p)
	t.Cleanup(ts.Close)
	p.url, p.host = ts.URL, strings.TrimPrefix(ts.URL, "http://")
	return p
}

func (p *fakePeer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.requested = append(p.requested, r.URL.RequestURI())
	handler := p.handlers[r.URL.RequestURI()]
	p.mu.Unlock()
	if handler == nil {
		http.NotFound(w, r)
		return
	}
	handler(w, r)
}

// requests returns the number of requests since the last call.
func (p *fakePeer) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.requested)
	p.requested = nil
	return n
}

func (p *fakePeer) on(path string, handler http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handlers[path] = handler
}

func response(status int, mediaType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func redirectTo(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, address, http.StatusFound) }
}

// serve serves a document at a path.
func (p *fakePeer) serve(path string, o jsonObject) {
	p.t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.on(path, response(200, "application/activity+json", string(b)))
}

var peerKey = sync.OnceValue(func() *rsa.PrivateKey { return newRSA(2048) })

func newRSA(bits int) *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	return key
}

func pemOf(key *rsa.PrivateKey) string {
	pem, err := httpsig.FormatPublicKey(&key.PublicKey)
	if err != nil {
		panic(err)
	}
	return pem
}

// person returns the document of an actor with changes; nil removes a member.
func (p *fakePeer) person(name string, changes ...jsonObject) jsonObject {
	id := p.url + "/users/" + name
	d := jsonObject{
		"@context": "https://www.w3.org/ns/activitystreams", "id": id, "type": "Person", "preferredUsername": name, "name": name,
		"inbox": id + "/inbox", "followers": id + "/followers", "following": id + "/following", "outbox": id + "/outbox",
		"publicKey": jsonObject{"id": id + "#main-key", "owner": id, "publicKeyPem": pemOf(peerKey())},
	}
	for _, c := range changes {
		maps.Copy(d, c)
	}
	maps.DeleteFunc(d, func(_ string, v any) bool { return v == nil })
	return d
}

// actor serves an actor and its WebFinger document, and returns its id.
func (p *fakePeer) actor(name string, changes ...jsonObject) string {
	p.t.Helper()
	d := p.person(name, changes...)
	id, _ := d["id"].(string)
	p.serve(strings.TrimPrefix(id, p.url), d)
	p.serveWebFinger(name+"@"+p.host, name+"@"+p.host, id)
	return id
}

func webFingerPath(name string) string {
	return "/.well-known/webfinger?resource=" + url.QueryEscape("acct:"+name)
}

// serveWebFinger serves the WebFinger document of a handle.
func (p *fakePeer) serveWebFinger(name, subject, actor string) {
	p.t.Helper()
	b, err := json.Marshal(jsonObject{
		"subject": "acct:" + subject,
		"links":   []any{jsonObject{"rel": "self", "type": "application/activity+json", "href": actor}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.on(webFingerPath(name), response(200, "application/jrd+json", string(b)))
}

// signed returns a GET request that is signed with a key, as the server receives it.
func (a *harness) signed(keyID string, key *rsa.PrivateKey) *http.Request {
	a.t.Helper()
	r := httptest.NewRequest("GET", "/objects/1", nil)
	r.Host = a.Reader.Settings.Host
	signer := &httpsig.Signer{KeyID: keyID, Key: key}
	out := r.Clone(context.Background())
	out.URL.Scheme, out.URL.Host = "http", a.Reader.Settings.Host
	if err := signer.Sign(out, nil, httpsig.Options{Scheme: httpsig.Cavage, Now: a.db.Now()}); err != nil {
		a.t.Fatal(err)
	}
	r.Header = out.Header
	return r
}

var bigKey = sync.OnceValue(func() *rsa.PrivateKey { return newRSA(4096) })
