package store

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// Maintenance runs on a connection of its own and in small steps, so that it does not block writers for long.

const (
	trimBatch       = 500 // rows per DELETE
	minFreeFraction = 10  // space is released if more than one page in ten is free
	vacuumPages     = 128 // pages released per step
	vacuumPause     = 50 * time.Millisecond
)

// Checkpoint moves the write-ahead log into the database, as SQLite does itself when it has grown, and empties a large one. It does nothing if another
// program does that.
func (db *DB) Checkpoint(ctx context.Context) error {
	if db.options.Replicated {
		return nil
	}
	err := db.maintain(ctx, "checkpoint", func(ctx context.Context, conn *sqlx.DB) error {
		_, err := conn.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
		return err
	})
	if err == nil && db.LogSize() > db.options.LogLimit() {
		_, err = db.truncateLog(ctx)
	}
	return err
}

// Optimize updates the statistics of tables that have changed much. The limit also prevents samples: with samples, SQLite plans a query
// again whenever its parameters change, which takes ten times as long as most queries.
func (db *DB) Optimize(ctx context.Context) error {
	return db.maintain(ctx, "optimize", func(ctx context.Context, conn *sqlx.DB) error {
		_, err := conn.ExecContext(ctx, `PRAGMA analysis_limit = 1000; PRAGMA optimize = 0x10002`)
		return err
	})
}

// Steps of MergeSearchIndex.
const (
	mergePages    = 64  // written per step: some milliseconds
	maxMergeSteps = 500 // per run and index
	mergePause    = 50 * time.Millisecond
)

