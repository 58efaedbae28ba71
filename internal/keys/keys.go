// Package keys manages the secrets of a server: a random key from which keys for single purposes are derived, and the key pair for push
// services (VAPID, RFC 8292). They are files in a directory that only the owner can read, created at the first start. The package also
// makes and hashes tokens.
package keys

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"svc/internal/disk"
)

const (
	secretFile   = "secret"
	secretLength = 32
	vapidFile    = "vapid.json"
)

// Keys are the secrets of a server.
type Keys struct {
	secret  []byte
	vapid   vapidPair
	derived sync.Map // keys of Secret by purpose
}

// vapidPair is a P-256 key pair as push services and browsers expect it: base64url without padding, the public key as an uncompressed
// point.
type vapidPair struct {
	Public  string `json:"public"`
	Private string `json:"private"`
}

// Open reads the keys in dir and creates missing ones. A damaged file is an error and is never replaced, because data encrypted with
// the old key would be lost.
func Open(dir string) (*Keys, error) {
	if err := disk.MakeFolder(dir); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	k := new(Keys)
	var err error
	if k.secret, err = readOrCreate(filepath.Join(dir, secretFile), newSecret); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	if len(k.secret) != secretLength {
		return nil, fmt.Errorf("keys: %s is damaged: it has %d bytes, not %d", filepath.Join(dir, secretFile), len(k.secret), secretLength)
	}
	text, err := readOrCreate(filepath.Join(dir, vapidFile), newVAPID)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	if err := k.vapid.parse(text); err != nil {
		return nil, fmt.Errorf("keys: %s is damaged: %w", filepath.Join(dir, vapidFile), err)
	}
	return k, nil
}

// Read reads the keys in dir. A missing one is an error.
func Read(dir string) (*Keys, error) {
	for _, name := range Files() {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("the key is missing: %w", err)
		}
	}
	return Open(dir)
}

// Files returns the names of the files in a folder of keys.
func Files() []string { return []string{secretFile, vapidFile} }

// Complete returns true if dir has all keys.
func Complete(dir string) bool {
	for _, name := range Files() {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// Fingerprint identifies the keys, without revealing them.
func (k *Keys) Fingerprint() []byte {
	sum := sha256.Sum256(append(slices.Clone(k.Secret("fingerprint")), k.vapid.Public...))
	return sum[:]
}

// Secret returns the 32-byte key for a purpose, a constant of the program. It stays the same as long as the server keeps its secret. The
// caller must not change it.
func (k *Keys) Secret(purpose string) []byte {
	if key, ok := k.derived.Load(purpose); ok {
		return key.([]byte)
	}
	key := k.derive(purpose)
	k.derived.Store(purpose, key)
	return key
}

// derive derives the key for a purpose.
func (k *Keys) derive(purpose string) []byte {
	key, err := hkdf.Expand(sha256.New, k.secret, purpose, sha256.Size)
	if err != nil { // only for excessive lengths
		panic(err)
	}
	return key
}

// VAPIDPublic returns the public key with which clients subscribe to push messages.
func (k *Keys) VAPIDPublic() string { return k.vapid.Public }

// VAPIDPrivate returns the private key that signs push messages.
func (k *Keys) VAPIDPrivate() string { return k.vapid.Private }

func newSecret() ([]byte, error) {
	secret := make([]byte, secretLength)
	rand.Read(secret)
	return secret, nil
}

func newVAPID() ([]byte, error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	b64 := base64.RawURLEncoding
	return json.Marshal(vapidPair{Public: b64.EncodeToString(key.PublicKey().Bytes()), Private: b64.EncodeToString(key.Bytes())})
}

func (p *vapidPair) parse(text []byte) error {
	if err := json.Unmarshal(text, p); err != nil {
		return err
	}
	private, err := base64.RawURLEncoding.DecodeString(p.Private)
	if err != nil {
		return err
	}
	key, err := ecdh.P256().NewPrivateKey(private)
	if err != nil {
		return err
	}
	if base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()) != p.Public {
		return errors.New("public and private key do not match")
	}
	return nil
}

// readOrCreate returns the content of a file. If the file does not exist, it writes it durably first. If two processes do so at once,
// both return the content of one of them.
func readOrCreate(path string, content func() ([]byte, error)) ([]byte, error) {
	data, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	if data, err = content(); err != nil {
		return nil, err
	}
	err = disk.WriteNew(path, data)
	if errors.Is(err, fs.ErrExist) {
		return os.ReadFile(path)
	}
	return data, err
}
