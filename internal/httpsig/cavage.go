package httpsig

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The algorithms that draft-cavage names. hs2019 says that the key decides.
const (
	rsaSHA256 = "rsa-sha256"
	hs2019    = "hs2019"
)

// cavageHeader finds the signature: in Signature, where some put the name of the Authorization scheme before it, or in
// Authorization.
func cavageHeader(h http.Header) (string, bool) {
	if values := h["Signature"]; len(values) > 0 {
		text := strings.Join(values, ", ")
		if rest, ok := trimScheme(text); ok {
			text = rest
		}
		return text, true
	}
	for _, text := range h["Authorization"] {
		if rest, ok := trimScheme(text); ok {
			return rest, true
		}
	}
	return "", false
}

func trimScheme(text string) (string, bool) {
	const scheme = "signature "
	if len(text) < len(scheme) || !strings.EqualFold(text[:len(scheme)], scheme) {
		return "", false
	}
	return text[len(scheme):], true
}

// cavageParams are the parameters of a signature as they came.
type cavageParams struct {
	keyID, algorithm, signature string
	headers                     []string
	created, expires            string
}

// parseCavage reads the parameters of a signature.
func parseCavage(text string) (*cavageParams, error) {
	p := new(cavageParams)
	err := eachParam(text, func(name, value string) {
		switch name {
		case "keyid":
			p.keyID = value
		case "algorithm":
			p.algorithm = strings.ToLower(value)
		case "signature":
			p.signature = value
		case "headers":
			p.headers = strings.Fields(strings.ToLower(value))
		case "created":
			p.created = value
		case "expires":
			p.expires = value
		}
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Params reads a header with parameters like those of a signature by draft-cavage. The names in the result are in lower case.
func Params(text string) (map[string]string, error) {
	params := make(map[string]string)
	if err := eachParam(text, func(name, value string) { params[name] = value }); err != nil {
		return nil, err
	}
	return params, nil
}

// eachParam calls found with parameters: names, each once, with a token or a quoted string (draft-cavage 2.1, RFC 9110 11.2). Names are
// read in any letter case, so that none can be given twice.
func eachParam(text string, found func(name, value string)) error {
	if len(text) > maxHeader {
		return fmt.Errorf("%w: too long", ErrMalformed)
	}
	var seen []string
	for s := (&scanner{text: text}); ; {
		s.skipOWS()
		name := strings.ToLower(s.token())
		s.skipOWS()
		if name == "" || !s.accept('=') {
			return fmt.Errorf("%w: expected a parameter at %d", ErrMalformed, s.pos)
		}
		s.skipOWS()
		value, ok := s.value()
		if !ok {
			return fmt.Errorf("%w: no value of %.40q", ErrMalformed, name)
		}
		if slices.Contains(seen, name) || len(seen) == maxParams {
			return fmt.Errorf("%w: %.40q twice, or too many parameters", ErrMalformed, name)
		}
		seen = append(seen, name)
		found(name, value)
		if s.skipOWS(); s.atEnd() {
			return nil
		}
		if !s.accept(',') {
			return fmt.Errorf("%w: expected a comma at %d", ErrMalformed, s.pos)
		}
	}
}

func (m *message) readCavage(text string, p Policy) (*Claim, error) {
	params, err := parseCavage(text)
	if err != nil {
		return nil, err
	}
	c := &Claim{KeyID: params.keyID, Scheme: Cavage, Algorithm: params.algorithm, message: m}
	if c.KeyID == "" || len(c.KeyID) > maxKeyID {
		return nil, fmt.Errorf("%w: no keyId, or one too long", ErrMalformed)
	}
	if c.signature, err = base64.StdEncoding.DecodeString(params.signature); err != nil || len(c.signature) == 0 {
		return nil, fmt.Errorf("%w: the signature is not base64", ErrMalformed)
	}
	switch c.Algorithm {
	case "", rsaSHA256, hs2019:
	default:
		return nil, fmt.Errorf("%w: algorithm %.40q", ErrUnsupported, c.Algorithm)
	}
	if err := m.coverCavage(c, params, p); err != nil {
		return nil, err
	}
	if slices.Contains(params.headers, "digest") {
		if err := m.checkDigest(); err != nil {
			return nil, err
		}
	}
	return c, c.checkTime(p)
}

// coverCavage collects the covered components, which must be sufficient, and the times.
func (m *message) coverCavage(c *Claim, params *cavageParams, p Policy) error {
	covers := func(name string) bool { return slices.Contains(params.headers, name) }
	needed := []string{"(request-target)", "host"}
	if m.needsDigest() {
		needed = append(needed, "digest")
	}
	for _, name := range needed {
		if !covers(name) {
			return fmt.Errorf("%w: missing %s", ErrUncovered, name)
		}
	}
	if !covers("date") && !covers("(created)") {
		return fmt.Errorf("%w: missing date and (created)", ErrUncovered)
	}
	if len(params.headers) > maxComponents {
		return fmt.Errorf("%w: too many headers", ErrMalformed)
	}
	var err error
	if params.expires != "" { // it only shortens the validity, so it counts even if it is not covered
		if c.Expires, err = cavageTime(params.expires); err != nil {
			return err
		}
	}
	for _, name := range params.headers {
		l := component{name: name}
		switch name {
		case "(request-target)", "host":
		case "(created)", "(expires)":
			if c.Algorithm == rsaSHA256 { // draft-cavage 2.3
				return fmt.Errorf("%w: %s is not allowed with %s", ErrMalformed, name, rsaSHA256)
			}
			if l.value = params.created; name == "(expires)" {
				l.value = params.expires
			}
			if l.value == "" {
				return fmt.Errorf("%w: %s is covered but missing", ErrMalformed, name)
			}
		default:
			var ok bool
			if l.value, ok = m.field(name); !ok {
				return fmt.Errorf("%w: %.40q is covered but missing", ErrMalformed, name)
			}
		}
		c.components = append(c.components, l)
	}
	if covers("date") {
		text, _ := m.field("date")
		if c.Created, err = parseDate(text); err != nil {
			return fmt.Errorf("%w: %.40q is not a date", ErrMalformed, text)
		}
	}
	if covers("(created)") {
		if covers("date") { // both are signed, so both count
			if err := p.checkTime(c.Created); err != nil {
				return err
			}
		}
		if c.Created, err = cavageTime(params.created); err != nil {
			return err
		}
	}
	return nil
}

// parseDate parses a Date header. Some servers write UTC or +0000 for GMT.
func parseDate(text string) (time.Time, error) {
	for _, zone := range []string{" UTC", " +0000"} {
		if day, ok := strings.CutSuffix(text, zone); ok {
			text = day + " GMT"
		}
	}
	return http.ParseTime(text)
}

// cavageTime parses Unix seconds. The draft requires integers, but some servers send decimals.
func cavageTime(text string) (time.Time, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseUint(whole, 10, 40)
	if err != nil || strings.Trim(fraction, "0123456789") != "" {
		return time.Time{}, fmt.Errorf("%w: %.40q is not a time", ErrMalformed, text)
	}
	return time.Unix(int64(seconds), 0), nil
}

// cavageBase appends the signing string (draft-cavage 2.3).
func (c *Claim) cavageBase(dst []byte, s hostForm, target string) []byte {
	for i, l := range c.components {
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = append(dst, l.name...)
		dst = append(dst, ": "...)
		switch l.name {
		case "(request-target)":
			dst = append(dst, strings.ToLower(c.message.method)...)
			dst = append(dst, ' ')
			dst = append(dst, target...)
		case "host":
			dst = append(dst, s.header...)
		default:
			dst = append(dst, l.value...)
		}
	}
	return dst
}
