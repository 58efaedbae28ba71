package httpsig

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Signer signs requests with one key.
type Signer struct {
	KeyID string
	Key   crypto.Signer // *rsa.PrivateKey or ed25519.PrivateKey
}

// Options configure a signature.
type Options struct {
	Scheme   Scheme
	Now      time.Time
	PathOnly bool     // draft-cavage: sign without the query, as some servers verify it
	Also     []string // names of further headers to cover, in lower case; those that are not set are left out
}

// bodyHeaders are covered, if they are set, by the signature of a request with a body. Tootik asks for it in its documentation.
var bodyHeaders = []string{"content-type"}

// Sign signs a request to r.URL with a body, nil for none. It sets Date, the digest, the signature headers, and r.Host. Called again,
// for a retry or a redirect, it replaces the headers of the former call, whatever its scheme.
func (s *Signer) Sign(r *http.Request, body []byte, o Options) error {
	host := canonicalHost(r.URL.Scheme, r.URL.Host)
	if host == "" || strings.ContainsFunc(host, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return fmt.Errorf("httpsig: cannot sign for the host %q", host)
	}
	if strings.ContainsFunc(s.KeyID, func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }) {
		return fmt.Errorf("httpsig: key id %q is not valid in a header", s.KeyID)
	}
	if r.Header == nil {
		r.Header = make(http.Header)
	}
	r.Host = host
	for _, name := range []string{"Signature", "Signature-Input", "Digest", "Content-Digest"} {
		r.Header.Del(name)
	}
	r.Header.Set("Date", o.Now.UTC().Format(http.TimeFormat))
	m := &message{method: r.Method, scheme: r.URL.Scheme, target: r.URL.RequestURI(), header: r.Header, body: body}
	if m.method == "" {
		m.method = http.MethodGet
	}
	switch o.Scheme {
	case Cavage:
		return s.signCavage(m, hostForm{host, host}, o)
	case RFC9421:
		return s.signRFC9421(m, hostForm{host, host}, o)
	}
	return fmt.Errorf("httpsig: no scheme %q", o.Scheme)
}

func (s *Signer) signCavage(m *message, at hostForm, o Options) error {
	names := []string{"(request-target)", "host", "date"}
	if m.needsDigest() {
		m.header.Set("Digest", digest(m.body))
		names = append(names, "digest")
		names = append(names, m.present(bodyHeaders)...)
	}
	names = append(names, m.present(o.Also)...)
	c := Claim{Scheme: Cavage, message: m}
	for _, name := range names {
		value, _ := m.field(name)
		c.components = append(c.components, component{name, value})
	}
	target := m.target
	if o.PathOnly {
		target, _, _ = strings.Cut(target, "?")
	}
	signature, alg, err := s.sign(c.base(nil, at, target))
	if err != nil {
		return err
	}
	label := rsaSHA256
	if alg == algEd25519 {
		label = hs2019
	}
	m.header.Set("Signature", `keyId="`+s.KeyID+`",algorithm="`+label+`",headers="`+strings.Join(names, " ")+
		`",signature="`+signature+`"`)
	return nil
}

func (s *Signer) signRFC9421(m *message, at hostForm, o Options) error {
	names := []string{"@method", "@target-uri"}
	if m.needsDigest() {
		m.header.Set("Content-Digest", contentDigest(m.body))
		names = append(names, "content-digest")
		names = append(names, m.present(bodyHeaders)...)
	}
	names = append(names, m.present(o.Also)...)
	label := rsaV15SHA256
	if s.algorithm() == algEd25519 {
		label = ed25519Name
	}
	c := Claim{Scheme: RFC9421, message: m}
	c.params = `("` + strings.Join(names, `" "`) + `");created=` + strconv.FormatInt(o.Now.Unix(), 10) +
		`;keyid="` + s.KeyID + `";alg="` + label + `"`
	for _, name := range names {
		value, _ := m.field(name)
		c.components = append(c.components, component{name, value})
	}
	signature, _, err := s.sign(c.base(nil, at, m.target))
	if err != nil {
		return err
	}
	m.header.Set("Signature-Input", "sig1="+c.params)
	m.header.Set("Signature", "sig1=:"+signature+":")
	return nil
}

// algorithm returns the algorithm of the key, "" if the key is not supported.
func (s *Signer) algorithm() algorithm {
	switch s.Key.(type) {
	case *rsa.PrivateKey:
		return algV15SHA256
	case ed25519.PrivateKey:
		return algEd25519
	}
	return ""
}

// sign returns the signature of a text in base64.
func (s *Signer) sign(text []byte) (string, algorithm, error) {
	var signature []byte
	var err error
	alg := s.algorithm()
	switch alg {
	case algV15SHA256:
		sum := sha256.Sum256(text)
		signature, err = s.Key.Sign(rand.Reader, sum[:], crypto.SHA256)
	case algEd25519:
		signature, err = s.Key.Sign(rand.Reader, text, crypto.Hash(0))
	default:
		err = errors.New("key is neither RSA nor Ed25519")
	}
	if err != nil {
		return "", "", fmt.Errorf("httpsig: %s cannot sign: %w", s.KeyID, err)
	}
	return base64.StdEncoding.EncodeToString(signature), alg, nil
}
