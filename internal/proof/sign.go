package proof

import (
	"crypto/ed25519"
	"time"

	"github.com/mr-tron/base58"
)

// Sign adds a proof by a key to a document, and replaces a present one. method is the id of the key. The proof has the context of the document
// (Data Integrity EdDSA 1.0, 3.3.1).
func Sign(doc map[string]any, key ed25519.PrivateKey, method string, created time.Time) error {
	proof := map[string]any{
		"type":               proofType,
		"cryptosuite":        cryptosuite,
		"proofPurpose":       proofPurpose,
		"verificationMethod": method,
		"created":            created.UTC().Format("2006-01-02T15:04:05Z"),
	}
	if context, ok := doc[contextKey]; ok {
		proof[contextKey] = context
	}
	var c Claim
	if err := c.prepare(doc, proof); err != nil {
		return err
	}
	data, err := hash(c.options[0], c.document)
	if err != nil {
		return err
	}
	proof["proofValue"] = "z" + base58.Encode(ed25519.Sign(key, data))
	doc["proof"] = proof
	return nil
}
