package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"svc/internal/disk"
	"svc/internal/packed"

	"github.com/jmoiron/sqlx"
)

// migrationFiles has a file for each version of the schema, NNNN-name.sql. The first is the schema of version 1, each other one leads from
// the version before to its own. hashes has a line for each version: its number and the hash of its schema. None of them changes once
// it is in a release. The first is embedded compressed, because it is large.
//
//go:embed migrations/hashes migrations/0001-first.sql.gz migrations/000[2-9]-*.sql migrations/00[1-9]?-*.sql
var migrationFiles embed.FS

// migration is a step to a version of the schema. Steps go forward only.
type migration struct {
	name     string
	sql      string
	hash     string // of the schema after it
	rewrites bool   // it rewrites data, so that the database is copied before
}

// rewritesMark is the first line of a migration that rewrites data.
const rewritesMark = "-- rewrites\n"

// migrations are all steps. migrations[0] makes version 1.
var migrations = mustLoadMigrations()

// SchemaVersion is the version of schema.sql, kept in PRAGMA user_version.
func SchemaVersion() int { return len(migrations) }

// hashColumnVersion is the first version that keeps the hash of its schema in meta.
const hashColumnVersion = 2

func mustLoadMigrations() []migration {
	list, err := loadMigrations(migrationFiles)
	if err != nil {
		panic(err) // the files are part of the program
	}
	return list
}

func loadMigrations(files fs.FS) ([]migration, error) {
	text, err := fs.ReadFile(files, "migrations/hashes")
	if err != nil {
		return nil, err
	}
	hashes := strings.Fields(string(text))
	names, err := fs.Glob(files, "migrations/*.sql*")
	if err != nil {
		return nil, err
	}
	var list []migration
	for i, path := range names {
		name, _, _ := strings.Cut(filepath.Base(path), ".sql")
		number, _, _ := strings.Cut(name, "-")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			return nil, fmt.Errorf("store/%s must have the number %04d, the next one", path, i+1)
		}
		sql, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(path, ".gz") {
			sql = packed.Text(sql)
		}
		m := migration{name: name, sql: string(sql), rewrites: strings.HasPrefix(string(sql), rewritesMark)}
		if 2*i+1 < len(hashes) && hashes[2*i] == strconv.Itoa(i+1) {
			m.hash = hashes[2*i+1]
		}
		list = append(list, m)
	}
	return list, nil
}

// migrate creates a new database, or upgrades an old one, each step in a transaction of its own.
func (w *writer) migrate(ctx context.Context, path, schema string) error {
	version, err := checkSchema(ctx, w.conn)
	if err != nil {
		return err
	}
	if version == 0 {
		return w.create(ctx, schema)
	}
	for ; version < SchemaVersion(); version++ {
		m := migrations[version]
		w.db.log.Info("migrating the database", "step", m.name, "to", version+1)
		if err := w.step(ctx, path, m, version+1); err != nil {
			return &migrationError{m.name, version, err}
		}
	}
	return nil
}

// migrationError says that a step was not made. The database is as it was before the step.
type migrationError struct {
	step    string
	version int // of the schema now
	err     error
}

func (e *migrationError) Error() string {
	return fmt.Sprintf("migration %s was not made, the database still has schema %d: %v", e.step, e.version, e.err)
}

func (e *migrationError) Unwrap() error { return e.err }

func (w *writer) create(ctx context.Context, schema string) error {
	now := w.db.now()
	row := fmt.Sprintf(`INSERT INTO meta (id, worker, last_id, created_at) VALUES (1, %d, %d, %d);`,
		newWorkerNumber(), now.UnixMilli()<<sequenceBits, now.UnixMilli())
	if err := w.inTransaction(ctx, schema+"\n"+row, SchemaVersion(), func() error { return nil }); err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	return nil
}

