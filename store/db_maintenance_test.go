package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc/store"
)

func write(t testing.TB, db *store.DB, fn func(*store.Tx) error) {
	t.Helper()
	if err := db.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// side opens another connection to a database, as another process would.
func side(t testing.TB, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, store.File))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func number(t testing.TB, db *sql.DB, query string, args ...any) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func TestTrimTimelines(t *testing.T) {
	dir := t.TempDir()
	db := openDir(t, dir)
	const length, many = 10, 1300 // more than one batch to delete
	write(t, db, func(tx *store.Tx) error {
		for id := 1; id <= 3; id++ {
			a := &store.Account{ID: store.AccountID(id), Nickname: fmt.Sprint("a", id), URI: fmt.Sprint("a", id), ActorType: "Person"}
			if err := tx.AddAccount(t.Context(), a); err != nil {
				return err
			}
			if err := tx.AddUser(t.Context(), &store.User{AccountID: a.ID}); err != nil {
				return err
			}
		}
		for _, query := range []string{
			`INSERT INTO statuses (id, account_id, visibility, conversation_id, domain, created_at, uri)
				SELECT value, 1, 0, value, '', 0, 's' || value FROM (WITH RECURSIVE n (value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n LIMIT 1300) SELECT value FROM n)`,
			`INSERT INTO home (account_id, status_id) SELECT 1, id FROM statuses`,
			`INSERT INTO home (account_id, status_id) SELECT 2, id FROM statuses WHERE id <= 10`,
			`INSERT INTO home (account_id, status_id) SELECT 3, id FROM statuses WHERE id <= 11`,
			`INSERT INTO lists (id, account_id, title) VALUES (1, 1, 'a'), (2, 1, 'b')`,
			`INSERT INTO list_timeline (list_id, status_id) SELECT 1, id FROM statuses`,
			`INSERT INTO list_timeline (list_id, status_id) SELECT 2, id FROM statuses WHERE id <= 3`,
		} {
			if err := tx.Exec(t.Context(), query); err != nil {
				return err
			}
		}
		return nil
	})
	if err := db.TrimTimelines(t.Context(), length); err != nil {
		t.Fatal(err)
	}
	s := side(t, dir)
	for _, tt := range []struct {
		query            string
		id, rows, oldest int
	}{
		{`FROM home WHERE account_id = ?`, 1, length, many - length + 1},
		{`FROM home WHERE account_id = ?`, 2, length, 1},
		{`FROM home WHERE account_id = ?`, 3, length, 2},
		{`FROM list_timeline WHERE list_id = ?`, 1, length, many - length + 1},
		{`FROM list_timeline WHERE list_id = ?`, 2, 3, 1},
	} {
		if got := number(t, s, "SELECT count(*) "+tt.query, tt.id); got != tt.rows {
			t.Errorf("%s %d: %d rows, want %d", tt.query, tt.id, got, tt.rows)
		}
		if got := number(t, s, "SELECT min(status_id) "+tt.query, tt.id); got != tt.oldest {
			t.Errorf("%s %d: the oldest is %d, want %d", tt.query, tt.id, got, tt.oldest)
		}
	}
}

// fill writes megabytes into a table of the test.
func fill(t testing.TB, db *store.DB, megabytes int) {
	t.Helper()
	for range megabytes {
		write(t, db, func(tx *store.Tx) error {
			if err := tx.Exec(t.Context(), `CREATE TABLE IF NOT EXISTS _junk (b BLOB)`); err != nil {
				return err
			}
			return tx.Exec(t.Context(), `INSERT INTO _junk VALUES (zeroblob(1 << 20))`)
		})
	}
}

func TestCheckpointEmptiesAGrownLog(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 70 MB")
	}
	dir := t.TempDir()
	db := openDir(t, dir)
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, store.File+"-wal"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	reader, err := side(t, dir).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Rollback()
	if _, err := reader.Exec(`SELECT count(*) FROM accounts`); err != nil {
		t.Fatal(err)
	}
	fill(t, db, 70)
	if size() < 64<<20 {
		t.Fatalf("the log has only %d bytes", size())
	}
	begun := time.Now()
	if err := db.Checkpoint(t.Context()); err != nil {
		t.Errorf("with a reader in the way: %v", err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("with a reader in the way it took %v", took)
	}
	fill(t, db, 1)
	reader.Rollback()
	if err := db.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if size() != 0 {
		t.Errorf("the log has %d bytes", size())
	}
}

