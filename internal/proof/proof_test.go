package proof_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mr-tron/base58"

	"svc/internal/httpsig"
	"svc/internal/proof"
)

// The key pair that FEP-8b32 and W3C's vectors share.
const (
	publicMultikey = "z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2"
	secretMultikey = "z3u2en7t5LR2WtQH5PfFqMqwVHBeXouLzo6haApm8XHqvjxq"
)

var now = time.Date(2023, 2, 24, 23, 36, 38, 0, time.UTC)

// unwrap returns the key in a Multikey, without its two bytes of type.
func unwrap(t testing.TB, multikey string) []byte {
	t.Helper()
	data, err := base58.Decode(multikey[1:])
	if err != nil || len(data) != 34 {
		t.Fatalf("%s: %d bytes, %v", multikey, len(data), err)
	}
	return data[2:]
}

func publicKey(t testing.TB) ed25519.PublicKey { return unwrap(t, publicMultikey) }
func secretKey(t testing.TB) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(unwrap(t, secretMultikey))
}

func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// vectors are published documents with their proofs.
var vectors = map[string]string{
	"FEP-8b32": `{
		"@context": ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/data-integrity/v2"],
		"id": "https://server.example/activities/1",
		"type": "Create",
		"actor": "https://server.example/users/alice",
		"object": {
			"id": "https://server.example/objects/1",
			"type": "Note",
			"attributedTo": "https://server.example/users/alice",
			"content": "Hello world",
			"location": {"type": "Place", "longitude": -71.184902, "latitude": 25.273962}
		},
		"proof": {
			"@context": ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/data-integrity/v2"],
			"type": "DataIntegrityProof",
			"cryptosuite": "eddsa-jcs-2022",
			"verificationMethod": "https://server.example/users/alice#ed25519-key",
			"proofPurpose": "assertionMethod",
			"proofValue": "z42ffGu6AUKPCFcFPiabmUvnGLPJzC7e4DGWC52NUasSSH37UMa9c58tdgVszUcZfytxa4fQ5TYHaJENCxUDe9SdL",
			"created": "2023-02-24T23:36:38Z"
		}
	}`,
	"FEP-8b32, when the context was put in for signing only": `{
		"@context": ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/data-integrity/v1"],
		"type": "Create",
		"actor": "https://server.example/users/alice",
		"object": {"type": "Note", "content": "Hello world"},
		"proof": {
			"type": "DataIntegrityProof",
			"cryptosuite": "eddsa-jcs-2022",
			"verificationMethod": "https://server.example/users/alice#ed25519-key",
			"proofPurpose": "assertionMethod",
			"proofValue": "z3sXaxjKs4M3BRicwWA9peyNPJvJqxtGsDmpt1jjoHCjgeUf71TRFz56osPSfDErszyLp5Ks1EhYSgpDaNM977Rg2",
			"created": "2023-02-24T23:36:38Z"
		}
	}`,
	"FEP-8b32, with the older cryptosuite": `{
		"@context": ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/data-integrity/v1"],
		"type": "Create",
		"actor": "https://server.example/users/alice",
		"object": {"type": "Note", "content": "Hello world"},
		"proof": {
			"type": "DataIntegrityProof",
			"cryptosuite": "jcs-eddsa-2022",
			"verificationMethod": "https://server.example/users/alice#ed25519-key",
			"proofPurpose": "assertionMethod",
			"proofValue": "z2nnHsFrkVJcmfprDuquc5bjjSZSUoFXbYZkyZFyptXVhwUwEBnhYftu9Jh25b9oZAn4WcPNY6mjhv2g3EuVc7fjC",
			"created": "2023-02-24T23:36:38Z"
		}
	}`,
	"Data Integrity EdDSA 1.0, B.2": `{
		"@context": ["https://www.w3.org/ns/credentials/v2", "https://www.w3.org/ns/credentials/examples/v2"],
		"id": "urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33",
		"type": ["VerifiableCredential", "AlumniCredential"],
		"name": "Alumni Credential",
		"description": "A minimum viable example of an Alumni Credential.",
		"issuer": "https://vc.example/issuers/5678",
		"validFrom": "2023-01-01T00:00:00Z",
		"credentialSubject": {"id": "did:example:abcdefgh", "alumniOf": "The School of Examples"},
		"proof": {
			"type": "DataIntegrityProof",
			"cryptosuite": "eddsa-jcs-2022",
			"created": "2023-02-24T23:36:38Z",
			"verificationMethod": "did:key:z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2#z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2",
			"proofPurpose": "assertionMethod",
			"@context": ["https://www.w3.org/ns/credentials/v2", "https://www.w3.org/ns/credentials/examples/v2"],
			"proofValue": "z2HnFSSPPBzR36zdDgK8PbEHeXbR56YF24jwMpt3R1eHXQzJDMWS93FCzpvJpwTWd3GAVFuUfjoJdcnTMuVor51aX"
		}
	}`,
}

