package release_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"

	"svc/internal/release"
)

func manifest() *release.Manifest {
	return &release.Manifest{
		Name: "svc", Version: "0.1.0", Commit: strings.Repeat("ab", 20), Date: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC), Schema: 12,
		Files: []release.File{
			{Name: "svc_0.1.0_linux_amd64", Target: "linux/amd64", Kind: release.Binary, Size: 5, SHA256: strings.Repeat("0f", 32)},
			{Name: "svc_0.1.0_sbom.json", Kind: release.SBOM, Size: 7, SHA256: strings.Repeat("1f", 32)},
		},
	}
}

func newKey(t *testing.T) (public string, private minisign.PrivateKey) {
	t.Helper()
	key, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := key.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	return string(text), private
}

func sign(t *testing.T, key minisign.PrivateKey, version, file string, text []byte) []byte {
	t.Helper()
	signature, err := release.Sign(key, version, file, text)
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

func TestOpen(t *testing.T) {
	public, private := newKey(t)
	text, err := manifest().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(public, "\n")
	for _, key := range []string{public, line, line + "\n"} {
		m, err := release.Open(key, text, sign(t, private, "0.1.0", release.ManifestName, text))
		if err != nil {
			t.Fatal(err)
		}
		if f := m.Find(release.Binary, "linux/amd64"); f == nil || f.Size != 5 {
			t.Errorf("the binary is %+v", f)
		}
		if f := m.Find(release.Deb, "linux/amd64"); f != nil {
			t.Errorf("there is a package: %+v", f)
		}
	}
}

// TestRefusedSignatures opens descriptions whose signature says something else, or is damaged.
func TestRefusedSignatures(t *testing.T) {
	public, private := newKey(t)
	_, other := newKey(t)
	text, err := manifest().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	good := sign(t, private, "0.1.0", release.ManifestName, text)
	unhashed := minisign.SignWithComments(private, text, "svc 0.1.0 release.json", "x")
	for _, tt := range []struct {
		name            string
		text, signature []byte
	}{
		{"another text", append([]byte(" "), text...), good},
		{"another key", text, sign(t, other, "0.1.0", release.ManifestName, text)},
		{"another version", text, sign(t, private, "0.2.0", release.ManifestName, text)},
		{"another file", text, sign(t, private, "0.1.0", release.SumsName, text)},
		{"another program", text, bytes.Replace(good, []byte("comment: svc "), []byte("comment: abc "), 1)},
		{"a changed trusted comment", text, bytes.Replace(good, []byte("svc 0.1.0"), []byte("svc 9.1.0"), 1)},
		{"the form without a hash", text, unhashed},
		{"no signature", text, nil},
		{"half a signature", text, good[:len(good)/2]},
		{"a long signature", text, append(bytes.Clone(good), bytes.Repeat([]byte("\n"), release.MaxSignature)...)},
		{"a long text", bytes.Repeat([]byte(" "), release.MaxManifest+1), good},
	} {
		if m, err := release.Open(public, tt.text, tt.signature); err == nil || m != nil {
			t.Errorf("%s: it is opened", tt.name)
		}
	}
	for _, key := range []string{"", "RWQ", strings.Replace(public, "RW", "XX", 1)} {
		if _, err := release.Open(key, text, good); err == nil || errors.Is(err, release.ErrSignature) {
			t.Errorf("the key %q: got %v", key, err)
		}
	}
}

// TestRefusedManifests opens signed descriptions that have what a release cannot have.
func TestRefusedManifests(t *testing.T) {
	public, private := newKey(t)
	for name, change := range map[string]func(*release.Manifest){
		"another program":         func(m *release.Manifest) { m.Name = "other" },
		"no version":              func(m *release.Manifest) { m.Version = "" },
		"a version with a path":   func(m *release.Manifest) { m.Version = "0.1.0/.." },
		"no commit":               func(m *release.Manifest) { m.Commit = "main" },
		"no date":                 func(m *release.Manifest) { m.Date = time.Time{} },
		"no schema":               func(m *release.Manifest) { m.Schema = 0 },
		"no files":                func(m *release.Manifest) { m.Files = nil },
		"too many files":          func(m *release.Manifest) { m.Files = make([]release.File, 1001) },
		"a file in a folder":      func(m *release.Manifest) { m.Files[0].Name = "a/b" },
		"the folder above":        func(m *release.Manifest) { m.Files[0].Name = ".." },
		"a file twice":            func(m *release.Manifest) { m.Files[1].Name = m.Files[0].Name },
		"a target with a path":    func(m *release.Manifest) { m.Files[0].Target = "linux/../x" },
		"an unknown kind":         func(m *release.Manifest) { m.Files[0].Kind = "exe" },
		"an empty file":           func(m *release.Manifest) { m.Files[0].Size = 0 },
		"a huge file":             func(m *release.Manifest) { m.Files[0].Size = 1 << 40 },
		"a short sum":             func(m *release.Manifest) { m.Files[0].SHA256 = "00" },
		"a sum that is not hexes": func(m *release.Manifest) { m.Files[0].SHA256 = strings.Repeat("xy", 32) },
	} {
		m := manifest()
		change(m)
		if _, err := m.Marshal(); err == nil {
			t.Errorf("%s: it is written", name)
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := release.Open(public, text, sign(t, private, "0.1.0", release.ManifestName, text)); err == nil {
			t.Errorf("%s: it is opened", name)
		}
	}
	for _, text := range []string{"", "null", "[]", `{"version": 1}`, "{} {}"} {
		if _, err := release.Open(public, []byte(text), sign(t, private, "0.1.0", release.ManifestName, []byte(text))); err == nil {
			t.Errorf("%q: it is opened", text)
		}
	}
}

// TestMinisign verifies signatures and keys of this package with the program minisign, and the other way round.
func TestMinisign(t *testing.T) {
	program, err := exec.LookPath("minisign")
	if err != nil {
		t.Skip("minisign is not installed")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("minisign %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	public, private := newKey(t)
	text, err := manifest().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	write("ours.pub", []byte(public+"\n"))
	write(release.ManifestName, text)
	write(release.ManifestName+release.SignatureSuffix, sign(t, private, "0.1.0", release.ManifestName, text))
	run("-Vm", release.ManifestName, "-p", "ours.pub")

	run("-G", "-W", "-p", "theirs.pub", "-s", "theirs.key")
	run("-Sm", release.ManifestName, "-s", "theirs.key", "-t", "svc 0.1.0 release.json")
	theirs, err := os.ReadFile(filepath.Join(dir, "theirs.pub"))
	if err != nil {
		t.Fatal(err)
	}
	signature, err := os.ReadFile(filepath.Join(dir, release.ManifestName+release.SignatureSuffix))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := release.Open(string(theirs), text, signature); err != nil {
		t.Error(err)
	}
	secret, err := os.ReadFile(filepath.Join(dir, "theirs.key"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := release.ReadKey(secret, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := release.Open(string(theirs), text, sign(t, key, "0.1.0", release.ManifestName, text)); err != nil {
		t.Errorf("with a key of minisign: %v", err)
	}
}

func TestSums(t *testing.T) {
	const want = "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f  svc_0.1.0_linux_amd64\n" +
		"1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f  svc_0.1.0_sbom.json\n"
	if got := string(manifest().Sums()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
