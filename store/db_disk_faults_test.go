package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"svc/app/apptest"
	"svc/internal/errs"
	"svc/store"
)

// logged is a log that tests read.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// openLogged opens the database of a folder with a log. change modifies the options.
func openLogged(t testing.TB, dir string, change ...func(*store.Options)) (*store.DB, *logged) {
	t.Helper()
	db, log, err := tryOpenLogged(dir, change...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db, log
}

func tryOpenLogged(dir string, change ...func(*store.Options)) (*store.DB, *logged, error) {
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		return nil, nil, err
	}
	log := new(logged)
	o := store.Options{
		Dir: dir, Schema: string(schema), Log: slog.New(slog.NewTextHandler(log, nil)),
		NewestBackup: func() string { return "/backups/newest.tar" },
	}
	for _, f := range change {
		f(&o)
	}
	db, err := store.Open(context.Background(), o)
	return db, log, err
}

func wantClientError(t *testing.T, err error, status int, text string) {
	t.Helper()
	var e *errs.Error
	if !errors.As(err, &e) || e.Status != status || !strings.Contains(e.Message, text) {
		t.Errorf("got %v, want %d with %q", err, status, text)
	}
}

func addJunk(ctx context.Context, db *store.DB, size int) error {
	return db.Update(ctx, func(tx *store.Tx) error {
		return tx.Exec(ctx, `INSERT INTO _junk VALUES (zeroblob(?))`, size)
	})
}

// TestDiskErrors fails one operation of the disk at a time, of each kind, on the connections that read and on the one that writes: nothing is
// written afterwards, the state and the log say so, and reads go on.
func TestDiskErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		op   apptest.DiskOperation
		file string // a part of the name
		code int
		act  func(context.Context, *store.DB) error
	}{
		{"sync of a commit", apptest.DiskSync, "-wal", sqlite3.SQLITE_IOERR_FSYNC, func(ctx context.Context, db *store.DB) error { return addJunk(ctx, db, 10) }},
		{"write of a commit", apptest.DiskWrite, "-wal", sqlite3.SQLITE_IOERR_WRITE, func(ctx context.Context, db *store.DB) error { return addJunk(ctx, db, 10) }},
		{"spilled pages before the commit", apptest.DiskWrite, "-wal", sqlite3.SQLITE_IOERR_WRITE, func(ctx context.Context, db *store.DB) error { return addJunk(ctx, db, 32<<20) }},
		{"read by a reader", apptest.DiskRead, store.File, sqlite3.SQLITE_IOERR_READ, func(ctx context.Context, db *store.DB) error {
			_, err := db.Has(ctx, `SELECT 1 FROM _junk WHERE b = 'x'`)
			return err
		}},
		{"damaged page for a reader", apptest.DiskRead, store.File, sqlite3.SQLITE_CORRUPT, func(ctx context.Context, db *store.DB) error {
			_, err := db.Has(ctx, `SELECT 1 FROM _junk WHERE b = 'x'`)
			return err
		}},
		{"no database for a reader", apptest.DiskRead, store.File, sqlite3.SQLITE_NOTADB, func(ctx context.Context, db *store.DB) error {
			_, err := db.Has(ctx, `SELECT 1 FROM _junk WHERE b = 'x'`)
			return err
		}},
		{"read in a transaction", apptest.DiskRead, store.File, sqlite3.SQLITE_IOERR_READ, func(ctx context.Context, db *store.DB) error {
			return db.Update(ctx, func(tx *store.Tx) error { return tx.Exec(ctx, `UPDATE _junk SET b = 'y' WHERE b = 'x'`) })
		}},
		{"damage that the function ignores", apptest.DiskRead, store.File, sqlite3.SQLITE_CORRUPT, func(ctx context.Context, db *store.DB) error {
			return db.Update(ctx, func(tx *store.Tx) error {
				tx.Exec(ctx, `UPDATE _junk SET b = 'y' WHERE b = 'x'`)
				return tx.Exec(ctx, `INSERT INTO _junk VALUES ('lost')`)
			})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			var armed, failed atomic.Bool
			apptest.FaultyDisk(t, dir, func(op apptest.DiskOperation, file string) int {
				if armed.Load() && op == tt.op && (file == tt.file || tt.file != store.File && strings.Contains(file, tt.file)) {
					failed.Store(true)
					return tt.code
				}
				return 0
			})
			db, _ := openLogged(t, dir)
			fill(t, db, 24) // more than the caches
			db.Close()
			db, log := openLogged(t, dir)
			armed.Store(true)
			if err := tt.act(t.Context(), db); err == nil || !failed.Load() {
				t.Fatalf("the operation succeeded (%v), the disk failed: %v", err, failed.Load())
			}
			armed.Store(false)
			c := db.Condition()
			if c.State != store.Failed || !strings.Contains(c.Message, "damaged") {
				t.Errorf("the condition is %+v", c)
			}
			wantClientError(t, addJunk(t.Context(), db, 1), 503, "damaged")
			wantClientError(t, addJunk(store.AllowWhenFull(t.Context()), db, 1), 503, "damaged")
			if !log.has("svc restore /backups/newest.tar") {
				t.Errorf("the log does not name the backup:\n%s", log)
			}
			if found, err := db.Has(t.Context(), `SELECT 1 FROM _junk WHERE b = 'lost'`); found || err != nil {
				t.Errorf("part of a failed transaction: %v, %v", found, err)
			}
		})
	}
}