func TestVectors(t *testing.T) {
	for name, text := range vectors {
		t.Run(name, func(t *testing.T) {
			doc := parse(t, text)
			claim, err := proof.Read(doc, now)
			if err != nil {
				t.Fatal(err)
			}
			if want := doc["proof"].(map[string]any)["verificationMethod"]; claim.VerificationMethod != want || !claim.Created.Equal(now) {
				t.Errorf("got %s of %s", claim.VerificationMethod, claim.Created)
			}
			if err := claim.Verify(publicKey(t)); err != nil {
				t.Error(err)
			}
			if err := claim.Verify(publicKey(t)[:31]); !errors.Is(err, proof.ErrSignature) {
				t.Errorf("with half a key: %v", err)
			}
			if other := ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey); claim.Verify(other) == nil {
				t.Error("verified with another key")
			}
			if !reflect.DeepEqual(doc, parse(t, text)) {
				t.Error("the document was changed")
			}
		})
	}
}

// TestSign reproduces the vectors with the context in their options: Ed25519 is deterministic.
func TestSign(t *testing.T) {
	for _, name := range []string{"FEP-8b32", "Data Integrity EdDSA 1.0, B.2"} {
		want := parse(t, vectors[name])
		got := maps.Clone(want)
		delete(got, "proof")
		method := want["proof"].(map[string]any)["verificationMethod"].(string)
		if err := proof.Sign(got, secretKey(t), method, now); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v", name, got["proof"])
		}
	}
	bare := map[string]any{"type": "Note", "proof": "old", "signature": map[string]any{}}
	if err := proof.Sign(bare, secretKey(t), "k", now); err != nil {
		t.Fatal(err)
	}
	if claim, err := proof.Read(bare, now); err != nil || claim.Verify(publicKey(t)) != nil {
		t.Errorf("a document without context: %v", err)
	}
	if err := proof.Sign(map[string]any{"n": math.Inf(1)}, secretKey(t), "k", now); err == nil {
		t.Error("signed a document without canonical form")
	}
}

