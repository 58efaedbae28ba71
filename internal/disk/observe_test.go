package disk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc/internal/disk"
)

// TestObserve checks which paths an observer sees: of all ways to change a file, after the change, and nothing of a change that failed.
func TestObserve(t *testing.T) {
	dir := t.TempDir()
	var seen []string
	end := disk.Observe(func(path string, tree bool) {
		text := strings.TrimPrefix(path, dir)
		if strings.Contains(text, disk.TempPrefix) {
			text = "/temporary"
		}
		if tree {
			text += "/"
		}
		seen = append(seen, text)
	})
	defer end()
	root, err := disk.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(f *disk.File, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprint(f, "x")
		return f.Close()
	}
	for _, tt := range []struct {
		name string
		do   func() error
		want []string
	}{
		{"a folder", func() error { return disk.MakeFolder(path("x")) }, nil},
		{"a file", func() error { return write(disk.Create(path("x/a"))) }, []string{"/x/a"}},
		{"a file in a root", func() error { return write(root.Create("x/b")) }, []string{"/x/b"}},
		{"replaced", func() error { return disk.ReplaceText(path("x/a"), "y") }, []string{"/temporary", "/temporary", "/x/a"}},
		{"a new one", func() error { return disk.WriteNew(path("x/c"), nil) }, []string{"/temporary", "/x/c", "/temporary"}},
		{"linked", func() error { return root.Link("x/a", "x/d") }, []string{"/x/d"}},
		{"renamed", func() error { return root.Rename("x/d", "x/e") }, []string{"/x/d", "/x/e"}},
		{"a folder renamed", func() error { return disk.Rename(path("x"), path("y")) }, []string{"/x/", "/y/"}},
		{"removed", func() error { return root.Remove("y/a") }, []string{"/y/a"}},
		{"removed twice", func() error {
			if disk.Remove(path("y/a")) == nil {
				return os.ErrExist
			}
			return nil
		}, nil},
		{"a folder removed", func() error { return root.RemoveAll("y") }, []string{"/y/"}},
	} {
		seen = nil
		if err := tt.do(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if !slices.Equal(seen, tt.want) {
			t.Errorf("%s: seen are %q, want %q", tt.name, seen, tt.want)
		}
	}
	end()
	seen = nil
	if err := disk.ReplaceText(path("z"), ""); err != nil || seen != nil {
		t.Errorf("after the end: %q, %v", seen, err)
	}
}
