package httpsig_test

import (
	"bufio"
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/httpsig"
)

const keyID = "https://peer.example/users/bob#main-key"

var (
	now = time.Date(2024, 8, 20, 10, 0, 0, 0, time.UTC)

	rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		return key
	})
	otherKey = sync.OnceValue(func() *rsa.PrivateKey {
		key, err := rsa.GenerateKey(rand.Reader, 1024)
		if err != nil {
			panic(err)
		}
		return key
	})
	edKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
)

// policy is ours: https://social.example, twelve hours back, one ahead.
func policy(body string) httpsig.Policy {
	return httpsig.Policy{
		Base: &url.URL{Scheme: "https", Host: "social.example"}, Now: now,
		MaxAge: 12 * time.Hour, MaxAhead: time.Hour, Body: []byte(body),
	}
}

// send sends a request and returns it as a server receives it.
func send(t testing.TB, r *http.Request, body string) *http.Request {
	t.Helper()
	if r = r.Clone(t.Context()); body != "" {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	var wire bytes.Buffer
	if err := r.Write(&wire); err != nil {
		t.Fatal(err)
	}
	got, err := http.ReadRequest(bufio.NewReader(&wire))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func newRequest(t testing.TB, method, target string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/activity+json")
	if method == "POST" {
		r.Header.Set("Content-Type", "application/activity+json")
	}
	return r
}

// check reads and verifies a request with one signature.
func check(r *http.Request, p httpsig.Policy, key crypto.PublicKey) error {
	claims, err := httpsig.Read(r, p)
	if err != nil {
		return err
	}
	return claims[0].Verify(key)
}

func TestSignAndVerify(t *testing.T) {
	for _, scheme := range []httpsig.Scheme{httpsig.Cavage, httpsig.RFC9421} {
		for _, key := range []crypto.Signer{rsaKey(), edKey} {
			for _, tt := range []struct{ method, target, body string }{
				{"POST", "https://social.example/inbox", `{"type":"Like"}`},
				{"POST", "https://social.example:443/inbox?x=1", `{}`},
				{"POST", "https://Social.Example/inbox", ""},
				{"GET", "https://social.example/users/a%20b/outbox?page=true&min_id=%C3%A9", ""},
				{"GET", "https://social.example", ""},
			} {
				t.Run(fmt.Sprintf("%s %T %s %s", scheme, key, tt.method, tt.target), func(t *testing.T) {
					r := newRequest(t, tt.method, tt.target)
					signer := httpsig.Signer{KeyID: keyID, Key: key}
					if err := signer.Sign(r, []byte(tt.body), httpsig.Options{Scheme: scheme, Now: now}); err != nil {
						t.Fatal(err)
					}
					got := send(t, r, tt.body)
					claims, err := httpsig.Read(got, policy(tt.body))
					if err != nil {
						t.Fatal(err)
					}
					c := claims[0]
					if c.KeyID != keyID || c.Scheme != scheme || !c.Created.Equal(now) || len(claims) != 1 {
						t.Errorf("got %+v", c)
					}
					if err := c.Verify(key.Public()); err != nil {
						t.Error(err)
					}
					if err := c.Verify(otherKey().Public()); err == nil {
						t.Error("verified with another key")
					}
				})
			}
		}
	}
}

// TestSignAgain signs one request for a retry with the other scheme, later, and for a redirect.
func TestSignAgain(t *testing.T) {
	signer := httpsig.Signer{KeyID: keyID, Key: rsaKey()}
	r := newRequest(t, "POST", "https://other.example/inbox")
	body := `{"type":"Like"}`
	for i, scheme := range []httpsig.Scheme{httpsig.Cavage, httpsig.RFC9421, httpsig.RFC9421, httpsig.Cavage} {
		if i == 2 {
			r.URL.Host = "social.example"
		}
		at := now.Add(time.Duration(i) * time.Minute)
		if err := signer.Sign(r, []byte(body), httpsig.Options{Scheme: scheme, Now: at}); err != nil {
			t.Fatal(err)
		}
		p := policy(body)
		p.Base.Host = r.URL.Host
		claims, err := httpsig.Read(send(t, r, body), p)
		if err != nil {
			t.Fatal(err)
		}
		if c := claims[0]; len(claims) != 1 || c.Scheme != scheme || !c.Created.Equal(at) || c.Verify(rsaKey().Public()) != nil {
			t.Errorf("%d: got %+v", i, c)
		}
		for name, of := range map[string]httpsig.Scheme{"Digest": httpsig.Cavage, "Signature-Input": httpsig.RFC9421, "Content-Digest": httpsig.RFC9421} {
			if values := r.Header.Values(name); (len(values) == 1) != (of == scheme) {
				t.Errorf("%d: %s %q", i, name, values)
			}
		}
	}
}

// TestHeaders pins the headers that other servers see, because they depend on details.
func TestHeaders(t *testing.T) {
	for _, tt := range []struct {
		name    string
		scheme  httpsig.Scheme
		method  string
		key     crypto.Signer
		headers map[string]string // a value, or what it begins with
	}{
		{"cavage POST", httpsig.Cavage, "POST", rsaKey(), map[string]string{
			"Date":      "Tue, 20 Aug 2024 10:00:00 GMT",
			"Digest":    "SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=",
			"Signature": `keyId="` + keyID + `",algorithm="rsa-sha256",headers="(request-target) host date digest content-type",signature="`,
		}},
		{"cavage GET", httpsig.Cavage, "GET", rsaKey(), map[string]string{
			"Signature": `keyId="` + keyID + `",algorithm="rsa-sha256",headers="(request-target) host date",signature="`,
		}},
		{"cavage with Ed25519", httpsig.Cavage, "GET", edKey, map[string]string{
			"Signature": `keyId="` + keyID + `",algorithm="hs2019",headers="(request-target) host date",signature="`,
		}},
		{"RFC 9421 POST", httpsig.RFC9421, "POST", rsaKey(), map[string]string{
			"Content-Digest":  "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:",
			"Signature-Input": `sig1=("@method" "@target-uri" "content-digest" "content-type");created=1724148000;keyid="` + keyID + `";alg="rsa-v1_5-sha256"`,
			"Signature":       "sig1=:",
		}},
		{"RFC 9421 GET with Ed25519", httpsig.RFC9421, "GET", edKey, map[string]string{
			"Signature-Input": `sig1=("@method" "@target-uri");created=1724148000;keyid="` + keyID + `";alg="ed25519"`,
		}},
	} {
		r := newRequest(t, tt.method, "https://social.example/inbox")
		var body []byte
		if tt.method == "POST" {
			body = []byte(`{"hello": "world"}`)
		}
		signer := httpsig.Signer{KeyID: keyID, Key: tt.key}
		if err := signer.Sign(r, body, httpsig.Options{Scheme: tt.scheme, Now: now}); err != nil {
			t.Fatal(err)
		}
		for name, want := range tt.headers {
			if got := r.Header.Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s is %s, want %s", tt.name, name, got, want)
			}
		}
	}
}

func TestPathOnly(t *testing.T) {
	signer := httpsig.Signer{KeyID: keyID, Key: rsaKey()}
	r := newRequest(t, "GET", "https://social.example/outbox?page=true")
	if err := signer.Sign(r, nil, httpsig.Options{Scheme: httpsig.Cavage, Now: now, PathOnly: true}); err != nil {
		t.Fatal(err)
	}
	got := send(t, r, "")
	if err := check(got, policy(""), rsaKey().Public()); err != nil {
		t.Errorf("with the query: %v", err)
	}
	got.RequestURI = "/outbox"
	if err := check(got, policy(""), rsaKey().Public()); err != nil {
		t.Errorf("for the path: %v", err)
	}
	got.RequestURI = "/inbox?page=true"
	if err := check(got, policy(""), rsaKey().Public()); !errors.Is(err, httpsig.ErrSignature) {
		t.Errorf("for another path: %v", err)
	}
}

// TestFurtherHeaders checks that a signature covers further headers, so that they cannot be changed or added afterwards.
func TestFurtherHeaders(t *testing.T) {
	for _, scheme := range []httpsig.Scheme{httpsig.Cavage, httpsig.RFC9421} {
		t.Run(string(scheme), func(t *testing.T) {
			for _, tt := range []struct {
				name, signed, received string
				covered                bool
				want                   error
			}{
				{"set", "a", "a", true, nil},
				{"not set", "", "", false, nil},
				{"changed", "a", "b", true, httpsig.ErrSignature},
				{"removed", "a", "", false, httpsig.ErrMalformed},
				{"added", "", "a", false, nil},
			} {
				r, err := http.NewRequest(http.MethodPost, "https://social.example/inbox", strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Collection-Synchronization", tt.signed)
				signer := httpsig.Signer{KeyID: keyID, Key: rsaKey()}
				if err := signer.Sign(r, []byte("{}"), httpsig.Options{Scheme: scheme, Now: now, Also: []string{"collection-synchronization"}}); err != nil {
					t.Fatal(err)
				}
				if r.Header.Set("Collection-Synchronization", tt.received); tt.received == "" {
					r.Header.Del("Collection-Synchronization")
				}
				claims, err := httpsig.Read(r, policy("{}"))
				if err == nil {
					err = claims[0].Verify(rsaKey().Public())
				}
				if !errors.Is(err, tt.want) {
					t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
				}
				if err == nil && claims[0].Covers("collection-synchronization") != tt.covered {
					t.Errorf("%s: covered is %v", tt.name, !tt.covered)
				}
			}
		})
	}
}

func TestParams(t *testing.T) {
	got, err := httpsig.Params(`collectionId="https://a.example/followers", url="https://a.example/sync",digest=00ff`)
	want := map[string]string{"collectionid": "https://a.example/followers", "url": "https://a.example/sync", "digest": "00ff"}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, text := range []string{"", "url", `url="a`, `url="a",URL="b"`, strings.Repeat("a", 20_000) + "=1"} {
		if got, err := httpsig.Params(text); !errors.Is(err, httpsig.ErrMalformed) {
			t.Errorf("%.20q: %v, %v", text, got, err)
		}
	}
}

func TestSignRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		signer httpsig.Signer
		target string
		scheme httpsig.Scheme
	}{
		{"no host", httpsig.Signer{KeyID: keyID, Key: edKey}, "/inbox", httpsig.Cavage},
		{"a host that is not ASCII", httpsig.Signer{KeyID: keyID, Key: edKey}, "https://bücher.example/", httpsig.Cavage},
		{"a quote in the key id", httpsig.Signer{KeyID: `a"b`, Key: edKey}, "https://social.example/", httpsig.Cavage},
		{"a line in the key id", httpsig.Signer{KeyID: "a\nb", Key: edKey}, "https://social.example/", httpsig.RFC9421},
		{"no key", httpsig.Signer{KeyID: keyID}, "https://social.example/", httpsig.Cavage},
		{"no scheme", httpsig.Signer{KeyID: keyID, Key: edKey}, "https://social.example/", ""},
	} {
		r := newRequest(t, "GET", tt.target)
		if err := tt.signer.Sign(r, nil, httpsig.Options{Scheme: tt.scheme, Now: now}); err == nil {
			t.Errorf("%s: signed %v", tt.name, r.Header)
		}
	}
}

