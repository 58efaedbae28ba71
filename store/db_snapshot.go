package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Snapshot reads a database file that this process does not write: a copy, or the database of a running server. Reads do not block writers.
type Snapshot struct {
	reader
	pool    *sqlx.DB
	version int // of the schema
}

// OpenSnapshot opens the database at path for reading. isCopy: nothing writes it, and its folder may be read-only. The error is ErrDamaged if
// the file is no database or lacks tables, and ErrNewerDatabase or ErrOtherSchema if this version of the program cannot read it.
func OpenSnapshot(ctx context.Context, path string, isCopy bool) (*Snapshot, error) {
	args := []string{"_pragma=busy_timeout(10000)", "_pragma=query_only(1)", "_pragma=cell_size_check(1)", "_pragma=trusted_schema(0)", "_pragma=cache_size(-8000)"}
	if isCopy {
		args = append(args, "immutable=1")
	}
	pool, err := openReadOnly(path, args...)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{pool: pool, reader: reader{q: newStatements(pool), db: &DB{now: time.Now}}}
	version, err := checkFile(ctx, pool)
	if err == nil && version == 0 {
		err = damage("it is empty")
	}
	s.version = version
	if err == nil {
		var number int64 // unknown in a damaged file, whose findings name no ids then
		if s.pool.GetContext(ctx, &number, `SELECT worker FROM meta`) == nil {
			snapshotWorker.Store(number)
		}
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// Current returns true if the file has the schema of this program. An older one lacks columns that reads may need.
func (s *Snapshot) Current() bool { return s.version == SchemaVersion() }

// storedSumVersion is the first version that has the SHA-256 of stored files. Before it, their names were that.
const storedSumVersion = 3

// StoredSum is DB.StoredSum for the file, which may be of an older version.
func (s *Snapshot) StoredSum(ctx context.Context, name string) (string, error) {
	if s.version >= storedSumVersion {
		return s.reader.StoredSum(ctx, name)
	}
	return sumInName(name), nil
}

// FindDamage is DB.FindDamage for the file.
func (s *Snapshot) FindDamage(ctx context.Context) (found []string, err error) {
	if err := s.pool.SelectContext(ctx, &found, damageQuery, maxDamage); err != nil {
		return nil, damagedBy(err)
	}
	return found, nil
}

// damagedBy wraps ErrDamaged around an error of reading a file, if that says that the file or its disk is damaged. A lock, too little memory or
// an interruption do not.
func damagedBy(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() {
	case sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS, sqlite3.SQLITE_IOERR_DATA:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if kind := e.Code() & 0xff; kind == sqlite3.SQLITE_CORRUPT || kind == sqlite3.SQLITE_NOTADB {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// Close closes the file.
func (s *Snapshot) Close() error { return s.pool.Close() }
