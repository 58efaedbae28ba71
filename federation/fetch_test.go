package federation_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/httpsig"
)

// oddPeer is a server whose responses a test writes itself.
type oddPeer struct {
	t    *testing.T
	url  string
	base *url.URL
	key  crypto.PublicKey // of the requester

	mu       sync.Mutex
	answer   map[string]http.HandlerFunc // by path
	requests map[string]int
	unsure   []string // requests whose signature was wrong
}

func startOdd(t *testing.T, asker *apptest.Server) *oddPeer {
	t.Helper()
	p := &oddPeer{t: t, answer: make(map[string]http.HandlerFunc), requests: make(map[string]int)}
	ts := httptest.NewServer(p)
	t.Cleanup(ts.Close)
	p.url = ts.URL
	p.base, _ = url.Parse(ts.URL)
	req, err := http.NewRequestWithContext(t.Context(), "GET", asker.URL+"/internal/fetch", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/activity+json")
	if p.key, err = httpsig.ParsePublicKey(asker.As(nil).DoRequest(req).Want(200).Object().Str("publicKey.publicKeyPem")); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *oddPeer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.requests[r.URL.Path]++
	answer := p.answer[r.URL.Path]
	if !strings.HasPrefix(r.URL.Path, "/.well-known/") {
		if err := p.verify(r, r.RequestURI); err != nil {
			p.unsure = append(p.unsure, r.RequestURI+": "+err.Error())
		}
	}
	p.mu.Unlock()
	if answer == nil {
		http.NotFound(w, r)
		return
	}
	answer(w, r)
}

// verify checks the signature of a request for a target.
func (p *oddPeer) verify(r *http.Request, target string) error {
	r = r.Clone(r.Context())
	r.RequestURI = target
	claims, err := httpsig.Read(r, httpsig.Policy{Base: p.base, Now: time.Now(), MaxAge: time.Minute, MaxAhead: time.Minute})
	if err != nil {
		return err
	}
	return claims[0].Verify(p.key)
}

// actorOf makes the document of an actor. changes are other members, nil removes one.
func (p *oddPeer) actorOf(id string, changes ...apptest.Doc) apptest.Doc {
	d := apptest.Doc{
		"@context": "https://www.w3.org/ns/activitystreams", "id": id, "type": "Person", "preferredUsername": strings.ReplaceAll(strings.TrimPrefix(id, p.url+"/"), "/", "-"),
		"inbox": id + "/inbox",
	}
	for _, c := range changes {
		maps.Copy(d, c)
	}
	maps.DeleteFunc(d, func(_ string, v any) bool { return v == nil })
	return d
}

func document(d apptest.Doc) http.HandlerFunc { return typed("application/activity+json", d) }

func typed(media string, d apptest.Doc) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		json.NewEncoder(w).Encode(d)
	}
}

func redirecting(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
}