// TestFailAtEachOperation fails the nth write or sync of a series of commits, for each n: an acknowledged commit is there after the next start,
// the failed one is not, and the database is intact.
func TestFailAtEachOperation(t *testing.T) {
	for _, op := range []apptest.DiskOperation{apptest.DiskWrite, apptest.DiskSync} {
		for n := int64(1); n <= 37; n += 6 {
			dir := t.TempDir()
			var count atomic.Int64
			apptest.FaultyDisk(t, dir, func(o apptest.DiskOperation, file string) int {
				if o == op && count.Add(-1) == 0 {
					return sqlite3.SQLITE_IOERR | 3<<8
				}
				return 0
			})
			db, _ := openLogged(t, dir)
			a := addAccount(t, db, "alice")
			count.Store(n)
			var acknowledged []string
			for range 30 {
				st, err := addStatus(t.Context(), db, a)
				if err != nil {
					break
				}
				acknowledged = append(acknowledged, st.URI)
			}
			count.Store(0)
			db.Close()
			db, _ = openLogged(t, dir)
			if found, err := db.Check(t.Context()); err != nil || len(found) > 0 {
				t.Fatalf("%s %d: %v %v", op, n, found, err)
			}
			uris, err := db.Texts(t.Context(), `SELECT uri FROM statuses ORDER BY id`)
			if err != nil || len(uris) < len(acknowledged) || !slices.Equal(uris[:len(acknowledged)], acknowledged) {
				t.Errorf("%s %d: %d acknowledged, found %d (%v)", op, n, len(acknowledged), len(uris), err)
			}
			db.Close()
		}
	}
}

