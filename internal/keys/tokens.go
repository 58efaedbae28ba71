package keys

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"time"
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

// Sign returns a token that is valid until a time. The key Secret(purpose) verifies that this server named its subject. It is the
// subject, the time in Unix seconds, and their HMAC-SHA256 in base64url, joined by dots. The subject must not contain dots.
func (k *Keys) Sign(purpose, subject string, until time.Time) string {
	token := subject + "." + strconv.FormatInt(until.Unix(), 10)
	mac := hmac.New(sha256.New, k.Secret(purpose))
	mac.Write([]byte(token))
	return token + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
