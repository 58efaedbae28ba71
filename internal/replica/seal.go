package replica

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"svc/internal/disk"
	"svc/internal/objects"
)

// Names in a sealed archive.
const (
	SettingsName = "config.toml"
	keysDir      = "keys"
)

const (
	sealedFile  = "replica-sealed.json" // describes the newest sealed archive, in the data directory
	sealedTime  = "20060102T150405.000Z"
	sealedEnd   = ".tar.age" // age -d reads it with the passphrase
	maxSecrets  = 1 << 20    // bytes of settings and keys
	maxSealed   = 2 << 20    // bytes of the encrypted object
	workFactor  = 15         // of scrypt: 32 MiB, a tenth of a second
	maxOfSealed = 1000       // objects that are listed
)

// ErrPassphrase means that a passphrase is not the one with which keys and settings were encrypted.
var ErrPassphrase = errors.New("the passphrase is wrong")

// Secrets are the settings file and the keys by their names: config.toml, keys/….
type Secrets map[string][]byte

// sealed describes the newest sealed archive.
type sealed struct {
	Name   string `json:"name"`
	Digest string `json:"digest"` // SHA-256 of the content and the passphrase
}

// ReadPassphrase reads the passphrase from the first line of a file.
func ReadPassphrase(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("passphrase: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecrets))
	if err != nil {
		return "", fmt.Errorf("passphrase: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	line = strings.TrimSpace(line)
	if len(line) < minPassphrase {
		return "", fmt.Errorf("passphrase: the first line of %s has %d bytes, and must have at least %d", file, len(line), minPassphrase)
	}
	return line, nil
}

// seal writes settings and keys to the place if they, or the passphrase, have changed.
func (k *Copier) seal(ctx context.Context) error {
	k.sealing.Lock()
	defer k.sealing.Unlock()
	err := k.sealChanged(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err == nil:
		k.status.Unsealed, k.status.Sealed = "", k.Now()
	case ctx.Err() == nil:
		k.status.Unsealed = err.Error()
	}
	return err
}

func (k *Copier) sealChanged(ctx context.Context) error {
	passphrase, err := ReadPassphrase(k.PassphraseFile)
	if err != nil {
		return err
	}
	secrets, err := k.readSecrets()
	if err != nil {
		return err
	}
	content, err := secrets.pack()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(append(bytes.Clone(content), passphrase...))
	is := sealed{Digest: hex.EncodeToString(sum[:])}
	store, err := k.place(ctx)
	if err != nil {
		return err
	}
	var last sealed
	if text, err := os.ReadFile(k.path(sealedFile)); err == nil && json.Unmarshal(text, &last) == nil && last.Digest == is.Digest {
		_, err := store.Stat(ctx, last.Name)
		if !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, k.removeSealed(ctx, store))
		}
	}
	is.Name = sealedPrefix + k.Now().UTC().Format(sealedTime) + sealedEnd
	encrypted, err := encrypt(content, passphrase)
	if err != nil {
		return err
	}
	if _, err := store.Put(ctx, is.Name, bytes.NewReader(encrypted), int64(len(encrypted)), objects.PutOptions{}); err != nil {
		return err
	}
	text, err := json.Marshal(is)
	if err != nil {
		return err
	}
	return disk.ReplaceText(k.path(sealedFile), string(text))
}

// removeSealed removes archives that were replaced so long ago that no state is restored from then.
func (k *Copier) removeSealed(ctx context.Context, store objects.Store) error {
	list, err := listSealed(ctx, store)
	if err != nil {
		return err
	}
	for i := range len(list) - 1 {
		if k.Now().Sub(list[i+1].at) < k.Keep {
			break
		}
		if err := store.Delete(ctx, list[i].name); err != nil {
			return err
		}
	}
	return nil
}

// readSecrets reads settings and keys.
func (k *Copier) readSecrets() (Secrets, error) {
	s := make(Secrets)
	size := 0
	add := func(name, file string) error {
		b, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) && name == SettingsName {
			return nil // the server runs without one
		}
		if size += len(b); err == nil && size > maxSecrets {
			err = fmt.Errorf("they have more than %d bytes", maxSecrets)
		}
		s[name] = b
		return err
	}
	if k.Settings != "" {
		if err := add(SettingsName, k.Settings); err != nil {
			return nil, err
		}
	}
	entries, err := os.ReadDir(k.path(keysDir))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), disk.TempPrefix) {
			continue
		}
		if err := add(path.Join(keysDir, e.Name()), filepath.Join(k.path(keysDir), e.Name())); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// pack returns the files as an archive that depends on nothing else.
func (s Secrets) pack() ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(s[name])), Mode: 0o600}); err != nil {
			return nil, err
		}
		if _, err := w.Write(s[name]); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), w.Close()
}

func unpack(content []byte) (Secrets, error) {
	s := make(Secrets)
	r := tar.NewReader(bytes.NewReader(content))
	for {
		head, err := r.Next()
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		if head.Name != SettingsName && (path.Dir(head.Name) != keysDir || !fs.ValidPath(head.Name)) {
			return nil, fmt.Errorf("unexpected file %q", head.Name)
		}
		if s[head.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
}

func encrypt(content []byte, passphrase string) ([]byte, error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, err
	}
	recipient.SetWorkFactor(workFactor)
	var b bytes.Buffer
	w, err := age.Encrypt(&b, recipient)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

func decrypt(encrypted []byte, passphrase string) ([]byte, error) {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, err
	}
	identity.SetMaxWorkFactor(workFactor)
	r, err := age.Decrypt(bytes.NewReader(encrypted), identity)
	var other *age.NoIdentityMatchError
	if errors.As(err, &other) {
		return nil, ErrPassphrase
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxSecrets+1<<20))
}

// placedSecrets is an object with secrets.
type placedSecrets struct {
	name string
	at   time.Time
}

// listSealed returns the objects with secrets, the oldest first.
func listSealed(ctx context.Context, store objects.Store) (list []placedSecrets, err error) {
	page, err := store.List(ctx, sealedPrefix, "", maxOfSealed)
	if err != nil {
		return nil, err
	}
	for _, o := range page {
		text, ok := strings.CutSuffix(strings.TrimPrefix(o.Name, sealedPrefix), sealedEnd)
		if at, err := time.Parse(sealedTime, text); ok && err == nil {
			list = append(list, placedSecrets{o.Name, at})
		}
	}
	return list, nil
}

// OpenSecrets returns the settings and keys of a time, or the newest ones if it is zero. The error is ErrPassphrase, or fs.ErrNotExist if there are none.
func OpenSecrets(ctx context.Context, store objects.Store, passphrase string, at time.Time) (Secrets, error) {
	list, err := listSealed(ctx, store)
	if err != nil {
		return nil, fmt.Errorf("keys and settings: %w", err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("keys and settings at the place: %w", fs.ErrNotExist)
	}
	chosen := list[0] // those that came first are those from before, too
	for _, p := range list {
		if at.IsZero() || !p.at.After(at) {
			chosen = p
		}
	}
	s, err := openSealed(ctx, store, chosen.name, passphrase)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", chosen.name, err)
	}
	return s, nil
}

func openSealed(ctx context.Context, store objects.Store, name, passphrase string) (Secrets, error) {
	body, _, err := store.Get(ctx, name, 0, maxSealed)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	encrypted, err := io.ReadAll(io.LimitReader(body, maxSealed))
	if err != nil {
		return nil, err
	}
	content, err := decrypt(encrypted, passphrase)
	if err != nil {
		return nil, err
	}
	return unpack(content)
}