// TestDamagedAtStart checks that a truncated or changed database is noticed at the start, and that the message names the newest backup.
func TestDamagedAtStart(t *testing.T) {
	dir := t.TempDir()
	db := openDir(t, dir)
	a := addAccount(t, db, "alice")
	for range 300 {
		if _, err := addStatus(t.Context(), db, a); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	whole, err := os.ReadFile(filepath.Join(dir, store.File))
	if err != nil {
		t.Fatal(err)
	}
	page := func(b []byte, n int) []byte { return b[n*4096:][:4096] }
	for _, tt := range []struct {
		name   string
		damage func([]byte) []byte
		opens  bool
	}{
		{"truncated", func(b []byte) []byte { return b[:len(b)/2] }, false},
		{"header", func(b []byte) []byte { copy(b, "no database"); return b }, false},
		{"schema", func(b []byte) []byte { clear(page(b, 1)); clear(b[100:4096]); return b }, false},
		{"flipped bits of a page", func(b []byte) []byte {
			for i := range 60 {
				page(b, len(b)/4096-2)[i] ^= 0xff
			}
			return b
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, store.File), tt.damage(slices.Clone(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			db, log, err := tryOpenLogged(dir)
			if !tt.opens {
				if err == nil {
					db.Close()
					t.Fatal("the database was opened")
				}
				if !strings.Contains(err.Error(), "svc restore /backups/newest.tar") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			apptest.WaitFor(t, "the damage to be found", func() bool { return db.Condition().State == store.Failed })
			wantClientError(t, addJunk(t.Context(), db, 1), 503, "damaged")
			if !log.has("svc restore /backups/newest.tar") {
				t.Errorf("the log is\n%s", log)
			}
		})
	}
}

// TestUncleanStop checks that a database that was not closed is checked at the next start, and only then.
func TestUncleanStop(t *testing.T) {
	const message = "the server was not stopped properly: its database was checked and is intact"
	dir := t.TempDir()
	db, log := openLogged(t, dir)
	if log.has(message) {
		t.Error("a new database was checked")
	}
	fill(t, db, 20) // not small
	killed := t.TempDir()
	for _, name := range []string{store.File, store.File + "-wal", "lock"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(killed, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	for _, tt := range []struct {
		name, dir string
		want      bool
	}{{"closed", dir, false}, {"killed", killed, true}, {"closed after that", killed, false}} {
		db, log := openLogged(t, tt.dir)
		if log.has(message) != tt.want {
			t.Errorf("%s: the log is\n%s", tt.name, log)
		}
		db.Close()
	}
}

// TestLocked checks that a write waits while another process has the database, and is refused after lockTimeout with all that wait.
func TestLocked(t *testing.T) {
	const timeout = 300 * time.Millisecond
	dir := t.TempDir()
	db, _ := openLogged(t, dir, func(o *store.Options) { o.LockTimeout = timeout })
	fill(t, db, 1)
	other, err := side(t, dir).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	lock := func(query string) {
		if _, err := other.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	lock(`BEGIN IMMEDIATE`)
	time.AfterFunc(timeout/6, func() { other.ExecContext(context.Background(), `ROLLBACK`) })
	if err := addJunk(t.Context(), db, 1); err != nil {
		t.Errorf("after a short lock: %v", err)
	}
	lock(`BEGIN IMMEDIATE`)
	begun := time.Now()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { wantClientError(t, addJunk(t.Context(), db, 1), 503, "cannot store anything at the moment") })
	}
	wg.Wait()
	if took := time.Since(begun); took > 10*timeout {
		t.Errorf("20 writes took %v", took)
	}
	if c := db.Condition(); c.State != store.Writable {
		t.Errorf("the condition is %+v", c)
	}
	lock(`ROLLBACK`)
	if err := addJunk(t.Context(), db, 1); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

// BenchmarkSlowDisk measures commits and reads of a home timeline while each sync of the disk takes 20 ms.
func BenchmarkSlowDisk(b *testing.B) {
	for _, writers := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			dir := b.TempDir()
			var slow atomic.Bool
			apptest.FaultyDisk(b, dir, func(op apptest.DiskOperation, _ string) int {
				if op == apptest.DiskSync && slow.Load() {
					time.Sleep(20 * time.Millisecond)
				}
				return 0
			})
			db := openDir(b, dir)
			a := addAccount(b, db, "alice")
			slow.Store(true)
			stop := make(chan struct{})
			var reads []time.Duration
			var reader, wg sync.WaitGroup
			reader.Go(func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(time.Millisecond):
					}
					begun := time.Now()
					if _, err := db.HomeTimeline(context.Background(), a.ID, store.Filter{}, store.Page{Limit: 20}); err != nil {
						b.Error(err)
						return
					}
					reads = append(reads, time.Since(begun))
				}
			})
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			for range writers {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						if _, err := addStatus(context.Background(), db, a); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			close(stop)
			reader.Wait()
			slow.Store(false)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "statuses/s")
			if slices.Sort(reads); len(reads) > 0 {
				b.ReportMetric(float64(reads[len(reads)*99/100].Microseconds()), "read-p99-µs")
			}
		})
	}
}