// MergeSearchIndex merges segments of the full-text indexes, because a search looks into each. It works in small steps with pauses, and what it does
// not finish is left for the next time. SQLite does it with each write, too, but leaves up to four segments of each size.
func (db *DB) MergeSearchIndex(ctx context.Context) error {
	for _, index := range []struct{ merge, pairs string }{
		{`INSERT INTO statuses_fts (statuses_fts, rank) VALUES ('merge', ?)`, `INSERT INTO statuses_fts (statuses_fts, rank) VALUES ('usermerge', 2)`},
		{`INSERT INTO accounts_fts (accounts_fts, rank) VALUES ('merge', ?)`, `INSERT INTO accounts_fts (accounts_fts, rank) VALUES ('usermerge', 2)`},
	} {
		if err := db.Update(ctx, func(tx *Tx) error { return tx.exec(ctx, "merge pairs of segments", index.pairs) }); err != nil {
			return err
		}
		for range maxMergeSteps {
			var changed int64
			err := db.Update(ctx, func(tx *Tx) error {
				before, err := value[int64](ctx, tx.reader, "changes", `SELECT total_changes()`)
				if err != nil {
					return err
				}
				if err := tx.exec(ctx, "merge search index", index.merge, mergePages); err != nil {
					return err
				}
				after, err := value[int64](ctx, tx.reader, "changes", `SELECT total_changes()`)
				changed = after - before
				return err
			})
			if err != nil {
				return err
			}
			if changed < 2 { // nothing is left (fts5 6.9)
				break
			}
			if err := sleep(ctx, mergePause); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReleaseSpace returns the space of deleted rows to the file system, if it is much.
func (db *DB) ReleaseSpace(ctx context.Context) error { return db.releaseSpace(ctx, minFreeFraction) }

// ReleaseAllSpace returns the space of deleted rows to the file system, even if it is little, and truncates the write-ahead log, unless another
// program does that.
func (db *DB) ReleaseAllSpace(ctx context.Context) error {
	if err := db.releaseSpace(ctx, math.MaxInt64); err != nil || db.options.Replicated {
		return err
	}
	_, err := db.truncateLog(ctx)
	return err
}

// releaseSpace returns the space of deleted rows, if more than one page in fraction is free.
func (db *DB) releaseSpace(ctx context.Context, fraction int64) error {
	return db.maintain(ctx, "release space", func(ctx context.Context, conn *sqlx.DB) error {
		for before := int64(-1); ; {
			var pages, free int64
			if err := conn.GetContext(ctx, &pages, `PRAGMA page_count`); err != nil {
				return err
			}
			if err := conn.GetContext(ctx, &free, `PRAGMA freelist_count`); err != nil {
				return err
			}
			if free < vacuumPages || free < pages/fraction || free == before {
				return nil
			}
			before = free
			if _, err := conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, vacuumPages)); err != nil {
				return err
			}
			if err := sleep(ctx, vacuumPause); err != nil {
				return err
			}
		}
	})
}

// maxDamage bounds the entries of FindDamage.
const maxDamage = 100

// damageQuery lists damage of pages, indexes and full-text indexes, and rows that refer to missing ones.
const damageQuery = `
	SELECT integrity_check
	FROM pragma_integrity_check
	WHERE integrity_check <> 'ok'
	UNION ALL
	SELECT ifnull('row ' || rowid, 'a row') || ' of ' || "table" || '` + missingReference + `' || parent
	FROM pragma_foreign_key_check
	LIMIT ?`

const missingReference = ` refers to a missing row of `

// IsMissingReference returns true if an entry of FindDamage is a row that refers to a missing one.
func IsMissingReference(text string) bool { return strings.Contains(text, missingReference) }

// FindDamage returns what SQLite finds wrong with the database, nothing if it is intact. It reads all of it, while others go on.
func (db *DB) FindDamage(ctx context.Context) (found []string, err error) {
	err = db.readLong(ctx, "check database", func(ctx context.Context, conn *sqlx.DB) error {
		return conn.SelectContext(ctx, &found, damageQuery, maxDamage)
	})
	return found, err
}

// Sizes are what the database takes on disk.
type Sizes struct {
	Bytes  int64        `json:"bytes"`
	Free   int64        `json:"free"` // of these, in pages without content
	Log    int64        `json:"log"`  // the write-ahead log
	Tables []*TableSize `json:"tables"`
}

// TableSize is what a table or an index takes.
type TableSize struct {
	Name    string `json:"name"`
	Table   string `json:"table"` // of an index; else the name
	Bytes   int64  `json:"bytes"`
	Entries int64  `json:"entries"`
}

// FileSize returns the sizes without tables.
func (db *DB) FileSize(ctx context.Context) (*Sizes, error) {
	s := &Sizes{Log: db.LogSize(), Tables: []*TableSize{}}
	var pageSize int64
	for pragma, value := range map[string]*int64{"page_size": &pageSize, "page_count": &s.Bytes, "freelist_count": &s.Free} {
		if err := db.readers.GetContext(ctx, value, `PRAGMA `+pragma); err != nil {
			return nil, fmt.Errorf("size of the database: %w", err)
		}
	}
	s.Bytes, s.Free = s.Bytes*pageSize, s.Free*pageSize
	return s, nil
}

// Sizes measures all tables and indexes, the largest first. It reads the whole database.
func (db *DB) Sizes(ctx context.Context) (*Sizes, error) {
	s, err := db.FileSize(ctx)
	if err != nil {
		return nil, err
	}
	err = db.readLong(ctx, "measure database", func(ctx context.Context, conn *sqlx.DB) error {
		return conn.SelectContext(ctx, &s.Tables, `
			SELECT d.name, coalesce(m.tbl_name, d.name) AS "table", d.pgsize AS bytes, d.ncell AS entries
			FROM dbstat d
			LEFT JOIN sqlite_schema m ON m.name = d.name
			WHERE d.aggregate = TRUE
			ORDER BY bytes DESC, d.name`)
	})
	return s, err
}

// maintain runs fn with a connection of its own. A step that gets no lock soon is left for the next time.
func (db *DB) maintain(ctx context.Context, what string, fn func(context.Context, *sqlx.DB) error) error {
	if err := db.readLong(ctx, what, fn); err != nil && !isBusy(err) {
		return err
	}
	return ctx.Err()
}

// readLong runs fn with a connection of its own, so that it may read for longer than maxReadAge. It is interrupted only if the write-ahead
// log has to be emptied.
func (db *DB) readLong(ctx context.Context, what string, fn func(context.Context, *sqlx.DB) error) error {
	conn, err := db.connect(1000, db.condition.check, nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetMaxOpenConns(1)
	if _, err := conn.ExecContext(ctx, `PRAGMA busy_timeout = 250`); err != nil {
		return fmt.Errorf("maintenance: %w", err)
	}
	reading, end := db.reads.begin(ctx, what)
	defer end()
	if err := fn(reading, conn); err != nil {
		if cause := context.Cause(reading); cause == errLogHasGrown {
			err = cause
		}
		return fmt.Errorf("%s: %w", what, err)
	}
	return ctx.Err()
}

// trim are the queries that shorten timelines of a kind.
type trim struct{ long, cut string }

// newTrim returns the queries for a table. owner is its column with the owner of the timeline; owners and ownersKey are the table and
// column of all owners.
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

// TrimTimelines removes all but the newest length posts from homes and lists.
func (db *DB) TrimTimelines(ctx context.Context, length int) error {
	type overlong struct {
		Owner int64
		Last  StatusID // the newest post to remove
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

// inBatches runs a DELETE, whose last parameter limits its rows, until no rows are left. Other writers run between two batches.
func (db *DB) inBatches(ctx context.Context, what, query string, args ...any) error {
	args = append(args, trimBatch)
	for {
		var n int64
		err := db.Update(ctx, func(tx *Tx) (err error) {
			n, err = tx.execRows(ctx, what, query, args...)
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
