package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
)

var errUnseal = errors.New("keys: what is sealed was damaged, or sealed with another key or for another purpose")

// Seal encrypts a text for one purpose, so that whoever gets hold of the database alone cannot read it.
func (k *Keys) Seal(purpose string, text []byte) []byte {
	return k.aead(purpose).Seal(nil, nil, text, nil)
}

// Unseal returns what was sealed for the purpose.
func (k *Keys) Unseal(purpose string, sealed []byte) ([]byte, error) {
	text, err := k.aead(purpose).Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, errUnseal
	}
	return text, nil
}

// aead is AES-256-GCM with a nonce of its own before each text.
func (k *Keys) aead(purpose string) cipher.AEAD {
	block, err := aes.NewCipher(k.Secret(purpose))
	if err == nil {
		var aead cipher.AEAD
		if aead, err = cipher.NewGCMWithRandomNonce(block); err == nil {
			return aead
		}
	}
	panic(err) // only for keys of a length that Secret does not return
}
