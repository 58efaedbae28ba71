package emoji

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"svc/internal/disk"
	"svc/internal/errs"
	"svc/internal/unzip"
)

// Folder is like Archive for a folder on disk: a pack with its pack.json, or pictures. Hidden folders in it are ignored.
func (u *Unpacker) Folder(ctx context.Context, dir string) (*IncomingPack, error) {
	root, err := disk.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := root.FS()
	var entries []unzip.Entry
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case len(entries) == u.Limits.Entries:
			return errs.Invalid("there are more than %d files in %s", u.Limits.Entries, dir)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := unzip.Entry{Name: name, Mode: info.Mode(), Size: info.Size(), Open: func() (io.ReadCloser, error) { return files.Open(name) }}
		if d.IsDir() {
			e.Name, e.Size = name+"/", 0
		}
		entries = append(entries, e)
		return ctx.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("read folder: %w", err)
	}
	if err := unzip.Check(entries); err != nil {
		return nil, err
	}
	return u.unpack(ctx, entries, nil)
}