// manualRequest is a request with given headers. SIGNATURE in them is replaced by the signature of text.
type manualRequest struct {
	method, target, host, body string
	text                       string // signed text
	headers                    string // lines
	hash                       crypto.Hash
	pss, ed                    bool
}

const (
	like       = `{"hello": "world"}`
	likeDigest = "X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="
	like512    = "WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew=="
)

func (h manualRequest) request(t *testing.T) *http.Request {
	t.Helper()
	var signature []byte
	var err error
	switch {
	case h.ed:
		signature = ed25519.Sign(edKey, []byte(h.text))
	case h.pss:
		sum := sha512.Sum512([]byte(h.text))
		signature, err = rsa.SignPSS(rand.Reader, rsaKey(), crypto.SHA512, sum[:], &rsa.PSSOptions{SaltLength: 64})
	case h.hash == crypto.SHA512:
		sum := sha512.Sum512([]byte(h.text))
		signature, err = rsa.SignPKCS1v15(nil, rsaKey(), crypto.SHA512, sum[:])
	default:
		sum := sha256.Sum256([]byte(h.text))
		signature, err = rsa.SignPKCS1v15(nil, rsaKey(), crypto.SHA256, sum[:])
	}
	if err != nil {
		t.Fatal(err)
	}
	host := h.host
	if host == "" {
		host = "social.example"
	}
	headers := strings.ReplaceAll(h.headers, "SIGNATURE", base64.StdEncoding.EncodeToString(signature))
	wire := h.method + " " + h.target + " HTTP/1.1\nHost: " + host + "\n" + strings.TrimSpace(headers) + "\n"
	if h.body != "" {
		wire += fmt.Sprintf("Content-Length: %d\n", len(h.body))
	}
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.ReplaceAll(wire, "\n", "\r\n") + "\r\n" + h.body)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (h manualRequest) key() crypto.PublicKey {
	if h.ed {
		return edKey.Public()
	}
	return rsaKey().Public()
}

