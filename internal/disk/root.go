package disk

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Root is a folder whose files are reached without leaving it, as with os.Root.
type Root struct {
	*os.Root
	dir string
}

// OpenRoot opens a folder.
func OpenRoot(dir string) (*Root, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Root{r, dir}, nil
}

// path returns the path of a name in the folder.
func (r *Root) path(name string) string { return filepath.Join(r.dir, name) }

// OpenRoot opens a folder in the folder.
func (r *Root) OpenRoot(name string) (*Root, error) {
	inner, err := r.Root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Root{inner, r.path(name)}, nil
}

// OpenFile opens a file for writing. To read one, use Open.
func (r *Root) OpenFile(name string, flag int, mode fs.FileMode) (*File, error) {
	return open(r.path(name), flag, func() (*os.File, error) { return r.Root.OpenFile(name, flag, mode) })
}

// Create creates an empty file that only its owner can read, or truncates the one that is there.
func (r *Root) Create(name string) (*File, error) {
	return r.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

// Mkdir creates a folder.
func (r *Root) Mkdir(name string, mode fs.FileMode) error {
	return change(Change{Kind: FolderMade, Path: r.path(name)}, func() error { return r.Root.Mkdir(name, mode) })
}

// MkdirAll creates a folder and those above it that are missing.
func (r *Root) MkdirAll(name string, mode fs.FileMode) error {
	return change(Change{Kind: FolderMade, Path: r.path(name)}, func() error { return r.Root.MkdirAll(name, mode) })
}

// Rename gives a file or folder another name, and replaces the file that has it.
func (r *Root) Rename(from, to string) error {
	return change(Change{Kind: Renamed, Path: r.path(from), To: r.path(to)}, func() error { return r.Root.Rename(from, to) })
}

// RenameNew is Rename, but fails with fs.ErrExist if there is a file of that name. The error is errors.ErrUnsupported if the file system cannot, or if
// the system is not Linux.
func (r *Root) RenameNew(from, to string) error {
	return change(Change{Kind: Renamed, Path: r.path(from), To: r.path(to)}, func() error { return renameNew(r.Root, from, to) })
}

// Link gives a file a further name. It fails with fs.ErrExist if there is a file of that name.
func (r *Root) Link(from, to string) error {
	return change(Change{Kind: Linked, Path: r.path(from), To: r.path(to)}, func() error { return r.Root.Link(from, to) })
}

// Remove removes a file or an empty folder.
func (r *Root) Remove(name string) error {
	return change(Change{Kind: Removed, Path: r.path(name)}, func() error { return r.Root.Remove(name) })
}

// RemoveAll removes a file or folder with all that is in it. It is no error if there is none.
func (r *Root) RemoveAll(name string) error {
	return change(Change{Kind: Removed, Path: r.path(name), All: true}, func() error { return r.Root.RemoveAll(name) })
}

// Sync waits until the content of a file, or the names in a folder, are on disk. The folder itself is ".".
func (r *Root) Sync(name string) error {
	return change(Change{Kind: Synced, Path: r.path(name)}, func() error { return syncOpened(r.Open(name)) })
}
