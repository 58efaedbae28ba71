package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"svc/internal/objects"
)

// BackupPlace is where backups are: a folder, a bucket of S3, or a folder of an SFTP server.
type BackupPlace struct {
	location objects.Location
	store    objects.Store
}

// PlacedBackup is a backup at a place.
type PlacedBackup struct {
	Name  string
	Bytes int64
	Time  time.Time // when it was made
}

// OpenBackupPlace opens the place of a location or of a folder. The location of a backup, which ends with ".tar", is that of its place and the name of the
// backup. The caller must Close the place.
func OpenBackupPlace(ctx context.Context, where string, o objects.Options) (p *BackupPlace, name string, err error) {
	place, name := splitBackup(where)
	location, err := objects.ParseLocation(place)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", where, err)
	}
	store, err := objects.Open(ctx, location, o)
	if err != nil {
		return nil, "", explainPlace(err)
	}
	return &BackupPlace{location, store}, name, nil
}

// splitBackup splits the location of a backup into that of its place and its name.
func splitBackup(where string) (place, name string) {
	address, query, hasQuery := strings.Cut(where, "?")
	if !strings.HasSuffix(address, backupSuffix) {
		return where, ""
	}
	dir, name := path.Split(address)
	if dir == "" {
		dir = "."
	}
	if !strings.HasSuffix(dir, "://") {
		dir = strings.TrimSuffix(dir, "/")
	}
	if hasQuery {
		dir += "?" + query
	}
	return dir, name
}

// explainPlace adds what to do to an error of a place.
func explainPlace(err error) error {
	switch {
	case errors.Is(err, objects.ErrIdentity):
		return fmt.Errorf("%w (compare the key of the server, then add ?fingerprint=SHA256:… to the location, or the key to sftp.known_hosts)", err)
	case errors.Is(err, objects.ErrRefused):
		return fmt.Errorf("%w (the credentials are the settings of s3 and sftp)", err)
	}
	return err
}

// Close ends connections.
func (p *BackupPlace) Close() error { return p.store.Close() }

// String returns the location.
func (p *BackupPlace) String() string { return p.location.String() }

// nameOf returns the location of a backup.
func (p *BackupPlace) nameOf(name string) string {
	address, query, hasQuery := strings.Cut(p.String(), "?")
	address = strings.TrimSuffix(address, "/") + "/" + name
	if hasQuery {
		address += "?" + query
	}
	return address
}

// List returns the backups at the place, the oldest first. Others than those that the program names itself are not among them.
func (p *BackupPlace) List(ctx context.Context) (list []PlacedBackup, err error) {
	for o, err := range objects.All(ctx, p.store, backupPrefix) {
		if err != nil {
			return nil, fmt.Errorf("backups in %s: %w", p, explainPlace(err))
		}
		if at, _, ok := parseBackupName(o.Name); ok {
			list = append(list, PlacedBackup{o.Name, o.Size, at})
		}
	}
	sortBackups(list)
	return list, nil
}

// Put writes a backup. write fills it in. The backup is visible when it is complete only.
func (p *BackupPlace) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	if _, err := p.store.Stat(ctx, name); err == nil {
		return fmt.Errorf("%s already exists", p.nameOf(name))
	}
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := p.store.Put(ctx, name, in, -1, objects.PutOptions{ContentType: "application/x-tar"})
		in.CloseWithError(cmp.Or(err, io.ErrClosedPipe)) // so that write ends, too
		done <- err
	}()
	written := write(out)
	out.CloseWithError(written) // nil is the end of the file
	err := <-done
	if written != nil && (err == nil || !errors.Is(written, err)) {
		return written
	}
	return explainPlace(err)
}

// Keep removes the automatic backups that are not kept, and returns their names.
func (p *BackupPlace) Keep(ctx context.Context, k Keep) (removed []string, err error) {
	list, err := p.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range k.surplus(list) {
		if err := p.store.Delete(ctx, name); err != nil {
			return removed, fmt.Errorf("old backups: %w", explainPlace(err))
		}
		removed = append(removed, name)
	}
	return removed, nil
}

// unfinishedAge is after which time parts of a backup that was interrupted are removed from a place.
const unfinishedAge = 7 * 24 * time.Hour

// Sweep removes what interrupted backups have left.
func (p *BackupPlace) Sweep(ctx context.Context) error {
	_, err := p.store.Sweep(ctx, unfinishedAge)
	return err
}