// run checks each request and compares the error, nil for a valid one.
func run(t *testing.T, name string, h manualRequest, want error) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Helper()
		if err := check(h.request(t), policy(h.body), h.key()); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	})
}

// TestSeveralSignatures reads requests with several signatures: invalid ones do not affect the others.
func TestSeveralSignatures(t *testing.T) {
	one := func(label, keyID, list string) string {
		return label + `=` + list + `;created=1724148000;keyid="` + keyID + `"`
	}
	const full = `("@method" "@target-uri")`
	r := newRequest(t, "GET", "https://social.example/users/alice")
	r.Host = "social.example"
	r.Header.Set("Signature-Input", one("a", "proxy", `("@method")`)+", "+one("b", "carol", full)+", "+one("c", "bob", full)+", "+
		one("d", "dave", full)+`, e=("@method" "@target-uri");created=1724148000;keyid="h";alg="hmac-sha256"`)
	r.Header.Set("Signature", "a=:AAAA:, b=:AAAA:, c=:AAAA:, d=:AAAA:, e=:AAAA:")
	claims, err := httpsig.Read(r, policy(""))
	if err != nil {
		t.Fatal(err)
	}
	ids := func(claims []*httpsig.Claim) (ids []string) {
		for _, c := range claims {
			ids = append(ids, c.KeyID)
		}
		return ids
	}
	if got := strings.Join(ids(claims), " "); got != "carol bob dave" {
		t.Errorf("claims of %s", got)
	}
	for likes, want := range map[string]string{"dave": "dave carol", "bob": "bob carol", "carol": "carol bob", "nobody": "carol bob"} {
		if got := strings.Join(ids(httpsig.Prefer(claims, func(id string) bool { return id == likes })), " "); got != want {
			t.Errorf("who likes %s gets %s, want %s", likes, got, want)
		}
	}
	if got := httpsig.Prefer(claims[:1], func(string) bool { return false }); len(got) != 1 {
		t.Errorf("of one claim: %d", len(got))
	}
	r.Header.Set("Signature-Input", one("a", "proxy", `("@method")`)+`, e=();created=1;keyid="h";alg="hmac-sha256"`)
	if _, err := httpsig.Read(r, policy("")); !errors.Is(err, httpsig.ErrUncovered) {
		t.Errorf("none valid: %v, want the error of the first", err)
	}
}

