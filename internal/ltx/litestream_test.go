package ltx_test

import (
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"svc/internal/ltx"
	"svc/internal/objects"
)

// litestream starts Litestream for a database, with times so short that all levels, snapshots and removals occur within seconds.
func litestream(t *testing.T, db, place string) *exec.Cmd {
	t.Helper()
	program := os.Getenv("SVC_TEST_LITESTREAM")
	if program == "" {
		t.Skip("SVC_TEST_LITESTREAM names no Litestream")
	}
	config := filepath.Join(t.TempDir(), "litestream.yml")
	text := fmt.Sprintf(`
levels: [{interval: 1s}, {interval: 4s}]
snapshot: {interval: 3s, retention: 9s}
l0-retention: 2s
l0-retention-check-interval: 1s
dbs:
  - path: %s
    monitor-interval: 100ms
    replica: {type: file, path: %s, sync-interval: 100ms}
`, db, place)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "replicate", "-config", config)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			b, _ := os.ReadFile(log.Name())
			t.Logf("log of Litestream:\n%s", b[max(0, len(b)-4000):])
		}
	})
	return cmd
}

// TestLitestream restores what the real Litestream wrote while a database was written, at several times, and follows it meanwhile.
func TestLitestream(t *testing.T) {
	dir, placeDir, to := t.TempDir(), t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "svc.db")
	db := openDB(t, path)
	if _, err := db.Exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE posts (id INTEGER PRIMARY KEY, text TEXT) STRICT`); err != nil {
		t.Fatal(err)
	}
	l, err := objects.ParseLocation(placeDir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := objects.Open(t.Context(), l, objects.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	process := litestream(t, path, filepath.Join(placeDir, "db"))

	written := func(n int) (at time.Time) {
		t.Helper()
		if _, err := db.Exec(`INSERT INTO posts VALUES (?, hex(randomblob(300)))`, n); err != nil {
			t.Fatal(err)
		}
		return time.Now()
	}
	follower := (*ltx.Follower)(nil)
	following := filepath.Join(to, "following.db")
	times := []time.Time{}
	updates := 0
	for start := time.Now(); time.Since(start) < 14*time.Second; time.Sleep(3 * time.Millisecond) {
		times = append(times, written(len(times)+1))
		if len(times)%500 == 0 { // the database shrinks
			if _, err := db.Exec(`UPDATE posts SET text = '' WHERE id % 2 = 0; VACUUM`); err != nil {
				t.Fatal(err)
			}
		}
		if len(times)%100 != 0 {
			continue
		}
		if follower == nil {
			if follower, err = ltx.Follow(t.Context(), store, "db/", following); err != nil {
				if _, err := os.Stat(filepath.Join(placeDir, "db", "ltx", "0")); err == nil {
					t.Fatal(err)
				}
				continue
			}
			defer func() { follower.Close() }()
		}
		before := follower.Position().TXID
		p, err := follower.Update(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if p.TXID > before {
			updates++
		}
		posts(t, copied(t, following))
	}
	if updates < 5 {
		t.Errorf("the follower had %d updates", updates)
	}
	want := content(t, db)
	restored := filepath.Join(to, "svc.db")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if _, err := ltx.Restore(t.Context(), store, "db/", restored, time.Time{}); err != nil {
			t.Fatal(err)
		}
		if content(t, openDB(t, copied(t, restored))) == want {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the restored database is not the source: it has %d posts of %d", posts(t, copied(t, restored)), len(times))
		}
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	process.Wait()
	if _, err := follower.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	if content(t, openDB(t, copied(t, following))) != want {
		t.Error("the followed database is not the source")
	}

	// Levels have an age: of compacted transactions, only the state at the end of a file can be restored.
	for _, ago := range []time.Duration{time.Second, 3 * time.Second, 6 * time.Second} {
		at := times[len(times)-1].Add(-ago)
		n, _ := slices.BinarySearchFunc(times, at, time.Time.Compare)
		p, err := ltx.Restore(t.Context(), store, "db/", restored, at)
		if err != nil {
			t.Fatal(err)
		}
		got := posts(t, copied(t, restored))
		if p.Time.After(at) || got > n {
			t.Errorf("%s before the end, %d posts were written; the state of %s has %d", ago, n, p.Time, got)
		}
		oldest, _ := slices.BinarySearchFunc(times, at.Add(-7*time.Second), time.Time.Compare)
		if got < oldest {
			t.Errorf("%s before the end, the state has %d posts, and %d were written 7 s before", ago, got, oldest)
		}
		t.Logf("%s before the end: %d of %d posts", ago, got, n)
	}
	t.Logf("%d posts, %d updates", len(times), updates)
}

func openDB(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

// copied returns a copy of a database, because SQLite writes files beside the one that it opens.
func copied(t *testing.T, path string) string {
	t.Helper()
	from, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.CreateTemp(t.TempDir(), "*.db")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return to.Name()
}

// posts returns how many posts a database has, which must be whole and have all of them up to the last.
func posts(t *testing.T, path string) (n int) {
	t.Helper()
	db := openDB(t, path)
	defer db.Close()
	var last int
	var check string
	if err := db.QueryRow(`SELECT count(*), ifnull(max(id), 0) FROM posts`).Scan(&n, &last); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow(`PRAGMA integrity_check`).Scan(&check); err != nil || check != "ok" {
		t.Fatalf("integrity: %s, %v", check, err)
	}
	if n != last {
		t.Fatalf("%d posts are missing before the last one", last-n)
	}
	return n
}

// content returns all that is in a database.
func content(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := db.Query(`SELECT id || ' ' || text FROM posts ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all strings.Builder
	for rows.Next() {
		var row string
		if err := rows.Scan(&row); err != nil {
			t.Fatal(err)
		}
		all.WriteString(row + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all.String()
}
