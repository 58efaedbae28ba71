package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/jmoiron/sqlx"
)

// ErrDamaged is wrapped by the error of Check for a damaged database.
var ErrDamaged = errors.New("the database is damaged")

// Copy writes a snapshot of the database in dir to a new file, and returns the version of its schema. The database may be in use, also by
// another process: copying does not block writers. The error is that of Check for a database with another schema.
func Copy(ctx context.Context, dir, to string) (version int, err error) {
	db, err := openReadOnly(filepath.Join(dir, File), "_pragma=busy_timeout(10000)")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	if version, err = checkFile(ctx, db); err != nil {
		return 0, fmt.Errorf("copy database: %w", err)
	}
	if _, err := db.ExecContext(ctx, `VACUUM INTO ?`, to); err != nil {
		return 0, fmt.Errorf("copy database: %w", err)
	}
	return version, nil
}

// Check looks for damage in a database file that is not open. The error is ErrDamaged if there is some, and ErrNewerDatabase or
// ErrOtherSchema if this version of the program cannot use the file.
func Check(ctx context.Context, path string) error {
	db, err := openReadOnly(path, "immutable=1", "_pragma=cell_size_check(1)", "_pragma=trusted_schema(0)")
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := checkFile(ctx, db); err != nil {
		if errors.Is(err, ErrNewerDatabase) || errors.Is(err, ErrOtherSchema) {
			return err
		}
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	var result string
	if err := db.GetContext(ctx, &result, `PRAGMA integrity_check(1)`); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if result != "ok" {
		return fmt.Errorf("%w: %s", ErrDamaged, result)
	}
	var broken int
	if err := db.GetContext(ctx, &broken, `SELECT count(*) FROM pragma_foreign_key_check`); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if broken > 0 {
		return fmt.Errorf("%w: %d rows refer to rows that are not there", ErrDamaged, broken)
	}
	var identified int
	if err := db.GetContext(ctx, &identified, `SELECT count(*) FROM meta`); err != nil || identified != 1 {
		return fmt.Errorf("%w: it has no row in meta", ErrDamaged)
	}
	return nil
}

func openReadOnly(path string, args ...string) (*sqlx.DB, error) {
	query := "?mode=ro"
	for _, a := range args {
		query += "&" + a
	}
	db, err := sqlx.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+query)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}
