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

	"svc/federation/policy"
	"svc/internal/config"
	"svc/internal/fetch"
	"svc/internal/httpsig"
	"svc/internal/keys"
	"svc/media"
	"svc/social"
	"svc/store"
)

// jsonObject is a document of a test's own making.
type jsonObject = map[string]any

// asker is a service with a database of its own, whose clock can be put forward.
type asker struct {
	*Remote
	db     *store.DB
	t      testing.TB
	worker *store.Worker
	ahead  atomic.Int64
}

func newAsker(t testing.TB) *asker {
	t.Helper()
	schema, err := os.ReadFile("../../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := &asker{t: t}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	db, err := store.Open(t.Context(), store.Options{
		Dir: dir, Schema: string(schema), Log: log, Federated: true,
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
	files, err := media.Open(dir+"/media", media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	people := social.New(db, files, social.Config{BaseURL: "http://localhost:4", Domain: "localhost:4"}, log)
	policies := policy.New(config.Default(), policy.Deps{Log: log, Now: db.Now, Accounts: db, HasEmoji: func(string) bool { return false }, CheckNetwork: MayFetch})
	a.db = db
	a.Remote = New(Config{BaseURL: "http://localhost:4", Host: "localhost:4", AllowLoopback: true, SignatureAge: time.Hour, Policies: policies}, db, people,
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
func (a *asker) wait(d time.Duration) {
	a.t.Helper()
	a.ahead.Add(int64(d))
	if err := a.worker.Settle(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
}

// row returns the stored account.
func (a *asker) row(uri string) *store.Account {
	a.t.Helper()
	row, err := a.db.AccountByURI(a.t.Context(), uri)
	if err != nil {
		a.t.Fatal(err)
	}
	return row
}

// stage is a server that answers what a test says, and counts what it is asked.
type stage struct {
	t    testing.TB
	url  string
	host string

	mu      sync.Mutex
	answers map[string]http.HandlerFunc // by path with query
	asked   []string
}

func newStage(t testing.TB) *stage {
	t.Helper()
	p := &stage{t: t, answers: make(map[string]http.HandlerFunc)}
	ts := httptest.NewServer(p)
	t.Cleanup(ts.Close)
	p.url, p.host = ts.URL, strings.TrimPrefix(ts.URL, "http://")
	return p
}

func (p *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.URL.RequestURI())
	answer := p.answers[r.URL.RequestURI()]
	p.mu.Unlock()
	if answer == nil {
		http.NotFound(w, r)
		return
	}
	answer(w, r)
}

// asks returns how often the stage has been asked since the last call.
func (p *stage) asks() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.asked)
	p.asked = nil
	return n
}

func (p *stage) on(path string, answer http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[path] = answer
}

func says(status int, mediaType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func leadsTo(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, address, http.StatusFound) }
}

// serve answers with a document at a path.
func (p *stage) serve(path string, o jsonObject) {
	p.t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.on(path, says(200, "application/activity+json", string(b)))
}

var stageKey = sync.OnceValue(func() *rsa.PrivateKey { return newRSA(2048) })

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

// person is the document of an actor; nil removes a member.
func (p *stage) person(name string, changes ...jsonObject) jsonObject {
	id := p.url + "/users/" + name
	d := jsonObject{
		"@context": "https://www.w3.org/ns/activitystreams", "id": id, "type": "Person", "preferredUsername": name, "name": name,
		"inbox": id + "/inbox", "followers": id + "/followers", "following": id + "/following", "outbox": id + "/outbox",
		"publicKey": jsonObject{"id": id + "#main-key", "owner": id, "publicKeyPem": pemOf(stageKey())},
	}
	for _, c := range changes {
		maps.Copy(d, c)
	}
	maps.DeleteFunc(d, func(_ string, v any) bool { return v == nil })
	return d
}

// actor serves a person whose handle leads to it, and returns its id.
func (p *stage) actor(name string, changes ...jsonObject) string {
	p.t.Helper()
	d := p.person(name, changes...)
	id, _ := d["id"].(string)
	p.serve(strings.TrimPrefix(id, p.url), d)
	p.finger(name+"@"+p.host, name+"@"+p.host, id)
	return id
}

func fingerPath(name string) string {
	return "/.well-known/webfinger?resource=" + url.QueryEscape("acct:"+name)
}

// finger answers WebFinger for a handle.
func (p *stage) finger(name, subject, actor string) {
	p.t.Helper()
	b, err := json.Marshal(jsonObject{
		"subject": "acct:" + subject,
		"links":   []any{jsonObject{"rel": "self", "type": "application/activity+json", "href": actor}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.on(fingerPath(name), says(200, "application/jrd+json", string(b)))
}

// signed is a GET that a key has signed, as it arrives.
func (a *asker) signed(keyID string, key *rsa.PrivateKey) *http.Request {
	a.t.Helper()
	r := httptest.NewRequest("GET", "/objects/1", nil)
	r.Host = a.Reader.Host
	signer := &httpsig.Signer{KeyID: keyID, Key: key}
	out := r.Clone(context.Background())
	out.URL.Scheme, out.URL.Host = "http", a.Reader.Host
	if err := signer.Sign(out, nil, httpsig.Options{Scheme: httpsig.Cavage, Now: a.db.Now()}); err != nil {
		a.t.Fatal(err)
	}
	r.Header = out.Header
	return r
}

var bigKey = sync.OnceValue(func() *rsa.PrivateKey { return newRSA(4096) })
