package replica

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"svc/internal/objects"
)

const (
	comparedContent = 64 << 10  // bytes; smaller files are compared by content, unless their name depends on it
	clockTolerance  = time.Hour // between this machine and the place
	missingFew      = 100       // so many files may be gone at once
)

// compareOften compares the place with the folders at the start, once a day, and when the queue was full.
func (k *Copier) compareOften(ctx context.Context) {
	pause := firstPause
	for {
		err := k.compare(ctx)
		if ctx.Err() != nil {
			return
		}
		next := k.Now().Add(compareEvery)
		if err != nil {
			k.failed(fmt.Errorf("comparison: %w", err))
			next = k.Now().Add(pause)
			pause = min(2*pause, longestPause)
		} else {
			pause = firstPause
		}
		for k.Now().Before(next) && !k.queue.overflowed() {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
		}
	}
}

// compare queues what the place lacks or has otherwise, and remembers what it has in addition as deleted.
func (k *Copier) compare(ctx context.Context) error {
	store, err := k.place(ctx)
	if err != nil {
		return err
	}
	if err := k.adoptDeleted(ctx, store); err != nil {
		return err
	}
	var why []string
	for _, folder := range k.Folders {
		missing, err := k.compareFolder(ctx, store, folder)
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		if missing != "" {
			why = append(why, missing)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	missing := strings.Join(why, "; ")
	if missing != "" && k.status.Missing == "" {
		k.Log.Error("files are gone, and stay at the copy: look whether the disk is mounted", "err", missing)
	}
	k.status.Compared, k.status.Success, k.status.Error, k.status.Missing = k.Now(), k.Now(), "", missing
	return nil
}

// compareFolder compares one folder. It returns why deletions were not followed, "" if they were.
func (k *Copier) compareFolder(ctx context.Context, store objects.Store, folder string) (missing string, err error) {
	next, stop := iter.Pull2(objects.All(ctx, store, filesPrefix+folder+"/"))
	defer stop()
	placed, err, more := next()
	if more && err != nil {
		return "", err
	}
	var gone []string
	both := 0
	onlyPlaced := func(until string) error { // what the place has before a name
		for more && (until == "" || placed.Name < filesPrefix+until) {
			name := placed.Name[len(filesPrefix):]
			if _, known := k.deleted.at(name); !known && len(gone) < maxDeleted {
				gone = append(gone, name)
			}
			if placed, err, more = next(); more && err != nil {
				return err
			}
		}
		return nil
	}
	walked := k.walk(ctx, folder, func(name string, info fs.FileInfo) error {
		if err := onlyPlaced(name); err != nil {
			return err
		}
		if !more || placed.Name != filesPrefix+name {
			return k.queue.addSlowly(ctx, name)
		}
		both++
		same, err := k.same(ctx, store, name, info, placed)
		if err != nil {
			return err
		}
		if _, known := k.deleted.at(name); known && same {
			k.deleted.forget(name)
		}
		if placed, err, more = next(); more && err != nil {
			return err
		}
		if same {
			return nil
		}
		return k.queue.addSlowly(ctx, name)
	})
	if err := errors.Join(walked, onlyPlaced("")); err != nil {
		return "", err
	}
	return k.rememberGone(folder, gone, both)
}

// rememberGone remembers files as deleted that are gone from a folder, of which both are there and at the place.
func (k *Copier) rememberGone(folder string, gone []string, both int) (missing string, err error) {
	if len(gone) > missingFew && len(gone) > both {
		return fmt.Sprintf("%s has %d files, and %d are at the copy only", folder, both, len(gone)), nil
	}
	for _, name := range gone {
		info, err := k.stat(name) // a file may have come meanwhile
		if err != nil {
			return "", err
		}
		if info == nil {
			k.deleted.remember(name, k.Now())
		}
	}
	return "", nil
}

// same returns true if an object is certainly the content of a file. Uploads have names that depend on their content.
func (k *Copier) same(ctx context.Context, store objects.Store, name string, info fs.FileInfo, o objects.Object) (bool, error) {
	switch {
	case info.Size() != o.Size:
		return false, nil
	case strings.HasPrefix(name, ContentNamed+"/"), info.Size() == 0:
		return true, nil
	case info.Size() > comparedContent:
		return info.ModTime().Before(o.Modified.Add(-clockTolerance)), nil
	}
	local, err := os.ReadFile(k.path(name))
	if err != nil {
		return false, nil // the transfer finds out why
	}
	body, _, err := store.Get(ctx, o.Name, 0, comparedContent)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer body.Close()
	placed, err := io.ReadAll(body)
	return bytes.Equal(local, placed), err
}

// ContentNamed is the folder whose files have names that depend on their content, and never change.
const ContentNamed = "media"

// readFolder returns the entries of a folder in the order of the bytes of the names of files: a folder sorts like the names in it. A folder that is
// gone has none. The folder itself may be a link.
func readFolder(path string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, localError{err}
	}
	key := func(e fs.DirEntry) string {
		if e.IsDir() {
			return e.Name() + "/"
		}
		return e.Name()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(key(a), key(b)) })
	return entries, nil
}
