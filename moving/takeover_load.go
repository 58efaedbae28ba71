package moving

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"svc/internal/disk"
)

// loader writes rows of a source into the scratch database.
type loader struct {
	*scratch
	secrets  *secrets
	baseURL  string // of this server, and of the source
	size     int64  // of the source in bytes, 0 if unknown
	done     int64  // bytes that were read
	rowsRead int64
	progress func(step string, done, total int64)
}

// add loads a row.
func (l *loader) add(ctx context.Context, m *mapping, r *row) error {
	r.err = nil
	if err := m.load(l, r); err != nil {
		return err
	}
	if l.rowsRead++; l.rowsRead%5000 == 0 {
		l.report()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return r.err
}

func (l *loader) report() {
	if l.progress != nil {
		l.progress("reading", l.done, l.size)
	}
}

// put inserts a row of the scratch database, unless a value of the row of the source could not be read.
func (l *loader) put(r *row, table string, args ...any) error {
	if r.err != nil {
		return r.err
	}
	return l.insert(context.Background(), table, args...)
}

// sqliteMagic is the beginning of a database of SQLite.
const sqliteMagic = "SQLite format 3\x00"

// isSQLite returns true if a file is a database of SQLite.
func isSQLite(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, err
	}
	return string(head[:n]) == sqliteMagic, nil
}

// sqliteCopy is the name of the copy of a source of SQLite in the work folder.
const sqliteCopy = "source.db"

// copySQLite copies a database of SQLite with its write-ahead log, so that nothing of the original changes.
func copySQLite(path, work string) (copied string, err error) {
	copied = filepath.Join(work, sqliteCopy)
	for _, end := range []string{"", "-wal"} {
		if err := copyFile(path+end, copied+end); err != nil && (end == "" || !errors.Is(err, fs.ErrNotExist)) {
			return "", fmt.Errorf("takeover: %w", err)
		}
	}
	return copied, nil
}

// readSQLite reads the copy of a database of another server.
func readSQLite(ctx context.Context, path, copied string, mappings map[string]*mapping, l *loader) (found map[string]bool, err error) {
	db, conn, err := openUntrusted(ctx, copied)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	defer db.Close()
	defer conn.Close()
	tables, err := sqliteTables(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	found = make(map[string]bool)
	if info, err := os.Stat(copied); err == nil {
		l.size = info.Size()
	}
	for i, table := range tables {
		found[table] = true
		if m := mappings[table]; m != nil {
			if err := readTable(ctx, conn, table, m, l); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		l.done = l.size * int64(i+1) / int64(len(tables))
	}
	return found, nil
}

// openUntrusted opens a database that others have made. Nothing in its schema is executed, no value is longer than a row of a dump may be.
func openUntrusted(ctx context.Context, path string) (*sql.DB, *sql.Conn, error) {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + "?_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=mmap_size(0)"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, nil, err
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		_, err = sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, maxDumpLine)
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, `PRAGMA query_only = 1`)
	}
	var result string
	if err == nil {
		err = conn.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&result)
	}
	if err == nil && result != "ok" {
		err = errors.New(result)
	}
	if err != nil {
		if conn != nil {
			conn.Close()
		}
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, conn, nil
}

// maxSourceTables bounds the tables of a source.
const maxSourceTables = 1000

// sqliteTables returns the names of the real tables: no views, and no virtual ones, which would run code.
func sqliteTables(ctx context.Context, conn *sql.Conn) ([]string, error) {
	rows, err := conn.QueryContext(ctx, `
		SELECT name FROM sqlite_schema
		WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		LIMIT ?`, maxSourceTables)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// readTable reads the columns of a table that its mapping wants.
func readTable(ctx context.Context, conn *sql.Conn, table string, m *mapping, l *loader) error {
	quoted := func(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
	rows, err := conn.QueryContext(ctx, `SELECT * FROM `+quoted(table)+` LIMIT 0`)
	if err != nil {
		return err
	}
	columns, err := rows.Columns()
	rows.Close()
	if err != nil {
		return err
	}
	columns = slices.DeleteFunc(columns, func(name string) bool { return !slices.Contains(m.columns, name) && !slices.Contains(m.optional, name) })
	r, err := m.rowOf(table, columns)
	if err != nil {
		return err
	}
	wanted := make([]string, len(columns))
	for i, name := range columns {
		wanted[i] = "+" + quoted(name) // an expression has no type, so that the driver leaves times as they are
	}
	if rows, err = conn.QueryContext(ctx, `SELECT `+strings.Join(wanted, ", ")+` FROM `+quoted(table)); err != nil {
		return err
	}
	defer rows.Close()
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for n := 1; rows.Next(); n++ {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		for i, v := range values {
			r.values[i] = textOf(v)
		}
		if err := l.add(ctx, m, &r); err != nil {
			return fmt.Errorf("row %d of the table %s: %w", n, table, err)
		}
	}
	return rows.Err()
}

// textOf returns a value of SQLite as PostgreSQL would write it, nil for NULL.
func textOf(v any) []byte {
	switch v := v.(type) {
	case nil:
		return nil
	case []byte:
		return v
	case string:
		return append([]byte{}, v...)
	case int64:
		return strconv.AppendInt(nil, v, 10)
	case float64:
		return strconv.AppendFloat(nil, v, 'g', -1, 64)
	case bool:
		return strconv.AppendBool(nil, v)
	case time.Time:
		return v.AppendFormat(nil, time.RFC3339Nano)
	}
	return fmt.Append(nil, v)
}

// copyFile copies a file.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fmt.Errorf("%s is no file", from))
	}
	out, err := disk.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
