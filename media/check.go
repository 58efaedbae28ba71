package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Folders is the number of folders that files are distributed over, by the first byte of their hash.
const Folders = 256

// Stat returns the entry of a stored file, nil if it does not exist.
func (f *Files) Stat(name string) (*Entry, error) {
	if !validName(name) {
		return nil, nil
	}
	info, err := f.root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("stat stored file: %w", err)
	}
	return &Entry{Name: name, Size: info.Size(), ModTime: info.ModTime()}, nil
}

// WalkFolder calls fn for each stored file in one of the Folders, in no order. Files may be added and removed meanwhile.
func (f *Files) WalkFolder(ctx context.Context, folder int, fn func(Entry) error) error {
	return walkFolder(ctx, f.root, fmt.Sprintf("%02x", folder), func(name string, info fs.FileInfo) error {
		if !validName(name) {
			return nil
		}
		return fn(Entry{Name: name, Size: info.Size(), ModTime: info.ModTime()})
	})
}

// Intact returns whether the content of a stored file has the hash that is its name. A file that was removed meanwhile is intact.
func (f *Files) Intact(ctx context.Context, name string) (bool, error) {
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
	return hex.EncodeToString(sum.Sum(nil)) == strings.TrimSuffix(path.Base(name), path.Ext(name)), nil
}
