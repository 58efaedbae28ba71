package keys

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// NewToken returns 32 random bytes as text that is valid in headers, URLs and forms.
func NewToken() string {
	var b [32]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// HashToken returns the hash of a token for storage. It needs no salt and no slow hash, because tokens cannot be guessed.
func HashToken(token string) []byte {
	h := sha256.Sum256([]byte(token))
	return h[:]
}