// TestReadersDoNotGrowTheLog holds a query open while much is written: it is named in the log and interrupted, and the write-ahead log stays
// bounded.
func TestReadersDoNotGrowTheLog(t *testing.T) {
	apptest.SkipIfShort(t)
	dir := t.TempDir()
	db, log := openLogged(t, dir)
	fill(t, db, 1)
	rows, err := db.OpenQuery(t.Context(), `WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n) SELECT value, (SELECT count(*) FROM _junk) FROM n`)
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	most := int64(0)
	for begun := time.Now(); rows.Next(); {
		fill(t, db, 8)
		most = max(most, db.LogSize())
		if most > 1<<30 || time.Since(begun) > time.Minute {
			t.Fatalf("the query is still open, the log has %d MiB", most>>20)
		}
	}
	if !errors.Is(rows.Err(), store.ErrReadInterrupted) {
		t.Errorf("the query ended with %v", rows.Err())
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	if !log.has("cannot be emptied because of a reader") || !log.has("WITH RECURSIVE") || !log.has("was interrupted") {
		t.Errorf("the log is\n%s", log)
	}
	if most < 64<<20 {
		t.Errorf("the log had up to %d MiB", most>>20)
	}
	apptest.WaitFor(t, "the log to be emptied", func() bool { return db.LogSize() <= 64<<20 })
	t.Logf("the log had up to %d MiB", most>>20)
}

// TestJobsWaitForTheDisk fills the disk while a job runs: the job is not run again until its result is stored, other jobs wait, and jobs that
// delete run.
func TestJobsWaitForTheDisk(t *testing.T) {
	dir := t.TempDir()
	var full atomic.Bool
	apptest.FaultyDisk(t, dir, func(op apptest.DiskOperation, file string) int {
		if full.Load() && op == apptest.DiskWrite && strings.HasSuffix(file, "-wal") {
			return sqlite3.SQLITE_FULL
		}
		return 0
	})
	db, log := openLogged(t, dir)
	var runs, swept atomic.Int64
	w := store.NewWorker(db, 2, slog.New(slog.NewTextHandler(log, nil)))
	store.Handle(w, func(ctx context.Context, _ work) error {
		full.Store(runs.Add(1) == 1)
		return db.Update(ctx, func(tx *store.Tx) error { return tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS _junk (b)`) })
	})
	store.Handle(w, func(context.Context, store.ExpireStatus) error { swept.Add(1); return nil })
	mustUpdate(t, db, func(tx *store.Tx) error {
		if err := tx.EnqueueAt(t.Context(), time.Now().Add(time.Second/2), store.ExpireStatus{}); err != nil {
			return err
		}
		return tx.Enqueue(t.Context(), work{"a"})
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); w.Run(ctx) }()
	apptest.WaitFor(t, "the disk to be full", func() bool { return db.Condition().State == store.DiskFull })
	wantClientError(t, addJunk(t.Context(), db, 1), 507, "disk is full")
	apptest.WaitFor(t, "the job that deletes", func() bool { return swept.Load() > 0 })
	apptest.WaitFor(t, "writing to be tried again", func() bool { return log.has("the disk accepts writes again") })
	full.Store(false)
	apptest.WaitFor(t, "the results", func() bool {
		waiting, err := db.Has(t.Context(), `SELECT 1 FROM jobs`)
		return !waiting && err == nil
	})
	stop()
	<-ended
	if n := runs.Load(); n < 2 || n > 5 || swept.Load() != 1 { // one attempt each time that writing seems to be possible again
		t.Errorf("the jobs ran %d and %d times", runs.Load(), swept.Load())
	}
	if lines := strings.Count(log.String(), "\n"); lines > 30 {
		t.Errorf("%d lines were logged:\n%s", lines, log)
	}
}