// TestReadTwice verifies a request a second time, as when its key could not be fetched at once.
func TestReadTwice(t *testing.T) {
	r := newRequest(t, "POST", "https://social.example/inbox?x=1")
	signer := httpsig.Signer{KeyID: keyID, Key: edKey}
	if err := signer.Sign(r, []byte(like), httpsig.Options{Scheme: httpsig.RFC9421, Now: now}); err != nil {
		t.Fatal(err)
	}
	kept := &http.Request{Method: "POST", Host: r.Host, RequestURI: "/inbox?x=1", Header: r.Header}
	if err := check(kept, policy(like), edKey.Public()); err != nil {
		t.Error(err)
	}
}

// TestFedify verifies requests that @fedify/fedify 2.3.6 has signed, with a key made for it.
func TestFedify(t *testing.T) {
	text, err := os.ReadFile("testdata/fedify.json")
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Key      string
		Time     time.Time
		Requests []struct {
			Spec, Method, Target, Body string
			Headers                    map[string]string
		}
	}
	if err := json.Unmarshal(text, &made); err != nil {
		t.Fatal(err)
	}
	key, err := httpsig.ParsePublicKey(made.Key)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range made.Requests {
		t.Run(m.Spec+" "+m.Method, func(t *testing.T) {
			h := manualRequest{method: m.Method, target: m.Target, host: m.Headers["host"], body: m.Body}
			for name, value := range m.Headers {
				if name != "host" {
					h.headers += name + ": " + value + "\n"
				}
			}
			p := policy(m.Body)
			p.Now = made.Time
			if err := check(h.request(t), p, key); err != nil {
				t.Error(err)
			}
			h.target = "/x" + h.target
			if err := check(h.request(t), p, key); !errors.Is(err, httpsig.ErrSignature) {
				t.Errorf("for another target: %v", err)
			}
		})
	}
}
