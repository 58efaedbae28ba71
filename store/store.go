// Package store is the database: rows and the SQL that reads and writes them, background jobs, and the events that a change
// causes. Its types (AccountID, Visibility, Scopes …) are the vocabulary of the whole program.
//
// Two rules. Reads hang on reader, which DB and Tx both embed; writes hang on *Tx only, so the compiler refuses a write outside
// of a transaction. There is one writing connection: Update runs the waiting functions of many callers in one transaction,
// each undone alone if it fails, and answers them after the one commit, so that a success means "on disk". Update inside
// Update would wait for itself.
//
// Who may do what is not decided here, with one exception: who may see a status (visible.go), because every list is filtered
// by it.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"svc/internal/cache"
	"svc/internal/errs"
)

// Options are what Open needs to know beside the schema.
type Options struct {
	Dir               string // data directory; the database is svc.db in it
	Schema            string // text of schema.sql
	Readers           int    // reading connections; 0: 3
	ReaderCache       int    // KiB of page cache of each reader; 0: 4000
	WriterCache       int    // KiB of page cache of the writer; 0: 8000
	SynchronousNormal bool   // synchronous=NORMAL: faster, but a power cut may take the last commits along
	BlockersVisible   bool   // the blocked still see the posts of who blocks them
	Federated         bool   // other servers are told of deeds
	Now               func() time.Time
	Log               *slog.Logger
}

// DB is an open database. Its methods may be called from any goroutine.
type DB struct {
	reader
	readers       *sqlx.DB
	writer        *writer
	ids           *idSource
	lookupCache   *cache.Cache[AccountID, Lookups]
	flagCache     *cache.Cache[AccountID, viewerFlags]
	filterCache   *cache.Cache[AccountID, *FilterSet]
	searchLimiter *searchLimiter
	workerWake    chan struct{} // has an element when a job may have come due
	deliveryWake  chan struct{} // likewise for a delivery
	now           func() time.Time
	log           *slog.Logger
	lock          *os.File
	options       Options

	subscribers   []func([]Event)
	keepAudiences atomic.Bool  // deletions tell where the status stood
	refusals      atomic.Int64 // that were noted since the start
	closed        atomic.Bool
}

// File is the name of the database in the data directory.
const File = "svc.db"

// Open opens the database in o.Dir, makes it if there is none, and brings an older one to the current schema. A second process
// on the same directory is refused with ErrInUse.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Readers = orDefault(o.Readers, 3)
	o.ReaderCache = orDefault(o.ReaderCache, 4000)
	o.WriterCache = orDefault(o.WriterCache, 8000)
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	lock, err := lockDir(o.Dir)
	if err != nil {
		return nil, err
	}
	db := &DB{lock: lock, now: o.Now, log: o.Log, options: o, workerWake: make(chan struct{}, 1), deliveryWake: make(chan struct{}, 1)}
	if err := db.open(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (db *DB) open(ctx context.Context) error {
	path := filepath.Join(db.options.Dir, File)
	sync := "FULL"
	if db.options.SynchronousNormal {
		sync = "NORMAL"
	}
	// auto_vacuum is chosen when the file is made; the driver sets it before anything is written.
	w, err := connect(path, db.options.WriterCache, "_auto_vacuum=INCREMENTAL", "_txlock=immediate", "_pragma=synchronous("+sync+")")
	if err != nil {
		return err
	}
	w.SetMaxOpenConns(1)
	if db.writer, err = newWriter(ctx, db, w); err != nil {
		return errors.Join(err, w.Close())
	}
	if err := db.writer.migrate(ctx, path, db.options.Schema); err != nil {
		return err
	}
	meta, err := db.writer.meta(ctx)
	if err != nil {
		return err
	}
	if err := setWorker(meta.Worker); err != nil {
		return err
	}
	db.ids = newIDSource(db.now, meta.LastID)
	if db.readers, err = connect(path, db.options.ReaderCache, "_pragma=query_only(1)"); err != nil {
		return err
	}
	db.readers.SetMaxOpenConns(db.options.Readers)
	db.readers.SetMaxIdleConns(db.options.Readers)
	db.lookupCache = cache.New[AccountID, Lookups](maxCachedLookups)
	db.flagCache = cache.NewWeighted[AccountID](maxCachedFlags, func(f viewerFlags) int { return len(f) })
	db.filterCache = cache.NewWeighted[AccountID](maxCachedFilterTerms, (*FilterSet).weight)
	db.searchLimiter = newSearchLimiter(db.options.Readers)
	db.Subscribe(db.invalidateFilters) // first, because other subscribers may read filters
	db.reader = reader{q: newStatements(db.readers), db: db}
	db.writer.start()
	return nil
}

// connect opens a pool whose connections all have the same settings. They stand in the connection string, so that a
// connection made later has them too; busy_timeout comes first, because journal_mode may have to wait.
func connect(path string, cache int, more ...string) (*sqlx.DB, error) {
	args := append([]string{
		"_pragma=busy_timeout(10000)",
		"_pragma=journal_mode(WAL)",
		"_pragma=foreign_keys(1)",
		"_pragma=trusted_schema(0)",
		"_pragma=cell_size_check(1)",
		"_pragma=temp_store(2)",
		"_pragma=journal_size_limit(67108864)",
		fmt.Sprintf("_pragma=cache_size(-%d)", cache),
	}, more...)
	db, err := sqlx.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+strings.Join(args, "&"))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetConnMaxLifetime(0)
	db.SetConnMaxIdleTime(0)
	return db, nil
}

