package media

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc/store"
)

func openFiles(t testing.TB, limits Limits) (f *Files, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "media")
	f, err := Open(dir, limits, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, dir
}

// stored returns what Walk finds, by name.
func stored(t testing.TB, f *Files) map[string]Entry {
	t.Helper()
	m := make(map[string]Entry)
	err := f.Walk(t.Context(), func(e Entry) error {
		if _, twice := m[e.Name]; twice {
			t.Errorf("%s is listed twice", e.Name)
		}
		m[e.Name] = e
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// wantNothingStored fails if a rejected upload has left a file.
func wantNothingStored(t *testing.T, dir string) {
	t.Helper()
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			t.Error(err)
		} else if !d.IsDir() {
			t.Errorf("%s is left", path)
		}
		return nil
	})
}

func TestFiles(t *testing.T) {
	f, dir := openFiles(t, Limits{})
	ctx := t.Context()
	a, err := f.Ingest(ctx, 1, bytes.NewReader(encodePNG(quarters(10, 10))), Attachment, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Ingest(ctx, 1, bytes.NewReader(encodePNG(quarters(20, 20))), Attachment, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, stray := range []string{"notes.txt", a.Name[:2] + "/notes.txt", a.Name[:2] + "/" + a.SHA256} {
		if err := os.WriteFile(filepath.Join(dir, stray), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := stored(t, f)
	if want := []string{a.Name, b.Name}; !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("walk found %v, want %v", got, want)
	}
	if e := got[a.Name]; e.Size != a.Size || time.Since(e.ModTime) > time.Minute {
		t.Errorf("walk found %+v", e)
	}

	a.Release()
	for range 2 { // the second time it is no error
		if _, err := f.RemoveOlder(t.Context(), a.Name, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{a.Name: false, b.Name: true, "": false, "..": false, "tmp": false, "notes.txt": false} {
		if got, err := f.Stat(t.Context(), name); (got != nil) != want || err != nil {
			t.Errorf("Stat(%q) = %v, %v", name, got, err)
		}
	}
	stop := errors.New("stop")
	if err := f.Walk(ctx, func(Entry) error { return stop }); err != stop {
		t.Errorf("walk ended with %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := f.Walk(ended, func(Entry) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("walk ended with %v", err)
	}
}

func TestRemoveKeepsToStoredFiles(t *testing.T) {
	f, dir := openFiles(t, Limits{})
	outside := filepath.Join(dir, "..", "database")
	inside := filepath.Join(dir, "notes.txt")
	for _, p := range []string{outside, inside} {
		if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"../database", "notes.txt", "tmp", ".", ""} {
		if _, err := f.RemoveOlder(t.Context(), name, time.Now().Add(time.Hour)); err != nil {
			t.Errorf("RemoveOlder(%q): %v", name, err)
		}
	}
	for _, p := range []string{outside, inside, filepath.Join(dir, tempDir)} {
		if _, err := os.Stat(p); err != nil {
			t.Error(err)
		}
	}
}

// TestLeftovers opens a directory in which a process was interrupted during an upload.
func TestLeftovers(t *testing.T) {
	f, dir := openFiles(t, Limits{})
	kept, err := f.Ingest(t.Context(), 1, bytes.NewReader(encodePNG(quarters(10, 10))), Attachment, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	half, err := f.newTemp()
	if err != nil {
		t.Fatal(err)
	}
	half.Write([]byte("half a file"))
	half.Close() // but not discard: the process is gone
	f.Close()

	if f, err = Open(dir, Limits{}, nil); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	left, err := os.ReadDir(filepath.Join(dir, tempDir))
	if err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	if got := stored(t, f); len(got) != 1 || got[kept.Name].Size != kept.Size {
		t.Errorf("stored %v", got)
	}
}

func TestOpenFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := Open(file, Limits{}, nil); err == nil {
		f.Close()
		t.Error("a file was opened as a directory")
	}
}

func TestValidName(t *testing.T) {
	sum := [32]byte(bytes.Repeat([]byte{0xab}, 32))
	hash := strings.Repeat("ab", 32)
	storedName := func(sum [32]byte, ext string) string { return new(Files).storedName(1, sum, ext) }
	for _, tt := range []struct {
		name string
		want bool
	}{
		{storedName(sum, "png"), true},
		{storedName(sum, "m4a"), true},
		{storedName(sum, "svg"), false},
		{storedName(sum, "html"), false},
		{storedName(sum, ""), false},
		{storedName(sum, "png") + "/", false},
		{storedName(sum, "png") + "/x", false},
		{storedName(sum, "png.png"), false},
		{storedName(sum, "png\x00"), false},
		{"ab/" + hash + ".png", true}, // from before names were keyed
		{"ab/" + hash[2:] + ".png", false},
		{"ab/" + hash[:42] + ".png", false},
		{"ab/" + hash, false},
		{"aa/" + hash + ".png", false},
		{"AB/" + hash + ".png", false},
		{hash + ".png", false},
		{"/ab/" + hash + ".png", false},
		{"ab//" + hash + ".png", false},
		{"ab/../ab/" + hash + ".png", false},
		{"../ab/" + hash + ".png", false},
		{"ab/" + hash[:63] + ".png", false},
		{"ab/" + hash[:63] + "g.png", false},
		{"ab/" + hash[:30] + "/" + hash[31:] + ".png", false},
		{"tmp", false},
		{"", false},
		{"/", false},
		{".", false},
	} {
		if got := validName(tt.name); got != tt.want {
			t.Errorf("validName(%q) = %v", tt.name, got)
		}
	}
}

func TestWriteError(t *testing.T) {
	wantStatus(t, writeError(&fs.PathError{Op: "write", Err: syscall.ENOSPC}), 507)
	if err := writeError(syscall.EIO); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
}

// TestNewKeys opens the store with other keys: files keep their names, and the same content of the same owner gets another one.
func TestNewKeys(t *testing.T) {
	dir := t.TempDir()
	content := encodePNG(quarters(10, 10))
	names := make(map[string]string) // with the SHA-256
	for _, key := range []string{"one", "two", "one"} {
		f, err := Open(dir, Limits{}, []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		for owner := range store.AccountID(2) {
			file, err := f.Ingest(t.Context(), owner, bytes.NewReader(content), Attachment, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			names[file.Name] = file.SHA256
			file.Release()
		}
		for name, sum := range names {
			if ok, err := f.Intact(t.Context(), name, sum); err != nil || !ok {
				t.Errorf("%s with key %s: %v, %v", name, key, ok, err)
			}
		}
		if n := len(stored(t, f)); n != len(names) {
			t.Errorf("%d files, want %d", n, len(names))
		}
		f.Close()
	}
	if len(names) != 4 {
		t.Errorf("two owners and two keys have the names %v", names)
	}
}
