package store_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"svc/store"
)

// logSalt returns what a write-ahead log is identified by: it changes when the log begins anew.
func logSalt(t *testing.T, dir string) uint64 {
	t.Helper()
	head, err := os.ReadFile(filepath.Join(dir, store.File+"-wal")) // another process would not release locks by closing it; the checks below need none
	if err != nil || len(head) < 32 {
		t.Fatalf("the log has %d bytes, %v", len(head), err)
	}
	return binary.BigEndian.Uint64(head[16:])
}

// TestReplicatedLog checks that nothing but its size has the log begin anew while another program copies it, and that it does without that program.
func TestReplicatedLog(t *testing.T) {
	for _, tt := range []struct {
		name       string
		replicated bool
		limit      int64
		overruns   int64
	}{
		{"copied by another program", true, 1 << 30, 0},
		{"nobody copies it", true, 8 << 20, 1},
		{"not copied", false, 8 << 20, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			db, log := openLogged(t, dir, func(o *store.Options) { o.Replicated, o.LogLimit = tt.replicated, func() int64 { return tt.limit } })
			if err := db.Update(t.Context(), func(tx *store.Tx) error { return tx.Exec(t.Context(), `CREATE TABLE _junk (b BLOB)`) }); err != nil {
				t.Fatal(err)
			}
			salt := logSalt(t, dir)
			for range 40 { // SQLite would do a checkpoint after 4 MiB, and begin anew
				if err := addJunk(t.Context(), db, 1<<20); err != nil {
					t.Fatal(err)
				}
			}
			for _, step := range []func() error{
				func() error { return db.Checkpoint(t.Context()) },
				func() error { return db.Optimize(t.Context()) },
				func() error { return db.ReleaseAllSpace(t.Context()) },
				func() error { return addJunk(t.Context(), db, 10) },
			} {
				if err := step(); err != nil {
					t.Fatal(err)
				}
			}
			if count, at := db.LogOverruns(); tt.overruns == 0 && (count != 0 || !at.IsZero()) {
				t.Errorf("%d overruns, the last at %v", count, at)
			}
			if tt.overruns > 0 {
				overrun := func() bool { count, _ := db.LogOverruns(); return count >= tt.overruns && db.LogSize() <= tt.limit }
				for begin := time.Now(); !overrun(); time.Sleep(10 * time.Millisecond) {
					if time.Since(begin) > 30*time.Second {
						t.Fatalf("the log has %d bytes", db.LogSize())
					}
				}
				if count, at := db.LogOverruns(); count < tt.overruns || time.Since(at) > time.Minute || !log.has("start Litestream") {
					t.Errorf("%d overruns, the last at %v; the log is %s", count, at, log)
				}
				return
			}
			if began := logSalt(t, dir) != salt; began == tt.replicated {
				t.Errorf("the log began anew: %v", began)
			}
		})
	}
}
