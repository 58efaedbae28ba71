// Package frontend has the web front ends that are installed on disk: the built files of a single-page application in NAME/REF, several
// side by side.
//
// Limits: an archive of 64 MiB, 5000 entries and 128 MiB of files; 100 versions in all.
package frontend

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"svc/internal/disk"
)

// Version names an installed version of a front end.
type Version struct{ Name, Ref string }

// ParseVersion reads NAME/REF. It returns false if the text is not the name of a version.
func ParseVersion(s string) (Version, bool) {
	name, ref, _ := strings.Cut(s, "/")
	v := Version{name, ref}
	return v, v.Valid()
}

// String returns NAME/REF.
func (v Version) String() string { return v.Name + "/" + v.Ref }

// validName is what a name and a ref look like: a folder that is not hidden.
var validName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.+-]{0,99}$`)

// Valid returns true if name and ref can be folders.
func (v Version) Valid() bool { return validName.MatchString(v.Name) && validName.MatchString(v.Ref) }

// Prefixes of folders that an interrupted installation leaves. No front end has such a name.
const (
	newPrefix = ".new-"
	oldPrefix = ".old-"
)

// Dir is the directory of the front ends. It is safe for concurrent use.
type Dir struct {
	path string
	root *disk.Root
	mu   sync.Mutex // held while versions change
}

// Open opens a directory, which it creates if necessary. It completes or removes what an interrupted installation has left.
func Open(dir string) (*Dir, error) {
	if err := disk.MakeFolder(dir); err != nil {
		return nil, fmt.Errorf("front ends: %w", err)
	}
	root, err := disk.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("front ends: %w", err)
	}
	d := &Dir{path: dir, root: root}
	if err := d.recover(); err != nil {
		return nil, errors.Join(fmt.Errorf("front ends: %w", err), root.Close())
	}
	return d, nil
}

// Close closes the directory. Open files stay readable.
func (d *Dir) Close() error { return d.root.Close() }

// recover puts back a version that was being replaced, and removes unfinished ones.
func (d *Dir) recover() error {
	names, err := d.folders(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, newPrefix) {
			if err := d.root.RemoveAll(name); err != nil {
				return err
			}
			continue
		}
		refs, err := d.folders(name)
		if err != nil {
			return err
		}
		for _, ref := range refs {
			old, ok := strings.CutPrefix(ref, oldPrefix)
			if !ok {
				continue
			}
			if !slices.Contains(refs, old) {
				err = d.root.Rename(path.Join(name, ref), path.Join(name, old))
			} else {
				err = d.root.RemoveAll(path.Join(name, ref))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// folders returns the names of the folders in a folder.
func (d *Dir) folders(name string) ([]string, error) {
	list, err := fs.ReadDir(d.root.FS(), name)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range list {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Installed returns the installed versions in order of name and ref.
func (d *Dir) Installed() ([]Version, error) {
	names, err := d.folders(".")
	if err != nil {
		return nil, fmt.Errorf("front ends: %w", err)
	}
	var list []Version
	for _, name := range names {
		refs, err := d.folders(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil, fmt.Errorf("front ends: %w", err)
		}
		for _, ref := range refs {
			if v := (Version{name, ref}); v.Valid() {
				list = append(list, v)
			}
		}
	}
	return list, nil
}

// Has returns true if a version is installed.
func (d *Dir) Has(v Version) bool {
	if !v.Valid() {
		return false
	}
	info, err := d.root.Stat(v.String())
	return err == nil && info.IsDir()
}

// Remove removes a version. It returns false if there is none.
func (d *Dir) Remove(v Version) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.Has(v) {
		return false, nil
	}
	gone := newPrefix + "removed" // so that nobody sees a part of it
	err := errors.Join(d.root.RemoveAll(gone), d.root.Rename(v.String(), gone), d.root.RemoveAll(gone))
	if err == nil {
		err = d.root.Sync(v.Name)
	}
	if left, _ := d.folders(v.Name); err == nil && len(left) == 0 {
		err = errors.Join(d.root.RemoveAll(v.Name), d.root.Sync("."))
	}
	if err != nil {
		return false, fmt.Errorf("remove front end: %w", err)
	}
	return true, nil
}

// OpenFile opens a regular file of a version. Everything that is not one is fs.ErrNotExist.
func (d *Dir) OpenFile(v Version, name string) (*os.File, fs.FileInfo, error) {
	if !v.Valid() || !fs.ValidPath(name) || strings.ContainsAny(name, "\\:\x00") || strings.Contains("/"+name, "/.") {
		return nil, nil, fs.ErrNotExist
	}
	file, err := d.root.Open(path.Join(v.Name, v.Ref, name))
	if err != nil {
		return nil, nil, fs.ErrNotExist
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, nil, fs.ErrNotExist
	}
	return file, info, nil
}
