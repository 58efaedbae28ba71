package httpsig

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/mr-tron/base58"
)

// Sizes of RSA keys in bits. 1024 is weak, but Bridgy Fed uses it. Larger keys than the maximum only cost time.
const (
	minRSABits = 1024
	maxRSABits = 8192
)

// algorithm is a signature algorithm.
type algorithm string

const (
	algV15SHA256 algorithm = "RSASSA-PKCS1-v1_5 with SHA-256"
	algV15SHA512 algorithm = "RSASSA-PKCS1-v1_5 with SHA-512"
	algPSSSHA512 algorithm = "RSASSA-PSS with SHA-512"
	algEd25519   algorithm = "Ed25519"
)

// algorithms returns the algorithms that the signature may have with a key. hs2019 of draft-cavage is RSA with SHA-256 in practice and
// SHA-512 by the draft.
func (c *Claim) algorithms(key crypto.PublicKey) ([]algorithm, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	_, isRSA := key.(*rsa.PublicKey)
	switch {
	case !isRSA && (c.Algorithm == "" || c.Algorithm == hs2019 || c.Algorithm == ed25519Name):
		return []algorithm{algEd25519}, nil
	case !isRSA || c.Algorithm == ed25519Name:
		return nil, fmt.Errorf("%w: declared algorithm is %s", ErrKey, c.Algorithm)
	case c.Algorithm == rsaSHA256 || c.Algorithm == rsaV15SHA256:
		return []algorithm{algV15SHA256}, nil
	case c.Algorithm == rsaPSSSHA512:
		return []algorithm{algPSSSHA512}, nil
	case c.Scheme == Cavage:
		return []algorithm{algV15SHA256, algV15SHA512}, nil
	}
	return []algorithm{algV15SHA256, algPSSSHA512}, nil
}

// verify verifies a signature of a message. The key must be of the algorithm's type.
func (a algorithm) verify(key crypto.PublicKey, message, signature []byte) bool {
	switch a {
	case algV15SHA256:
		sum := sha256.Sum256(message)
		return rsa.VerifyPKCS1v15(key.(*rsa.PublicKey), crypto.SHA256, sum[:], signature) == nil
	case algV15SHA512:
		sum := sha512.Sum512(message)
		return rsa.VerifyPKCS1v15(key.(*rsa.PublicKey), crypto.SHA512, sum[:], signature) == nil
	case algPSSSHA512: // with a salt of 64 bytes (RFC 9421, 3.3.1)
		sum := sha512.Sum512(message)
		return rsa.VerifyPSS(key.(*rsa.PublicKey), crypto.SHA512, sum[:], signature, &rsa.PSSOptions{SaltLength: 64}) == nil
	}
	return ed25519.Verify(key.(ed25519.PublicKey), message, signature)
}

// checkKey refuses keys of unsupported type or size.
func checkKey(key crypto.PublicKey) error {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if k == nil || k.N == nil {
			return fmt.Errorf("%w: empty", ErrKey)
		}
		if bits := k.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return fmt.Errorf("%w: %d bits of RSA", ErrKey, bits)
		}
	case ed25519.PublicKey:
		if len(k) != ed25519.PublicKeySize {
			return fmt.Errorf("%w: %d bytes of Ed25519", ErrKey, len(k))
		}
	default:
		return fmt.Errorf("%w: %T", ErrKey, key)
	}
	return nil
}

// ParsePublicKey parses a public key in PEM, as in publicKeyPem of an actor: PKIX or PKCS #1, whatever the label says, with any line
// ends. Unsupported keys are ErrKey.
func ParsePublicKey(text string) (crypto.PublicKey, error) {
	if len(text) > maxHeader {
		return nil, fmt.Errorf("%w: too long", ErrKey)
	}
	block, _ := pem.Decode([]byte(strings.TrimSpace(text)))
	if block == nil || !strings.HasSuffix(block.Type, "PUBLIC KEY") {
		return nil, fmt.Errorf("%w: not a public key in PEM", ErrKey)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		rsaKey, pkcs1Err := x509.ParsePKCS1PublicKey(block.Bytes)
		if pkcs1Err != nil {
			return nil, fmt.Errorf("%w: %w", ErrKey, err)
		}
		key = rsaKey
	}
	if err := checkKey(key); err != nil {
		return nil, err
	}
	return key, nil
}

// FormatPublicKey returns a public key in PEM (PKIX), as in actor documents.
func FormatPublicKey(key crypto.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", fmt.Errorf("httpsig: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), nil
}

// Prefixes of Multikeys: multicodecs as varints.
const (
	multikeyEd25519 = "\xed\x01" // 0xed
	multikeyRSA     = "\x85\x24" // 0x1205
	maxMultikey     = 800        // characters in base58, which takes quadratic time to decode; one of RSA with 4096 bits has 720
)

// ParseMultikey parses the Ed25519 or RSA public key in publicKeyMultibase of a Multikey (FEP-521a). Other types are ErrKey.
func ParseMultikey(text string) (crypto.PublicKey, error) {
	encoded, ok := strings.CutPrefix(text, "z")
	if !ok || len(encoded) > maxMultikey {
		return nil, fmt.Errorf("%w: not a Multikey in base58btc", ErrKey)
	}
	data, err := base58.Decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if raw, ok := strings.CutPrefix(string(data), multikeyEd25519); ok && len(raw) == ed25519.PublicKeySize {
		return ed25519.PublicKey(raw), nil
	}
	raw, ok := strings.CutPrefix(string(data), multikeyRSA)
	if !ok {
		return nil, fmt.Errorf("%w: neither an Ed25519 nor an RSA Multikey", ErrKey)
	}
	key, err := x509.ParsePKCS1PublicKey([]byte(raw))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return key, checkKey(key)
}

// FormatMultikey returns an Ed25519 or RSA public key as publicKeyMultibase of a Multikey, "" for other types.
func FormatMultikey(key crypto.PublicKey) string {
	switch key := key.(type) {
	case ed25519.PublicKey:
		return "z" + base58.Encode(append([]byte(multikeyEd25519), key...))
	case *rsa.PublicKey:
		return "z" + base58.Encode(append([]byte(multikeyRSA), x509.MarshalPKCS1PublicKey(key)...))
	}
	return ""
}
