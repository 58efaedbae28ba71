package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// TempPrefix begins the names of files that are not complete yet. What an interrupted process leaves can be removed.
const TempPrefix = ".new-"

// Replace writes a file, so that at any time, also after a power failure, there is the old or the new one, whole. It returns when the new one is
// on disk.
func Replace(path string, mode fs.FileMode, content func(io.Writer) error) error {
	temp, err := writeTemp(filepath.Dir(path), mode, content)
	if err != nil {
		return err
	}
	if err := Rename(temp, path); err != nil {
		return errors.Join(err, Remove(temp))
	}
	return SyncPath(filepath.Dir(path))
}

// ReplaceText is Replace with a text, for a file that only its owner can read.
func ReplaceText(path, text string) error {
	return Replace(path, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// WriteNew writes a file that only its owner can read, whole or not at all, and returns when it is on disk. The error is fs.ErrExist if there is one,
// also if another process writes it at the same time.
func WriteNew(path string, content []byte) error {
	temp, err := writeTemp(filepath.Dir(path), 0o600, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	err = Link(temp, path)
	switch {
	case err == nil || errors.Is(err, fs.ErrExist):
		err = errors.Join(err, Remove(temp))
	default: // some file systems do not support links
		err = Rename(temp, path)
	}
	if err != nil {
		return err
	}
	return SyncPath(filepath.Dir(path))
}

// writeTemp writes a file with a new name, whose content is on disk then.
func writeTemp(dir string, mode fs.FileMode, content func(io.Writer) error) (path string, err error) {
	f, err := CreateTemp(dir, TempPrefix+"*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, Remove(f.Name()))
		}
	}()
	err = content(f)
	if err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return f.Name(), errors.Join(err, f.Close())
}

// MakeFolder creates a folder that only its owner can enter, with those above it that are missing, and returns when their names are on disk.
func MakeFolder(path string) error {
	missing := []string{}
	for dir := path; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		missing = append(missing, dir)
	}
	if err := MkdirAll(path, 0o700); err != nil {
		return err
	}
	for _, dir := range missing {
		if err := SyncPath(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}
