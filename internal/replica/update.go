package replica

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"svc/internal/disk"
	"svc/internal/objects"
)

// maxNamed is how many files outside ContentNamed are remembered while they are compared.
const maxNamed = 1_000_000

// UpdateFiles makes the folders of a data directory, which nothing else changes, equal to those at the place: it fetches files that are missing, or that have another
// size or time than when they were fetched, and removes files that are not at the place any more. Uploads are not removed, as with FetchFiles, and nothing is if
// the place lacks nearly all files: then it is not that of this server any more, or was emptied.
func UpdateFiles(ctx context.Context, store objects.Store, to *disk.Root, folders []string) (*Fetched, error) {
	u := &updater{to: to, named: map[string]bool{}}
	fetched, err := fetchFiles(ctx, store, to, folders, time.Time{}, nil, u)
	if err != nil || u.overflow {
		return fetched, err
	}
	var others []string
	for _, folder := range folders {
		if folder == ContentNamed {
			continue
		}
		if others, err = u.addOthers(others, folder); err != nil {
			return fetched, fmt.Errorf("%s: %w", folder, err)
		}
	}
	if len(u.named) == 0 || len(others) > missingFew && len(others) > len(u.named) {
		return fetched, nil
	}
	for _, name := range others {
		if err := u.to.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fetched, err
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

// addOthers appends the files of a folder that are not at the place.
func (u *updater) addOthers(others []string, folder string) ([]string, error) {
	err := fs.WalkDir(u.to.FS(), folder, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == folder {
			return fs.SkipAll
		}
		if err == nil && !d.IsDir() && !u.named[path.Clean(name)] {
			others = append(others, name)
		}
		return err
	})
	return others, err
}
