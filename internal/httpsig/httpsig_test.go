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
		Past: 12 * time.Hour, Future: time.Hour, Body: []byte(body),
	}
}

// overTheWire sends a request and returns it as a server receives it.
func overTheWire(t testing.TB, r *http.Request, body string) *http.Request {
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
					got := overTheWire(t, r, tt.body)
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

// TestSignAgain signs one request for a retry with the other scheme, later, and for the next hop.
func TestSignAgain(t *testing.T) {
	signer := httpsig.Signer{KeyID: keyID, Key: rsaKey()}
	r := newRequest(t, "POST", "https://elsewhere.example/inbox")
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
		claims, err := httpsig.Read(overTheWire(t, r, body), p)
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

// TestHeaders pins what peers see, which was chosen for what they can read.
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
			"Signature-Input": `sig1=("@method" "@target-uri" "content-digest");created=1724148000;keyid="` + keyID + `";alg="rsa-v1_5-sha256"`,
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
	got := overTheWire(t, r, "")
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

// hand is a request signed by hand: headers are set as they are, and SIGNATURE in them becomes the signature of text.
type hand struct {
	method, target, host, body string
	text                       string // what is signed
	headers                    string // lines
	hash                       crypto.Hash
	pss, ed                    bool
}

const (
	like       = `{"hello": "world"}`
	likeDigest = "X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="
	like512    = "WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew=="
)

func (h hand) request(t *testing.T) *http.Request {
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

func (h hand) key() crypto.PublicKey {
	if h.ed {
		return edKey.Public()
	}
	return rsaKey().Public()
}

// run checks each request and compares the error, nil for one that is right.
func run(t *testing.T, name string, h hand, want error) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Helper()
		if err := check(h.request(t), policy(h.body), h.key()); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	})
}

