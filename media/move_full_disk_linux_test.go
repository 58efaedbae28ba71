package media

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/internal/objects/objectstest"
)

// TestMoveToFullDisk moves files from the bucket to a disk that is too small for all of them, and makes it larger bit by bit: each time the move says why it
// ends, every file is served from the place where it is, and the next run goes on.
func TestMoveToFullDisk(t *testing.T) {
	const files = 30
	for _, tt := range []struct {
		name string
		size func(n int) string // of the disk, so that n files fit
	}{
		{"no blocks", func(n int) string { return fmt.Sprintf("size=%dk", 4*n) }},              // a file of the test takes a block
		{"no inodes", func(n int) string { return fmt.Sprintf("size=16m,nr_inodes=%d", 2*n) }}, // and has a folder
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMoved(t, objectstest.New(t).Address)
			disk := filepath.Join(m.dir, "media")
			if err := os.Mkdir(disk, 0o700); err != nil {
				t.Fatal(err)
			}
			mount := func(n int, flags uintptr) error { return syscall.Mount("tmpfs", disk, "tmpfs", flags, tt.size(n)) }
			room := 6
			if err := mount(room, 0); err != nil {
				t.Skip("a small disk needs the rights of root:", err)
			}
			t.Cleanup(func() {
				if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
			m.fill(m.open(config.MediaInBucket), files)
			refused := 0
			for {
				mover := m.open(config.MediaOnDisk)
				err := mover.run(t.Context())
				s, _ := mover.Status(t.Context())
				m.wantServed(mover)
				onDisk, inBucket := m.places(mover)
				if len(onDisk)+len(inBucket) < files {
					t.Fatalf("on disk are %d, in the bucket %d of %d", len(onDisk), len(inBucket), files)
				}
				if left := m.unfinished(); len(left) > 0 {
					t.Errorf("unfinished are %q", left)
				}
				if err == nil {
					if s.Failed != 0 || s.Problem != "" || s.Finished == nil {
						t.Errorf("the end is %+v", s)
					}
					break
				}
				var full *errs.Error
				if !errors.As(err, &full) || full.Status != 507 || !strings.Contains(s.Problem, "disk of the server is full") || s.Running || s.Failed != 0 {
					t.Fatalf("%v: %+v", err, s)
				}
				refused++
				if room += 10; room > 10*files {
					t.Fatal("the disk is never large enough")
				}
				if err := mount(room, syscall.MS_REMOUNT); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("refused %d times", refused)
			if refused < 2 {
				t.Errorf("the disk was full %d times only", refused)
			}
			onDisk, inBucket := m.places(m.open(config.MediaOnDisk))
			if !slices.Equal(onDisk, slices.Sorted(maps.Keys(m.content))) || len(inBucket) > 0 {
				t.Errorf("on disk are %d, in the bucket %d of %d", len(onDisk), len(inBucket), files)
			}
		})
	}
}

// unfinished returns temporary files of uploads.
func (m *moved) unfinished() (list []string) {
	m.t.Helper()
	err := fs.WalkDir(os.DirFS(filepath.Join(m.dir, "media", tempDir)), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, name)
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return list
}
