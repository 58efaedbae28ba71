package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"svc/app/apptest"
	"svc/store"
)

// rewriting is a migration that builds a table anew, to which rows of other tables refer.
const rewriting = `-- rewrites
CREATE TABLE new_markers (account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, more TEXT) STRICT;
INSERT INTO new_markers SELECT id, uri FROM accounts;
DROP TABLE markers;
ALTER TABLE new_markers RENAME TO markers;
`

func addMigration(t *testing.T, sql, wrongHash string) (remove func()) {
	t.Helper()
	remove, err := store.AddMigration(t.Context(), "9999-test", sql, wrongHash)
	t.Cleanup(remove)
	if err != nil {
		t.Fatal(err)
	}
	return remove
}

// TestFailedMigrations checks that a migration that cannot be made leaves the database as it was, for as many tries as it takes, with one copy.
func TestFailedMigrations(t *testing.T) {
	for _, tt := range []struct {
		name, sql, hash string
		copied          bool
		want            string
	}{
		{"another result than it should have", `ALTER TABLE meta ADD COLUMN more TEXT;`, "another", false, "is not version"},
		{"rows that refer to missing ones", rewriting + `INSERT INTO markers VALUES (12345, '');`, "", true, "1 rows would refer to rows that are not there"},
		{"a statement that fails", rewriting + `INSERT INTO markers SELECT NULL, '' FROM accounts;`, "", true, "NOT NULL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := makeOld(t, store.SchemaVersion())
			before := tables(t, dir)
			remove := addMigration(t, tt.sql, tt.hash)
			for range 2 {
				db, err := openIn(dir)
				if err == nil {
					db.Close()
				}
				if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "migration 9999-test was not made, the database still has schema") {
					t.Errorf("got %v, want %q", err, tt.want)
				}
			}
			remove()
			openAndClose(t, dir)
			compareTables(t, dir, before, tables(t, dir))
			if copies, _ := filepath.Glob(filepath.Join(dir, "svc.db.*")); (len(copies) == 1) != tt.copied || len(copies) > 1 {
				t.Errorf("found the copies %v", copies)
			}
		})
	}
}

// TestMigrationIsCutOff fails the nth write or sync of a start that migrates, as a full disk or a power failure does: the next start makes it,
// from the database as it was.
func TestMigrationIsCutOff(t *testing.T) {
	for _, code := range []int{sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE} {
		for n := int64(1); n < 40; n += 7 {
			dir := makeOld(t, 1)
			before := tables(t, dir)
			remove := addMigration(t, rewriting, "")
			var count atomic.Int64
			count.Store(n)
			apptest.FaultyDisk(t, dir, func(op apptest.DiskOperation, file string) int {
				if op != apptest.DiskRead && count.Load() > 0 && count.Add(-1) == 0 {
					count.Store(1) // and all after it
					return code
				}
				return 0
			})
			db, err := openIn(dir)
			if err == nil {
				db.Close()
			} else if code == sqlite3.SQLITE_FULL && !strings.Contains(err.Error(), "is full") || errors.Is(err, store.ErrOtherSchema) {
				t.Errorf("%d: got %v", n, err)
			}
			count.Store(0)
			openAndClose(t, dir)
			after := tables(t, dir)
			if got := fmt.Sprint(after["markers"]); !strings.Contains(got, "more:") {
				t.Errorf("%d: the markers are %s", n, got)
			}
			delete(before, "markers")
			takeQueued(t, 1, after)
			compareTables(t, dir, before, withoutHash(after))
			if info, err := os.Stat(filepath.Join(dir, fmt.Sprintf("svc.db.schema-%d", store.SchemaVersion()-1))); err != nil || info.Size() == 0 {
				t.Errorf("%d: there is no copy: %v", n, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
				t.Errorf("%d: left behind %v", n, left)
			}
			remove()
		}
	}
}

// withoutHash removes the hash of a schema that only the test has.
func withoutHash(tables map[string][]row) map[string][]row {
	for _, r := range tables["meta"] {
		delete(r, "schema_hash")
	}
	return tables
}
