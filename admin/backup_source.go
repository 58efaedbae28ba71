package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"svc/internal/objects"
)

// BackupSource is a complete backup that is read: a file, or an object at a place.
type BackupSource struct {
	Name string // its path or location, for messages
	Size int64  // in bytes

	ctx   context.Context
	file  string        // "": the others are set
	place objects.Store // nil: a file
	name  string        // of the object
}

// OpenBackup finds a backup: by the path of a file, or by the location of an object, or of a place, of which it takes the newest backup that was made not later
// than at. The caller must Close it. at is zero if any is old enough.
func OpenBackup(ctx context.Context, where string, at time.Time, o objects.Options) (*BackupSource, error) {
	if !IsPlace(where) {
		info, err := os.Stat(where) // else opening the place would make the folder
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			return &BackupSource{Name: where, Size: info.Size(), ctx: ctx, file: where}, nil
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("%s is not a file", where)
		}
	}
	o.NoCreate = true
	p, name, err := OpenBackupPlace(ctx, where, o)
	if err != nil {
		return nil, err
	}
	s, err := p.source(ctx, name, at)
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return s, nil
}

// source returns a backup of the place; name is "" for the newest one.
func (p *BackupPlace) source(ctx context.Context, name string, at time.Time) (*BackupSource, error) {
	if name == "" {
		list, err := p.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, b := range list {
			if at.IsZero() || !b.Time.After(at) {
				name = b.Name // the list is in order
			}
		}
		switch {
		case name == "" && len(list) > 0:
			return nil, fmt.Errorf("no backup in %s is from before %s: the oldest is %s", p, at.UTC().Format(time.RFC3339), list[0].Name)
		case name == "":
			return nil, fmt.Errorf("there is no backup in %s", p)
		}
	}
	o, err := p.store.Stat(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("backup in %s: %w", p, err)
	}
	return &BackupSource{Name: p.nameOf(name), Size: o.Size, ctx: ctx, place: p.store, name: name}, nil
}

// open opens the content from its beginning. It may be called several times.
func (s *BackupSource) open() (io.ReadCloser, error) {
	if s.place == nil {
		return os.Open(s.file)
	}
	body, _, err := s.place.Get(s.ctx, s.name, 0, -1)
	return body, err
}

// folder returns the folder of the file, "" if it is no file.
func (s *BackupSource) folder() string {
	if s.place != nil {
		return ""
	}
	return filepath.Dir(s.file)
}

// Close ends the connection to the place.
func (s *BackupSource) Close() error {
	if s.place == nil {
		return nil
	}
	return s.place.Close()
}

// IsPlace returns true for the location of a bucket or an SFTP server, and false for a path.
func IsPlace(where string) bool {
	return strings.HasPrefix(where, "s3://") || strings.HasPrefix(where, "sftp://")
}
