package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"svc/internal/disk"

	"github.com/jmoiron/sqlx"
)

const (
	smallDatabase   = 16 << 20 // bytes; checked after each start, in the background
	mediumDatabase  = 64 << 20 // checked at a start after a crash, before anything is written; larger ones in the background
	startCheckTime  = 15 * time.Second
	maxCheckTime    = 10 * time.Minute // of a check in the background
	runningMark     = "running\n"
	checkPausedTime = 20 * time.Millisecond // between two tables, so that the log can be emptied
)

// ReportDamage stops writing, because something is wrong with the file.
func (db *DB) ReportDamage(problem string) {
	db.condition.enter(Failed, fmt.Errorf("%w: %s", ErrDamaged, problem))
}

// QuickCheck checks the database without comparing indexes with tables, one table after another. It returns the first error that it found, "" if
// there is none, and stops writing if there is one. It takes long on large databases, and ends with ctx.
func (db *DB) QuickCheck(ctx context.Context) (problem string, err error) {
	err = db.readLong(ctx, "quick check", func(ctx context.Context, conn *sqlx.DB) error {
		var tables []string
		if err := conn.SelectContext(ctx, &tables, `
			SELECT name
			FROM sqlite_schema
			WHERE type = 'table' AND rootpage > 0`); err != nil {
			return err
		}
		for _, table := range append([]string{"sqlite_schema"}, tables...) {
			var found string
			if err := conn.GetContext(ctx, &found, `SELECT quick_check FROM pragma_quick_check(?)`, table); err != nil {
				return err
			}
			if found != "ok" {
				problem = found
				return nil
			}
		}
		return nil
	})
	if problem != "" {
		db.ReportDamage(problem)
	}
	return problem, err
}

// markRunning marks the data directory as in use, and returns true if it was marked already: the process before has not closed the database.
// The mark is in the lock file.
func markRunning(lock *disk.File) (unclean bool) {
	info, err := lock.Stat()
	if err != nil || info.Size() > 0 {
		return true
	}
	if _, err := lock.WriteAt([]byte(runningMark), 0); err == nil { // a full disk may prevent it; then a crash is not noticed
		lock.Sync()
	}
	return false
}

// checkAtStart checks a database that is small or that was not closed. After a crash it returns once one of medium size is checked.
func (db *DB) checkAtStart(ctx context.Context, unclean bool) {
	size, err := os.Stat(db.path())
	if err != nil {
		return
	}
	switch {
	case unclean && size.Size() <= mediumDatabase:
		ctx, cancel := context.WithTimeout(ctx, startCheckTime)
		defer cancel()
		db.logQuickCheck(ctx, unclean)
	case unclean, size.Size() <= smallDatabase:
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxCheckTime)
		db.background.Go(func() {
			defer cancel()
			defer context.AfterFunc(db.closing, cancel)()
			db.logQuickCheck(ctx, unclean)
		})
	}
}

func (db *DB) logQuickCheck(ctx context.Context, unclean bool) {
	begun := time.Now()
	problem, err := db.QuickCheck(ctx)
	took := time.Since(begun).Round(time.Millisecond).String()
	switch {
	case db.closing.Err() != nil, problem != "": // damage was logged
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		db.log.Warn("the server was not stopped properly, and its database is too large to be checked in time: run svc verify when there is little to do", "took", took)
	case err != nil:
		db.log.Warn("the database could not be checked", "err", err)
	case unclean:
		db.log.Info("the server was not stopped properly: its database was checked and is intact", "took", took)
	}
}
