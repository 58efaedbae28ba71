// Package proof makes, reads and verifies integrity proofs of ActivityPub documents (FEP-8b32): the cryptosuite eddsa-jcs-2022 of
// W3C's Data Integrity EdDSA Cryptosuites 1.0, and its predecessor jcs-eddsa-2022, whose options never contain the context. It works on
// parsed JSON: the parser rejects duplicate names and bounds the depth.
//
// A valid proof shows that the holder of a key vouches for a document. Before the document is trusted, the caller has to check that the
// key belongs to the document's owner: its controller, of the same origin, lists the verification method.
//
// Limits: 8 proofs per document.
package proof

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mr-tron/base58"
)

// Reasons why a proof is not valid. Read returns all but ErrSignature, without a key.
var (
	ErrNoProof     = errors.New("proof: the document has none")
	ErrMalformed   = errors.New("proof: malformed")
	ErrUnsupported = errors.New("proof: unsupported")
	ErrExpired     = errors.New("proof: expired")
	ErrSignature   = errors.New("proof: wrong signature")
)

const (
	proofType         = "DataIntegrityProof"
	proofPurpose      = "assertionMethod"
	cryptosuite       = "eddsa-jcs-2022"
	legacyCryptosuite = "jcs-eddsa-2022"
	maxProofs         = 8
	maxSignatureText  = 100 // characters in base58; 64 bytes have at most 88
	contextKey        = "@context"
)

// Claim is a proof that was read but not verified.
type Claim struct {
	VerificationMethod string    // id of the key
	Created            time.Time // zero if the proof has no date

	document  map[string]any   // without proof and signature
	options   []map[string]any // the proof without its value, in each form that may have been signed
	signature []byte
}

// Read reads the proof of a document without changing the document. If there are several, it returns the first supported one. A linked data
// signature (signature) is not part of the signed document (FEP-8b32, Backward compatibility).
func Read(doc map[string]any, now time.Time) (*Claim, error) {
	var proofs []any
	switch p := doc["proof"].(type) {
	case nil:
		return nil, ErrNoProof
	case []any:
		if len(p) == 0 {
			return nil, ErrNoProof
		}
		proofs = p
	default:
		proofs = []any{p}
	}
	if len(proofs) > maxProofs {
		return nil, fmt.Errorf("%w: more than %d", ErrMalformed, maxProofs)
	}
	var first error
	for _, p := range proofs {
		c, err := readProof(doc, p, now)
		if err == nil {
			return c, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func readProof(doc map[string]any, p any, now time.Time) (*Claim, error) {
	proof, ok := p.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w: not an object", ErrMalformed)
	}
	if proof["type"] != proofType || proof["cryptosuite"] != cryptosuite && proof["cryptosuite"] != legacyCryptosuite {
		return nil, fmt.Errorf("%w: %.40v %.40v", ErrUnsupported, proof["type"], proof["cryptosuite"])
	}
	if _, chained := proof["previousProof"]; chained {
		return nil, fmt.Errorf("%w: proof chain", ErrUnsupported)
	}
	if proof["proofPurpose"] != proofPurpose {
		return nil, fmt.Errorf("%w: its purpose is not %s", ErrMalformed, proofPurpose)
	}
	c := new(Claim)
	if c.VerificationMethod, ok = proof["verificationMethod"].(string); !ok || c.VerificationMethod == "" {
		return nil, fmt.Errorf("%w: no verificationMethod", ErrMalformed)
	}
	var err error
	if c.Created, err = parseDate(proof, "created"); err != nil {
		return nil, err
	}
	expires, err := parseDate(proof, "expires")
	if err != nil {
		return nil, err
	}
	if !expires.IsZero() && now.After(expires) {
		return nil, ErrExpired
	}
	value, _ := proof["proofValue"].(string)
	encoded, ok := strings.CutPrefix(value, "z")
	if !ok {
		return nil, fmt.Errorf("%w: the value is not base58btc", ErrMalformed)
	}
	if len(encoded) > maxSignatureText { // decoding takes quadratic time
		return nil, fmt.Errorf("%w: the value is too long", ErrMalformed)
	}
	if c.signature, err = base58.Decode(encoded); err != nil || len(c.signature) != ed25519.SignatureSize {
		return nil, fmt.Errorf("%w: the value is not a signature", ErrMalformed)
	}
	return c, c.prepare(doc, proof)
}

// prepare sets the parts that were signed. Options contain the context of the document (Data Integrity EdDSA 1.0, 3.3.1), without entries
// that were appended later (3.3.2). If they have none, either the document has none, or it was added for signing only, as in older drafts.
func (c *Claim) prepare(doc, proof map[string]any) error {
	c.document = maps.Clone(doc)
	delete(c.document, "proof")
	delete(c.document, "signature")
	options := maps.Clone(proof)
	delete(options, "proofValue")
	c.options = []map[string]any{options}

	own, has := options[contextKey]
	docContext, docHas := doc[contextKey]
	switch {
	case has && !hasPrefix(docContext, own):
		return fmt.Errorf("%w: its context is not that of the document", ErrMalformed)
	case has:
		c.document[contextKey] = own
	case docHas && proof["cryptosuite"] == cryptosuite:
		injected := maps.Clone(options)
		injected[contextKey] = docContext
		c.options = []map[string]any{injected, options}
	}
	return nil
}

// hasPrefix returns whether one context begins with all entries of another. A single entry equals a list of it.
func hasPrefix(context, with any) bool {
	if reflect.DeepEqual(context, with) {
		return context != nil
	}
	list, ok := context.([]any)
	if !ok {
		return false
	}
	first, ok := with.([]any)
	if !ok {
		first = []any{with}
	}
	return len(first) <= len(list) && reflect.DeepEqual(list[:len(first)], first)
}

// maxDate is how many bytes of a date are parsed. No valid one is as long.
const maxDate = 64

func parseDate(proof map[string]any, name string) (time.Time, error) {
	value, ok := proof[name]
	if !ok {
		return time.Time{}, nil
	}
	text, _ := value.(string)
	at, err := time.Parse(time.RFC3339, text[:min(len(text), maxDate)])
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %s is not a date", ErrMalformed, name)
	}
	return at, nil
}

// Verify checks the proof with the key of its verification method.
func (c *Claim) Verify(key ed25519.PublicKey) error {
	if len(key) != ed25519.PublicKeySize {
		return fmt.Errorf("%w: not an Ed25519 key", ErrSignature)
	}
	for _, options := range c.options {
		data, err := hash(options, c.document)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		if ed25519.Verify(key, data, c.signature) {
			return nil
		}
	}
	return ErrSignature
}

// hash returns the signed bytes: the hash of the options, then that of the document (Data Integrity EdDSA 1.0, 3.3.4).
func hash(options, document map[string]any) ([]byte, error) {
	data := make([]byte, 0, 2*sha256.Size)
	for _, part := range []map[string]any{options, document} {
		canonical, err := canonicalize(part)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(canonical)
		data = append(data, sum[:]...)
	}
	return data, nil
}

// canonicalize returns the canonical JSON of a value (RFC 8785).
func canonicalize(value any) (jsontext.Value, error) {
	b, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	canonical := jsontext.Value(b)
	return canonical, canonical.Canonicalize()
}
