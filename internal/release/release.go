// Package release reads and writes the description of a release (release.json, SHA256SUMS) and their signatures in minisign's form.
//
// .ci/release makes them; a program that updates itself verifies them. Only the two descriptions are signed: they have the SHA-256 of each
// file. The trusted comment of a signature names the program, the version and the file, so that the signature of another version, or of
// another file of the same key, is refused.
//
// Limits: 1 MiB for a description, 4 KiB for a signature, 1000 files, 1 GiB for a file.
package release

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"aead.dev/minisign"
)

// Name is the name of the program in descriptions and trusted comments.
const Name = "svc"

// The signed files of a release. The signature of one has its name and SignatureSuffix.
const (
	ManifestName    = "release.json"
	SumsName        = "SHA256SUMS"
	SignatureSuffix = ".minisig"
)

// Limits of what Open reads.
const (
	MaxManifest  = 1 << 20
	MaxSignature = 4 << 10
	maxFiles     = 1000
	maxFileSize  = 1 << 30
)

// Kind says what a file of a release is.
type Kind string

// Kinds of files.
const (
	Binary  Kind = "binary"
	Archive Kind = "archive"
	Deb     Kind = "deb"
	RPM     Kind = "rpm"
	Image   Kind = "image"
	SBOM    Kind = "sbom"
)

var kinds = []Kind{Binary, Archive, Deb, RPM, Image, SBOM}

// Manifest is release.json.
type Manifest struct {
	Name    string    `json:"name"`
	Version string    `json:"version"` // semver without "v"
	Commit  string    `json:"commit"`
	Date    time.Time `json:"date"`   // of the commit
	Schema  int       `json:"schema"` // version of the database that the program reads and writes
	Files   []File    `json:"files"`
}

