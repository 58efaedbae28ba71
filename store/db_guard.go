package store

import (
	"context"
	"sync"
	"time"
)

// MaxLogLimit is the default of Options.LogLimit.
const MaxLogLimit = 64 << 20

// Bounds of open reads and of the write-ahead log, which cannot be emptied beyond the snapshot of the oldest read.
const (
	guardInterval   = time.Second
	maxReadAge      = 30 * time.Second // queries of the reading connections that are open for longer are interrupted
	shortReadAge    = time.Second      // the same while the log is larger than warnWALSize
	warnWALSize     = 256 << 20        // maintenance is interrupted, too
	truncateAgain   = 5 * time.Second  // after a read has kept the log from being emptied
	blockedLogEvery = time.Minute
	ballastEvery    = 10 * time.Second
	quietTime       = 30 * time.Second // a disk that is full again within it is tried less often
	maxResumePause  = time.Minute
)

// guard bounds what open reads can cause, keeps the ballast, and finds out when a disk accepts writes again.
type guard struct {
	db        *DB
	stop      chan struct{}
	stopped   sync.WaitGroup
	truncate  time.Time // not before
	loggedAt  time.Time // that the log cannot be emptied
	ballastAt time.Time
	clock     time.Time // the latest time, from ids before the start
}

func startGuard(db *DB) *guard {
	g := &guard{db: db, stop: make(chan struct{}), clock: idTime(db.ids.last)}
	g.stopped.Go(g.run)
	return g
}

func (g *guard) close() {
	close(g.stop)
	g.stopped.Wait()
}

func (g *guard) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ticker := time.NewTicker(guardInterval)
	defer ticker.Stop()
	for {
		select {
		case <-g.stop:
			return
		case <-ticker.C:
		}
		g.db.reads.tick.Add(1)
		g.interruptReads(maxReadAge)
		g.followClock()
		g.limitLog(ctx)
		g.resume()
	}
}

// interruptReads ends queries that have been open for longer than age.
func (g *guard) interruptReads(age time.Duration) {
	for _, r := range g.db.reads.olderThan(age) {
		if r.interrupt() {
			g.db.log.Warn("a query was open for too long and was interrupted", "age", g.db.reads.age(r).String(), "query", oneLine(r.query))
		}
	}
}

// limitLog empties a write-ahead log that has grown.
func (g *guard) limitLog(ctx context.Context) {
	size := g.db.LogSize()
	switch {
	case size > warnWALSize:
		g.interruptReads(shortReadAge)
		g.db.reads.cancelTasks()
	case size <= g.db.options.LogLimit(), time.Now().Before(g.truncate):
		return
	}
	done, err := g.db.truncateLog(ctx)
	if done && g.db.options.Replicated {
		g.db.noteOverrun(size)
	}
	if done || err != nil { // an error of the disk was logged
		return
	}
	g.truncate = time.Now().Add(truncateAgain)
	if time.Since(g.loggedAt) < blockedLogEvery {
		return
	}
	g.loggedAt = time.Now()
	age, what := g.db.reads.oldest()
	if what == "" {
		what = "another program that has the database open, such as a backup"
	}
	g.db.log.Warn("the database's log has grown and cannot be emptied because of a reader", "bytes", size, "reader", what, "age", age.Round(time.Millisecond).String())
}

// resume keeps the ballast, and returns to writing when a disk that was full or read-only accepts writes.
func (g *guard) resume() {
	c := g.db.condition
	state := c.current.Load().State
	switch {
	case state == Failed, state == Writable && time.Since(g.ballastAt) < ballastEvery:
		return
	case state != Writable && !c.mayResume():
		return
	}
	g.ballastAt = time.Now()
	room, err := g.db.ballast.restore()
	switch {
	case err != nil && state == Writable && !isNoSpace(err):
		g.db.log.Warn("the ballast could not be written", "err", err)
	case state == DiskFull && room, state == ReadOnly && probeDisk(g.db.options.Dir) == nil:
		c.recover()
	}
}