// TestFetch checks which of the documents found at an address are accepted (cases 37, 38, 113, 114, 116, 117).
func TestFetch(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	good, evil := startOdd(t, srv), startOdd(t, srv)
	for i, tt := range []struct {
		name string
		make func(id, name string)
		ok   bool
	}{
		{"as it should be", func(id, name string) { good.answer["/"+name] = document(good.actorOf(id)) }, true},
		{"ld+json", func(id, name string) {
			good.answer["/"+name] = typed(`application/ld+json; charset=utf-8; profile="https://www.w3.org/ns/activitystreams"`, good.actorOf(id))
		}, true},
		{"ld+json of several profiles", func(id, name string) {
			good.answer["/"+name] = typed(`application/ld+json; profile="http://www.w3.org/ns/json-ld#compacted https://www.w3.org/ns/activitystreams"`, good.actorOf(id))
		}, true},
		{"plain ld+json", func(id, name string) { good.answer["/"+name] = typed("application/ld+json", good.actorOf(id)) }, false},
		{"json", func(id, name string) { good.answer["/"+name] = typed("application/json", good.actorOf(id)) }, false},
		{"text", func(id, name string) { good.answer["/"+name] = typed("text/plain", good.actorOf(id)) }, false},
		{"a picture", func(id, name string) { good.answer["/"+name] = typed("image/png", good.actorOf(id)) }, false},
		{"no type", func(id, name string) { good.answer["/"+name] = typed("", good.actorOf(id)) }, false},
		{"another context", func(id, name string) {
			good.answer["/"+name] = document(good.actorOf(id, apptest.Doc{"@context": "https://example.org/ns"}))
		}, false},
		{"an id of another host", func(id, name string) { good.answer["/"+name] = document(evil.actorOf(evil.url + "/" + name)) }, false},
		{"no id", func(id, name string) { good.answer["/"+name] = document(good.actorOf(id, apptest.Doc{"id": nil})) }, false},
		{"another id of its host, where it is", func(id, name string) {
			good.answer["/"+name] = document(good.actorOf(id + "/real"))
			good.answer["/"+name+"/real"] = document(good.actorOf(id + "/real"))
		}, true},
		{"another id of its host, where another actor is", func(id, name string) {
			good.answer["/"+name] = document(good.actorOf(id + "/real"))
			good.answer["/"+name+"/real"] = document(good.actorOf(id + "/other"))
			good.answer["/"+name+"/other"] = document(good.actorOf(id + "/other"))
		}, false},
		{"another id of its host, where nothing is", func(id, name string) { good.answer["/"+name] = document(good.actorOf(id + "/real")) }, false},
		{"a redirect", func(id, name string) {
			good.answer["/"+name] = redirecting(id + "/real")
			good.answer["/"+name+"/real"] = document(good.actorOf(id + "/real"))
		}, true},
		{"a redirect to another server", func(id, name string) {
			good.answer["/"+name] = redirecting(evil.url + "/" + name)
			evil.answer["/"+name] = document(evil.actorOf(evil.url + "/" + name))
		}, true},
		{"a redirect to another server that has the id of the first", func(id, name string) {
			good.answer["/"+name] = redirecting(evil.url + "/" + name)
			evil.answer["/"+name] = document(good.actorOf(id))
		}, false},
		{"a redirect to an object that another host has deleted", func(id, name string) {
			good.answer["/"+name] = redirecting(evil.url + "/" + name)
			evil.answer["/"+name] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }
		}, false},
		{"a redirect to this server", func(id, name string) { good.answer["/"+name] = redirecting(srv.URL + "/internal/fetch") }, false},
		{"a redirect to another port of a private network", func(id, name string) { good.answer["/"+name] = redirecting("http://10.0.0.1/" + name) }, false},
		{"3 redirects", func(id, name string) {
			for i, step := range []string{"", "/1", "/2"} {
				good.answer["/"+name+step] = redirecting(fmt.Sprint(id, "/", i+1))
			}
			good.answer["/"+name+"/3"] = document(good.actorOf(id + "/3"))
		}, true},
		{"4 redirects", func(id, name string) {
			for i, step := range []string{"", "/1", "/2", "/3"} {
				good.answer["/"+name+step] = redirecting(fmt.Sprint(id, "/", i+1))
			}
			good.answer["/"+name+"/4"] = document(good.actorOf(id + "/4"))
		}, false},
		{"a redirect to itself", func(id, name string) { good.answer["/"+name] = redirecting(id) }, false},
		{"too long", func(id, name string) {
			good.answer["/"+name] = document(good.actorOf(id, apptest.Doc{"x": strings.Repeat("x", 1<<20)}))
		}, false},
		{"without end", func(id, name string) {
			good.answer["/"+name] = func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/activity+json")
				for r.Context().Err() == nil {
					if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<16)); err != nil {
						return
					}
				}
			}
		}, false},
		{"a bomb", func(id, name string) {
			good.answer["/"+name] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/activity+json")
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				for range 100 {
					z.Write(bytes.Repeat([]byte(" "), 1<<20))
				}
				z.Close()
			}
		}, false},
		{"an id with letters written out", func(id, name string) {
			good.answer["/"+name] = document(good.actorOf(id, apptest.Doc{"id": good.url + "/ü/" + name, "preferredUsername": "u"}))
			good.answer["/ü/"+name] = document(good.actorOf(id, apptest.Doc{"id": good.url + "/ü/" + name, "preferredUsername": "u"}))
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := fmt.Sprint("user", i)
			good.mu.Lock()
			evil.mu.Lock()
			tt.make(good.url+"/"+name, name)
			good.mu.Unlock()
			evil.mu.Unlock()
			began := time.Now()
			_, err := srv.Federation.Actors.Actor(t.Context(), good.url+"/"+name)
			if (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			requests := good.requests["/"+name]
			if _, err := srv.Federation.Actors.Actor(t.Context(), good.url+"/"+name); err == nil != tt.ok {
				t.Errorf("the second time: %v", err)
			}
			if again := good.requests["/"+name]; !tt.ok && again != requests {
				t.Errorf("a failed fetch is repeated: %d requests, then %d", requests, again)
			}
		})
	}
	for _, p := range []*oddPeer{good, evil} {
		if len(p.unsure) > 0 {
			t.Errorf("signatures that are not right: %q", p.unsure)
		}
	}
}

