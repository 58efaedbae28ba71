package objects_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"svc/internal/disk"
	"svc/internal/objects"
)

// recordChanges returns the changes of files below a folder, as "KIND PATH" with "temp" for a temporary file, and fails those of the kinds in refuse.
func recordChanges(t *testing.T, dir string, refuse map[disk.Kind]error) func() []string {
	var mu sync.Mutex
	var list []string
	t.Cleanup(disk.Intercept(func(c *disk.Change, do func() error) error {
		if err := refuse[c.Kind]; err != nil {
			return err
		}
		text := string(c.Kind)
		for _, path := range []string{c.Path, c.To} {
			path = strings.TrimPrefix(strings.TrimPrefix(path, dir), "/")
			if temp, ok := strings.CutPrefix(path, ".svc-tmp/"); ok && temp != "lock" {
				path = "temp"
			}
			if path != "" {
				text += " " + path
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if c.Kind != disk.Opened || !strings.HasSuffix(text, "lock") {
			list = append(list, text)
		}
		return do()
	}))
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		defer func() { list = nil }()
		return list
	}
}

// TestFolderChanges has the changes that a power failure could undo: the content of an object is synchronised before it gets its name, and its name
// before Put returns, also with those of new folders.
func TestFolderChanges(t *testing.T) {
	p := folderPlace(t)
	s := p.open(t)
	changes := recordChanges(t, p.location, nil)
	for _, tt := range []struct {
		name    string
		options objects.PutOptions
		want    string
	}{
		{"a/b/new", objects.PutOptions{}, "open temp, write, sync, mkdir a/b, mkdir a, sync, mkdir a/b, sync a, rename temp a/b/new, sync a/b, remove temp"},
		{"a/b/new", objects.PutOptions{}, "open temp, write, sync, mkdir a/b, rename temp a/b/new, sync a/b, remove temp"},
		{"once", objects.PutOptions{IfNone: true}, "open temp, write, sync, link temp once, sync, remove temp"},
	} {
		if _, err := s.Put(t.Context(), tt.name, strings.NewReader("x"), 1, tt.options); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(changes(), ", "); got != tt.want {
			t.Errorf("put %s changes\n%s, want\n%s", tt.name, got, tt.want)
		}
	}
	if err := s.Delete(t.Context(), "once"); err != nil {
		t.Fatal(err)
	}
	if got := changes(); !slices.Equal(got, []string{"remove once", "sync"}) {
		t.Errorf("delete changes %q", got)
	}
}

// TestFolderFailures refuses one kind of change after the other: Put fails, and nothing of the object is visible or left.
func TestFolderFailures(t *testing.T) {
	for kind, number := range map[disk.Kind]error{
		disk.Opened: unix.EACCES, disk.Written: unix.ENOSPC, disk.Synced: unix.EIO, disk.FolderMade: unix.EROFS, disk.Renamed: unix.EDQUOT,
	} {
		t.Run(string(kind), func(t *testing.T) {
			p := folderPlace(t)
			s := p.open(t)
			refuse := map[disk.Kind]error{kind: &fs.PathError{Op: string(kind), Err: number}}
			changes := recordChanges(t, p.location, refuse)
			want := map[error]error{
				unix.EACCES: objects.ErrRefused, unix.EROFS: objects.ErrRefused, unix.ENOSPC: objects.ErrFull, unix.EDQUOT: objects.ErrFull, unix.EIO: objects.ErrUnreachable,
			}[number]
			if _, err := s.Put(t.Context(), "a/b", strings.NewReader("x"), 1, objects.PutOptions{}); !errors.Is(err, want) {
				t.Errorf("%v, after %q", err, changes())
			}
			clear(refuse)
			wantNothingElse(t, p, s, 0)
			put(t, s, "a/b", "x")
		})
	}
}

// TestNoLinks has a file system without hard links, where exactly one writer must succeed, too.
func TestNoLinks(t *testing.T) {
	for _, number := range []error{unix.EPERM, unix.ENOTSUP, unix.ENOSYS} {
		p := folderPlace(t)
		stores := []objects.Store{p.open(t), p.open(t)}
		end := disk.Intercept(func(c *disk.Change, do func() error) error {
			if c.Kind == disk.Linked {
				return &fs.PathError{Op: "link", Err: number}
			}
			return do()
		})
		contest(t, stores, "lease", func(int) objects.PutOptions { return objects.PutOptions{IfNone: true} })
		end()
		wantNothingElse(t, p, stores[0], 1)
	}
}
