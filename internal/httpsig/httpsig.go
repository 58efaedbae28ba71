// Package httpsig signs and verifies HTTP requests by draft-cavage-http-signatures-12 and RFC 9421. It knows keys and requests, but no
// actors, database or network.
//
// Signer.Sign signs. Verification has two steps, because the caller looks up the key in between: Read makes all checks that need no key
// and returns claims, Claim.Verify checks the signature.
//
// Rules of Read, for both schemes:
//   - A signature covers the method, the host, the target and, if there is a body, its digest. One that covers less could be replayed
//     for another server, path or body, and is refused even if it is correct.
//   - Host and scheme are those of the configuration. The Host header and forwarding headers are not trusted, so a signature for
//     another server does not verify, and a proxy may rewrite Host.
//   - The digest is that of the raw body. The time of the signature is within a window around the current time.
//   - The key determines the algorithm. A declared algorithm that does not match the key is refused, as are shared secrets (hmac).
//   - Input is bounded in length and number, and duplicate parameters are refused.
//
// Limits: 16 KiB per header, 8 signatures of 64 components and 24 parameters, RSA keys of 1024 to 8192 bits.
package httpsig

import (
	"crypto"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Scheme is a signature scheme.
type Scheme string

// Signature schemes.
const (
	Cavage  Scheme = "cavage"
	RFC9421 Scheme = "rfc9421"
)

// Reasons why a request is not verified. The response to all of them is 401.
var (
	ErrUnsigned    = errors.New("httpsig: not signed")
	ErrMalformed   = errors.New("httpsig: malformed signature")
	ErrUnsupported = errors.New("httpsig: unsupported signature")
	ErrUncovered   = errors.New("httpsig: signature does not cover enough")
	ErrTime        = errors.New("httpsig: signed too long ago, expired, or signed in the future")
	ErrDigest      = errors.New("httpsig: body does not match the digest")
	ErrKey         = errors.New("httpsig: key does not fit the signature")
	ErrSignature   = errors.New("httpsig: wrong signature")
	ErrHost        = errors.New("httpsig: signed for another server") // correct for the Host of the request, which is not this server
)

// Limits of input.
const (
	maxHeader     = 16 << 10 // bytes of a header with signatures or digests
	maxKeyID      = 2048
	maxComponents = 64 // per signature
	maxParams     = 24
	maxSignatures = 8
)

// Policy is the configuration for Read.
type Policy struct {
	Base             *url.URL // configured scheme and host of this server
	Now              time.Time
	MaxAge, MaxAhead time.Duration // of the time of the signature, relative to Now
	Body             []byte        // raw
}

// Claim is a signature that is not verified yet.
type Claim struct {
	KeyID     string
	Scheme    Scheme
	Algorithm string    // as declared, "" if it is not
	Created   time.Time // created, or the signed Date
	Expires   time.Time // zero if it has none

	signature  []byte
	components []component
	params     string // RFC 9421: value of @signature-params
	message    *message
}

// component is a covered component. Those that depend on the host or target get their value in base.
type component struct{ name, value string }

// Read returns the claims of a request after all checks that need no key. Most requests have one; by RFC 9421 there may be several, of
// which it returns the valid ones in order (see Prefer). It reads the method, the headers, Host, and RequestURI or URL, so a stored
// request can be read again.
func Read(r *http.Request, p Policy) ([]*Claim, error) {
	m := newMessage(r, p)
	if _, ok := r.Header["Signature-Input"]; ok {
		return m.readRFC9421(p)
	}
	text, ok := cavageHeader(r.Header)
	if !ok {
		return nil, ErrUnsigned
	}
	c, err := m.readCavage(text, p)
	if err != nil {
		return nil, err
	}
	return []*Claim{c}, nil
}

// LooksSigned returns whether a request has a signature header and, unless it is a GET or HEAD, a digest header. It is cheap.
func LooksSigned(r *http.Request) bool {
	if _, ok := cavageHeader(r.Header); !ok {
		return false
	}
	return r.Method == http.MethodGet || r.Method == http.MethodHead || r.Header.Get("Digest") != "" || r.Header.Get("Content-Digest") != ""
}

// ClaimedKeyID returns the key id that the header of a request names, even if the signature is not valid otherwise; "" if there is none.
func ClaimedKeyID(r *http.Request) string {
	text := strings.Join(r.Header["Signature-Input"], ", ")
	if text == "" {
		text, _ = cavageHeader(r.Header)
	}
	at := strings.Index(strings.ToLower(text), "keyid=\"")
	if at < 0 {
		return ""
	}
	id, _, _ := strings.Cut(text[at+len("keyid=\""):], "\"")
	return id
}

// Prefer returns at most two claims to verify: first those whose key is preferred.
func Prefer(claims []*Claim, preferred func(keyID string) bool) []*Claim {
	var best, rest []*Claim
	for _, c := range claims {
		if preferred(c.KeyID) {
			best = append(best, c)
		} else {
			rest = append(rest, c)
		}
	}
	best = append(best, rest...)
	return best[:min(len(best), 2)]
}

// Verify checks the signature with a key. The error is ErrKey if the key cannot have made it, ErrSignature if it has not (another key
// of the signer may have), ErrHost if it was made for another server.
func (c *Claim) Verify(key crypto.PublicKey) error {
	algorithms, err := c.algorithms(key)
	if err != nil {
		return err
	}
	var buffer []byte
	matches := func(s hostForm) bool {
		for _, target := range c.targets() {
			buffer = c.base(buffer[:0], s, target)
			for _, a := range algorithms {
				if a.verify(key, buffer, c.signature) {
					return true
				}
			}
		}
		return false
	}
	for _, s := range c.message.ownHosts {
		if matches(s) {
			return nil
		}
	}
	if other := c.message.otherHost; other != nil && matches(*other) {
		return fmt.Errorf("%w: %q", ErrHost, other.header)
	}
	return ErrSignature
}

// targets returns the targets for which the signature may be made: the requested one, and for draft-cavage also the one without query,
// because many servers sign that.
func (c *Claim) targets() []string {
	target := c.message.target
	if path, _, ok := strings.Cut(target, "?"); ok && c.Scheme == Cavage {
		return []string{target, path}
	}
	return []string{target}
}

// base appends the signed text.
func (c *Claim) base(dst []byte, s hostForm, target string) []byte {
	if c.Scheme == Cavage {
		return c.cavageBase(dst, s, target)
	}
	return c.rfc9421Base(dst, s, target)
}

// checkTime checks the times of signing and expiry against the window.
func (c *Claim) checkTime(p Policy) error {
	if err := p.checkTime(c.Created); err != nil {
		return err
	}
	if !c.Expires.IsZero() && p.Now.After(c.Expires.Add(p.MaxAhead)) {
		return fmt.Errorf("%w: expired at %s", ErrTime, c.Expires.UTC().Format(time.RFC3339))
	}
	return nil
}

func (p Policy) checkTime(at time.Time) error {
	if at.Before(p.Now.Add(-p.MaxAge)) || at.After(p.Now.Add(p.MaxAhead)) {
		return fmt.Errorf("%w: signed at %s", ErrTime, at.UTC().Format(time.RFC3339))
	}
	return nil
}
