package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"svc/internal/disk"
)

// Archives is a directory of backups of accounts. The caller chooses names that are hard to guess, because anyone with a name
// can download the file. It is safe for concurrent use.
type Archives struct {
	root   *disk.Root
	budget atomic.Pointer[Budget] // nil: no limits
}

// partSuffix marks files that are being written.
const partSuffix = ".part"

// OpenArchives opens a directory, which it creates if necessary, and removes incomplete files of an interrupted process.
func OpenArchives(dir string) (*Archives, error) {
	if err := disk.MakeFolder(dir); err != nil {
		return nil, fmt.Errorf("open archives: %w", err)
	}
	root, err := disk.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open archives: %w", err)
	}
	a := &Archives{root: root}
	err = a.walk(func(name string, _ fs.FileInfo) error {
		if strings.HasSuffix(name, partSuffix) {
			return root.Remove(name)
		}
		return nil
	})
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("open archives: %w", err)
	}
	return a, nil
}

// Close closes the directory. Open files stay readable.
func (a *Archives) Close() error { return a.root.Close() }

// Write calls fn to write a file, and returns its size when the file is complete and on disk. If fn fails, nothing is left. Writing fails
// when the storage limit is reached.
func (a *Archives) Write(name string, fn func(io.Writer) error) (size int64, err error) {
	part := name + partSuffix
	room := a.budget.Load().Reserve(Backups)
	defer room.Release()
	file, err := a.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, writeError(err)
	}
	defer func() {
		file.Close()
		if err != nil {
			a.root.Remove(part)
		}
	}()
	if err := fn(roomWriter{file, room}); err != nil {
		return 0, err
	}
	info, err := file.Stat()
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = a.root.Rename(part, name)
	}
	if err != nil {
		return 0, writeError(err)
	}
	if err := a.root.Sync("."); err != nil {
		return 0, writeError(err)
	}
	room.Commit()
	return info.Size(), nil
}

// roomWriter reserves room for the bytes that it writes.
type roomWriter struct {
	io.Writer
	room *Reservation
}

func (w roomWriter) Write(b []byte) (int, error) {
	if err := w.room.Grow(context.Background(), int64(len(b))); err != nil {
		return 0, err
	}
	return w.Writer.Write(b)
}

// CheckSpace returns an error of status 507 if there is no space for files.
func (a *Archives) CheckSpace(ctx context.Context) error { return a.budget.Load().Check(ctx, Backups) }

// Open opens a file. The error is fs.ErrNotExist if there is none.
func (a *Archives) Open(name string) (*os.File, error) {
	if !validArchive(name) {
		return nil, fs.ErrNotExist
	}
	return a.root.Open(name)
}

// Remove deletes a file, also an incomplete one. A file that does not exist is not an error.
func (a *Archives) Remove(name string) error {
	for _, n := range []string{name, name + partSuffix} {
		if err := a.root.Remove(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove archive: %w", err)
		}
	}
	a.budget.Load().Remeasure()
	return nil
}

// Walk calls fn for each complete file that was stored before a time.
func (a *Archives) Walk(ctx context.Context, before time.Time, fn func(name string) error) error {
	return a.walk(func(name string, info fs.FileInfo) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if strings.HasSuffix(name, partSuffix) || !info.ModTime().Before(before) {
			return nil
		}
		return fn(name)
	})
}

func (a *Archives) walk(fn func(string, fs.FileInfo) error) error {
	dir, err := a.root.Open(".")
	if err != nil {
		return fmt.Errorf("list archives: %w", err)
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return fmt.Errorf("list archives: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // removed meanwhile, or not a file of this program
		}
		if err := fn(e.Name(), info); err != nil {
			return err
		}
	}
	return nil
}

// validArchive returns false for names that are paths, hidden or incomplete.
func validArchive(name string) bool {
	return name != "" && name[0] != '.' && !strings.ContainsAny(name, `/\`) && strings.HasSuffix(name, ".zip")
}