// Close waits for the transaction under way, then closes all connections and gives up the data directory.
func (db *DB) Close() error {
	if db.closed.Swap(true) {
		return nil
	}
	var errList []error
	if db.writer != nil {
		errList = append(errList, db.writer.close())
	}
	if db.readers != nil {
		errList = append(errList, db.readers.Close())
	}
	return errors.Join(append(errList, db.lock.Close())...)
}

// DeliveryWake returns a channel that has an element when a delivery may have come due.
func (db *DB) DeliveryWake() <-chan struct{} { return db.deliveryWake }

// Now is the time that the database goes by.
func (db *DB) Now() time.Time { return db.now() }

// Meta is the one row that identifies the database.
type Meta struct {
	ID        int64
	Worker    int64
	LastID    int64
	CreatedAt Time
}

// reader has all reads. DB reads from a pool and sees what is committed; Tx sees its own writes too.
type reader struct {
	q  querier
	db *DB
}

// querier is what a read needs; statements keep theirs prepared.
type querier interface {
	sqlx.QueryerContext
	sqlx.ExecerContext
	queryWithin(context.Context, string, ...any) (*sql.Rows, error)
}

// list runs a query for many rows of type T (a struct, or a single column).
func list[T any](ctx context.Context, r reader, what, query string, args ...any) ([]T, error) {
	var rows []T
	if err := sqlx.SelectContext(ctx, r.q, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return rows, nil
}

// ids runs a query for one column of ids. It is list without the reflection, for what is read most.
func ids[T ~int64](ctx context.Context, r reader, what, query string, args ...any) ([]T, error) {
	rows, err := r.q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	defer rows.Close()
	var list []T
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		list = append(list, T(id))
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return list, nil
}

// one runs a query for one row; sql.ErrNoRows becomes a nil pointer without an error.
func one[T any](ctx context.Context, r reader, what, query string, args ...any) (*T, error) {
	row := new(T)
	err := sqlx.GetContext(ctx, r.q, row, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return row, nil
}

func orDefault(n, standard int) int {
	if n == 0 {
		return standard
	}
	return n
}

// isBusy tells whether err says that somebody else has the lock.
func isBusy(err error) bool {
	return isCode(err, sqlite3.SQLITE_BUSY) || isCode(err, sqlite3.SQLITE_LOCKED)
}

// isCode tells whether err is an SQLite error of that primary code.
func isCode(err error, code int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == code
}

// Connections is how busy the reading connections are.
type Connections struct {
	Pool   int // how many there may be
	Active int // of them, at work
	Idle   int
}

// Connections tells how busy the reading connections are.
func (db *DB) Connections() Connections {
	s := db.readers.Stats()
	return Connections{Pool: s.MaxOpenConnections, Active: s.InUse, Idle: s.MaxOpenConnections - s.InUse}
}

// ErrInUse is returned by Open when another process has the data directory.
var ErrInUse = errors.New("the data directory is in use by another svc process")

// Lock takes the data directory for this process, as Open does, until what it returns is closed. It is for work on the files
// themselves that must not meet an open database.
func Lock(dir string) (io.Closer, error) {
	f, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// lockDir takes the data directory for this process. The lock is a file of its own: locks on the database file itself would
// vanish as soon as anything in the process closed it.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", ErrInUse, dir)
		}
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	return f, nil
}

var notFound = errs.ErrRecordNotFound

// exists tells whether a query has a row.
func (r reader) exists(ctx context.Context, query string, args ...any) (bool, error) {
	rows, err := r.q.QueryContext(ctx, query, args...)
	if err != nil {
		return false, fmt.Errorf("exists: %w in %s", err, query)
	}
	defer rows.Close()
	is := rows.Next()
	if err := rows.Err(); err != nil {
		return false, fmt.Errorf("exists: %w in %s", err, query)
	}
	return is, nil
}
