package replica_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc/internal/disk"
	"svc/internal/objects"
	"svc/internal/replica"
)

// TestUpdateFiles changes files at the place, and compares a data directory that follows it.
func TestUpdateFiles(t *testing.T) {
	place := newMemory()
	dir := t.TempDir()
	root, err := disk.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ctx := context.Background()
	put := func(name, text string) {
		t.Helper()
		if _, err := place.Put(ctx, "files/"+name, strings.NewReader(text), int64(len(text)), objects.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(names ...string) {
		for _, name := range names {
			if err := place.Delete(ctx, "files/"+name); err != nil {
				t.Fatal(err)
			}
		}
	}
	many := make([]string, 150)
	for i := range many {
		many[i] = fmt.Sprintf("emoji/cats/%03d.png", i)
	}
	files := make(map[string]string)
	for _, tt := range []struct {
		name    string
		change  func()
		want    map[string]string // "": it is gone
		fetched int
	}{
		{"all", func() { put("media/aa/a.jpg", "a"); put("emoji/cats/cat.png", "cat"); put("static/x", "x") },
			map[string]string{"media/aa/a.jpg": "a", "emoji/cats/cat.png": "cat", "static/x": "x"}, 3},
		{"nothing", func() {}, nil, 0},
		{"a change of the same size", func() { put("emoji/cats/cat.png", "dog") }, map[string]string{"emoji/cats/cat.png": "dog"}, 1},
		{"a file is gone", func() { remove("static/x") }, map[string]string{"static/x": ""}, 0},
		{"an upload is gone", func() { remove("media/aa/a.jpg") }, nil, 0},
		{"another folder", func() { put("keys/secret", "x") }, nil, 0},
		{"a path that leaves the folder", func() { put("emoji/../../x", "x") }, nil, 0},
		{"many come", func() {
			for _, name := range many {
				put(name, "x")
				files[name] = "x"
			}
		}, nil, len(many)},
		{"nearly all are gone", func() { remove(many...) }, nil, 0},
		{"the place is empty", func() { remove("emoji/cats/cat.png", "emoji/../../x", "keys/secret") }, nil, 0},
	} {
		tt.change()
		fetched, err := replica.UpdateFiles(ctx, place, root, []string{"media", "emoji", "static"})
		if err != nil || fetched.Files != tt.fetched {
			t.Errorf("%s: fetched %+v, %v, want %d", tt.name, fetched, err, tt.fetched)
		}
		for name, text := range tt.want {
			if files[name] = text; text == "" {
				delete(files, name)
			}
		}
		if got := filesIn(t, dir); !maps.Equal(got, files) {
			t.Errorf("%s: the folder has %s, want %s", tt.name, short(got), short(files))
		}
	}
}

// filesIn returns the files of a folder, by their names in it.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
