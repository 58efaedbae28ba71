package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// Maintenance is what the database needs from time to time to stay small and quick. It works on a connection of its own and in
// small steps, so that nobody who writes waits for it longer than a moment.

const (
	maxWALSize      = 64 << 20  // a larger log is emptied
	warnWALSize     = 256 << 20 // somebody has been reading for too long
	trimBatch       = 500       // rows deleted in one go
	minFreeFraction = 10        // a database of which more than one part in ten is empty gives space back
	vacuumPages     = 128       // pages given back in one go
	vacuumPause     = 50 * time.Millisecond
)

// Checkpoint moves what the write-ahead log holds into the database. SQLite does so by itself along the way; a slow reader,
// however, lets the log grow, and once it has grown it is emptied here.
func (db *DB) Checkpoint(ctx context.Context) error {
	size := db.logSize()
	if size > warnWALSize {
		db.log.Warn("the database's log is large: is something reading for long, such as a backup?", "bytes", size)
	}
	return db.maintain(ctx, func(conn *sqlx.DB) error {
		if _, err := conn.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		if size <= maxWALSize {
			return nil
		}
		if _, err := conn.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
			return fmt.Errorf("empty the log: %w", err)
		}
		return nil
	})
}

// logSize returns the size of the write-ahead log. The file must not be opened: closing it would give up SQLite's locks.
func (db *DB) logSize() int64 {
	info, err := os.Stat(filepath.Join(db.options.Dir, File+"-wal"))
	if err != nil {
		return 0
	}
	return info.Size()
}

// Optimize has SQLite look again at how its tables are filled, where that has changed much since the last time.
// The limit also keeps it from taking samples of the tables: with samples, it plans a query anew whenever its parameters change,
// which takes ten times as long as most queries.
func (db *DB) Optimize(ctx context.Context) error {
	return db.maintain(ctx, func(conn *sqlx.DB) error {
		if _, err := conn.ExecContext(ctx, `PRAGMA analysis_limit = 1000; PRAGMA optimize = 0x10002`); err != nil {
			return fmt.Errorf("optimize: %w", err)
		}
		return nil
	})
}

// ReleaseSpace gives space back to the file system that deleted rows have left, if it is much.
func (db *DB) ReleaseSpace(ctx context.Context) error {
	return db.maintain(ctx, func(conn *sqlx.DB) error {
		for before := int64(-1); ; {
			var pages, free int64
			if err := conn.GetContext(ctx, &pages, `PRAGMA page_count`); err != nil {
				return fmt.Errorf("release space: %w", err)
			}
			if err := conn.GetContext(ctx, &free, `PRAGMA freelist_count`); err != nil {
				return fmt.Errorf("release space: %w", err)
			}
			if free < vacuumPages || free < pages/minFreeFraction || free == before {
				return nil
			}
			before = free
			if _, err := conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, vacuumPages)); err != nil {
				return fmt.Errorf("release space: %w", err)
			}
			if err := sleep(ctx, vacuumPause); err != nil {
				return err
			}
		}
	})
}

// maintain runs fn with a connection of its own. What cannot get a lock soon is left for the next time.
func (db *DB) maintain(ctx context.Context, fn func(*sqlx.DB) error) error {
	conn, err := connect(filepath.Join(db.options.Dir, File), 1000)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetMaxOpenConns(1)
	if _, err := conn.ExecContext(ctx, `PRAGMA busy_timeout = 250`); err != nil {
		return fmt.Errorf("maintenance: %w", err)
	}
	if err := fn(conn); err != nil && !isBusy(err) {
		return err
	}
	return ctx.Err()
}

// trim is the text of the queries that cut a kind of timeline.
type trim struct{ long, cut string }

// newTrim cuts the rows of table: owner names the column that says whose timeline a row is in, owners the table and column
// that list the timelines there are.
func newTrim(table, owner, owners, ownersKey string) trim {
	named := strings.NewReplacer("OWNERS", owners, "OWNERKEY", ownersKey, "TABLE", table, "OWNER", owner)
	return trim{
		long: named.Replace(`
			SELECT *
			FROM (
				SELECT w.OWNERKEY AS owner, (
					SELECT t.status_id
					FROM TABLE t
					WHERE t.OWNER = w.OWNERKEY
					ORDER BY t.status_id DESC
					LIMIT 1 OFFSET (?1 + 0)) AS last
				FROM OWNERS w)
			WHERE last IS NOT NULL`),
		cut: named.Replace(`
			DELETE FROM TABLE
			WHERE OWNER = ?1 AND status_id IN (
				SELECT status_id
				FROM TABLE
				WHERE OWNER = ?1 AND status_id <= ?2
				ORDER BY status_id
				LIMIT ?3)`),
	}
}

var (
	homeTrim = newTrim("home", "account_id", "users", "account_id")
	listTrim = newTrim("list_timeline", "list_id", "lists", "id")
)

// TrimTimelines cuts home timelines and lists down to their newest length posts.
func (db *DB) TrimTimelines(ctx context.Context, length int) error {
	type overlong struct {
		Owner int64
		Last  StatusID // the newest that is too much
	}
	for _, q := range []trim{homeTrim, listTrim} {
		timelines, err := list[overlong](ctx, db.reader, "long timelines", q.long, length)
		if err != nil {
			return err
		}
		for _, t := range timelines {
			if err := db.inBatches(ctx, "trim timeline", q.cut, t.Owner, t.Last); err != nil {
				return err
			}
		}
	}
	return nil
}

// inBatches runs a DELETE, whose last parameter is how many rows to delete at most, until nothing is left to delete. Between two
// batches others have their turn.
func (db *DB) inBatches(ctx context.Context, what, query string, args ...any) error {
	args = append(args, trimBatch)
	for {
		var n int64
		err := db.Update(ctx, func(tx *Tx) (err error) {
			n, err = tx.exec(ctx, what, query, args...)
			return err
		})
		if err != nil || n < trimBatch {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
