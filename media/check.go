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

// OpenToCheck opens the store in dir for Stat, WalkFolder and Intact only. Another process may write it. If there is no dir, the result is nil,
// a store without files.
func OpenToCheck(dir string) (*Files, error) {
	root, err := disk.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open media: %w", err)
	}
	return &Files{root: root}, nil
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
func (f *Files) Stat(name string) (*Entry, error) {
	if f == nil || !validName(name) {
		return nil, nil
	}
	info, err := f.root.Stat(name)
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
	return walkFolder(ctx, f.root, fmt.Sprintf("%02x", folder), func(name string, info fs.FileInfo) error {
		if !validName(name) {
			return nil
		}
		return fn(Entry{Name: name, Size: info.Size(), ModTime: info.ModTime()})
	})
}

// Intact returns whether the content of a stored file has a SHA-256, if that is known. A file that was removed meanwhile is intact.
func (f *Files) Intact(ctx context.Context, name, want string) (bool, error) {
	file, err := f.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("check stored file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, fmt.Errorf("check stored file: %w", err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(readerAt{ctx, file}, 0, info.Size())); err != nil {
		return false, fmt.Errorf("check stored file: %w", err)
	}
	return want == "" || hex.EncodeToString(sum.Sum(nil)) == want, nil
}
