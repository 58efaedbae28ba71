package disk_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc/internal/disk"
)

// names returns the names in a folder.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// TestReplace checks that a file is replaced as a whole, or not at all, and that nothing is left beside it.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := disk.ReplaceText(path, "old"); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	err := disk.Replace(path, 0o600, func(w io.Writer) error {
		io.WriteString(w, "half of the n")
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("the error is %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Errorf("after a failure, the file is %q", b)
	}
	if err := disk.Replace(path, 0o644, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if b, _ := os.ReadFile(path); err != nil || string(b) != "new" || info.Mode().Perm() != 0o644 {
		t.Errorf("the file is %q, mode %v, %v", b, info.Mode(), err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the folder has %q", got)
	}
}

// TestWriteNew checks that of several that write a new file at once, one does.
func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	results := make([]error, 8)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() { results[i] = disk.WriteNew(path, []byte{byte('0' + i)}) })
	}
	all.Wait()
	winner := slices.Index(results, nil)
	b, err := os.ReadFile(path)
	if err != nil || winner < 0 || string(b) != string(rune('0'+winner)) {
		t.Errorf("the file is %q (%v), the errors are %v", b, err, results)
	}
	for i, err := range results {
		if i != winner && !errors.Is(err, fs.ErrExist) {
			t.Errorf("the error of writer %d is %v", i, err)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{"key"}) {
		t.Errorf("the folder has %q", got)
	}
}

// TestNew checks that a link and a rename without replacing keep the file that is there.
func TestNew(t *testing.T) {
	dir := t.TempDir()
	root, err := disk.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"a", "b"} {
		if err := disk.ReplaceText(filepath.Join(dir, name), name); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name   string
		change func(from, to string) error
	}{{"linked", root.Link}, {"renamed", root.RenameNew}} {
		if err := tt.change("a", "b"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s to a name that exists: %v", tt.name, err)
		}
		if b, err := root.ReadFile("b"); string(b) != "b" {
			t.Errorf("%s: the file is %q, %v", tt.name, b, err)
		}
		if err := tt.change("a", tt.name); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{"b", "linked", "renamed"}) {
		t.Errorf("the folder has %q", got)
	}
}

// TestIntercept checks which changes an interceptor sees, in order, and that a change that it refuses does not happen.
func TestIntercept(t *testing.T) {
	dir := t.TempDir()
	var seen []string
	refused := errors.New("refused")
	refuse := disk.Kind("")
	end := disk.Intercept(func(c *disk.Change, do func() error) error {
		if c.Kind == refuse {
			return refused
		}
		err := do()
		text := string(c.Kind)
		if c.Path != "" {
			text += " " + strings.TrimPrefix(c.Path, dir)
		}
		if c.To != "" {
			text += " " + strings.TrimPrefix(c.To, dir)
		}
		if c.Kind == disk.Written {
			text += " " + string(c.Data)
		}
		seen = append(seen, text)
		return err
	})
	defer end()

	inner := filepath.Join(dir, "x", "y")
	root, err := disk.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	file := func() (*disk.File, error) { return root.OpenFile("x/y/f", os.O_WRONLY|os.O_CREATE, 0o600) }
	steps := []func() error{
		func() error { return disk.MakeFolder(inner) },
		func() error {
			f, err := file()
			if err != nil {
				return err
			}
			_, err = f.ReadFrom(strings.NewReader("abc"))
			_, atErr := f.WriteAt([]byte("d"), 3)
			return errors.Join(err, atErr, f.Truncate(2), f.Sync(), f.Close())
		},
		func() error { return root.Rename("x/y/f", "x/g") },
		func() error { return root.Sync("x") },
		func() error { return root.Link("x/g", "x/h") },
		func() error { return root.RenameNew("x/h", "x/i") },
		func() error { return disk.RemoveAll(filepath.Join(dir, "x")) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"mkdir /x/y", "sync /x", "sync ", "open /x/y/f", "write abc", "write d", "truncate", "sync", "rename /x/y/f /x/g", "sync /x",
		"link /x/g /x/h", "rename /x/h /x/i", "remove /x"}
	if !slices.Equal(seen, want) {
		t.Errorf("seen are\n%q, want\n%q", seen, want)
	}

	refuse = disk.Opened
	if f, err := disk.Create(filepath.Join(dir, "no")); !errors.Is(err, refused) || f != nil {
		t.Errorf("a refused file: %v %v", f, err)
	}
	end()
	if err := disk.ReplaceText(filepath.Join(dir, "yes"), ""); err != nil {
		t.Error(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"yes"}) {
		t.Errorf("the folder has %q", got)
	}
}
