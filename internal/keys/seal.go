package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
)

var errUnseal = errors.New("keys: ciphertext is damaged, or belongs to another key or purpose")

// PushTokens is the purpose for which the access tokens of push subscriptions are sealed.
const PushTokens = "push subscriptions: access tokens"

// ActorKeys is the purpose for which the private keys of local accounts are sealed.
const ActorKeys = "actor keys"

// Seal encrypts a text for one purpose, so that the database alone does not reveal it.
func (k *Keys) Seal(purpose string, text []byte) []byte {
	return k.aead(purpose).Seal(nil, nil, text, nil)
}

// Unseal decrypts a text of Seal for the same purpose.
func (k *Keys) Unseal(purpose string, sealed []byte) ([]byte, error) {
	text, err := k.aead(purpose).Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, errUnseal
	}
	return text, nil
}

// aead returns AES-256-GCM with a random nonce before each ciphertext.
func (k *Keys) aead(purpose string) cipher.AEAD {
	block, err := aes.NewCipher(k.derive(purpose))
	if err == nil {
		var aead cipher.AEAD
		if aead, err = cipher.NewGCMWithRandomNonce(block); err == nil {
			return aead
		}
	}
	panic(err) // only for key lengths that derive does not return
}
