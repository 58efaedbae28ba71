package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"svc/internal/disk"
	"svc/internal/errs"
)

// State says whether the database accepts writes.
type State string

const (
	Writable State = "writable"
	DiskFull State = "full"      // only what deletes is written; ends by itself when there is room
	ReadOnly State = "read_only" // the disk refuses writes; ends by itself
	Failed   State = "failed"    // the disk or the file is damaged; ends with the process
)

// Condition is the state of the database since a time.
type Condition struct {
	State   State
	Message string // for clients; "" if it is writable
	Cause   string // for the operator
	Since   time.Time
}

// condition keeps the state. Statements that fail change it, whichever connection they run on.
type condition struct {
	db      *DB
	current atomic.Pointer[Condition]
	err     atomic.Pointer[errs.Error] // for clients; nil while writable

	mu        sync.Mutex    // held to change the state
	changed   chan struct{} // closed at the next change
	refusedAt time.Time     // when the disk last refused a write
	resumedAt time.Time     // when writing was last resumed
	pause     time.Duration // after refusedAt, before the next attempt to resume
}

func newCondition(db *DB) *condition {
	c := &condition{db: db, changed: make(chan struct{})}
	c.current.Store(&Condition{State: Writable, Since: time.Now()})
	return c
}

// Condition returns whether the database accepts writes.
func (db *DB) Condition() Condition { return *db.condition.current.Load() }

// fullRetryAfter is when clients and other servers may try again.
const fullRetryAfter = 10 * time.Minute

type allowFullKey struct{}

// AllowWhenFull returns a context with which Update also writes while the disk is full. It is for what deletes, and for what operators do:
// the ballast leaves room for that.
func AllowWhenFull(ctx context.Context) context.Context {
	return context.WithValue(ctx, allowFullKey{}, true)
}

func allowedWhenFull(ctx context.Context) bool { return ctx.Value(allowFullKey{}) != nil }

// refuse returns the error of Update in the current state, nil if it may write.
func (c *condition) refuse(ctx context.Context) error {
	err := c.err.Load()
	if err == nil || c.current.Load().State == DiskFull && allowedWhenFull(ctx) {
		return nil
	}
	return err
}

// WaitWritable waits until the database accepts writes. It returns false when ctx ends.
func (db *DB) WaitWritable(ctx context.Context) bool {
	for {
		c := db.condition
		c.mu.Lock()
		changed, state := c.changed, c.current.Load().State
		c.mu.Unlock()
		if state == Writable {
			return ctx.Err() == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

// check takes the error of a statement. Errors of the disk and of the file change the state; the others are those of queries.
func (c *condition) check(query string, err error) {
	if errors.Is(err, io.EOF) {
		return
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return
	}
	switch state := c.stateAfter(e); state {
	case Writable:
	default:
		c.enter(state, fmt.Errorf("%w in %s", err, oneLine(query)))
	}
}

// stateAfter returns the state that an error leads to, Writable if it says nothing of the disk.
func (c *condition) stateAfter(e *sqlite.Error) State {
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return Failed
	case sqlite3.SQLITE_FULL:
		return DiskFull
	case sqlite3.SQLITE_READONLY:
		if e.Code() == sqlite3.SQLITE_READONLY_DBMOVED {
			return Failed
		}
		return c.refused()
	case sqlite3.SQLITE_IOERR:
		switch e.Code() {
		case sqlite3.SQLITE_IOERR_NOMEM, sqlite3.SQLITE_IOERR_BLOCKED, sqlite3.SQLITE_IOERR_LOCK, sqlite3.SQLITE_IOERR_RDLOCK,
			sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK, sqlite3.SQLITE_IOERR_UNLOCK:
			return Writable
		case sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMOPEN:
			// SQLite knows one reason only, ENOSPC. Nothing was committed, so that writing may go on when the reason is gone.
			if state := c.refused(); state != Writable {
				return state
			}
		}
		return Failed
	}
	return Writable
}

// isDiskError returns true for errors of writes that are no fault of the statement.
func (c *condition) isDiskError(e *sqlite.Error) bool {
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR:
		return true
	}
	return false
}

// refused finds out why the disk refuses writes, by a small file. It returns Writable if it does not.
func (c *condition) refused() State {
	err := probeDisk(c.db.options.Dir)
	switch {
	case err == nil:
		return Writable
	case isNoSpace(err):
		return DiskFull
	case errors.Is(err, syscall.EROFS), errors.Is(err, os.ErrPermission):
		return ReadOnly
	}
	return Failed
}

// isNoSpace returns true if err says that a disk, a quota or the size of a file is used up.
func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// IsDiskFull returns true for the error of a write, to a database or a file, for which the disk has no space left.
func IsDiskFull(err error) bool {
	if e := new(sqlite.Error); errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL {
		return true
	}
	e := new(errs.Error)
	return isNoSpace(err) || errors.As(err, &e) && e.Status == 507
}

const probeSize = 64 << 10

// probeDisk writes a small file to a folder and removes it.
func probeDisk(dir string) error {
	path := filepath.Join(dir, "probe")
	f, err := disk.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeSize))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), disk.Remove(path))
}