// TestConcurrentFetches checks that concurrent fetches of a document make one request.
func TestConcurrentFetches(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	p := startOdd(t, srv)
	p.answer["/bob"] = func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(50 * time.Millisecond)
		document(p.actorOf(p.url+"/bob"))(w, r)
	}
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			if _, err := srv.Federation.Actors.Actor(t.Context(), p.url+"/bob"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := p.requests["/bob"]; n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// TestFetchSignatureScheme checks that the other signature scheme is tried if a host refuses one, and remembered (case 37, federation
// 2.5).
func TestFetchSignatureScheme(t *testing.T) {
	for _, tt := range []struct {
		name         string
		query        bool
		fits         func(p *oddPeer, r *http.Request) bool
		first, later int // requests for the first document, and for the next one
		ok           bool
		signature    string
		pathOnly     bool
	}{
		{"draft-cavage", false, func(p *oddPeer, r *http.Request) bool { return r.Header.Get("Signature-Input") == "" }, 1, 1, true, "", false},
		{"RFC 9421", false, func(p *oddPeer, r *http.Request) bool { return r.Header.Get("Signature-Input") != "" }, 2, 1, true, "rfc9421", false},
		{"neither", false, func(p *oddPeer, r *http.Request) bool { return false }, 2, 1, false, "neither", false},
		{"with the query", true, func(p *oddPeer, r *http.Request) bool { return p.verify(r, r.URL.Path) != nil }, 1, 1, true, "", false},
		{"without the query", true, func(p *oddPeer, r *http.Request) bool { return p.verify(r, r.URL.Path) == nil }, 2, 1, true, "cavage", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := apptest.StartPeers(t, 1)[0]
			p := startOdd(t, srv)
			fetch := func(name string) (int, error) {
				id := p.url + "/" + name
				address := id
				if tt.query {
					address += "?page=true"
				}
				p.answer["/"+name] = func(w http.ResponseWriter, r *http.Request) {
					if !tt.fits(p, r) {
						w.WriteHeader(http.StatusUnauthorized)
						return
					}
					document(p.actorOf(address, apptest.Doc{"preferredUsername": name, "inbox": id + "/inbox"}))(w, r)
				}
				_, err := srv.Federation.Actors.Actor(t.Context(), address)
				return p.requests["/"+name], err
			}
			for i, want := range []int{tt.first, tt.later} {
				if n, err := fetch(fmt.Sprint("user", i)); n != want || (err == nil) != tt.ok {
					t.Errorf("%d: fetched %d times, want %d: %v", i, n, want, err)
				}
			}
			host, err := srv.DB.Host(context.Background(), p.base.Host)
			if err != nil || host.Signature != tt.signature || host.PathOnly != tt.pathOnly {
				t.Errorf("remembered %q %v, want %q %v", host.Signature, host.PathOnly, tt.signature, tt.pathOnly)
			}
		})
	}
}

// TestFetchFromHangingHost checks that a host that does not answer delays only the first fetch from it (security 9, 11).
func TestFetchFromHangingHost(t *testing.T) {
	srv := apptest.StartPeers(t, 1)[0]
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var calls atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			calls.Add(1)
			c.Close()
		}
	}()
	for i := range 20 {
		if _, err := srv.Federation.Actors.Actor(t.Context(), fmt.Sprintf("http://%s/users/%d", l.Addr(), i)); err == nil {
			t.Fatal("got an actor")
		}
	}
	if n := calls.Load(); n > 2 { // for one document there may be a second call
		t.Errorf("called %d times", n)
	}
}
