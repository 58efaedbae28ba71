package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"svc/internal/disk"

	"github.com/jmoiron/sqlx"
)

// SalvageOptions say what Salvage works on.
type SalvageOptions struct {
	Dir      string // the data directory; no server may use it
	Schema   string // text of schema.sql
	Now      func() time.Time
	Progress func(table string, done, total int64) // tables; nil: none
}

// Salvaged is the result of Salvage.
type Salvaged struct {
	Tables     []SalvagedTable
	Unreferred int64  // rows that were left out or changed, because they refer to rows that are lost
	Damaged    string // where the damaged database is now
	Continued  bool   // an interrupted salvage was finished: nothing else is known of it
}

// SalvagedTable counts the rows of a table.
type SalvagedTable struct {
	Name    string
	Rows    int64 // that are in the new database
	Holes   int   // places where rows could not be read
	Invalid int64 // rows that were read, but are not valid
}

// salvageDir is the folder in the data directory where Salvage works.
const salvageDir = "salvage.tmp"

// Salvage makes a new database of the rows that can be read in a damaged one, and puts it in the place of that. It is for a damage without a
// backup: rows are lost, and with them those that refer to them. The search indexes of the new database are empty, and its counters may be wrong. It
// fails if the tables themselves cannot be found, or belong to another version of the program; then nothing is changed. If it is interrupted, the old
// database is still there, or CheckSalvageFinished returns an error until Salvage is called again, which finishes the work.
func Salvage(ctx context.Context, o SalvageOptions) (*Salvaged, error) {
	lock, err := Lock(o.Dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	result, err := salvageLocked(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("salvage: %w", err)
	}
	return result, nil
}

func salvageLocked(ctx context.Context, o SalvageOptions) (*Salvaged, error) {
	work := filepath.Join(o.Dir, salvageDir)
	result, err := continueSalvage(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := disk.RemoveAll(work); err != nil {
		return nil, err
	}
	if result != nil {
		return result, disk.SyncPath(o.Dir)
	}
	s := &salvage{SalvageOptions: o, work: work, result: new(Salvaged)}
	err = s.run(ctx)
	if err != nil && CheckSalvageFinished(o.Dir) != nil {
		return nil, err // the work folder is needed to finish it
	}
	if err := errors.Join(err, disk.RemoveAll(work)); err != nil {
		return nil, err
	}
	return s.result, disk.SyncPath(o.Dir) // or the server would not start after a power failure
}

type salvage struct {
	SalvageOptions
	work     string
	from, to *sqlx.DB
	result   *Salvaged
}

func (s *salvage) run(ctx context.Context) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.from.Close()
	defer s.to.Close()
	tables, err := salvageTables(ctx, s.to)
	if err != nil {
		return err
	}
	for i, t := range tables {
		if s.Progress != nil {
			s.Progress(t.Name, int64(i), int64(len(tables)))
		}
		if err := s.table(ctx, t); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	if s.result.Unreferred, err = dropUnreferred(ctx, s.to, tables); err != nil {
		return err
	}
	if _, err := s.to.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return err
	}
	if err := errors.Join(s.to.Close(), s.from.Close()); err != nil {
		return err
	}
	if err := Check(ctx, newDatabase(s.Dir)); err != nil {
		return fmt.Errorf("the readable rows are no database of a server: %w", err)
	}
	return s.replace()
}

func (s *salvage) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// open copies the damaged database with its log, so that reading it changes nothing, and creates the new one.
func (s *salvage) open(ctx context.Context) (err error) {
	fresh := filepath.Dir(newDatabase(s.Dir))
	if err := disk.MakeFolder(fresh); err != nil {
		return err
	}
	for _, name := range []string{File, File + "-wal"} {
		err := copyFile(filepath.Join(s.Dir, name), filepath.Join(s.work, name))
		if err != nil && !(name != File && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	if s.from, err = sqlx.Open("sqlite", "file:"+filepath.Join(s.work, File)); err != nil {
		return err
	}
	s.from.SetMaxOpenConns(1)
	if _, err := checkFile(ctx, s.from); err != nil {
		return errors.Join(err, s.from.Close())
	}
	db, err := Open(ctx, Options{Dir: fresh, Schema: s.Schema, Now: s.Now, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = db.Close()
	}
	if err == nil {
		s.to, err = sqlx.Open("sqlite", "file:"+filepath.Join(fresh, File)+"?_pragma=foreign_keys(0)&_pragma=synchronous(0)&_pragma=recursive_triggers(0)")
	}
	if err != nil {
		return errors.Join(err, s.from.Close())
	}
	s.to.SetMaxOpenConns(1)
	return nil
}

// copyFile copies a file, as much of it as can be read.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := disk.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// salvageTable is a table with the columns of its rows.
type salvageTable struct {
	Name         string
	WithoutRowid bool   `db:"wr"`
	Columns      string // quoted, separated by commas
	Key          string // of a table without rowid, quoted, descending
	columns      int
}

// salvageTables returns the tables of a database, but for those of search indexes, which are built again.
func salvageTables(ctx context.Context, db *sqlx.DB) (list []salvageTable, err error) {
	if err := db.SelectContext(ctx, &list, `
		SELECT name, wr
		FROM pragma_table_list
		WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		ORDER BY name`); err != nil {
		return nil, err
	}
	for i := range list {
		t := &list[i]
		var columns []struct {
			Name string
			PK   int
		}
		if err := db.SelectContext(ctx, &columns, `SELECT name, pk FROM pragma_table_info(?)`, t.Name); err != nil {
			return nil, err
		}
		key := make([]string, len(columns))
		var names []string
		for _, c := range columns {
			names = append(names, quoteName(c.Name))
			if c.PK > 0 {
				key[c.PK-1] = quoteName(c.Name) + " DESC"
			}
		}
		t.columns, t.Columns = len(columns), strings.Join(names, ", ")
		t.Key = strings.Trim(strings.Join(key, ", "), ", ")
	}
	return list, nil
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