// File is a file of a release.
type File struct {
	Name   string `json:"name"`   // without a folder
	Target string `json:"target"` // such as "linux/arm64"; "": for all
	Kind   Kind   `json:"kind"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Find returns the file of a kind for a target, nil if there is none.
func (m *Manifest) Find(kind Kind, target string) *File {
	i := slices.IndexFunc(m.Files, func(f File) bool { return f.Kind == kind && f.Target == target })
	if i < 0 {
		return nil
	}
	return &m.Files[i]
}

// Marshal returns the text of release.json.
func (m *Manifest) Marshal() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

// Sums returns the text of SHA256SUMS, which sha256sum --check reads.
func (m *Manifest) Sums() []byte {
	var b bytes.Buffer
	for _, f := range m.Files {
		fmt.Fprintf(&b, "%s  %s\n", f.SHA256, f.Name)
	}
	return b.Bytes()
}

// Forms of what a manifest has.
var (
	versionForm  = regexp.MustCompile(`^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})(-[0-9A-Za-z.-]{1,64})?$`)
	commitForm   = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	fileNameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	targetForm   = regexp.MustCompile(`^([a-z0-9]{1,16}/[a-z0-9]{1,16})?$`)
)

// ValidVersion returns true for a semantic version without "v" and without build metadata.
func ValidVersion(version string) bool { return versionForm.MatchString(version) }

// check returns an error for a manifest with an invalid member, so that callers can use names and sizes as they are.
func (m *Manifest) check() error {
	switch {
	case m.Name != Name:
		return fmt.Errorf("it is a release of %q, not of %s", m.Name, Name)
	case !ValidVersion(m.Version):
		return fmt.Errorf("%q is no version", m.Version)
	case !commitForm.MatchString(m.Commit):
		return fmt.Errorf("%q is no commit", m.Commit)
	case m.Date.IsZero():
		return errors.New("it has no date")
	case m.Schema < 1:
		return fmt.Errorf("%d is no version of a schema", m.Schema)
	case len(m.Files) == 0 || len(m.Files) > maxFiles:
		return fmt.Errorf("it has %d files", len(m.Files))
	}
	seen := make(map[string]bool)
	for _, f := range m.Files {
		sum, err := hex.DecodeString(f.SHA256)
		switch {
		case !fileNameForm.MatchString(f.Name) || strings.Contains(f.Name, ".."):
			return fmt.Errorf("%q is no name of a file", f.Name)
		case seen[f.Name]:
			return fmt.Errorf("it has the file %s twice", f.Name)
		case !targetForm.MatchString(f.Target):
			return fmt.Errorf("%s: %q is no target", f.Name, f.Target)
		case !slices.Contains(kinds, f.Kind):
			return fmt.Errorf("%s: %q is no kind of file", f.Name, f.Kind)
		case f.Size <= 0 || f.Size > maxFileSize:
			return fmt.Errorf("%s: it cannot have %d bytes", f.Name, f.Size)
		case err != nil || len(sum) != 32 || f.SHA256 != strings.ToLower(f.SHA256):
			return fmt.Errorf("%s: %q is no SHA-256", f.Name, f.SHA256)
		}
		seen[f.Name] = true
	}
	return nil
}

// ErrSignature is the error for a description that the key has not signed, or not as this file of this program.
var ErrSignature = errors.New("the signature is not valid")

// Open verifies the signature of release.json and returns its content. key is a public key in minisign's form, with or without its comment.
// The version is that of the trusted comment, too.
func Open(key string, manifest, signature []byte) (*Manifest, error) {
	version, err := Verify(key, ManifestName, manifest, signature)
	if err != nil {
		return nil, err
	}
	m := new(Manifest)
	d := json.NewDecoder(bytes.NewReader(manifest))
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("%s: %w", ManifestName, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s has more than one value", ManifestName)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", ManifestName, err)
	}
	if m.Version != version {
		return nil, fmt.Errorf("%w: it is for version %s, %s has %s", ErrSignature, version, ManifestName, m.Version)
	}
	return m, nil
}

// CheckKey returns an error for a text that is no public key in minisign's form.
func CheckKey(key string) error {
	_, err := parseKey(key)
	return err
}

func parseKey(key string) (public minisign.PublicKey, err error) {
	if err := public.UnmarshalText([]byte(strings.TrimSpace(key))); err != nil {
		return public, fmt.Errorf("public key: %w", err)
	}
	return public, nil
}

// Verify verifies the signature of a file of a release and returns the version of its trusted comment.
func Verify(key, file string, text, signature []byte) (version string, err error) {
	public, err := parseKey(key)
	if err != nil {
		return "", err
	}
	if len(text) > MaxManifest || len(signature) > MaxSignature {
		return "", fmt.Errorf("%s: it has %d bytes, its signature %d: that is too much", file, len(text), len(signature))
	}
	var s minisign.Signature
	if err := s.UnmarshalText(signature); err != nil {
		return "", fmt.Errorf("%w: %s%s: %w", ErrSignature, file, SignatureSuffix, err)
	}
	if s.KeyID != public.ID() {
		return "", fmt.Errorf("%w: %s is signed by the key %016X, not by %016X", ErrSignature, file, s.KeyID, public.ID())
	}
	// The form without a hash is no longer written by minisign. It is refused, so that a signature means one thing.
	if s.Algorithm != minisign.HashEdDSA {
		return "", fmt.Errorf("%w: %s has the form without BLAKE2b", ErrSignature, file)
	}
	r := minisign.NewReader(bytes.NewReader(text))
	if _, err := io.Copy(io.Discard, r); err != nil {
		return "", err
	}
	if !r.Verify(public, signature) {
		return "", fmt.Errorf("%w: the content of %s differs from the signed one", ErrSignature, file)
	}
	words := strings.Split(s.TrustedComment, " ")
	if len(words) != 3 || words[0] != Name || !ValidVersion(words[1]) || words[2] != file {
		return "", fmt.Errorf("%w: it is for %q, not for %s of a release of %s", ErrSignature, s.TrustedComment, file, Name)
	}
	return words[1], nil
}

// ReadKey reads a secret key of minisign. The password is needed if the key is encrypted.
func ReadKey(text []byte, password string) (key minisign.PrivateKey, err error) {
	if minisign.IsEncrypted(text) {
		return minisign.DecryptKey(password, text)
	}
	err = key.UnmarshalText(text)
	return key, err
}

// Sign returns the signature of a file of a release.
func Sign(key minisign.PrivateKey, version, file string, text []byte) ([]byte, error) {
	r := minisign.NewReader(bytes.NewReader(text))
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, err
	}
	trusted := strings.Join([]string{Name, version, file}, " ")
	return r.SignWithComments(key, trusted, fmt.Sprintf("signature by the key %016X", key.ID())), nil
}
