package moving

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

//go:embed takeover_schema.sql
var scratchSchema string

const (
	scratchFile  = "scratch.db"
	scratchBatch = 20_000 // statements of one transaction
	scratchCache = 64_000 // KiB of page cache

	// oldestID and idBits are those of store/ids.go.
	oldestID = 1_000_000_000_000_000
	idBits   = 10
)

// scratch is the database between the source and the store. It is written by one goroutine, in long transactions, and thrown away at the end.
type scratch struct {
	db         *sql.DB
	tx         *sql.Tx
	statements map[string]*sql.Stmt // of tx
	written    int                  // statements of tx
}

// openScratch opens the scratch database in a folder, and makes an empty one if there is none.
func openScratch(ctx context.Context, dir string) (*scratch, error) {
	dsn := "file:" + (&url.URL{Path: filepath.Join(dir, scratchFile)}).EscapedPath() +
		fmt.Sprintf("?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=temp_store(FILE)&_pragma=cache_size(-%d)", scratchCache)
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("takeover: %w", err)
	}
	db.SetMaxOpenConns(1)
	s := &scratch{db: db, statements: make(map[string]*sql.Stmt)}
	var n int
	if err = db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = 'left_out'`).Scan(&n); err == nil && n == 0 {
		_, err = db.ExecContext(ctx, scratchSchema)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("takeover: %w", err), db.Close())
	}
	return s, nil
}

func (s *scratch) close() error {
	if s.tx != nil {
		s.tx.Rollback()
	}
	return s.db.Close()
}

// exec runs a statement in the running transaction, which is committed now and then.
func (s *scratch) exec(ctx context.Context, query string, args ...any) error {
	st, err := s.prepare(ctx, query)
	if err != nil {
		return err
	}
	if _, err := st.ExecContext(ctx, args...); err != nil {
		return fmt.Errorf("takeover: %w", err)
	}
	if s.written++; s.written >= scratchBatch {
		return s.commit()
	}
	return nil
}

// insert inserts a row, unless one with its key is there.
func (s *scratch) insert(ctx context.Context, table string, args ...any) error {
	return s.exec(ctx, insertInto(table, len(args)), args...)
}

// insertInto returns the statement that inserts values of the columns in their order. Numbered rows (n) have their number from SQLite.
func insertInto(table string, n int) string {
	return "INSERT OR IGNORE INTO " + table + " VALUES (?" + strings.Repeat(", ?", n-1) + ")"
}

func (s *scratch) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if s.tx == nil {
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return nil, fmt.Errorf("takeover: %w", err)
		}
		s.tx = tx
	}
	st := s.statements[query]
	if st == nil {
		var err error
		if st, err = s.tx.PrepareContext(ctx, query); err != nil {
			return nil, fmt.Errorf("takeover: %w", err)
		}
		s.statements[query] = st
	}
	return st, nil
}

func (s *scratch) commit() error {
	if s.tx == nil {
		return nil
	}
	err := s.tx.Commit()
	s.tx, s.written = nil, 0
	clear(s.statements)
	if err != nil {
		return fmt.Errorf("takeover: %w", err)
	}
	return nil
}

// rows calls scan for each row of a query. scan must not use s.
func (s *scratch) rows(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	if err := s.commit(); err != nil {
		return err
	}
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("takeover: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("takeover: %w", err)
		}
	}
	return rows.Err()
}

// number returns the number that a query selects, 0 if it selects none.
func (s *scratch) number(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = s.rows(ctx, func(rows *sql.Rows) error {
		var value sql.NullInt64
		err := rows.Scan(&value)
		n = value.Int64
		return err
	}, query, args...)
	return n, err
}

// script runs statements one after another.
func (s *scratch) script(ctx context.Context, statements ...string) error {
	if err := s.commit(); err != nil {
		return err
	}
	for _, query := range statements {
		if _, err := s.db.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("takeover: %w: %s", err, query)
		}
	}
	return nil
}

// assign gives ids to rows of a kind, in the order of the query, which selects the id of the source and the time of the row. The ids are those that
// store would have made then, so that lists are in the same order as before.
func (s *scratch) assign(ctx context.Context, kind, query string, now time.Time) error {
	type entry struct {
		source string
		id     int64
	}
	const batch = 50_000
	last := int64(0)
	latest := now.UnixMilli() - 1
	if err := s.script(ctx, `DROP TABLE IF EXISTS temp.ordered`, `CREATE TEMP TABLE ordered AS `+query); err != nil {
		return err
	}
	for from := int64(0); ; {
		var entries []entry
		err := s.rows(ctx, func(rows *sql.Rows) error {
			var e entry
			var at int64
			if err := rows.Scan(&from, &e.source, &at); err != nil {
				return err
			}
			last = max(min(at, latest)<<idBits, oldestID, last+1)
			e.id = last
			entries = append(entries, e)
			return nil
		}, `SELECT rowid, * FROM temp.ordered WHERE rowid > ? ORDER BY rowid LIMIT ?`, from, batch)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := s.insert(ctx, "ids", kind, e.source, e.id); err != nil {
				return err
			}
		}
		if len(entries) < batch {
			break
		}
	}
	return s.script(ctx, `DROP TABLE temp.ordered`)
}

// leaveOut counts rows that are left out: when the source is read, or chosen ones when they are written.
func (s *scratch) leaveOut(ctx context.Context, kind, reason string, n int64, chosen bool) error {
	if n == 0 {
		return nil
	}
	return s.exec(ctx, `
		INSERT INTO left_out (kind, reason, count, chosen) VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (kind, reason) DO UPDATE SET count = count + ?3`, kind, reason, n, chosen)
}
