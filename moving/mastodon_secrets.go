package moving

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"hash"
)

// Names of the settings with which Mastodon encrypts columns (ActiveRecord encryption).
const (
	mastodonPrimaryKey = "ACTIVE_RECORD_ENCRYPTION_PRIMARY_KEY"
	mastodonSalt       = "ACTIVE_RECORD_ENCRYPTION_KEY_DERIVATION_SALT"
)

// Parameters of the key derivation in Rails.
const (
	railsIterations = 1 << 16
	railsKeyLength  = 32
)

// errNoSecret is the error for a column that cannot be decrypted.
var errNoSecret = errors.New("takeover: no key for encrypted columns")

// decrypt returns the text of an encrypted column: JSON of the ciphertext, and of the nonce and the tag in its headers, by AES-256-GCM. Versions of
// Rails differ in the hash by which they derive the key.
func (s *secrets) decrypt(column string) (string, error) {
	var message struct {
		P []byte `json:"p"`
		H struct {
			IV []byte `json:"iv"`
			AT []byte `json:"at"`
			C  bool   `json:"c"`
		} `json:"h"`
	}
	if err := json.Unmarshal([]byte(column), &message); err != nil || message.H.C || len(message.H.AT) != 16 {
		return "", errNoSecret
	}
	for _, of := range []func() hash.Hash{sha256.New, sha1.New} {
		aead, err := s.aead(of, len(message.H.IV))
		if err != nil {
			return "", err
		}
		if text, err := aead.Open(nil, message.H.IV, append(message.P[:len(message.P):len(message.P)], message.H.AT...), nil); err == nil {
			return string(text), nil
		}
	}
	return "", errNoSecret
}

// aead returns the cipher with the key that is derived with a hash.
func (s *secrets) aead(of func() hash.Hash, nonce int) (cipher.AEAD, error) {
	primary, salt := s.values[mastodonPrimaryKey], s.values[mastodonSalt]
	if primary == "" || salt == "" || nonce == 0 {
		return nil, errNoSecret
	}
	sum := of()
	if s.derived[sum.Size()] == nil { // which takes some ten milliseconds
		key, err := pbkdf2.Key(of, primary, []byte(salt), railsIterations, railsKeyLength)
		if err != nil {
			return nil, err
		}
		s.derived[sum.Size()] = key
	}
	block, err := aes.NewCipher(s.derived[sum.Size()])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithNonceSize(block, nonce)
}