// step makes one migration. Foreign keys are off meanwhile, because a table that is built anew is dropped, which would delete the rows that
// refer to it; the references are checked afterwards.
func (w *writer) step(ctx context.Context, path string, m migration, version int) (err error) {
	if m.rewrites {
		if err := w.copyBefore(ctx, path, version-1); err != nil {
			return err
		}
	}
	if _, err := w.conn.ExecContext(ctx, `PRAGMA foreign_keys = OFF`); err != nil {
		return err
	}
	defer func() {
		_, on := w.conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA foreign_keys = ON`)
		err = errors.Join(err, on)
	}()
	check := func() error { return nil }
	if m.rewrites {
		before, err := w.brokenReferences(ctx)
		if err != nil {
			return err
		}
		check = func() error {
			if after, err := w.brokenReferences(ctx); err != nil || after > before {
				return errors.Join(err, fmt.Errorf("%d rows would refer to rows that are not there, %d did before", after, before))
			}
			return nil
		}
	}
	return w.inTransaction(ctx, m.sql, version, check)
}

// brokenReferences counts the rows that refer to a missing row.
func (w *writer) brokenReferences(ctx context.Context) (n int, err error) {
	err = w.conn.GetContext(ctx, &n, `SELECT count(*) FROM pragma_foreign_key_check`)
	return n, err
}

// inTransaction changes the schema to that of a version. It changes nothing if the result is another one, or if check returns an error.
func (w *writer) inTransaction(ctx context.Context, sql string, version int, check func() error) (err error) {
	defer func() {
		if err != nil {
			w.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	if _, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE;\n"+sql); err != nil {
		return err
	}
	is, err := readSchema(ctx, w.conn)
	if err != nil {
		return err
	}
	hash := migrations[version-1].hash
	if is.hash() != hash {
		return fmt.Errorf("the result is not version %d of the schema: a change of schema.sql needs a migration, see CONTRIBUTING.md, \"A table\"", version)
	}
	if err := check(); err != nil {
		return err
	}
	if version >= hashColumnVersion {
		if _, err := w.conn.ExecContext(ctx, `UPDATE meta SET schema_hash = ?`, hash); err != nil {
			return err
		}
	}
	_, err = w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d;\nCOMMIT", version))
	return err
}

// copyBefore copies the database to a file beside it. It replaces the copy of an earlier try, so that tries that fail do not fill the disk.
func (w *writer) copyBefore(ctx context.Context, path string, version int) error {
	copied := fmt.Sprintf("%s.schema-%d", path, version)
	unfinished := copied + ".tmp"
	if err := w.checkRoom(path); err != nil {
		return err
	}
	w.db.log.Info("keeping a copy of the database before the upgrade", "file", copied)
	if err := disk.Remove(unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("copy before the upgrade: %w", err)
	}
	_, err := w.conn.ExecContext(ctx, `VACUUM INTO ?`, unfinished)
	if err == nil {
		err = disk.SyncPath(unfinished)
	}
	if err == nil {
		err = disk.Rename(unfinished, copied)
	}
	if err == nil {
		err = disk.SyncPath(filepath.Dir(copied))
	}
	if err != nil {
		disk.Remove(unfinished)
		return fmt.Errorf("copy before the upgrade: %w", err)
	}
	return nil
}

// checkRoom returns an error unless the disk has room for a copy of the database and for the log of a transaction that rewrites it.
func (w *writer) checkRoom(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	free, err := w.db.ballast.free()
	if err == nil && free < 2*info.Size() {
		err = fmt.Errorf("it needs %d MiB on the disk of %s, of which %d are free: make room, then start again", 2*info.Size()>>20+1, w.db.options.Dir, free>>20)
	}
	return err
}

// ErrNewerDatabase is wrapped by the error for a database that a newer svc has written.
var ErrNewerDatabase = errors.New("the database was written by a newer version of svc")

// ErrOtherSchema is wrapped by the error for a database with the number of a version of the schema, but not with that schema.
var ErrOtherSchema = errors.New("the database has another schema than svc")

// otherSchema says how a schema differs. It is an ErrOtherSchema.
type otherSchema string

func (e otherSchema) Error() string { return string(e) }

func (otherSchema) Is(target error) bool { return target == ErrOtherSchema }

// damage describes the damage of the database. It is an ErrDamaged.
type damage string

func (d damage) Error() string { return string(d) }

func (damage) Is(target error) bool { return target == ErrDamaged }

// checkSchema returns the version of a database, 0 if it is empty. It reads no rows of a database that a newer svc has written. The error is
// ErrNewerDatabase, ErrOtherSchema, or ErrDamaged if svc had made the right schema and something of it is missing now.
func checkSchema(ctx context.Context, conn sqlx.QueryerContext) (version int, err error) {
	if version, err = userVersion(ctx, conn); err != nil {
		return 0, err
	}
	if version > SchemaVersion() {
		return version, fmt.Errorf("%w (schema %d, this one knows up to %d): use that version again, or restore a backup that was made before the upgrade",
			ErrNewerDatabase, version, SchemaVersion())
	}
	is, err := readSchema(ctx, conn)
	if err != nil {
		return version, err
	}
	switch {
	case version == 0 && len(is) == 0:
		return 0, nil
	case version <= 0:
		return version, otherSchema("the file is a database, but not one of svc: choose another data directory")
	case is.hash() == migrations[version-1].hash:
		return version, nil
	}
	return version, explainSchema(ctx, conn, version, is)
}

// userVersion does not depend on the schema, which a newer version of SQLite may have written so that this one cannot read it.
func userVersion(ctx context.Context, conn sqlx.QueryerContext) (version int, err error) {
	if err := sqlx.GetContext(ctx, conn, &version, `PRAGMA user_version`); err != nil {
		return 0, fmt.Errorf("read the database's version: %w", err)
	}
	return version, nil
}

// maxDifferences bounds what a message lists.
const maxDifferences = 5

// checkFile is checkSchema for a file that another process may be writing: it sees one state of it.
func checkFile(ctx context.Context, pool *sqlx.DB) (version int, err error) {
	conn, err := pool.Connx(ctx)
	if err != nil {
		return 0, damagedBy(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return 0, damagedBy(err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	version, err = checkSchema(ctx, conn)
	return version, damagedBy(err)
}

// explainSchema returns the error for a schema that is not the one of its version.
func explainSchema(ctx context.Context, conn sqlx.QueryerContext, version int, is schemaObjects) error {
	want, err := schemaOf(ctx, version)
	if err != nil {
		return err
	}
	found := is.differences(want)
	var texts []string
	for _, d := range found[:min(len(found), maxDifferences)] {
		texts = append(texts, d.String())
	}
	if len(found) > maxDifferences {
		texts = append(texts, fmt.Sprintf("and %d more", len(found)-maxDifferences))
	}
	list := strings.Join(texts, ", ")
	var made string // with this schema; "": unknown
	if version >= hashColumnVersion {
		if sqlx.GetContext(ctx, conn, &made, `SELECT schema_hash FROM meta`) != nil {
			made = ""
		}
	}
	switch lost := slices.ContainsFunc(found, func(d difference) bool { return d.how != isAdded }); {
	case made == migrations[version-1].hash && lost:
		return damage("its schema is not any more as svc made it: " + list)
	case made == migrations[version-1].hash:
		return otherSchema(fmt.Sprintf("the schema of the database was changed by another program than svc (%s): remove what was added, or restore a backup", list))
	}
	return otherSchema(fmt.Sprintf("the database was made by a development version of svc whose schema %d differs from the released one (%s): "+
		"start that version and export, or begin anew with another data directory", version, list))
}

// schemaOf returns the schema of a version, by making it in memory.
func schemaOf(ctx context.Context, version int) (schemaObjects, error) {
	db, err := sqlx.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, m := range migrations[:version] {
		if _, err := db.ExecContext(ctx, m.sql); err != nil {
			return nil, fmt.Errorf("migration %s: %w", m.name, err)
		}
	}
	return readSchema(ctx, db)
}
