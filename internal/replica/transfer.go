package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"svc/internal/objects"
)

// process brings the place up to date for one name.
func (k *Copier) process(ctx context.Context, i *item) error {
	store, err := k.place(ctx)
	if err != nil {
		return err
	}
	info, err := k.stat(i.name)
	switch {
	case err != nil:
		return err
	case info == nil && i.tree:
		return k.treeGone(ctx, store, i.name)
	case info == nil:
		return k.gone(ctx, store, i.name)
	case info.IsDir() && i.tree:
		return k.addTree(ctx, i.name)
	case info.Mode().IsRegular():
		return k.put(ctx, store, i.name)
	}
	return nil // a folder whose files are seen themselves, or a link
}

// put copies a file. One that is gone meanwhile is deleted.
func (k *Copier) put(ctx context.Context, store objects.Store, name string) error {
	f, err := os.Open(k.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return k.gone(ctx, store, name)
	}
	if err != nil {
		return localError{err}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return localError{err}
	}
	if info.Size() > largeFile {
		select {
		case k.large <- struct{}{}:
			defer func() { <-k.large }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if _, err := store.Put(ctx, filesPrefix+name, localReader{f}, info.Size(), objects.PutOptions{}); err != nil {
		return err
	}
	k.deleted.forget(name)
	k.succeeded(info.Size())
	return nil
}

// localReader reads a file of the data directory.
type localReader struct{ io.Reader }

func (r localReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = localError{err}
	}
	return n, err
}

// gone remembers a file as deleted, and removes it at the place if it was deleted long enough ago. An upload that a row names is lost, not deleted.
func (k *Copier) gone(ctx context.Context, store objects.Store, name string) error {
	at, known := k.deleted.at(name)
	if !known {
		k.deleted.remember(name, k.Now())
		return nil
	}
	if k.Now().Sub(at) < k.Keep {
		return nil
	}
	if upload, ok := strings.CutPrefix(name, ContentNamed+"/"); ok && k.HasRow != nil {
		lost, err := k.HasRow(ctx, upload)
		if err != nil {
			return err
		}
		if lost {
			k.deleted.forget(name) // a comparison finds it again
			return localError{errors.New("the disk has lost it, and it is at the copy: see svc media verify")}
		}
	}
	if err := store.Delete(ctx, filesPrefix+name); err != nil {
		return err
	}
	k.deleted.forget(name)
	return nil
}

// treeGone remembers all files of a folder as deleted.
func (k *Copier) treeGone(ctx context.Context, store objects.Store, folder string) error {
	for o, err := range objects.All(ctx, store, filesPrefix+folder+"/") {
		if err != nil {
			return err
		}
		name := o.Name[len(filesPrefix):]
		info, err := k.stat(name)
		if err != nil {
			return err
		}
		if _, known := k.deleted.at(name); info == nil && !known {
			k.deleted.remember(name, k.Now())
		}
	}
	return k.gone(ctx, store, folder) // or it was a file
}

// addTree queues all files of a folder.
func (k *Copier) addTree(ctx context.Context, folder string) error {
	return k.walk(ctx, folder, func(name string, _ fs.FileInfo) error {
		k.queue.add(name, false)
		return nil
	})
}

// walk calls fn for the files of a folder, in the order of the bytes of their names, as places list them.
func (k *Copier) walk(ctx context.Context, folder string, fn func(name string, info fs.FileInfo) error) error {
	entries, err := readFolder(k.path(folder))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		if err := ctx.Err(); err != nil {
			return err
		}
		if !k.copies(name) {
			continue
		}
		if e.IsDir() {
			if err := k.walk(ctx, name, fn); err != nil {
				return err
			}
			continue
		}
		if !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return localError{fmt.Errorf("%s: %w", name, err)}
		}
		if err := fn(name, info); err != nil {
			return err
		}
	}
	return nil
}