// TestCavage has a case for each rule of federation 2.1 and 2.2, starting from a request that is right.
func TestCavage(t *testing.T) {
	const date = "Date: Tue, 20 Aug 2024 10:00:00 GMT\n"
	right := hand{
		method: "POST", target: "/inbox", body: like,
		text: "(request-target): post /inbox\nhost: social.example\ndate: Tue, 20 Aug 2024 10:00:00 GMT\ndigest: SHA-256=" + likeDigest,
		headers: date + "Digest: SHA-256=" + likeDigest + "\n" +
			`Signature: keyId="k",algorithm="rsa-sha256",headers="(request-target) host date digest",signature="SIGNATURE"`,
	}
	run(t, "right", right, nil)

	// with changes the request by replacing pairs in headers and text alike.
	with := func(pairs ...string) hand {
		h := right
		r := strings.NewReplacer(pairs...)
		h.headers, h.text = r.Replace(h.headers), r.Replace(h.text)
		return h
	}
	// headers replaces in the headers only, after signing.
	headers := func(pairs ...string) hand {
		h := right
		h.headers = strings.NewReplacer(pairs...).Replace(h.headers)
		return h
	}
	const label = `algorithm="rsa-sha256",`

	// How it is written.
	run(t, "in Authorization", headers("Signature: ", "Authorization: Signature "), nil)
	run(t, "in Authorization, in lower case", headers("Signature: ", "Authorization: signature "), nil)
	run(t, "with the scheme before it", headers("Signature: ", "Signature: Signature "), nil)
	run(t, "another scheme in Authorization", headers("Signature: ", "Authorization: Bearer "), httpsig.ErrUnsigned)
	run(t, "not signed", headers("Signature: ", "X-Signature: "), httpsig.ErrUnsigned)
	run(t, "both headers", headers("Signature: ", "Authorization: Signature x\nSignature: "), nil)
	run(t, "spaces and another order", headers(`keyId="k",`, "", `="SIGNATURE"`, `= "SIGNATURE" ,  keyId = "k" `), nil)
	run(t, "commas and = in values", headers(`"k"`, `"https://x.example/?a=b,c=\"d\",signature=e"`), nil)
	run(t, "unknown parameters", headers(`keyId=`, `opaque="x",n=1,keyId=`), nil)
	run(t, "names in another letter case", headers(`keyId=`, `KEYID=`), nil)
	run(t, "names of headers in capitals", headers(`headers="(request-target) host date digest"`, `headers="(Request-Target) Host Date Digest"`), nil)
	run(t, "a parameter twice", headers(`keyId="k",`, `keyId="k",keyId="k",`), httpsig.ErrMalformed)
	run(t, "a parameter twice in another letter case", headers(`keyId="k",`, `keyId="k",keyid="j",`), httpsig.ErrMalformed)
	run(t, "an unknown parameter twice", headers(`keyId="k",`, `keyId="k",x="1",x="1",`), httpsig.ErrMalformed)
	run(t, "two signatures", headers("Signature: ", "Signature: keyId=\"j\"\nSignature: "), httpsig.ErrMalformed)
	run(t, "too many parameters", headers(`keyId="k",`, `keyId="k",`+manyParams(30)), httpsig.ErrMalformed)
	run(t, "too long", headers(`"k"`, `"`+strings.Repeat("k", 20_000)+`"`), httpsig.ErrMalformed)
	run(t, "a key id too long", headers(`"k"`, `"`+strings.Repeat("k", 3000)+`"`), httpsig.ErrMalformed)
	run(t, "no key id", headers(`keyId="k",`, ""), httpsig.ErrMalformed)
	run(t, "an empty key id", headers(`"k"`, `""`), httpsig.ErrMalformed)
	run(t, "no signature", headers(`,signature="SIGNATURE"`, ""), httpsig.ErrMalformed)
	run(t, "a signature that is not base64", headers("SIGNATURE", "***"), httpsig.ErrMalformed)
	run(t, "an open quote", headers(`"SIGNATURE"`, `"SIGNATURE`), httpsig.ErrMalformed)
	run(t, "a backslash at the end", headers(`"SIGNATURE"`, `"SIGNATURE\`), httpsig.ErrMalformed)
	run(t, "a comma at the end", headers(`"SIGNATURE"`, `"SIGNATURE",`), httpsig.ErrMalformed)
	run(t, "no comma", headers(`"k",`, `"k" `), httpsig.ErrMalformed)
	run(t, "a signature by RFC 9421 without its input", headers(`keyId="k"`, `sig1=:AAAA:`), httpsig.ErrMalformed)
	run(t, "nothing", headers(right.headers[strings.Index(right.headers, "keyId"):], ""), httpsig.ErrMalformed)

	// Algorithms.
	run(t, "hs2019", headers("rsa-sha256", "hs2019"), nil)
	run(t, "no algorithm", headers(label, ""), nil)
	h := headers("rsa-sha256", "hs2019")
	h.hash = crypto.SHA512
	run(t, "hs2019 with SHA-512", h, nil)
	h = right
	h.hash = crypto.SHA512
	run(t, "rsa-sha256 with SHA-512", h, httpsig.ErrSignature)
	h = headers("rsa-sha256", "hs2019")
	h.ed = true
	run(t, "hs2019 with Ed25519", h, nil)
	h.headers = strings.Replace(right.headers, label, "", 1)
	run(t, "Ed25519 without algorithm", h, nil)
	h.headers = right.headers
	run(t, "Ed25519 as rsa-sha256", h, httpsig.ErrKey)
	run(t, "an empty algorithm", headers("rsa-sha256", ""), nil)
	for _, a := range []string{"rsa-sha512", "rsa-sha1", "hmac-sha256", "ecdsa-sha256", "none"} {
		run(t, "algorithm "+a, headers("rsa-sha256", a), httpsig.ErrUnsupported)
	}

	// What is covered.
	run(t, "no list", headers(`headers="(request-target) host date digest",`, ""), httpsig.ErrUncovered)
	for _, name := range []string{"(request-target)", "host", "date", "digest"} {
		h := right
		h.headers = strings.NewReplacer(`"`+name+` `, `"`, ` `+name, "").Replace(h.headers)
		var lines []string
		for l := range strings.SplitSeq(h.text, "\n") {
			if !strings.HasPrefix(l, name+": ") {
				lines = append(lines, l)
			}
		}
		h.text = strings.Join(lines, "\n")
		run(t, "without "+name, h, httpsig.ErrUncovered)
	}
	run(t, "a header that is not there", headers(`date digest"`, `date digest x-none"`), httpsig.ErrMalformed)
	run(t, "an unknown special name", headers(`date digest"`, `date digest (key-id)"`), httpsig.ErrMalformed)
	run(t, "too many headers", headers(`date digest"`, `date digest`+strings.Repeat(" date", 70)+`"`), httpsig.ErrMalformed)
	run(t, "a header more than was signed", headers(`date digest"`, `date digest content-length"`), httpsig.ErrSignature)
	h = right
	h.headers = strings.Replace(h.headers, `date digest"`, `date digest content-length"`, 1)
	h.text += "\ncontent-length: 18"
	run(t, "content-length as Pleroma signs it", h, nil)
	h = right
	h.headers = "Accept: a\nAccept:   b  \nX-Empty:\n" + strings.Replace(h.headers, `date digest"`, `date digest accept x-empty"`, 1)
	h.text += "\naccept: a, b\nx-empty: "
	run(t, "several of one header, and an empty one", h, nil)

	// Method, target, host.
	h = right
	h.method = "PUT"
	run(t, "another method", h, httpsig.ErrSignature)
	h = right
	h.target = "/users/alice/inbox"
	run(t, "another target", h, httpsig.ErrSignature)
	h.target = "https://social.example/inbox"
	run(t, "the whole URL as target", h, nil)
	h.target = "https://elsewhere.example/inbox"
	run(t, "the whole URL of somebody else", h, nil) // the host that was signed is ours all the same
	h = right
	h.target = "/inbox?x=1"
	run(t, "signed without the query", h, nil)
	h.text = strings.Replace(h.text, "/inbox", "/inbox?x=1", 1)
	run(t, "signed with the query", h, nil)
	h.text = strings.Replace(h.text, "/inbox?x=1", "/inbox?x=2", 1)
	run(t, "signed with another query", h, httpsig.ErrSignature)
	h = right
	h.host = "127.0.0.1:4000"
	run(t, "through a proxy that rewrites Host", h, nil)
	h = with("host: social.example", "host: elsewhere.example")
	run(t, "signed for another host", h, httpsig.ErrSignature)
	h.host = "elsewhere.example"
	run(t, "signed for another host and sent to it", h, httpsig.ErrHost)
	h = with("host: social.example", "host: social.example:443")
	h.host = "social.example:443"
	run(t, "the default port", h, nil)
	h = with("host: social.example", "host: Social.Example")
	h.host = "Social.Example"
	run(t, "another letter case", h, nil)
	h = with("host: social.example", "host: social.example:8443")
	h.host = "social.example:8443"
	run(t, "another port", h, httpsig.ErrHost)
	h = right
	h.headers = "X-Forwarded-Host: social.example\nForwarded: host=social.example\n" +
		strings.Replace(h.headers, "host: social", "host: elsewhere", 1)
	h.text = strings.Replace(h.text, "host: social", "host: elsewhere", 1)
	run(t, "forwarded headers that say it is ours", h, httpsig.ErrSignature)

	// The body.
	run(t, "another body", hand{method: right.method, target: right.target, text: right.text, headers: right.headers, body: like + " "}, httpsig.ErrDigest)
	run(t, "no digest", headers("Digest: SHA-256="+likeDigest+"\n", ""), httpsig.ErrMalformed)
	run(t, "a digest changed after signing", headers("Digest: ", "Digest: SHA-256="+likeDigest+","), httpsig.ErrSignature)
	run(t, "the name in lower case", with("SHA-256", "sha-256"), nil)
	run(t, "several digests", with("SHA-256", "SHA-512="+like512+", SHA-256"), nil)
	run(t, "several digests without space", with("SHA-256", "md5=x,Sha-256"), nil)
	run(t, "SHA-512 only", with("SHA-256="+likeDigest, "SHA-512="+like512), httpsig.ErrDigest)
	run(t, "two that differ", with("SHA-256="+likeDigest, "SHA-256="+likeDigest+",SHA-256=AAAA"), httpsig.ErrDigest)
	run(t, "a digest that is not base64", with(likeDigest, "***"), httpsig.ErrDigest)
	run(t, "a digest too long", with(likeDigest, likeDigest+strings.Repeat(",a=b", 5000)), httpsig.ErrMalformed)
	get := hand{
		method: "GET", target: "/users/alice", text: "(request-target): get /users/alice\nhost: social.example\ndate: Tue, 20 Aug 2024 10:00:00 GMT",
		headers: date + `Signature: keyId="k",headers="(request-target) host date",signature="SIGNATURE"`,
	}
	run(t, "GET", get, nil)
	h = get
	h.body = like
	run(t, "GET with a body that is not signed", h, httpsig.ErrUncovered)
	h = get
	h.method, h.text = "DELETE", strings.Replace(h.text, "get", "delete", 1)
	run(t, "DELETE without digest", h, httpsig.ErrUncovered)
	h = get
	h.headers = "Digest: SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n" + strings.Replace(h.headers, "host date", "host date digest", 1)
	h.text += "\ndigest: SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
	run(t, "GET with the digest of nothing, as WriteFreely", h, nil)

	// Time.
	at := func(d time.Duration) hand {
		return with("Tue, 20 Aug 2024 10:00:00 GMT", now.Add(d).Format(http.TimeFormat))
	}
	run(t, "11 hours old", at(-11*time.Hour), nil)
	run(t, "12 hours old", at(-12*time.Hour), nil)
	run(t, "a second more", at(-12*time.Hour-time.Second), httpsig.ErrTime)
	run(t, "13 hours old", at(-13*time.Hour), httpsig.ErrTime)
	run(t, "an hour ahead", at(time.Hour), nil)
	run(t, "two hours ahead", at(2*time.Hour), httpsig.ErrTime)
	run(t, "RFC 850", with("Tue, 20 Aug 2024 10:00:00 GMT", "Tuesday, 20-Aug-24 10:00:00 GMT"), nil)
	run(t, "asctime", with("Tue, 20 Aug 2024 10:00:00 GMT", "Tue Aug 20 10:00:00 2024"), nil)
	run(t, "no date", with("Tue, 20 Aug 2024 10:00:00 GMT", "today"), httpsig.ErrMalformed)
	run(t, "two dates", headers(date, date+date), httpsig.ErrMalformed)

	// (created) and (expires).
	created := func(params, text string) hand {
		return hand{
			method: "GET", target: "/users/alice", text: "(request-target): get /users/alice\nhost: social.example\n" + text,
			headers: date + `Signature: keyId="k",` + params + `,signature="SIGNATURE"`,
		}
	}
	const list = `headers="(request-target) host (created) (expires)"`
	run(t, "(created) and (expires)", created(`algorithm="hs2019",created=1724148000,expires=1724148060,`+list, "(created): 1724148000\n(expires): 1724148060"), nil)
	run(t, "quoted", created(`algorithm="hs2019",created="1724148000",expires="1724148060",`+list, "(created): 1724148000\n(expires): 1724148060"), nil)
	run(t, "decimal", created(`created=1724148000.25,expires=1724148060.0,`+list, "(created): 1724148000.25\n(expires): 1724148060.0"), nil)
	run(t, "with rsa-sha256", created(`algorithm="rsa-sha256",created=1724148000,expires=1724148060,`+list, "(created): 1724148000\n(expires): 1724148060"), httpsig.ErrMalformed)
	run(t, "created too long ago", created(`created=1724100000,expires=1724148060,`+list, "(created): 1724100000\n(expires): 1724148060"), httpsig.ErrTime)
	run(t, "created in the future", created(`created=1724158000,expires=1724158060,`+list, "(created): 1724158000\n(expires): 1724158060"), httpsig.ErrTime)
	run(t, "expired", created(`created=1724140000,expires=1724144399,`+list, "(created): 1724140000\n(expires): 1724144399"), httpsig.ErrTime)
	run(t, "expired within the skew of clocks", created(`created=1724140000,expires=1724144400,`+list, "(created): 1724140000\n(expires): 1724144400"), nil)
	run(t, "an end that is not covered", created(`created=1724140000,expires=1724144399,headers="(request-target) host (created)"`, "(created): 1724140000"), httpsig.ErrTime)
	run(t, "no created", created(`expires=1724148060,`+list, "(created): \n(expires): 1724148060"), httpsig.ErrMalformed)
	run(t, "no expires", created(`created=1724148000,`+list, "(created): 1724148000\n(expires): "), httpsig.ErrMalformed)
	run(t, "a created that is no number", created(`created=now,`+`headers="(request-target) host (created)"`, "(created): now"), httpsig.ErrMalformed)
	run(t, "a created far away", created(`created=99999999999999999999,`+`headers="(request-target) host (created)"`, "(created): 99999999999999999999"), httpsig.ErrMalformed)
	run(t, "both, and the date is old", func() hand {
		h := created(`created=1724148000,headers="(request-target) host (created) date"`, "(created): 1724148000\ndate: Mon, 19 Aug 2024 10:00:00 GMT")
		h.headers = strings.Replace(h.headers, date, "Date: Mon, 19 Aug 2024 10:00:00 GMT\n", 1)
		return h
	}(), httpsig.ErrTime)
}

func manyParams(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "p%d=1,", i)
	}
	return b.String()
}

// TestRFC9421 has a case for each rule of federation 2.5, starting from a request that is right.
func TestRFC9421(t *testing.T) {
	const params = `("@method" "@target-uri" "content-digest");created=1724148000;keyid="k";alg="rsa-v1_5-sha256"`
	right := hand{
		method: "POST", target: "/inbox", body: like,
		text: "\"@method\": POST\n\"@target-uri\": https://social.example/inbox\n\"content-digest\": sha-256=:" + likeDigest +
			":\n\"@signature-params\": " + params,
		headers: "Content-Digest: sha-256=:" + likeDigest + ":\nSignature-Input: sig1=" + params + "\nSignature: sig1=:SIGNATURE:",
	}
	run(t, "right", right, nil)
	with := func(pairs ...string) hand {
		h := right
		r := strings.NewReplacer(pairs...)
		h.headers, h.text = r.Replace(h.headers), r.Replace(h.text)
		return h
	}
	headers := func(pairs ...string) hand {
		h := right
		h.headers = strings.NewReplacer(pairs...).Replace(h.headers)
		return h
	}
	// covering covers other components, whose lines are given.
	covering := func(list, lines string) hand {
		h := with(`("@method" "@target-uri" "content-digest")`, list)
		h.text = lines + h.text[strings.Index(h.text, "\n\"@signature-params\""):]
		return h
	}
	const digestLine = "\n\"content-digest\": sha-256=:" + likeDigest + ":"

	// How it is written.
	run(t, "another label", headers("sig1", "a-b_c.d*1"), nil)
	run(t, "spaces inside", with(`("@method" "@target-uri" "content-digest")`, `( "@method"  "@target-uri" "content-digest" )`), nil)
	run(t, "spaces after semicolons", with(";created", "; created", ";keyid", ";  keyid"), nil)
	run(t, "other parameters", with(";created", `;nonce="a\"\\b";tag="x";foo;n=-1.5;t=to/ken:*;b=?0;y=:AAAA:;created`), nil)
	run(t, "an escaped key id", with(`keyid="k"`, `keyid="\"k\\"`), nil)
	run(t, "a Signature that has more", headers("Signature: ", "Signature: other=:AAAA:, "), nil)
	run(t, "on two lines", headers("Signature: ", "Signature: other=:AAAA:\nSignature: "), nil)
	run(t, "cavage beside it", headers("Signature: ", "Signature: keyId=\"k\"\nSignature: "), httpsig.ErrMalformed)
	for _, tt := range []struct {
		name string
		h    hand
		want error
	}{
		{"no signature", headers("Signature: sig1", "Signature: sig2"), httpsig.ErrMalformed},
		{"no Signature at all", headers("\nSignature: ", "\nX-Signature: "), httpsig.ErrMalformed},
		{"an empty input", headers("Signature-Input: sig1="+params, "Signature-Input:"), httpsig.ErrUnsigned},
		{"an empty signature", headers(":SIGNATURE:", "::"), httpsig.ErrMalformed},
		{"a signature that is a text", headers(":SIGNATURE:", `"SIGNATURE"`), httpsig.ErrMalformed},
		{"a signature that is not base64", headers(":SIGNATURE:", ":A:"), httpsig.ErrMalformed},
		{"an input that is no list", headers(params, "1"), httpsig.ErrMalformed},
		{"an input without value", headers("="+params, ""), httpsig.ErrMalformed},
		{"a label twice", headers("Signature-Input: ", "Signature-Input: sig1=(), "), httpsig.ErrMalformed},
		{"a label in capitals", headers("sig1", "Sig1"), httpsig.ErrMalformed},
		{"a parameter twice", with(";created", ";created=1;created"), httpsig.ErrMalformed},
		{"an unknown parameter twice", with(";created", ";x;x;created"), httpsig.ErrMalformed},
		{"too many parameters", with(";created", ";"+strings.ReplaceAll(strings.TrimSuffix(manyParams(30), ","), ",", ";")+";created"), httpsig.ErrMalformed},
		{"too many components", with(`("@method"`, `("@method"`+manyComponents(70)), httpsig.ErrMalformed},
		{"too many labels", headers("Signature-Input: ", "Signature-Input: "+manyParams(9)), httpsig.ErrMalformed},
		{"too long", with(`keyid="k"`, `keyid="`+strings.Repeat("k", 20_000)+`"`), httpsig.ErrMalformed},
		{"a key id too long", with(`keyid="k"`, `keyid="`+strings.Repeat("k", 3000)+`"`), httpsig.ErrMalformed},
		{"an open list", headers(`"content-digest")`, `"content-digest"`), httpsig.ErrMalformed},
		{"an open quote", headers(`sha256"`, `sha256`), httpsig.ErrMalformed},
		{"no space between components", with(`"@method" `, `"@method"`), httpsig.ErrMalformed},
		{"a comma at the end", headers(`sha256"`, `sha256",`), httpsig.ErrMalformed},
		{"a space after =", headers("created=", "created= "), httpsig.ErrMalformed},
		{"a bad escape", with(`keyid="k"`, `keyid="\k"`), httpsig.ErrMalformed},
		{"no key id", with(`;keyid="k"`, ""), httpsig.ErrMalformed},
		{"an empty key id", with(`keyid="k"`, `keyid=""`), httpsig.ErrMalformed},
		{"a key id that is a token", with(`keyid="k"`, `keyid=k`), httpsig.ErrMalformed},
		{"no created", with(";created=1724148000", ""), httpsig.ErrMalformed},
		{"a created that is a text", with("created=1724148000", `created="1724148000"`), httpsig.ErrMalformed},
		{"a created that is decimal", with("created=1724148000", "created=1724148000.0"), httpsig.ErrMalformed},
		{"a created without value", with("created=1724148000", "created"), httpsig.ErrMalformed},
		{"a created with too many digits", with("created=1724148000", "created=1724148000000000"), httpsig.ErrMalformed},
		{"an expires that is a text", with(";keyid", `;expires="1";keyid`), httpsig.ErrMalformed},
		{"an algorithm that is a token", with(`"rsa-v1_5-sha256"`, "rsa-v1_5-sha256"), httpsig.ErrMalformed},
		{"a component that is a token", with(`"@method"`, `method`), httpsig.ErrMalformed},
		{"a component in capitals", with(`"content-digest"`, `"Content-Digest"`), httpsig.ErrMalformed},
		{"an empty component", with(`"@method" `, `"@method" "" `), httpsig.ErrMalformed},
		{"a component twice", with(`"@method" `, `"@method" "@method" `), httpsig.ErrMalformed},
		{"a component that is not there", with(`"@method" `, `"@method" "x-none" `), httpsig.ErrMalformed},
	} {
		run(t, tt.name, tt.h, tt.want)
	}

	// Components with parameters, and those we do not have.
	for _, c := range []string{`"content-digest";sf`, `"content-digest";bs`, `"content-digest";key="sha-256"`, `"content-digest";req`,
		`"content-digest";tr`, `"@query-param";name="x"`, `"@method";req`, `"@status"`, `"@signature-params"`, `"@nothing"`} {
		run(t, c, with(`"@method" `, `"@method" `+c+" "), httpsig.ErrUnsupported)
	}

	// What is covered.
	run(t, "without @method", covering(`("@target-uri" "content-digest")`, `"@target-uri": https://social.example/inbox`+digestLine), httpsig.ErrUncovered)
	run(t, "without target", covering(`("@method" "content-digest")`, `"@method": POST`+digestLine), httpsig.ErrUncovered)
	run(t, "without content-digest", covering(`("@method" "@target-uri")`, "\"@method\": POST\n\"@target-uri\": https://social.example/inbox"), httpsig.ErrUncovered)
	run(t, "nothing", covering(`()`, ""), httpsig.ErrUncovered)
	run(t, "@authority and @path", covering(`("@method" "@authority" "@path" "content-digest")`,
		"\"@method\": POST\n\"@authority\": social.example\n\"@path\": /inbox"+digestLine), nil)
	run(t, "@authority and @request-target", covering(`("@method" "@authority" "@request-target" "content-digest")`,
		"\"@method\": POST\n\"@authority\": social.example\n\"@request-target\": /inbox"+digestLine), nil)
	run(t, "host and @path", covering(`("@method" "host" "@path" "content-digest")`,
		"\"@method\": POST\n\"host\": social.example\n\"@path\": /inbox"+digestLine), nil)
	run(t, "@request-target alone", covering(`("@method" "@request-target" "content-digest")`,
		"\"@method\": POST\n\"@request-target\": /inbox"+digestLine), httpsig.ErrUncovered)
	run(t, "@authority alone", covering(`("@method" "@authority" "content-digest")`,
		"\"@method\": POST\n\"@authority\": social.example"+digestLine), httpsig.ErrUncovered)
	run(t, "@scheme as well", covering(`("@method" "@target-uri" "@scheme" "content-digest")`,
		"\"@method\": POST\n\"@target-uri\": https://social.example/inbox\n\"@scheme\": https"+digestLine), nil)
	h := covering(`("@method" "@authority" "@path" "content-digest")`, "\"@method\": POST\n\"@authority\": social.example\n\"@path\": /inbox"+digestLine)
	h.target = "/inbox?x=1"
	run(t, "a query that is not covered", h, httpsig.ErrUncovered)
	h = covering(`("@method" "@authority" "@path" "@query" "content-digest")`,
		"\"@method\": POST\n\"@authority\": social.example\n\"@path\": /inbox\n\"@query\": ?x=1"+digestLine)
	h.target = "/inbox?x=1"
	run(t, "@query", h, nil)
	h.target = "/inbox?x=2"
	run(t, "another query", h, httpsig.ErrSignature)
	h = covering(`("@method" "@authority" "@path" "@query" "content-digest")`,
		"\"@method\": POST\n\"@authority\": social.example\n\"@path\": /inbox\n\"@query\": ?"+digestLine)
	run(t, "@query of nothing", h, nil)
	h = right
	h.target = "/inbox?x=1"
	run(t, "a query that was not signed", h, httpsig.ErrSignature)

	// Method and host.
	h = right
	h.method = "PUT"
	run(t, "another method", h, httpsig.ErrSignature)
	h = right
	h.host = "127.0.0.1:4000"
	run(t, "through a proxy that rewrites Host", h, nil)
	h.host = "Social.Example:443"
	run(t, "Host with its port", h, nil)
	h = with("https://social.example/inbox", "https://elsewhere.example/inbox")
	run(t, "for another host", h, httpsig.ErrSignature)
	h.host = "elsewhere.example"
	run(t, "for another host and sent to it", h, httpsig.ErrHost)
	run(t, "for another scheme", with("https://social", "http://social"), httpsig.ErrSignature)

	// The body.
	h = right
	h.body += " "
	run(t, "another body", h, httpsig.ErrDigest)
	run(t, "sha-512", with("sha-256=:"+likeDigest, "sha-512=:"+like512), nil)
	run(t, "both", with("sha-256=:", "sha-512=:"+like512+":, sha-256=:"), nil)
	run(t, "one of them wrong", with("sha-256=:", "sha-512=:"+likeDigest+":, sha-256=:"), httpsig.ErrDigest)
	run(t, "neither", with("sha-256=:", "md5=:"), httpsig.ErrDigest)
	run(t, "a digest in the old form", with("sha-256=:"+likeDigest+":", "SHA-256="+likeDigest), httpsig.ErrMalformed)
	run(t, "a digest that is a text", with(":"+likeDigest+":", `"`+likeDigest+`"`), httpsig.ErrDigest)
	run(t, "no digest", headers("Content-Digest: ", "X-Digest: "), httpsig.ErrMalformed)

	// Time.
	run(t, "11 hours old", with("created=1724148000", "created=1724108400"), nil)
	run(t, "13 hours old", with("created=1724148000", "created=1724101200"), httpsig.ErrTime)
	run(t, "two hours ahead", with("created=1724148000", "created=1724155200"), httpsig.ErrTime)
	run(t, "before all time", with("created=1724148000", "created=-1"), httpsig.ErrTime)
	run(t, "not expired", with(";keyid", ";expires=1724148060;keyid"), nil)
	run(t, "expired", with("created=1724148000", "created=1724140000;expires=1724144399"), httpsig.ErrTime)

	// Algorithms.
	const alg = `;alg="rsa-v1_5-sha256"`
	run(t, "no algorithm", with(alg, ""), nil)
	h = with("rsa-v1_5-sha256", "rsa-pss-sha512")
	h.pss = true
	run(t, "RSA-PSS", h, nil)
	h = with(alg, "")
	h.pss = true
	run(t, "RSA-PSS without algorithm", h, nil)
	h = right
	h.pss = true
	run(t, "RSA-PSS as rsa-v1_5-sha256", h, httpsig.ErrSignature)
	run(t, "rsa-v1_5-sha256 as RSA-PSS", with("rsa-v1_5-sha256", "rsa-pss-sha512"), httpsig.ErrSignature)
	h = with("rsa-v1_5-sha256", "ed25519")
	h.ed = true
	run(t, "Ed25519", h, nil)
	h = with(alg, "")
	h.ed = true
	run(t, "Ed25519 without algorithm", h, nil)
	h = right
	h.ed = true
	run(t, "Ed25519 as RSA", h, httpsig.ErrKey)
	run(t, "RSA as Ed25519", with("rsa-v1_5-sha256", "ed25519"), httpsig.ErrKey)
	for _, a := range []string{"hmac-sha256", "ecdsa-p256-sha256", "ecdsa-p384-sha384", "rsa-sha256", "hs2019", "none"} {
		run(t, a, with("rsa-v1_5-sha256", a), httpsig.ErrUnsupported)
	}
}

func manyComponents(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ` "x-%d"`, i)
	}
	return b.String()
}

// TestSeveral reads requests with several signatures: those that are not sound do not spoil the others.
func TestSeveral(t *testing.T) {
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
		t.Errorf("none sound: %v, want what is wrong with the first", err)
	}
}

// TestKept verifies a request a second time, as it is kept when the key could not be had at once.
func TestKept(t *testing.T) {
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
			h := hand{method: m.Method, target: m.Target, host: m.Headers["host"], body: m.Body}
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
