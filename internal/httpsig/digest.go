package httpsig

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"strings"
)

// digest returns the value of Digest (RFC 3230).
func digest(body []byte) string { return "SHA-256=" + sha256Base64(body) }

// contentDigest returns the value of Content-Digest (RFC 9530).
func contentDigest(body []byte) string { return "sha-256=:" + sha256Base64(body) + ":" }

func sha256Base64(body []byte) string {
	sum := sha256.Sum256(body)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// checkDigest compares Digest with the body. Only SHA-256, which all servers send, counts; if there are several, all must match.
func (m *message) checkDigest() error {
	text, _ := m.field("digest")
	if len(text) > maxHeader {
		return fmt.Errorf("%w: Digest is too long", ErrMalformed)
	}
	sum := sha256.Sum256(m.body)
	found := false
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if !strings.EqualFold(name, "sha-256") {
			continue
		}
		found = true
		if got, err := base64.StdEncoding.DecodeString(value); err != nil || !bytes.Equal(got, sum[:]) {
			return ErrDigest
		}
	}
	if !found {
		return fmt.Errorf("%w: Digest has no SHA-256", ErrDigest)
	}
	return nil
}

// checkContentDigest compares Content-Digest with the body: at least one of sha-256 and sha-512, and each that is present.
func (m *message) checkContentDigest() error {
	text, _ := m.field("content-digest")
	members, err := parseDictionary(text)
	if err != nil {
		return fmt.Errorf("%w: Content-Digest is %w", ErrMalformed, err)
	}
	found := false
	for _, d := range members {
		var want []byte
		switch d.name {
		case "sha-256":
			sum := sha256.Sum256(m.body)
			want = sum[:]
		case "sha-512":
			sum := sha512.Sum512(m.body)
			want = sum[:]
		default:
			continue
		}
		found = true
		if got, ok := d.value.([]byte); !ok || !bytes.Equal(got, want) {
			return ErrDigest
		}
	}
	if !found {
		return fmt.Errorf("%w: Content-Digest has neither sha-256 nor sha-512", ErrDigest)
	}
	return nil
}
