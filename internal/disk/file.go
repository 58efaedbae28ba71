package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is open for writing. Reading it is as for an os.File.
type File struct {
	*os.File
	id   uint64 // 0: its changes are not intercepted
	path string // as it was opened; for observers
}

// OpenFile opens a file as os.OpenFile does.
func OpenFile(path string, flag int, mode fs.FileMode) (*File, error) {
	return open(path, flag, func() (*os.File, error) { return os.OpenFile(path, flag, mode) })
}

// Create creates an empty file that only its owner can read, or truncates the one that is there.
func Create(path string) (*File, error) {
	return OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

// CreateTemp creates a file with a new name in dir, as os.CreateTemp does. Only its owner can read it.
func CreateTemp(dir, pattern string) (*File, error) {
	return open("", os.O_RDWR|os.O_CREATE|os.O_EXCL, func() (*os.File, error) { return os.CreateTemp(dir, pattern) })
}

// open opens a file. A path of "" is that of the opened file.
func open(path string, flag int, do func() (*os.File, error)) (*File, error) {
	fn := interceptor.Load()
	if fn == nil {
		f, err := do()
		return opened(f, 0, path, err)
	}
	var f *os.File
	c := &Change{Kind: Opened, Flag: flag, File: NewFile()}
	var err error
	if path != "" {
		if c.Path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
	}
	err = (*fn)(c, func() (err error) {
		if f, err = do(); err == nil && path == "" {
			c.Path, err = filepath.Abs(f.Name())
		}
		return err
	})
	return opened(f, c.File, path, err)
}

func opened(f *os.File, id uint64, path string, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	if path == "" {
		path = f.Name()
	}
	return &File{f, id, path}, nil
}

// Close closes the file. Observers see it as written then.
func (f *File) Close() error {
	err := f.File.Close()
	if err == nil {
		observed(f.path, false)
	}
	return err
}

// intercepted returns true if changes of the file are seen.
func (f *File) intercepted() bool { return f.id != 0 && interceptor.Load() != nil }

// Write writes at the position of the file.
func (f *File) Write(b []byte) (n int, err error) {
	if !f.intercepted() {
		return f.File.Write(b)
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	err = change(Change{Kind: Written, File: f.id, Offset: at, Data: b}, func() error {
		n, err = f.File.Write(b)
		return err
	})
	return n, err
}

// WriteString is Write of a text.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// WriteAt writes at an offset.
func (f *File) WriteAt(b []byte, offset int64) (n int, err error) {
	if !f.intercepted() {
		return f.File.WriteAt(b, offset)
	}
	err = change(Change{Kind: Written, File: f.id, Offset: offset, Data: b}, func() error {
		n, err = f.File.WriteAt(b, offset)
		return err
	})
	return n, err
}

// ReadFrom writes all of r at the position of the file.
func (f *File) ReadFrom(r io.Reader) (int64, error) {
	if !f.intercepted() {
		return f.File.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{f}, r)
}

// Truncate changes the size of the file.
func (f *File) Truncate(size int64) error {
	if !f.intercepted() {
		return f.File.Truncate(size)
	}
	return change(Change{Kind: Truncated, File: f.id, Size: size}, func() error { return f.File.Truncate(size) })
}

// Sync waits until the content of the file is on disk. Its name may not be: see SyncPath.
func (f *File) Sync() error {
	if !f.intercepted() {
		return f.File.Sync()
	}
	return change(Change{Kind: Synced, File: f.id}, f.File.Sync)
}

// Unnamed creates a file in dir that has no name any more, so that it is gone when it is closed, also after a crash.
func Unnamed(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, TempPrefix+"*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
