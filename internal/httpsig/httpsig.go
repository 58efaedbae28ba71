// Package httpsig signs and verifies HTTP requests as servers of the fediverse do: by draft-cavage-http-signatures-12 and by
// RFC 9421. It knows keys and requests, but no actors, database or network.
//
// Signing: Signer.Sign. Verifying has two steps, as the key is to be found in between: Read makes every check that needs no key
// and returns what the request claims, Claim.Verify checks the signature itself.
//
// The rules of reading, for both schemes:
//   - A signature covers the method, the host, the target and, where there is a body, its digest. One that covers less could be
//     replayed against another server, path or body, and is refused whether or not it is right.
//   - Host and scheme are what the configuration says. What arrives in Host and in forwarded headers is never believed: what was
//     signed for somebody else does not verify here, and a proxy that rewrites Host does no harm.
//   - The digest is that of the raw body. The time it was signed at lies within a window around now.
//   - The key decides the algorithm. A named algorithm that does not fit it is refused; shared secrets (hmac) are.
//   - What is parsed is bounded in length and number, and parameters that occur twice are refused.
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

// Scheme is a way to sign requests.
type Scheme string

// The schemes.
const (
	Cavage  Scheme = "cavage"
	RFC9421 Scheme = "rfc9421"
)

// Why a request does not count as signed. For the one who sent it, all of them are a 401.
var (
	ErrUnsigned    = errors.New("httpsig: not signed")
	ErrMalformed   = errors.New("httpsig: badly formed signature")
	ErrUnsupported = errors.New("httpsig: of no kind that is verified here")
	ErrUncovered   = errors.New("httpsig: the signature does not cover enough")
	ErrTime        = errors.New("httpsig: signed too long ago, expired, or signed in the future")
	ErrDigest      = errors.New("httpsig: the body is not the one that was signed")
	ErrKey         = errors.New("httpsig: the key is not fit for the signature")
	ErrSignature   = errors.New("httpsig: the signature is wrong")
	ErrHost        = errors.New("httpsig: signed for another server") // right, but for the Host of the request, which is not ours
)

// Limits to what is read.
const (
	maxHeader     = 16 << 10 // bytes of a header that holds signatures or digests
	maxKeyID      = 2048
	maxComponents = 64 // that one signature covers
	maxParams     = 24
	maxSignatures = 8
)

// Policy is what a request is held against.
type Policy struct {
	Base             *url.URL // our scheme and host, as configured
	Now              time.Time
	MaxAge, MaxAhead time.Duration // how long ago, and how far ahead of our clock, a request may have been signed
	Body             []byte        // raw, as it came
}

// Claim is what a request says of its signature.
type Claim struct {
	KeyID     string
	Scheme    Scheme
	Algorithm string    // as named in the request, "" if it is not
	Created   time.Time // when it was signed: created, or the signed Date
	Expires   time.Time // zero if it does not tell

	signature  []byte
	components []component
	params     string // RFC 9421: the text of the line @signature-params
	message    *message
}

// component is a covered component. Those that depend on the host or target have no value before they are rendered.
type component struct{ name, value string }

// Read returns what a request says of its signature, once all that can be checked without a key is right. Most requests have
// one signature; those by RFC 9421 may have several, of which it returns the sound ones in their order (see Prefer). It looks
// at the method, the headers, Host, and RequestURI or URL, so a request that was kept can be read again.
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

// LooksSigned tells whether a request looks as if it were signed, and with a body, its digest too. It costs next to nothing.
func LooksSigned(r *http.Request) bool {
	if _, ok := cavageHeader(r.Header); !ok {
		return false
	}
	return r.Method == http.MethodGet || r.Method == http.MethodHead || r.Header.Get("Digest") != "" || r.Header.Get("Content-Digest") != ""
}

// Prefer returns the claims worth the work of verifying, at most two: first those whose key the caller likes.
func Prefer(claims []*Claim, likes func(keyID string) bool) []*Claim {
	var best, rest []*Claim
	for _, c := range claims {
		if likes(c.KeyID) {
			best = append(best, c)
		} else {
			rest = append(rest, c)
		}
	}
	best = append(best, rest...)
	return best[:min(len(best), 2)]
}

// Verify checks the signature with a key. ErrKey says that the key cannot have made it, ErrSignature that it has not (another
// key of the signer may have), ErrHost that it was made for another server.
func (c *Claim) Verify(key crypto.PublicKey) error {
	algorithms, err := c.algorithms(key)
	if err != nil {
		return err
	}
	var buffer []byte
	right := func(s hostForm) bool {
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
		if right(s) {
			return nil
		}
	}
	if other := c.message.otherHost; other != nil && right(*other) {
		return fmt.Errorf("%w: %q", ErrHost, other.header)
	}
	return ErrSignature
}

// targets are those the signature may be for: the one requested, and for draft-cavage also the one without its query, as many
// servers sign it.
func (c *Claim) targets() []string {
	target := c.message.target
	if path, _, ok := strings.Cut(target, "?"); ok && c.Scheme == Cavage {
		return []string{target, path}
	}
	return []string{target}
}

// base is the text that is signed.
func (c *Claim) base(dst []byte, s hostForm, target string) []byte {
	if c.Scheme == Cavage {
		return c.cavageBase(dst, s, target)
	}
	return c.rfc9421Base(dst, s, target)
}

// checkTime holds the time of signing and the end, if there is one, against the window.
func (c *Claim) checkTime(p Policy) error {
	if err := p.checkTime(c.Created); err != nil {
		return err
	}
	if !c.Expires.IsZero() && p.Now.After(c.Expires.Add(p.MaxAhead)) {
		return fmt.Errorf("%w: it expired at %s", ErrTime, c.Expires.UTC().Format(time.RFC3339))
	}
	return nil
}

func (p Policy) checkTime(at time.Time) error {
	if at.Before(p.Now.Add(-p.MaxAge)) || at.After(p.Now.Add(p.MaxAhead)) {
		return fmt.Errorf("%w: it was signed at %s", ErrTime, at.UTC().Format(time.RFC3339))
	}
	return nil
}