func TestReleaseSpace(t *testing.T) {
	dir := t.TempDir()
	db := openDir(t, dir)
	fill(t, db, 8)
	s := side(t, dir)
	write(t, db, func(tx *store.Tx) error { return tx.Exec(t.Context(), `DELETE FROM _junk`) })
	if free := number(t, s, `PRAGMA freelist_count`); free < 1000 {
		t.Fatalf("only %d pages are free", free)
	}
	if err := db.ReleaseSpace(t.Context()); err != nil {
		t.Fatal(err)
	}
	if free, pages := number(t, s, `PRAGMA freelist_count`), number(t, s, `PRAGMA page_count`); free > 128 && free > pages/10 {
		t.Errorf("%d of %d pages are still free", free, pages)
	}
}

func TestOptimize(t *testing.T) {
	dir := t.TempDir()
	db := openDir(t, dir)
	write(t, db, func(tx *store.Tx) error {
		return tx.Exec(t.Context(), `INSERT INTO tags (name, key) SELECT 'tag' || value, 'tag' || value FROM (WITH RECURSIVE n (value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n LIMIT 5000) SELECT value FROM n)`)
	})
	if err := db.Optimize(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := number(t, side(t, dir), `SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'tags'`); n == 0 {
		t.Error("SQLite knows nothing of the table")
	}
	if n := number(t, side(t, dir), `SELECT count(*) FROM sqlite_stat4`); n != 0 {
		t.Errorf("SQLite has taken %d samples, by which it would plan every query anew", n)
	}
}

func TestMaintenanceStops(t *testing.T) {
	db := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, fn := range map[string]func(context.Context) error{"checkpoint": db.Checkpoint, "optimize": db.Optimize, "release space": db.ReleaseSpace} {
		if err := fn(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCopyAndCheck(t *testing.T) {
	dir := t.TempDir()
	db := openDir(t, dir)
	fill(t, db, 1)
	to := filepath.Join(t.TempDir(), "copy.db")
	version, err := store.Copy(t.Context(), dir, to)
	if err != nil {
		t.Fatal(err)
	}
	if want := number(t, side(t, dir), `PRAGMA user_version`); version != want {
		t.Errorf("got version %d, want %d", version, want)
	}
	if err := store.Check(t.Context(), to); err != nil {
		t.Errorf("the copy: %v", err)
	}
	if _, err := store.Copy(t.Context(), dir, to); err == nil {
		t.Error("a file that was there is written over")
	}

	whole, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		damage func([]byte) []byte
	}{
		{"the middle overwritten", func(b []byte) []byte { copy(b[8192:], make([]byte, 4096*5)); return b }},
		{"cut off", func(b []byte) []byte { return b[:len(b)/2] }},
		{"no database at all", func([]byte) []byte { return []byte("nonsense") }},
		{"empty", func([]byte) []byte { return nil }},
	} {
		path := filepath.Join(t.TempDir(), "damaged.db")
		if err := os.WriteFile(path, tt.damage(append([]byte(nil), whole...)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := store.Check(t.Context(), path); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}

func TestLockKeepsOthersOut(t *testing.T) {
	dir := t.TempDir()
	lock, err := store.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openIn(dir); !errors.Is(err, store.ErrInUse) {
		t.Errorf("open: got %v", err)
	}
	if _, err := store.Lock(dir); !errors.Is(err, store.ErrInUse) {
		t.Errorf("lock: got %v", err)
	}
	lock.Close()
	openDir(t, dir)
}

// TestRecountHasItsOwnConnection recounts while queries hold all reading connections, whose queries are interrupted after a while.
func TestRecountHasItsOwnConnection(t *testing.T) {
	db := open(t)
	for range db.Connections().Pool {
		rows, err := db.OpenQuery(t.Context(), `WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n) SELECT value FROM n`)
		if err != nil || !rows.Next() {
			t.Fatal(err)
		}
		defer rows.Close()
	}
	parts := 0
	for cursor := ""; ; parts++ {
		found, next, err := db.Recount(t.Context(), cursor)
		if err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	if parts != 2 {
		t.Errorf("%d parts after the first one", parts)
	}
}

// TestLongReadsMakeWay checks that a task that keeps the write-ahead log from being emptied is interrupted, and says why.
func TestLongReadsMakeWay(t *testing.T) {
	db := open(t)
	done := make(chan error)
	go func() {
		done <- db.ReadLong(t.Context(), `SELECT count(*) FROM (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n) SELECT value FROM n)`)
	}()
	for {
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "endless: it was interrupted because the database's log has grown") {
				t.Errorf("the task ended with %v", err)
			}
			return
		case <-time.After(10 * time.Millisecond):
			db.CancelTasks()
		}
	}
}
