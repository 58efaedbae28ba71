// Command manifest describes and signs the files of a release: go run ./.ci/manifest [-key FILE [-new]] COMMIT DATE DIR
//
// It writes release.json and SHA256SUMS, and with a key their signatures and the public key, svc.pub. What a file is and for which machine
// follows from its name: svc_VERSION_OS_ARCH[.tar.gz|.deb|.rpm], svc_VERSION_image.tar, svc_VERSION_sbom.json. Other files are an error.
// The password of an encrypted key is $SVC_RELEASE_PASSWORD. The public key must be one of .ci/release.pub, because servers that update trust no
// other. With -new it may be another one, which is made if the file does not exist; svc.pub and the output say so.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aead.dev/minisign"

	"svc/app"
	"svc/internal/release"
	"svc/store"
)

func main() {
	keyFile := flag.String("key", "", "secret key in minisign's form")
	create := flag.Bool("new", false, "accept a key that is not in .ci/release.pub; make one without a password if the file does not exist")
	flag.Parse()
	if flag.NArg() != 3 {
		fmt.Fprintln(os.Stderr, "usage: manifest [-key FILE [-new]] COMMIT DATE DIR")
		os.Exit(2)
	}
	if err := run(*keyFile, *create, flag.Arg(0), flag.Arg(1), flag.Arg(2)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(keyFile string, create bool, commit, date, dir string) error {
	m := &release.Manifest{Name: release.Name, Version: app.Version, Commit: commit, Schema: store.SchemaVersion()}
	var err error
	if m.Date, err = time.Parse(time.RFC3339, date); err != nil {
		return err
	}
	if m.Files, err = describe(dir); err != nil {
		return err
	}
	text, err := m.Marshal()
	if err != nil {
		return err
	}
	signed := map[string][]byte{release.ManifestName: text, release.SumsName: m.Sums()}
	for name, text := range signed {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	if keyFile == "" {
		return nil
	}
	return sign(keyFile, create, dir, signed)
}

// describe returns the files of the folder, sorted by name.
func describe(dir string) ([]release.File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []release.File
	for _, e := range entries {
		f := release.File{Name: e.Name()}
		if f.Kind, f.Target, err = kindOf(e.Name()); err != nil {
			return nil, err
		}
		if f.Size, f.SHA256, err = sum(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// kindOf returns what a file is, by its name.
func kindOf(name string) (kind release.Kind, target string, err error) {
	rest, ok := strings.CutPrefix(name, release.Name+"_"+app.Version+"_")
	if !ok {
		return "", "", fmt.Errorf("%s is no file of a release of version %s", name, app.Version)
	}
	switch rest {
	case "image.tar":
		return release.Image, "", nil
	case "sbom.json":
		return release.SBOM, "", nil
	}
	machine, suffix, _ := strings.Cut(rest, ".")
	system, processor, ok := strings.Cut(machine, "_")
	kind, known := map[string]release.Kind{"": release.Binary, "tar.gz": release.Archive, "deb": release.Deb, "rpm": release.RPM}[suffix]
	if !ok || !known {
		return "", "", fmt.Errorf("%s is no file of a release", name)
	}
	return kind, system + "/" + processor, nil
}

func sum(path string) (size int64, hash string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// knownKeys has the public keys of releases.
const knownKeys = ".ci/release.pub"

// sign writes the signatures and the public key, and verifies them as a program would that updates itself.
func sign(keyFile string, create bool, dir string, texts map[string][]byte) error {
	key, err := readKey(keyFile, create)
	if err != nil {
		return err
	}
	text, err := key.Public().(minisign.PublicKey).MarshalText()
	if err != nil {
		return err
	}
	public, err := named(string(text), create)
	if err != nil {
		return err
	}
	for name, text := range texts {
		signature, err := release.Sign(key, app.Version, name, text)
		if err != nil {
			return err
		}
		if _, err := release.Verify(public, name, text, signature); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name+release.SignatureSuffix), signature, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "svc.pub"), []byte(public+"\n"), 0o644)
}

// named returns a public key with a comment that says whether it is new. A new one is an error unless it is allowed.
func named(public string, allowNew bool) (string, error) {
	list, err := os.ReadFile(knownKeys)
	if err != nil {
		return "", err
	}
	known, err := release.IsKnownKey(string(list), public)
	if err != nil || known {
		return public, err
	}
	_, line, _ := strings.Cut(public, "\n")
	if !allowNew {
		return "", fmt.Errorf("the key %s is not in %s: servers that update know the keys in there only; docs/releases.md says how to change the key", line, knownKeys)
	}
	fmt.Printf("NEW KEY: %s is not in %s; this release is for trials\n", line, knownKeys)
	return "untrusted comment: NEW KEY: not one of the keys of earlier releases\n" + line, nil
}

func readKey(file string, create bool) (minisign.PrivateKey, error) {
	text, err := os.ReadFile(file)
	if !create || !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return minisign.PrivateKey{}, err
		}
		return release.ReadKey(text, os.Getenv("SVC_RELEASE_PASSWORD"))
	}
	_, key, err := minisign.GenerateKey(nil)
	if err != nil {
		return key, err
	}
	if text, err = key.MarshalText(); err != nil {
		return key, err
	}
	return key, os.WriteFile(file, append(text, '\n'), 0o600)
}