// enter changes the state for the worse. Failed stays.
func (c *condition) enter(state State, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.current.Load().State
	c.refusedAt = time.Now()
	if now == Writable {
		c.pause *= 2
		if time.Since(c.resumedAt) > quietTime {
			c.pause = guardInterval / 2
		}
		c.pause = min(c.pause, maxResumePause)
	}
	if now == Failed || now == state || now == DiskFull && state == ReadOnly {
		return
	}
	e := &errs.Error{Status: 503, Err: refusedWrite{cause}}
	log, args := c.db.log, []any{"err", cause}
	switch state {
	case DiskFull:
		e.Status, e.Message = 507, "The server's disk is full: nothing can be stored until there is room"
		e.RetryAfter = fullRetryAfter
		freed := c.db.ballast.release()
		log.Error("the disk is full: posts are read, but nothing is stored until there is room; delete files, or make the disk larger; writing goes on by itself then",
			append(args, "ballast_freed", freed)...)
	case ReadOnly:
		e.Message = "The server's disk is read-only: nothing can be stored at the moment"
		log.Error("the disk refuses writes: posts are read, but nothing is stored until the disk is writable again; see the log of the system", args...)
	case Failed:
		e.Message = "The server's database is damaged: nothing can be stored until its operator has repaired it"
		log.Error("the database or its disk is damaged: posts are read as far as possible, but nothing is stored any more. "+
			"Stop the server, copy the data directory, check the disk, then restore a backup: "+c.db.restoreAdvice(), args...)
	}
	c.set(&Condition{State: state, Message: e.Message, Cause: cause.Error(), Since: time.Now()}, e)
}

// refusedWrite is the cause of an error of Update that lasts only as long as the state of the database.
type refusedWrite struct{ error }

func (e refusedWrite) Unwrap() error { return e.error }

func isRefusedWrite(err error) bool {
	var refused refusedWrite
	return errors.As(err, &refused)
}

// mayResume returns true if it is time to try whether the disk accepts writes again.
func (c *condition) mayResume() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.refusedAt) >= c.pause
}

// recover returns to Writable, unless the database has failed.
func (c *condition) recover() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.current.Load(); now.State != Writable && now.State != Failed {
		c.resumedAt = time.Now()
		c.db.log.Info("the disk accepts writes again", "after", time.Since(now.Since).Round(time.Second).String())
		c.set(&Condition{State: Writable, Since: time.Now()}, nil)
		c.db.wakeWorker()
		wake(c.db.deliveryWake)
	}
}

// set changes the state. c.mu is held.
func (c *condition) set(to *Condition, err *errs.Error) {
	c.err.Store(err)
	c.current.Store(to)
	close(c.changed)
	c.changed = make(chan struct{})
}

// restoreAdvice names the command that restores the newest backup.
func (db *DB) restoreAdvice() string {
	if db.options.NewestBackup != nil {
		if file := db.options.NewestBackup(); file != "" {
			return "svc restore " + file
		}
	}
	return "svc restore FILE (there is no backup in the folder of backups)"
}
