package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"

	"svc/internal/errs"
)

// Bounds of a group commit.
const (
	maxGroup     = 256
	maxGroupTime = 25 * time.Millisecond
)

// ErrClosed is the error of Update after Close.
var ErrClosed = errors.New("the database is closed")

// Tx is a transaction. It has all reads and writes, and sees its own writes. It must not be used after the function returns.
type Tx struct {
	reader
	events           []Event
	changedRelations []AccountID // whose relations have changed
	changedFlags     []AccountID // whose favourites, boosts or bookmarks have changed
	changed          RowsChanged
	indexed          []indexEntry
	newJobs          bool
	usedIDs          bool
	remotePosts      int // added less removed
	statusCounts     map[statusClass]int

	newDeliveries bool
}

// Update runs fn in a transaction and returns once it is on disk. If fn returns an error or panics, the transaction is rolled back, and
// Update returns the error or panics in turn; the other functions of the group commit are not affected. fn must not wait for anything but
// the database, and must not call Update.
//
// While the disk is full, read-only or damaged, Update returns an error for clients without running fn; see AllowWhenFull.
//
// Once fn runs, Update ignores the end of ctx, so that its result always says whether the transaction was committed.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	if err := db.condition.refuse(ctx); err != nil {
		return err
	}
	r := &request{ctx: ctx, fn: fn, queuedAt: time.Now(), done: make(chan struct{})}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-db.writer.stop:
		return ErrClosed
	case db.writer.requests <- r:
	}
	select {
	case <-r.done:
	case <-db.writer.stopped:
		select {
		case <-r.done: // it was in the last group
		default:
			return ErrClosed
		}
	}
	if r.panicked != nil {
		panic(r.panicked)
	}
	return r.err
}

type request struct {
	ctx      context.Context
	fn       func(*Tx) error
	queuedAt time.Time
	tx       Tx
	err      error
	panicked error
	done     chan struct{}
}

// writer owns the one writing connection.
type writer struct {
	db       *DB
	pool     *sqlx.DB
	conn     *sqlx.Conn
	q        *statements
	requests chan *request
	truncate chan chan truncation
	stop     chan struct{}
	stopped  chan struct{}
	once     sync.Once
	started  bool
	lost     error // why the running transaction cannot be committed
	metrics  *writerMetrics
}

func newWriter(ctx context.Context, db *DB, pool *sqlx.DB) (*writer, error) {
	conn, err := pool.Connx(ctx)
	if err != nil {
		return nil, err
	}
	requests := make(chan *request, maxGroup)
	return &writer{
		db: db, pool: pool, conn: conn, q: newStatements(conn),
		requests: requests,
		truncate: make(chan chan truncation),
		stop:     make(chan struct{}),
		stopped:  make(chan struct{}),
		metrics:  newWriterMetrics(requests),
	}, nil
}

func (w *writer) start() {
	w.started = true
	go w.run()
}

// end runs the accepted requests, then ends the goroutine.
func (w *writer) end() {
	w.once.Do(func() { close(w.stop) })
	if w.started {
		<-w.stopped
	}
}

// close closes the connection after end. The files of the log stay, so that the next start needs no new ones, which a full disk may not have room for.
func (w *writer) close() error {
	w.end()
	w.q.close()
	w.conn.Raw(func(c any) error { // without it, the next start creates them
		if files, ok := c.(sqlite.FileControl); ok {
			files.FileControlPersistWAL("main", 1)
		}
		return nil
	})
	return errors.Join(w.conn.Close(), w.pool.Close())
}

func (w *writer) run() {
	defer close(w.stopped)
	for {
		select {
		case r := <-w.requests:
			w.commitGroup(r)
		case answer := <-w.truncate:
			answer <- w.truncateLog()
		case <-w.stop:
			for { // accepted requests are run
				select {
				case r := <-w.requests:
					w.commitGroup(r)
				default:
					return
				}
			}
		}
	}
}

// commitGroup runs first and, if it succeeds, other waiting requests in one transaction, and answers them.
func (w *writer) commitGroup(first *request) {
	if w.refused(first) {
		return
	}
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		for r := first; r != nil; r = w.waiting() { // the others would wait as long, one after another
			r.err = w.unwritable(err)
			close(r.done)
		}
		return
	}
	w.lost = nil
	// The first needs no savepoint: without others, a rollback of the transaction is enough.
	w.runFunction(first)
	if first.err != nil {
		w.exec("ROLLBACK") // SQLite may have rolled back already
		first.err = w.clientError(first.err)
		close(first.done)
		return
	}
	group := []*request{first}
	for until := time.Now().Add(maxGroupTime); w.lost == nil && len(group) < maxGroup && time.Now().Before(until); {
		r := w.next()
		if r == nil {
			break
		}
		if w.refused(r) {
			continue
		}
		w.runInSavepoint(r)
		group = append(group, r)
	}
	err := w.commit(group)
	for _, r := range group {
		if r.err == nil {
			r.err = w.unwritable(err)
		} else {
			r.err = w.clientError(r.err)
		}
	}
	if err == nil {
		w.db.publishCommit(group)
	}
	for _, r := range group {
		close(r.done)
	}
}

