package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"svc/internal/disk"
)

// Folders is the number of folders that files are distributed over, by the first byte of their name.
const Folders = 256

// OpenToCheck opens the store in dir for reading only. Another process may write it. Files that are not there are read from the bucket, unless that is
// nil. Without dir and bucket, the result is nil, a store without files.
func OpenToCheck(dir string, b *Bucket) (*Files, error) {
	root, err := disk.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) && b == nil {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open media: %w", err)
	}
	f := &Files{root: root}
	f.UseBucket(b, false)
	return f, nil
}

// NameHash returns the bytes that the name of a stored file stands for in hexadecimal, in size bytes. It returns false for other names.
func NameHash(name string) (hash [sha256.Size]byte, size int, ok bool) {
	if !validName(name) {
		return hash, 0, false
	}
	_, file, _ := strings.Cut(name, "/")
	digits, _, _ := strings.Cut(file, ".")
	n, err := hex.Decode(hash[:], []byte(digits))
	return hash, n, err == nil
}

// Stat returns the entry of a stored file, nil if it does not exist or is a folder.
func (f *Files) Stat(ctx context.Context, name string) (*Entry, error) {
	if f == nil || !validName(name) {
		return nil, nil
	}
	info, err := f.root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) && f.bucket != nil {
		return f.statBucket(ctx, name)
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("stat stored file: %w", err)
	}
	return &Entry{Name: name, Size: info.Size(), ModTime: info.ModTime()}, nil
}

// WalkFolder calls fn for each stored file in one of the Folders, in no order. Files may be added and removed meanwhile.
func (f *Files) WalkFolder(ctx context.Context, folder int, fn func(Entry) error) error {
	if f == nil {
		return nil
	}
	dir := fmt.Sprintf("%02x", folder)
	err := walkFolder(ctx, f.root, dir, func(name string, info fs.FileInfo) error {
		if !validName(name) {
			return nil
		}
		return fn(Entry{Name: name, Size: info.Size(), ModTime: info.ModTime()})
	})
	if err != nil {
		return err
	}
	return f.walkBucket(ctx, dir+"/", fn)
}

// Intact returns whether the content of a stored file has a SHA-256, if that is known. A file that was removed meanwhile is intact.
func (f *Files) Intact(ctx context.Context, name, want string) (bool, error) {
	file, err := f.OpenFile(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("check stored file: %w", err)
	}
	defer file.Close()
	sum, err := sumOfContent(ctx, io.LimitReader(file, file.Size))
	if err != nil {
		return false, fmt.Errorf("check stored file: %w", err)
	}
	return want == "" || sum == want, nil
}
