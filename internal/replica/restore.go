package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"svc/internal/disk"
	"svc/internal/objects"
)

// fetchAttempts is how often a file is fetched whose transfer fails.
const fetchAttempts = 3

// HasDatabase returns true if Litestream has written something to a place.
func HasDatabase(ctx context.Context, store objects.Store) (bool, error) {
	page, err := store.List(ctx, DatabasePrefix, "", 1)
	return len(page) > 0, err
}

// DatabaseTime returns when Litestream has last written to the place, by the clock of the place; zero if it has not.
func DatabaseTime(ctx context.Context, store objects.Store) (newest time.Time, err error) {
	for _, level := range []string{"ltx/0/", "ltx/1/", "ltx/9/", "0000/", "0001/", "0009/"} { // in folders and on SFTP servers; on S3
		for o, err := range objects.All(ctx, store, DatabasePrefix+level) {
			if err != nil {
				return newest, err
			}
			if o.Modified.After(newest) {
				newest = o.Modified
			}
		}
	}
	return newest, nil
}

// Size returns how many bytes the files at the place have, and those of the database, which are more than the database itself.
func Size(ctx context.Context, store objects.Store) (files, database int64, err error) {
	for prefix, sum := range map[string]*int64{filesPrefix: &files, DatabasePrefix: &database} {
		for o, err := range objects.All(ctx, store, prefix) {
			if err != nil {
				return files, database, err
			}
			*sum += o.Size
		}
	}
	return files, database, nil
}

// Fetched counts what FetchFiles has fetched.
type Fetched struct {
	Files int
	Bytes int64
}

// FetchFiles writes the files at the place into a folder, those in folders only. Files that were deleted before a time are left out; zero is now. Uploads
// are not, because those without a row are removed later, and a row may need one. progress is called with the bytes of each part; it may be nil.
func FetchFiles(ctx context.Context, store objects.Store, to *disk.Root, folders []string, at time.Time, progress io.Writer) (*Fetched, error) {
	return fetchFiles(ctx, store, to, folders, at, progress, nil)
}

// fetchFiles is FetchFiles, but leaves out what the updater has, if there is one.
func fetchFiles(ctx context.Context, store objects.Store, to *disk.Root, folders []string, at time.Time, progress io.Writer, update *updater) (*Fetched, error) {
	deleted, err := placedDeleted(ctx, store)
	if err != nil {
		return nil, fmt.Errorf("list of deleted files: %w", err)
	}
	if progress == nil {
		progress = io.Discard
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := &fetcher{store: store, to: to, progress: progress, update: update}
	names := make(chan objects.Object, transfers)
	var running sync.WaitGroup
	for range transfers {
		running.Go(func() {
			for o := range names {
				if err := f.fetch(ctx, o); err != nil {
					cancel(fmt.Errorf("%s: %w", o.Name, err))
					return
				}
			}
		})
	}
	err = f.list(ctx, names, folders, deleted, at)
	close(names)
	running.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return &f.fetched, err
}

type fetcher struct {
	store    objects.Store
	to       *disk.Root
	update   *updater // nil: all files are fetched
	mu       sync.Mutex
	progress io.Writer
	fetched  Fetched
}

// list sends the objects that are to be fetched.
func (f *fetcher) list(ctx context.Context, names chan<- objects.Object, folders []string, deleted map[string]time.Time, at time.Time) error {
	for o, err := range objects.All(ctx, f.store, filesPrefix) {
		if err != nil {
			return err
		}
		name := o.Name[len(filesPrefix):]
		top, _, nested := strings.Cut(name, "/")
		if !nested || !slices.Contains(folders, top) || !fs.ValidPath(name) {
			continue
		}
		gone, isDeleted := deleted[name]
		if isDeleted && top != ContentNamed && (at.IsZero() || !gone.After(at)) {
			continue
		}
		if f.update != nil && f.update.has(name, o) {
			continue
		}
		select {
		case names <- o:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// fetch writes one file. It is synchronised by the caller, all at once.
func (f *fetcher) fetch(ctx context.Context, o objects.Object) error {
	name := o.Name[len(filesPrefix):]
	if err := f.to.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := f.write(ctx, o, name)
		if err == nil || attempt == fetchAttempts || !errors.Is(err, objects.ErrUnreachable) {
			return err
		}
	}
}

func (f *fetcher) write(ctx context.Context, o objects.Object, name string) error {
	body, _, err := f.store.Get(ctx, o.Name, 0, -1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted since it was listed
	}
	if err != nil {
		return err
	}
	defer body.Close()
	file, err := f.to.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.MultiWriter(file, lockedWriter{&f.mu, f.progress}), body)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if f.update != nil {
		if err := f.update.fetched(name, o); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fetched.Files++
	f.fetched.Bytes += n
	return nil
}

// lockedWriter is a writer for several goroutines.
type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
