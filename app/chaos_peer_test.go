package app_test

import (
	"bytes"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/httpsig"
)

// sharedPosts are the posts that all clients react to.
type sharedPosts struct {
	mu       sync.Mutex
	posts    []chaosPost
	accounts []string // ids, by number of the client
}

func (s *sharedPosts) add(p chaosPost) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts = append(s.posts, p)
}

func (s *sharedPosts) random(r *rand.Rand) (chaosPost, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.posts) == 0 {
		return chaosPost{}, false
	}
	return s.posts[max(0, len(s.posts)-1-r.IntN(min(len(s.posts), 40)))], true
}

// chaosPeer is a remote server with accounts. It sends posts, and receives those of an account that it follows.
type chaosPeer struct {
	t     testing.TB
	model *chaosModel
	http  *http.Client
	key   *rsa.PrivateKey
	to    string // URL of the server under test
	srv   *httptest.Server
	reply func(http.ResponseWriter) // nil: 202

	mu        sync.Mutex
	creates   map[string]map[string]int // ids of Creates received, by id of the post
	next      int
	delivered []string // posts that were acknowledged and not deleted
}

func startChaosPeer(t testing.TB, model *chaosModel, to string, reply func(http.ResponseWriter)) *chaosPeer {
	t.Helper()
	key, err := apptest.Key()
	if err != nil {
		t.Fatal(err)
	}
	p := &chaosPeer{t: t, model: model, http: newChaosHTTP(t), key: key, to: to, reply: reply, creates: make(map[string]map[string]int)}
	p.srv = httptest.NewServer(p)
	t.Cleanup(p.srv.Close)
	return p
}

func newChaosHTTP(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

func (p *chaosPeer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		p.receive(w, r)
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/users/")
	if !ok || strings.Contains(name, "/") {
		http.NotFound(w, r)
		return
	}
	text, err := httpsig.FormatPublicKey(p.key.Public())
	if err != nil {
		p.t.Error(err)
	}
	id := p.srv.URL + r.URL.Path
	w.Header().Set("Content-Type", "application/activity+json")
	json.NewEncoder(w).Encode(map[string]any{
		"@context": "https://www.w3.org/ns/activitystreams", "id": id, "type": "Person", "inbox": id + "/inbox", "preferredUsername": name,
		"publicKey": map[string]any{"id": id + "#main-key", "owner": id, "publicKeyPem": text},
	})
}

// receive records a delivery if it answers that it has it.
func (p *chaosPeer) receive(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if p.reply != nil {
		p.reply(w)
		return
	}
	var a struct {
		ID, Type string
		Object   json.RawMessage
	}
	var note struct{ ID string }
	if json.Unmarshal(body, &a) == nil && a.Type == "Create" && json.Unmarshal(a.Object, &note) == nil {
		p.mu.Lock()
		if p.creates[note.ID] == nil {
			p.creates[note.ID] = make(map[string]int)
		}
		p.creates[note.ID][a.ID]++
		p.mu.Unlock()
		p.model.count("deliveries received")
	}
	w.WriteHeader(http.StatusAccepted)
}

// has returns whether a post has arrived.
func (p *chaosPeer) has(uri string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.creates[uri]) > 0
}

// duplicates returns the posts that arrived with more than one Create. The same Create may arrive again after a crash: receivers know its id.
func (p *chaosPeer) duplicates() (list []string, repeated int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for uri, ids := range p.creates {
		if len(ids) > 1 {
			list = append(list, fmt.Sprintf("%s was delivered with %d ids", uri, len(ids)))
		}
		for _, n := range ids {
			repeated += n - 1
		}
	}
	return list, repeated
}

// send signs and sends an activity. It returns whether the server has accepted it.
func (p *chaosPeer) send(actor string, activity map[string]any) bool {
	activity["@context"], activity["actor"] = "https://www.w3.org/ns/activitystreams", actor
	body, _ := json.Marshal(activity)
	req, err := http.NewRequest("POST", p.to+"/inbox", bytes.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/activity+json")
	signer := httpsig.Signer{KeyID: actor + "#main-key", Key: p.key}
	if err := signer.Sign(req, body, httpsig.Options{Scheme: httpsig.Cavage, Now: time.Now()}); err != nil {
		p.t.Error(err)
		return false
	}
	p.model.count("activities sent")
	resp, err := p.http.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	p.model.count(fmt.Sprint("activities answered ", resp.StatusCode))
	return resp.StatusCode == http.StatusAccepted
}

// step sends a post that mentions an account, the same once more, or its deletion and then the post again, which must not come back.
func (p *chaosPeer) step(r *rand.Rand, recipient string) bool {
	p.mu.Lock()
	p.next++
	n := p.next
	old := ""
	if len(p.delivered) > 5 && r.IntN(4) == 0 {
		old, p.delivered = p.delivered[0], p.delivered[1:]
	}
	p.mu.Unlock()
	actor := fmt.Sprintf("%s/users/bob%d", p.srv.URL, n%5)
	create := func(actor, uri string) bool {
		return p.send(actor, map[string]any{"id": uri + "/create", "type": "Create", "to": []any{recipient}, "object": map[string]any{
			"id": uri, "type": "Note", "attributedTo": actor, "to": []any{recipient}, "content": "hello", "tag": []any{map[string]any{"type": "Mention", "href": recipient}},
		}})
	}
	if old != "" {
		actor = p.srv.URL + "/users/" + old[strings.LastIndex(old, "/bob")+1:]
		p.model.begin("remote "+old, "")
		if !p.send(actor, map[string]any{"id": old + "/delete", "type": "Delete", "to": []any{recipient}, "object": map[string]any{"id": old, "type": "Tombstone"}}) {
			return false
		}
		p.model.acknowledge("remote "+old, "")
		return create(actor, old)
	}
	uri := fmt.Sprintf("%s/notes/%d/bob%d", p.srv.URL, n, n%5)
	p.model.begin("remote "+uri, "1")
	if !create(actor, uri) {
		return false
	}
	p.model.acknowledge("remote "+uri, "1")
	p.mu.Lock()
	p.delivered = append(p.delivered, uri)
	p.mu.Unlock()
	return r.IntN(4) > 0 || create(actor, uri)
}
