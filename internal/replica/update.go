package replica

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"svc/internal/disk"
	"svc/internal/objects"
)

// maxNamed is how many files outside ContentNamed are remembered while they are compared.
const maxNamed = 1_000_000

// UpdateFiles makes the folders of a data directory, which nothing else changes, equal to those at the place: it fetches files that are missing, or that have another
// size or time than when they were fetched, and removes files that are not at the place any more. Uploads are not removed, as with FetchFiles.
func UpdateFiles(ctx context.Context, store objects.Store, to *disk.Root, folders []string) (*Fetched, error) {
	u := &updater{to: to, named: map[string]bool{}}
	fetched, err := fetchFiles(ctx, store, to, folders, time.Time{}, nil, u)
	if err != nil {
		return fetched, err
	}
	if u.overflow {
		return fetched, nil // nothing is removed
	}
	for _, folder := range folders {
		if folder == ContentNamed {
			continue
		}
		if err := u.removeOthers(folder); err != nil {
			return fetched, fmt.Errorf("%s: %w", folder, err)
		}
	}
	return fetched, nil
}

// updater knows which files are there.
type updater struct {
	to       *disk.Root
	named    map[string]bool // at the place, outside ContentNamed
	overflow bool
}

// has returns true if a file need not be fetched.
func (u *updater) has(name string, o objects.Object) bool {
	if !strings.HasPrefix(name, ContentNamed+"/") {
		if len(u.named) < maxNamed {
			u.named[name] = true
		} else {
			u.overflow = true
		}
	}
	info, err := u.to.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Size() == o.Size && info.ModTime().Equal(o.Modified)
}

// fetched gives a file the time that it has at the place.
func (u *updater) fetched(name string, o objects.Object) error {
	return u.to.Chtimes(name, time.Time{}, o.Modified)
}

// removeOthers removes the files of a folder that are not at the place.
func (u *updater) removeOthers(folder string) error {
	return fs.WalkDir(u.to.FS(), folder, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == folder {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() || u.named[path.Clean(name)] {
			return err
		}
		if err := u.to.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	})
}
