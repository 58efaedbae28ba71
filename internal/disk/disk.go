// Package disk changes files and folders. What this program writes, other than through SQLite, goes through it, so that a durable change is made
// in one way, and tests can see, refuse, slow down or forget each change.
//
// A change is durable after a synchronisation only: of the file for its content, and of the folder for the names in it. Without that, a power
// failure may undo it, or half of it.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Kind is what a change does.
type Kind string

const (
	Opened     Kind = "open"     // opens a file for writing, which creates or truncates it if Flag says so
	Written    Kind = "write"    // Data at Offset
	Truncated  Kind = "truncate" // to Size
	Synced     Kind = "sync"     // a file, or the names in a folder
	AllSynced  Kind = "sync all" // all file systems
	FolderMade Kind = "mkdir"    // with the missing folders above it
	Renamed    Kind = "rename"
	Linked     Kind = "link"
	Removed    Kind = "remove" // with all that is in it, if All
)

// Change is one change. Writes and truncations are of open files, and so are their synchronisations.
type Change struct {
	Kind   Kind
	Path   string // absolute; "" for AllSynced and for an open file
	To     string // absolute; for Renamed and Linked
	File   uint64 // the open file, numbered from 1; 0 if Path names it
	Flag   int    // of os.OpenFile
	Offset int64
	Data   []byte // valid during the change only
	Size   int64
	All    bool
}

// Interceptor carries out changes, by do, or fails instead. It is called from many goroutines. Path of a temporary file is known after do.
type Interceptor func(c *Change, do func() error) error

var (
	interceptor atomic.Pointer[Interceptor]
	lastFile    atomic.Uint64
)

// Intercept hands all changes of this process to fn, until the returned function is called. It is for tests.
func Intercept(fn Interceptor) (end func()) {
	interceptor.Store(&fn)
	return func() { interceptor.Store(nil) }
}

// NewFile returns the number of a file that something else than this package opens.
func NewFile() uint64 { return lastFile.Add(1) }

// change carries out a change.
func change(c Change, do func() error) error {
	err := intercept(c, do)
	if err == nil {
		observe(c)
	}
	return err
}

func intercept(c Change, do func() error) error {
	fn := interceptor.Load()
	if fn == nil {
		return do()
	}
	for _, path := range []*string{&c.Path, &c.To} {
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = absolute
	}
	return (*fn)(&c, do)
}

// MkdirAll creates a folder and those above it that are missing.
func MkdirAll(path string, mode fs.FileMode) error {
	return change(Change{Kind: FolderMade, Path: path}, func() error { return os.MkdirAll(path, mode) })
}

// Mkdir creates a folder.
func Mkdir(path string, mode fs.FileMode) error {
	return change(Change{Kind: FolderMade, Path: path}, func() error { return os.Mkdir(path, mode) })
}

// MkdirTemp creates a folder with a new name in dir, as os.MkdirTemp does.
func MkdirTemp(dir, pattern string) (path string, err error) {
	fn := interceptor.Load()
	if fn == nil {
		return os.MkdirTemp(dir, pattern)
	}
	c := &Change{Kind: FolderMade}
	err = (*fn)(c, func() error {
		if path, err = os.MkdirTemp(dir, pattern); err == nil {
			c.Path, err = filepath.Abs(path)
		}
		return err
	})
	return path, err
}

// Rename gives a file or folder another name, and replaces the file that has it.
func Rename(from, to string) error {
	return change(Change{Kind: Renamed, Path: from, To: to}, func() error { return os.Rename(from, to) })
}

// Link gives a file a further name. It fails with fs.ErrExist if there is a file of that name.
func Link(from, to string) error {
	return change(Change{Kind: Linked, Path: from, To: to}, func() error { return os.Link(from, to) })
}

// Remove removes a file or an empty folder.
func Remove(path string) error {
	return change(Change{Kind: Removed, Path: path}, func() error { return os.Remove(path) })
}

// RemoveAll removes a file or folder with all that is in it. It is no error if there is none.
func RemoveAll(path string) error {
	return change(Change{Kind: Removed, Path: path, All: true}, func() error { return os.RemoveAll(path) })
}

// SyncPath waits until the content of a file, or the names in a folder, are on disk.
func SyncPath(path string) error {
	return change(Change{Kind: Synced, Path: path}, func() error { return syncOpened(os.Open(path)) })
}

func syncOpened(f *os.File, err error) error {
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// SyncEverything waits until all that was written is on disk, of all file systems, which takes less than one file after the other.
func SyncEverything() error {
	return change(Change{Kind: AllSynced}, func() error { unix.Sync(); return nil })
}
