package httpsig_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/mr-tron/base58"

	"svc/internal/httpsig"
)

// modulus returns an RSA public key of a size without a private key.
func modulus(bits int) *rsa.PublicKey {
	n := new(big.Int).Lsh(big.NewInt(1), uint(bits-1))
	return &rsa.PublicKey{N: n.Add(n, big.NewInt(12345)), E: 65537}
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func pkix(t testing.TB, key crypto.PublicKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func TestParsePublicKey(t *testing.T) {
	public := rsaKey().Public().(*rsa.PublicKey)
	pkcs1 := x509.MarshalPKCS1PublicKey(public)
	plain := block("PUBLIC KEY", pkix(t, public))
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text string
		want       crypto.PublicKey // nil: refused
	}{
		{"PKIX", plain, public},
		{"PKCS #1", block("RSA PUBLIC KEY", pkcs1), public},
		{"PKCS #1 under the other label", block("PUBLIC KEY", pkcs1), public},
		{"PKIX under the other label", block("RSA PUBLIC KEY", pkix(t, public)), public},
		{"with \\r\\n", strings.ReplaceAll(plain, "\n", "\r\n"), public},
		{"without the last newline", strings.TrimSpace(plain), public},
		{"with \\r\\n and without the last newline", strings.TrimSpace(strings.ReplaceAll(plain, "\n", "\r\n")), public},
		{"with space around", "\n\n  " + plain + " \n\n", public},
		{"in one long line", strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(plain, "\n", ""), "KEY-----", "KEY-----\n"), "-----END", "\n-----END"), public},
		{"Ed25519", block("PUBLIC KEY", pkix(t, edKey.Public())), edKey.Public()},
		{"1024 bits", block("PUBLIC KEY", pkix(t, modulus(1024))), modulus(1024)},
		{"4096 bits", block("PUBLIC KEY", pkix(t, modulus(4096))), modulus(4096)},
		{"8192 bits", block("PUBLIC KEY", pkix(t, modulus(8192))), modulus(8192)},
		{"512 bits", block("PUBLIC KEY", pkix(t, modulus(512))), nil},
		{"512 bits in PKCS #1", block("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(modulus(512))), nil},
		{"1023 bits", block("PUBLIC KEY", pkix(t, modulus(1023))), nil},
		{"16384 bits", block("PUBLIC KEY", pkix(t, modulus(16384))), nil},
		{"an elliptic curve", block("PUBLIC KEY", pkix(t, ec.Public())), nil},
		{"a private key", block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey())), nil},
		{"a certificate", block("CERTIFICATE", pkix(t, public)), nil},
		{"something after it", block("PUBLIC KEY", append(pkix(t, public), 0)), nil},
		{"half of it", plain[:len(plain)/2], nil},
		{"bytes that are no key", block("PUBLIC KEY", []byte("hello")), nil},
		{"nothing", "", nil},
		{"too long", strings.Repeat(" ", 20_000) + plain, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := httpsig.ParsePublicKey(tt.text)
			if tt.want == nil {
				if !errors.Is(err, httpsig.ErrKey) || got != nil {
					t.Errorf("got %v, %v, want ErrKey", got, err)
				}
				return
			}
			if err != nil || !tt.want.(interface{ Equal(crypto.PublicKey) bool }).Equal(got) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestFormatPublicKey(t *testing.T) {
	for _, key := range []crypto.PublicKey{rsaKey().Public(), edKey.Public()} {
		text, err := httpsig.FormatPublicKey(key)
		if err != nil || !strings.HasPrefix(text, "-----BEGIN PUBLIC KEY-----\n") || !strings.HasSuffix(text, "\n-----END PUBLIC KEY-----\n") {
			t.Errorf("got %s, %v", text, err)
		}
		got, err := httpsig.ParsePublicKey(text)
		if err != nil || !key.(interface{ Equal(crypto.PublicKey) bool }).Equal(got) {
			t.Errorf("got %v, %v", got, err)
		}
	}
	if text, err := httpsig.FormatPublicKey("key"); err == nil {
		t.Errorf("got %s", text)
	}
}

func TestMultikey(t *testing.T) {
	const published = "z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2" // of FEP-8b32
	key, err := httpsig.ParseMultikey(published)
	if err != nil || httpsig.FormatMultikey(key) != published {
		t.Errorf("got %s, %v", httpsig.FormatMultikey(key), err)
	}
	own := edKey.Public().(ed25519.PublicKey)
	for _, key := range []crypto.PublicKey{own, rsaKey().Public()} {
		got, err := httpsig.ParseMultikey(httpsig.FormatMultikey(key))
		if err != nil || !key.(interface{ Equal(crypto.PublicKey) bool }).Equal(got) {
			t.Errorf("got %v, %v", got, err)
		}
	}
	if text := httpsig.FormatMultikey("key"); text != "" {
		t.Errorf("got %s", text)
	}
	for name, text := range map[string]string{
		"nothing":             "",
		"the letter only":     "z",
		"no letter":           published[1:],
		"another base":        "u" + published[1:],
		"not base58":          "z0OIl",
		"a key too short":     published[:len(published)-1],
		"a P-256 key":         "zDnaepBuvsQ8cpsWrVKw8fbpGpvPeNSjVPTWoq6cRqaYzBKVP",
		"a secret key":        "z3u2en7t5LR2WtQH5PfFqMqwVHBeXouLzo6haApm8XHqvjxq",
		"without its kind":    "z" + base58.Encode(own),
		"with one byte more":  "z" + base58.Encode(append([]byte{0xed, 1, 0}, own...)),
		"endless":             "z" + strings.Repeat("6", 1_000_000),
		"one with its spaces": " " + published,
	} {
		if got, err := httpsig.ParseMultikey(text); !errors.Is(err, httpsig.ErrKey) || got != nil {
			t.Errorf("%s: got %x, %v", name, got, err)
		}
	}
}

// TestVerifyKeys verifies with unusable keys.
func TestVerifyKeys(t *testing.T) {
	r := newRequest(t, "GET", "https://social.example/")
	signer := httpsig.Signer{KeyID: keyID, Key: rsaKey()}
	if err := signer.Sign(r, nil, httpsig.Options{Scheme: httpsig.Cavage, Now: now}); err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]crypto.PublicKey{
		"nil": nil, "a nil RSA key": (*rsa.PublicKey)(nil), "an empty RSA key": &rsa.PublicKey{}, "512 bits": modulus(512),
		"16384 bits": modulus(16384), "half an Ed25519 key": edKey.Public().(ed25519.PublicKey)[:16], "a text": "key", "a private key": rsaKey(),
	} {
		if err := check(r, policy(""), key); !errors.Is(err, httpsig.ErrKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	odd := modulus(2048)
	odd.E = 2
	if err := check(r, policy(""), odd); !errors.Is(err, httpsig.ErrSignature) {
		t.Errorf("an even exponent: %v", err)
	}
}
