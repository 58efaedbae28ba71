package httpsig

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Supported algorithms of RFC 9421, 6.2.
const (
	rsaV15SHA256 = "rsa-v1_5-sha256"
	rsaPSSSHA512 = "rsa-pss-sha512"
	ed25519Name  = "ed25519"
)

// readRFC9421 returns the valid claims of a request, or the error of the first if none is valid.
func (m *message) readRFC9421(p Policy) ([]*Claim, error) {
	input, _ := m.field("signature-input")
	inputs, err := parseDictionary(input)
	if err != nil {
		return nil, fmt.Errorf("%w: Signature-Input is %w", ErrMalformed, err)
	}
	text, _ := m.field("signature")
	signatures, err := parseDictionary(text)
	if err != nil {
		return nil, fmt.Errorf("%w: Signature is %w", ErrMalformed, err)
	}
	if len(inputs) == 0 {
		return nil, ErrUnsigned
	}
	var claims []*Claim
	var first error
	digest := sync.OnceValue(m.checkContentDigest) // one hash for all signatures
	for _, in := range inputs {
		c, err := m.readMember(in, signatures, digest, p)
		if err == nil {
			claims = append(claims, c)
		} else if first == nil {
			first = err
		}
	}
	if len(claims) == 0 {
		return nil, first
	}
	return claims, nil
}

// readMember reads one signature and makes the checks that need no key.
func (m *message) readMember(in sfMember, signatures []sfMember, digest func() error, p Policy) (*Claim, error) {
	c, err := m.parseMember(in, signatures)
	if err != nil {
		return nil, err
	}
	if err := c.checkCoverage(); err != nil {
		return nil, err
	}
	if c.Covers("content-digest") {
		if err := digest(); err != nil {
			return nil, err
		}
	}
	return c, c.checkTime(p)
}

// parseMember parses one signature: its components, its parameters, and its value under the same label.
func (m *message) parseMember(in sfMember, signatures []sfMember) (*Claim, error) {
	c := &Claim{Scheme: RFC9421, params: in.raw, message: m}
	components, ok := in.value.([]sfItem)
	if !ok {
		return nil, fmt.Errorf("%w: %.40q has no components", ErrMalformed, in.name)
	}
	i := slices.IndexFunc(signatures, func(s sfMember) bool { return s.name == in.name })
	if i < 0 {
		return nil, fmt.Errorf("%w: %.40q has no signature", ErrMalformed, in.name)
	}
	if c.signature, ok = signatures[i].value.([]byte); !ok || len(c.signature) == 0 {
		return nil, fmt.Errorf("%w: the signature %.40q is not a byte sequence", ErrMalformed, in.name)
	}
	for _, item := range components {
		if err := c.cover(item); err != nil {
			return nil, err
		}
	}
	return c, c.readParams(in.params)
}

// cover adds a component. Components with parameters (sf, bs, key, req, tr, name) are not used by servers and are refused.
func (c *Claim) cover(item sfItem) error {
	name, ok := item.value.(string)
	if !ok || name == "" || strings.Trim(name, "@!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") != "" {
		return fmt.Errorf("%w: %.40v is not a component name", ErrMalformed, item.value)
	}
	if len(item.params) > 0 {
		return fmt.Errorf("%w: %.40q with parameters", ErrUnsupported, name)
	}
	if c.Covers(name) {
		return fmt.Errorf("%w: %.40q is covered twice", ErrMalformed, name)
	}
	l := component{name: name}
	switch name {
	case "@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query", "host":
	default:
		if name[0] == '@' {
			return fmt.Errorf("%w: component %.40q", ErrUnsupported, name)
		}
		if l.value, ok = c.message.field(name); !ok {
			return fmt.Errorf("%w: %.40q is covered but missing", ErrMalformed, name)
		}
	}
	c.components = append(c.components, l)
	return nil
}

// readParams reads the parameters of a signature (RFC 9421, 2.3). nonce, tag and unknown ones are ignored, but signed.
func (c *Claim) readParams(params []sfParam) error {
	for _, p := range params {
		ok := true
		var seconds int64
		switch p.name {
		case "created":
			if seconds, ok = p.value.(int64); ok {
				c.Created = time.Unix(seconds, 0)
			}
		case "expires":
			if seconds, ok = p.value.(int64); ok {
				c.Expires = time.Unix(seconds, 0)
			}
		case "keyid":
			c.KeyID, ok = p.value.(string)
		case "alg":
			c.Algorithm, ok = p.value.(string)
			if ok && !slices.Contains([]string{rsaV15SHA256, rsaPSSSHA512, ed25519Name}, c.Algorithm) {
				return fmt.Errorf("%w: algorithm %.40q", ErrUnsupported, c.Algorithm)
			}
		}
		if !ok {
			return fmt.Errorf("%w: parameter %s has the wrong type", ErrMalformed, p.name)
		}
	}
	if c.KeyID == "" || len(c.KeyID) > maxKeyID {
		return fmt.Errorf("%w: no keyid, or one too long", ErrMalformed)
	}
	if c.Created.IsZero() {
		return fmt.Errorf("%w: no created parameter", ErrMalformed)
	}
	return nil
}

// Covers returns whether the signature covers one of these components, such as a header in lower case.
func (c *Claim) Covers(names ...string) bool {
	return slices.ContainsFunc(c.components, func(l component) bool { return slices.Contains(names, l.name) })
}

// checkCoverage refuses a signature that could be replayed with another request.
func (c *Claim) checkCoverage() error {
	switch {
	case !c.Covers("@method"):
		return fmt.Errorf("%w: missing @method", ErrUncovered)
	case !c.Covers("@target-uri", "@authority", "host"):
		return fmt.Errorf("%w: missing the host", ErrUncovered)
	case !c.Covers("@target-uri", "@request-target", "@path"):
		return fmt.Errorf("%w: missing the path", ErrUncovered)
	case strings.Contains(c.message.target, "?") && !c.Covers("@target-uri", "@request-target", "@query"):
		return fmt.Errorf("%w: missing the query", ErrUncovered)
	case c.message.needsDigest() && !c.Covers("content-digest"):
		return fmt.Errorf("%w: missing content-digest", ErrUncovered)
	}
	return nil
}

// rfc9421Base appends the signature base (RFC 9421, 2.5).
func (c *Claim) rfc9421Base(dst []byte, s hostForm, target string) []byte {
	path, query, _ := strings.Cut(target, "?")
	for _, l := range c.components {
		dst = append(dst, '"')
		dst = append(dst, l.name...)
		dst = append(dst, `": `...)
		switch l.name {
		case "@method":
			dst = append(dst, c.message.method...)
		case "@target-uri":
			dst = append(dst, c.message.scheme...)
			dst = append(dst, "://"...)
			dst = append(dst, s.authority...)
			dst = append(dst, target...)
		case "@authority":
			dst = append(dst, s.authority...)
		case "@scheme":
			dst = append(dst, c.message.scheme...)
		case "@request-target":
			dst = append(dst, target...)
		case "@path":
			dst = append(dst, path...)
		case "@query":
			dst = append(dst, '?')
			dst = append(dst, query...)
		case "host":
			dst = append(dst, s.header...)
		default:
			dst = append(dst, l.value...)
		}
		dst = append(dst, '\n')
	}
	dst = append(dst, `"@signature-params": `...)
	return append(dst, c.params...)
}
