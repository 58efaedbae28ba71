package apptest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mr-tron/base58"
)

// WithProof returns a deep copy of a document with an integrity proof, as FEP-8b32 describes it.
func WithProof(t testing.TB, document Doc, key ed25519.PrivateKey, method string, created time.Time) Doc {
	t.Helper()
	var doc Doc
	if err := json.Unmarshal(MustJSON(document), &doc); err != nil {
		t.Fatal(err)
	}
	options := Doc{
		"@context": doc["@context"], "type": "DataIntegrityProof", "cryptosuite": "eddsa-jcs-2022", "proofPurpose": "assertionMethod",
		"verificationMethod": method, "created": created.UTC().Format(time.RFC3339),
	}
	var data []byte
	for _, part := range []Doc{options, doc} {
		b, err := json.Marshal(part)
		canonical := jsontext.Value(b)
		if err = errors.Join(err, canonical.Canonicalize()); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(canonical)
		data = append(data, sum[:]...)
	}
	options["proofValue"] = "z" + base58.Encode(ed25519.Sign(key, data))
	doc["proof"] = options
	return doc
}