// TestChanged changes a document and its proof after signing; nil removes a member. Paths that begin with a dot are of the proof.
func TestChanged(t *testing.T) {
	context := []any{"https://www.w3.org/ns/activitystreams", "https://w3id.org/security/data-integrity/v2"}
	for _, tt := range []struct {
		name, path string
		value      any
		want       error // nil: still valid
	}{
		{"a linked data signature", "signature", map[string]any{"type": "RsaSignature2017"}, nil},
		{"contexts appended to the document", "@context", append(context[:2:2], "https://example.org/more"), nil},
		{"contexts put before", "@context", append([]any{"https://example.org/more"}, context...), proof.ErrMalformed},
		{"a context less", "@context", context[:1], proof.ErrMalformed},
		{"no context", "@context", nil, proof.ErrMalformed},
		{"another actor", "actor", "https://server.example/users/mallory", proof.ErrSignature},
		{"one more member", "to", []any{}, proof.ErrSignature},
		{"no id", "id", nil, proof.ErrSignature},
		{"a number without canonical form", "n", math.Inf(1), proof.ErrMalformed},
		{"no proof", "proof", nil, proof.ErrNoProof},
		{"a list without proofs", "proof", []any{}, proof.ErrNoProof},
		{"a proof that is a text", "proof", "z1", proof.ErrMalformed},
		{"proofs that are texts", "proof", []any{"z1"}, proof.ErrMalformed},
		{"too many proofs", "proof", make([]any, 9), proof.ErrMalformed},
		{"another type", ".type", "Ed25519Signature2020", proof.ErrUnsupported},
		{"a list of types", ".type", []any{"DataIntegrityProof"}, proof.ErrUnsupported},
		{"another cryptosuite", ".cryptosuite", "eddsa-rdfc-2022", proof.ErrUnsupported},
		{"no cryptosuite", ".cryptosuite", nil, proof.ErrUnsupported},
		{"the older cryptosuite", ".cryptosuite", "jcs-eddsa-2022", proof.ErrSignature},
		{"a chain", ".previousProof", "urn:x", proof.ErrUnsupported},
		{"another purpose", ".proofPurpose", "authentication", proof.ErrMalformed},
		{"no purpose", ".proofPurpose", nil, proof.ErrMalformed},
		{"no key", ".verificationMethod", nil, proof.ErrMalformed},
		{"an empty key", ".verificationMethod", "", proof.ErrMalformed},
		{"a key with its members", ".verificationMethod", map[string]any{}, proof.ErrMalformed},
		{"another key", ".verificationMethod", "https://server.example/users/mallory#key", proof.ErrSignature},
		{"another date", ".created", "2023-02-24T23:36:39Z", proof.ErrSignature},
		{"a date that is none", ".created", "yesterday", proof.ErrMalformed},
		{"a date that is a number", ".created", 1.0, proof.ErrMalformed},
		{"no date", ".created", nil, proof.ErrSignature},
		{"an end in the past", ".expires", "2023-02-24T23:36:37Z", proof.ErrExpired},
		{"an end that was not signed", ".expires", "2023-02-24T23:36:39Z", proof.ErrSignature},
		{"one more option", ".domain", "x", proof.ErrSignature},
		{"no value", ".proofValue", nil, proof.ErrMalformed},
		{"a value of another base", ".proofValue", "uAAAA", proof.ErrMalformed},
		{"a value that is no base58", ".proofValue", "z0OIl", proof.ErrMalformed},
		{"a value too short", ".proofValue", "z" + base58.Encode(make([]byte, 63)), proof.ErrMalformed},
		{"a value too long", ".proofValue", "z" + strings.Repeat("2", 10_000), proof.ErrMalformed},
		{"another value", ".proofValue", "z" + base58.Encode(bytes.Repeat([]byte{1}, 64)), proof.ErrSignature},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := parse(t, vectors["FEP-8b32"])
			in, key := doc, tt.path
			if rest, ok := strings.CutPrefix(tt.path, "."); ok {
				in, key = doc["proof"].(map[string]any), rest
			}
			if in[key] = tt.value; tt.value == nil {
				delete(in, key)
			}
			claim, err := proof.Read(doc, now)
			if err == nil {
				err = claim.Verify(publicKey(t))
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// TestSeveral reads a document with proofs of unknown types beside a supported one.
func TestSeveral(t *testing.T) {
	doc := parse(t, vectors["FEP-8b32"])
	doc["proof"] = []any{map[string]any{"type": "DataIntegrityProof", "cryptosuite": "ecdsa-jcs-2019"}, doc["proof"]}
	claim, err := proof.Read(doc, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := claim.Verify(publicKey(t)); err != nil {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range vectors {
		f.Add(text)
	}
	key := publicKey(f)
	f.Fuzz(func(t *testing.T, text string) {
		var doc map[string]any
		if json.Unmarshal([]byte(text), &doc) != nil {
			t.Skip()
		}
		if claim, err := proof.Read(doc, now); err == nil {
			claim.Verify(key)
		}
	})
}

func BenchmarkReadVerify(b *testing.B) {
	doc, key := parse(b, vectors["FEP-8b32"]), publicKey(b)
	for b.Loop() {
		claim, err := proof.Read(doc, now)
		if err != nil {
			b.Fatal(err)
		}
		if err := claim.Verify(key); err != nil {
			b.Fatal(err)
		}
	}
}

// TestFedify verifies a document that @fedify/fedify 2.3.6 has signed, with a key made for it.
func TestFedify(t *testing.T) {
	text, err := os.ReadFile("testdata/fedify.json")
	if err != nil {
		t.Fatal(err)
	}
	made := parse(t, string(text))
	key, err := httpsig.ParsePublicKey(made["key"].(string))
	if err != nil {
		t.Fatal(err)
	}
	claim, err := proof.Read(made["document"].(map[string]any), now)
	if err != nil {
		t.Fatal(err)
	}
	if err := claim.Verify(key.(ed25519.PublicKey)); err != nil {
		t.Error(err)
	}
}
