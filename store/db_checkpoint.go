package store

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// Litestream copies the write-ahead log, and holds a read transaction meanwhile. It does the checkpoints: after a checkpoint of another program the log
// begins anew, and what Litestream has not copied by then is in the database only, so that it has to copy the whole database again. So this program
// does none while Options.Replicated is set, as long as the log is not larger than LogLimit.

// MaxReplicatedLog is the LogLimit of a database whose checkpoints another program does. In docs/examples Litestream empties the log at 64 MiB.
const MaxReplicatedLog = 256 << 20

// truncateWait is how long the writer waits for readers that keep the log from being emptied.
const truncateWait = 100 * time.Millisecond

// truncation is the result of emptying the log.
type truncation struct {
	done bool // false: a reader prevents it
	err  error
}

// truncateLog moves the write-ahead log into the database and empties it, between two transactions of the writer. It returns false if a reader
// prevents that.
func (db *DB) truncateLog(ctx context.Context) (bool, error) {
	answer := make(chan truncation, 1)
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-db.writer.stop:
		return false, ErrClosed
	case db.writer.truncate <- answer:
	}
	t := <-answer
	return t.done, t.err
}

// truncateLog is the part that the writer does.
func (w *writer) truncateLog() (t truncation) {
	ctx := context.Background()
	wait := func(d time.Duration) error {
		_, err := w.conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA busy_timeout = %d`, d.Milliseconds()))
		return err
	}
	if t.err = wait(truncateWait); t.err != nil {
		return t
	}
	var busy, frames, moved int
	t.err = w.conn.QueryRowxContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moved)
	t.done = t.err == nil && busy == 0
	if err := wait(w.db.options.LockTimeout); t.err == nil {
		t.err = err
	}
	if t.err != nil {
		t.err = fmt.Errorf("empty the log: %w", t.err)
	}
	return t
}

// overruns are the times that the log was emptied although another program should have done it.
type overruns struct {
	last   atomic.Int64 // Unix milliseconds; 0: none
	count  atomic.Int64
	logged atomic.Bool
}

// noteOverrun remembers that the log was emptied, and logs the first time.
func (db *DB) noteOverrun(bytes int64) {
	db.overruns.last.Store(db.now().UnixMilli())
	db.overruns.count.Add(1)
	if !db.overruns.logged.Swap(true) {
		db.log.Error("no program has taken the database's log, and it was emptied without a copy: start Litestream, which copies the whole database then", "bytes", bytes)
	}
}

// LogOverruns returns how often since the start the log was emptied without a copy, because no program took it, and when the last time was.
func (db *DB) LogOverruns() (count int64, last time.Time) {
	if at := db.overruns.last.Load(); at != 0 {
		last = time.UnixMilli(at)
	}
	return db.overruns.count.Load(), last
}

// OldestRead returns the age of the oldest query or task of maintenance that reads the database, 0 if there is none.
func (db *DB) OldestRead() time.Duration {
	age, what := db.reads.oldest()
	if what == "" {
		return 0
	}
	return age
}

// LogSize returns the size of the write-ahead log. The file must not be opened, because closing it would release SQLite's locks.
func (db *DB) LogSize() int64 {
	info, err := os.Stat(db.path() + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}
