// Package ltx reads databases from the files that Litestream 0.5 writes: LTX files, each with the pages that a range of transactions has changed.
//
// Restore writes a database in the state of a time, a Follower keeps one up to date. Both read through an objects.Store, so that folders, SFTP and S3
// are alike. They write nothing at the place. The content of the database, and the right to write it, are matters of their callers.
//
// Litestream compacts: what level 0 has in many files, level 1 has in one, and so on; level 9 has snapshots, with all pages. Files are removed when a
// higher level has their transactions, so that a file that was listed may be gone: then the list is read again.
//
// The time of a file is that of its header, by the clock of the machine that Litestream ran on. Litestream uses the same, as the modification time in
// a folder and as metadata on S3; the header is right also when files were copied. A file holds the state after its last transaction, so that older states can
// be had as finely only as files were compacted.
//
// Limits: one page of 64 KiB at most, and one file, are in memory or open at once; a plan has at most 1 000 000 files.
package ltx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"svc/internal/disk"
	"svc/internal/objects"
)

// Errors of places, besides those of package objects. The text names the object.
var (
	// ErrNone means that there is no database at the place, or none of that time.
	ErrNone = errors.New("no database")
	// ErrGap means that transactions are in no file.
	ErrGap = errors.New("transactions are missing")
	// ErrDamaged means that a file is torn, or is not what Litestream wrote.
	ErrDamaged = errors.New("damaged file")
)

// Position says up to which transaction a database is. Litestream counts commits that it has found together as one.
type Position struct {
	TXID uint64    `json:"txid"`
	Time time.Time `json:"time"` // of the file that the transaction was in, by the clock of its writer
}

// replans is how often a restoration begins again because files were compacted meanwhile.
const replans = 3

// Restore writes the database below prefix, which ends at a slash, to a file: the newest state, or that at a time, or the newest before it. It is written to a
// temporary file beside, synchronised and renamed, so that the file is there whole or not at all; a file that is there is replaced. It is an error if
// there is a write-ahead log of that file: it would be applied to the new one.
func Restore(ctx context.Context, store objects.Store, prefix, to string, at time.Time) (Position, error) {
	if _, err := os.Lstat(to + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return Position{}, fmt.Errorf("restore %s: it has a write-ahead log (%s): stop what uses it, or move both away", to, to+"-wal")
	}
	position, _, err := restore(ctx, store, prefix, to, at)
	if err != nil {
		return Position{}, fmt.Errorf("restore %s: %w", to, err)
	}
	return position, nil
}

func restore(ctx context.Context, store objects.Store, prefix, to string, at time.Time) (position Position, target image, err error) {
	f, err := disk.CreateTemp(filepath.Dir(to), disk.TempPrefix+"*")
	if err != nil {
		return Position{}, image{}, err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err == nil {
			err = disk.Rename(f.Name(), to)
		}
		if err != nil {
			err = errors.Join(err, disk.Remove(f.Name()))
			return
		}
		err = disk.SyncPath(filepath.Dir(to))
	}()
	for i := 1; ; i++ {
		target = image{file: f}
		position, err = restoreTo(ctx, &target, store, prefix, at)
		if i == replans || !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err == nil {
		err = f.Sync()
	}
	return position, target, err
}

// restoreTo writes a database into an open file. The error is fs.ErrNotExist if a file was removed meanwhile.
func restoreTo(ctx context.Context, target *image, store objects.Store, prefix string, at time.Time) (Position, error) {
	p, err := openPlace(ctx, store, prefix)
	if err != nil {
		return Position{}, err
	}
	plan, err := p.plan(ctx, at)
	if err != nil {
		return Position{}, err
	}
	if err := target.file.Truncate(0); err != nil {
		return Position{}, err
	}
	var position Position
	for _, file := range plan {
		if position, err = p.apply(ctx, file, target); err != nil {
			return Position{}, err
		}
	}
	return position, nil
}