// refused answers a request that must not be run in the state of the database.
func (w *writer) refused(r *request) bool {
	if r.err = w.db.condition.refuse(r.ctx); r.err == nil {
		return false
	}
	close(r.done)
	return true
}

// next returns a waiting request, nil if there is none. It lets goroutines that are about to send one run first, because another commit
// would cost more.
func (w *writer) next() *request {
	if r := w.waiting(); r != nil {
		return r
	}
	runtime.Gosched()
	return w.waiting()
}

// waiting returns a waiting request, nil if there is none.
func (w *writer) waiting() *request {
	select {
	case r := <-w.requests:
		return r
	default:
		return nil
	}
}

// runInSavepoint runs one function in a savepoint of its own.
func (w *writer) runInSavepoint(r *request) {
	if r.err = w.exec("SAVEPOINT one"); r.err != nil {
		return
	}
	w.runFunction(r)
	if r.err != nil {
		if err := w.exec("ROLLBACK TO one"); err != nil { // SQLite has rolled back everything
			w.lost = err
			return
		}
	}
	if err := w.exec("RELEASE one"); err != nil {
		w.lost = err
	}
}

// runFunction runs one function and recovers its panic.
func (w *writer) runFunction(r *request) {
	w.metrics.wait.Update(time.Since(r.queuedAt).Seconds())
	r.tx = Tx{reader: reader{q: w.q, db: w.db}}
	defer func() {
		if p := recover(); p != nil {
			r.panicked = fmt.Errorf("panic in a transaction: %v\n%s", p, debug.Stack())
			r.err = r.panicked
		}
	}()
	r.err = r.fn(&r.tx)
}

func (w *writer) commit(group []*request) error {
	if w.lost != nil {
		w.exec("ROLLBACK") // SQLite may have rolled back already
		return w.lost
	}
	if err := w.index(group); err != nil {
		return errors.Join(err, w.exec("ROLLBACK"))
	}
	if err := w.countRemotePosts(group); err != nil {
		return errors.Join(err, w.exec("ROLLBACK"))
	}
	if err := w.countStatuses(group); err != nil {
		return errors.Join(err, w.exec("ROLLBACK"))
	}
	wrote := false
	for _, r := range group {
		if r.err == nil && r.tx.usedIDs {
			wrote = true
		}
	}
	if wrote {
		w.db.ids.mu.Lock()
		last := w.db.ids.last
		w.db.ids.mu.Unlock()
		if _, err := w.q.ExecContext(context.Background(), `UPDATE meta SET last_id = ?`, last); err != nil {
			return errors.Join(err, w.exec("ROLLBACK"))
		}
	}
	start := time.Now()
	err := w.exec("COMMIT")
	w.metrics.committed(len(group), time.Since(start))
	if err != nil {
		w.exec("ROLLBACK") // SQLite may have rolled back already
		return err
	}
	return nil
}

func (w *writer) exec(query string) error {
	_, err := w.q.ExecContext(context.Background(), query)
	return err
}

// unwritable is the error for clients if the database cannot be written, nil for nil. The cause goes to the log.
func (w *writer) unwritable(err error) error {
	if err == nil {
		return nil
	}
	if refused := w.db.condition.err.Load(); refused != nil {
		return refused
	}
	return &errs.Error{Status: 503, Message: "The server cannot store anything at the moment", Err: err}
}

// clientError is the error of a function. One of the disk says so to clients.
func (w *writer) clientError(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && w.db.condition.isDiskError(e) {
		return w.unwritable(err)
	}
	return err
}

// checkWriter takes the errors of the writer's statements. After one of the disk, SQLite may have rolled back the transaction, even if the
// function that ran the statement goes on.
func (db *DB) checkWriter(query string, err error) {
	db.condition.check(query, err)
	var e *sqlite.Error
	if db.writer != nil && errors.As(err, &e) && db.condition.isDiskError(e) {
		db.writer.lost = err
	}
}

func (w *writer) meta(ctx context.Context) (*Meta, error) {
	return one[Meta](ctx, reader{q: w.q}, "meta", `SELECT * FROM meta`)
}

// newID returns an id that is later than all before.
func (tx *Tx) newID() int64 {
	tx.usedIDs = true
	return tx.db.ids.next()
}

// exec runs a statement.
func (tx *Tx) exec(ctx context.Context, what, query string, args ...any) error {
	_, err := tx.execRows(ctx, what, query, args...)
	return err
}

// execRows runs a statement and returns how many rows it changed.
func (tx *Tx) execRows(ctx context.Context, what, query string, args ...any) (int64, error) {
	res, err := tx.q.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return n, nil
}

var _ sqlx.QueryerContext = (*statements)(nil)

// CheckWritable writes to the disk, for health checks.
func (db *DB) CheckWritable(ctx context.Context) error {
	return db.Update(ctx, func(tx *Tx) error {
		tx.newID() // the commit stores the last id
		return nil
	})
}
