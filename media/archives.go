package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"svc/internal/disk"
	"svc/internal/objects"
)

// Archives is a directory of backups of accounts, and the bucket if there is one (UseBucket). The caller chooses names that are hard to guess, because anyone with a name
// can download the file. It is safe for concurrent use.
type Archives struct {
	root   *disk.Root
	budget atomic.Pointer[Budget] // nil: no limits
	bucket *inBucket              // nil: all are on disk
}

// UseBucket makes Open find files in a bucket that are not on disk, and stores new ones there if newFiles is set. nil: there is none. It must be called
// before anything else uses the archives.
func (a *Archives) UseBucket(b *Bucket, newFiles bool) {
	if b != nil {
		a.bucket = newInBucket(b, newFiles)
	}
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

// Write calls fn to write a file, and returns its size when the file is complete and on disk or in the bucket. If fn fails, nothing is left. Writing
// fails when the storage limit is reached.
func (a *Archives) Write(ctx context.Context, name string, fn func(io.Writer) error) (size int64, err error) {
	part := name + partSuffix
	room := a.budget.Load().Reserve(Backups)
	defer room.Release()
	file, err := a.root.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, writeError(err)
	}
	uploads := a.bucket != nil && a.bucket.newFiles
	defer func() {
		file.Close()
		if err != nil || uploads {
			a.root.Remove(part)
		}
	}()
	if err := fn(roomWriter{file, room}); err != nil {
		return 0, err
	}
	info, err := file.Stat()
	if err == nil && uploads {
		return info.Size(), a.upload(ctx, name, file, info.Size())
	}
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
	if a.bucket == nil {
		room.Commit()
	}
	return info.Size(), nil
}

// upload stores a file in the bucket.
func (a *Archives) upload(ctx context.Context, name string, file io.ReaderAt, size int64) error {
	release, err := a.bucket.names.Take(ctx, name)
	if err != nil {
		return busy(ctx, err)
	}
	defer release()
	return a.bucket.put(ctx, archiveObjects+name, io.NewSectionReader(readerAt{ctx, file}, 0, size), size, archiveType)
}

// archiveType is the content type of archives.
const archiveType = "application/zip"

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

// Open opens a file for a client, the zero Addr if its network is not known. whole says that all of it will be read. The error is fs.ErrNotExist if
// there is none. Reading from a bucket ends with ctx.
func (a *Archives) Open(ctx context.Context, name string, client netip.Addr, whole bool) (*Content, error) {
	if !validArchive(name) {
		return nil, fs.ErrNotExist
	}
	for retried := false; ; retried = true {
		file, err := a.root.Open(name)
		if err == nil {
			return onDisk(file)
		}
		if !errors.Is(err, fs.ErrNotExist) || a.bucket == nil || retried {
			return nil, err
		}
		content, err := a.bucket.open(ctx, client, archiveObjects+name, whole)
		if !errors.Is(err, fs.ErrNotExist) { // else it may have been moved to the disk meanwhile
			return content, err
		}
	}
}

// Has returns whether there is a file.
func (a *Archives) Has(ctx context.Context, name string) (bool, error) {
	if !validArchive(name) {
		return false, nil
	}
	_, err := a.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && a.bucket != nil {
		_, err = a.bucket.stat(ctx, archiveObjects+name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Remove deletes a file, also an incomplete one. A file that does not exist is not an error.
func (a *Archives) Remove(ctx context.Context, name string) error {
	if a.bucket != nil {
		release, err := a.bucket.names.Take(ctx, name)
		if err != nil {
			return busy(ctx, err)
		}
		defer release()
	}
	for _, n := range []string{name, name + partSuffix} {
		if err := a.root.Remove(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove archive: %w", err)
		}
	}
	a.budget.Load().Remeasure()
	if a.bucket == nil {
		return nil
	}
	if err := a.bucket.remove(ctx, archiveObjects+name); err != nil {
		return fmt.Errorf("remove archive: %w", err)
	}
	return nil
}

// Walk calls fn for each complete file that was stored before a time.
func (a *Archives) Walk(ctx context.Context, before time.Time, fn func(name string) error) error {
	err := a.walk(func(name string, info fs.FileInfo) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if strings.HasSuffix(name, partSuffix) || !info.ModTime().Before(before) {
			return nil
		}
		return fn(name)
	})
	if err != nil || a.bucket == nil {
		return err
	}
	return a.bucket.each(ctx, archiveObjects, "", func(name string, o objects.Object) error {
		if !validArchive(name) || !o.Modified.Before(before) {
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
