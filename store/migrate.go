package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"
)

// migration is a step from one version of the schema to the next. Steps go forward only, and do not change once released.
type migration struct {
	name     string
	sql      string
	rewrites bool // it rewrites data, so that the database is copied before
}

// firstVersion is the schema in testdata/schema-1.sql; migrations[0] leads from it to version 2, and so on.
const firstVersion = 1

var migrations []migration

// schemaVersion is the version of schema.sql, kept in PRAGMA user_version.
func schemaVersion() int { return firstVersion + len(migrations) }

// ErrNewerDatabase is returned by Open for a database that a newer svc has written.
var ErrNewerDatabase = errors.New("the database was written by a newer version of svc")

// migrate creates a new database, or upgrades an old one, each step in a transaction of its own.
func (w *writer) migrate(ctx context.Context, path, schema string) error {
	version, err := w.version(ctx)
	if err != nil {
		return err
	}
	switch {
	case version == 0:
		return w.create(ctx, schema)
	case version > schemaVersion():
		return fmt.Errorf("%w (schema %d, this one knows up to %d): start the newer version again, or restore the backup that was made before the upgrade",
			ErrNewerDatabase, version, schemaVersion())
	}
	for ; version < schemaVersion(); version++ {
		m := migrations[version-firstVersion]
		w.db.log.Info("migrating the database", "step", m.name, "to", version+1)
		if m.rewrites {
			if err := w.copyBefore(ctx, path, version); err != nil {
				return err
			}
		}
		if err := w.inTransaction(ctx, m.sql, version+1); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
	}
	return nil
}

func (w *writer) version(ctx context.Context) (int, error) {
	var version int
	if err := w.conn.GetContext(ctx, &version, `PRAGMA user_version`); err != nil {
		return 0, fmt.Errorf("read the database's version: %w", err)
	}
	return version, nil
}

func (w *writer) create(ctx context.Context, schema string) error {
	now := w.db.now()
	row := fmt.Sprintf(`INSERT INTO meta (id, worker, last_id, created_at) VALUES (1, %d, %d, %d);`,
		newWorkerNumber(), now.UnixMilli()<<sequenceBits, now.UnixMilli())
	if err := w.inTransaction(ctx, schema+"\n"+row, schemaVersion()); err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	return nil
}

func (w *writer) inTransaction(ctx context.Context, sql string, version int) error {
	_, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE;\n"+sql+fmt.Sprintf("\nPRAGMA user_version = %d;\nCOMMIT;", version))
	if err != nil {
		w.conn.ExecContext(ctx, "ROLLBACK")
	}
	return err
}

// copyBefore copies the database to a file beside it.
func (w *writer) copyBefore(ctx context.Context, path string, version int) error {
	copied := fmt.Sprintf("%s.schema-%d.%s", path, version, time.Now().UTC().Format("20060102T150405"))
	w.db.log.Info("keeping a copy of the database before the upgrade", "file", copied)
	if _, err := w.conn.ExecContext(ctx, `VACUUM INTO ?`, copied); err != nil {
		return errors.Join(fmt.Errorf("copy before the upgrade: %w", err), os.Remove(copied))
	}
	return nil
}

// damage says what is wrong with the database. It is an ErrDamaged.
type damage string

func (d damage) Error() string { return string(d) }

func (damage) Is(target error) bool { return target == ErrDamaged }

// created matches what the schema creates.
var created = regexp.MustCompile(`(?m)^CREATE (?:VIRTUAL |UNIQUE )?(?:TABLE|INDEX) (\w+)`)

// checkSchema returns an error if a table or an index is missing, which queries would only find one by one.
func (w *writer) checkSchema(ctx context.Context, schema string) error {
	var names []string
	if err := w.conn.SelectContext(ctx, &names, `SELECT name FROM sqlite_schema`); err != nil {
		return fmt.Errorf("read the database's schema: %w", err)
	}
	is := make(map[string]bool, len(names))
	for _, name := range names {
		is[name] = true
	}
	for _, m := range created.FindAllStringSubmatch(schema, -1) {
		if !is[m[1]] {
			return damage(m[1] + " is missing")
		}
	}
	return nil
}
