package frontend

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"svc/internal/disk"
	"svc/internal/errs"
	"svc/internal/unzip"
)

// Limits of an archive.
const (
	MaxArchive  = 64 << 20  // bytes
	maxEntries  = 5000      // files and folders
	maxFile     = 32 << 20  // bytes of one file
	maxContent  = 128 << 20 // bytes of all files
	maxVersions = 100
)

// Install unpacks the folder build of a zip archive as a version, in place of an installed one. An empty build is the folder that has the
// index.html. Requests are answered from the old version until the new one is complete. Nothing changes if the archive is refused.
func (d *Dir) Install(v Version, archive io.ReaderAt, size int64, build string) error {
	if !v.Valid() {
		return errs.Invalid("%q is not a valid name and ref of a front end", v.String())
	}
	entries, err := unzip.Read(archive, size, MaxArchive, maxEntries)
	if err != nil {
		return err
	}
	files, err := buildFiles(entries, build)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	installed, err := d.Installed()
	if err != nil {
		return err
	}
	if len(installed) >= maxVersions && !d.Has(v) {
		return errs.Invalid("%d versions of front ends are installed: remove some first", len(installed))
	}
	incoming, err := disk.MkdirTemp(d.path, newPrefix)
	if err != nil {
		return fmt.Errorf("install front end: %w", err)
	}
	defer disk.RemoveAll(incoming) // unless it became the version
	if err := unpack(incoming, files); err != nil {
		return err
	}
	if err := d.replace(filepath.Base(incoming), v); err != nil {
		return fmt.Errorf("install front end: %w", err)
	}
	return nil
}

// buildFiles returns the files below a folder of the archive, by path in the folder.
func buildFiles(entries []unzip.Entry, build string) (map[string]*unzip.Entry, error) {
	all := unzip.Files(entries)
	build = strings.Trim(build, "/")
	switch {
	case build == "":
		if build = indexFolder(all); build == "" {
			return nil, errs.Invalid("the archive has no index.html")
		}
	case all[build+"/index.html"] != nil:
	case all["index.html"] != nil && strings.HasPrefix(entries[0].Name, build+"/"): // the folder around everything
		build = "."
	default:
		return nil, errs.Invalid("the archive has no %s/index.html", build)
	}
	files := make(map[string]*unzip.Entry)
	for name, e := range all {
		if build == "." {
			files[name] = e
		} else if inside, ok := strings.CutPrefix(name, build+"/"); ok {
			files[inside] = e
		}
	}
	return files, nil
}

// indexFolder returns the outermost folder with an index.html, the first one in order if there are several, and "" if there is none.
func indexFolder(files map[string]*unzip.Entry) string {
	var folders []string
	for name := range files {
		if path.Base(name) == "index.html" {
			folders = append(folders, path.Dir(name))
		}
	}
	if len(folders) == 0 {
		return ""
	}
	return slices.MinFunc(folders, func(a, b string) int {
		return cmp.Or(cmp.Compare(depth(a), depth(b)), strings.Compare(a, b))
	})
}

func depth(folder string) int {
	if folder == "." {
		return 0
	}
	return 1 + strings.Count(folder, "/")
}

// unpack writes files into a folder and waits until they are on disk.
func unpack(dir string, files map[string]*unzip.Entry) error {
	root, err := disk.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("install front end: %w", err)
	}
	defer root.Close()
	var total int64
	folders := map[string]bool{".": true}
	for name, e := range files {
		if unzip.IsLitter(name) {
			continue
		}
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return fmt.Errorf("install front end: %w", err)
		}
		size, err := unpackFile(root, name, e)
		if err != nil {
			return err
		}
		if total += size; total > maxContent {
			return unzip.Refuse(e.Name, "the files up to this one have more than %d bytes", maxContent)
		}
		for dir := path.Dir(name); !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	for dir := range folders {
		if err := root.Sync(dir); err != nil {
			return fmt.Errorf("install front end: %w", err)
		}
	}
	return nil
}

func unpackFile(root *disk.Root, name string, e *unzip.Entry) (size int64, err error) {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("install front end: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if size, err = unzip.Copy(file, e, maxFile); err != nil {
		return 0, err
	}
	return size, file.Sync()
}

// replace makes a folder the version.
func (d *Dir) replace(incoming string, v Version) error {
	if err := d.root.MkdirAll(v.Name, 0o700); err != nil {
		return err
	}
	old := path.Join(v.Name, oldPrefix+v.Ref)
	replaced := d.Has(v)
	if replaced {
		if err := errors.Join(d.root.RemoveAll(old), d.root.Rename(v.String(), old)); err != nil {
			return err
		}
	}
	if err := d.root.Rename(incoming, v.String()); err != nil {
		if replaced {
			err = errors.Join(err, d.root.Rename(old, v.String()))
		}
		return err
	}
	err := errors.Join(d.root.Sync(v.Name), d.root.Sync("."))
	if replaced {
		err = errors.Join(err, d.root.RemoveAll(old))
	}
	return err
}
