// Package store is the database: rows, the SQL that reads and writes them, the job queue, and the events of changes. Its types (AccountID,
// Visibility, Scopes …) are shared by the whole program. It decides nothing about permissions but the visibility of statuses (visible.go),
// because every list is filtered by it. Files of the engine start with db_, those of jobs with job_; the others are named for their rows.
//
// Two rules. Reads are methods of reader, which DB and Tx embed; writes are methods of *Tx, so that the compiler rejects a write outside of
// a transaction. There is one writing connection: Update runs up to 256 waiting functions in one transaction (group commit), each in a
// savepoint of its own, and returns after the commit, so that success means "on disk". Update inside Update deadlocks.
//
// Errors of the disk in any statement change the condition of the database (db_condition.go): full and read-only disks accept writes again by
// themselves, a damaged one does not. The write-ahead log is emptied at 64 MiB, or at 256 MiB if another program should do it (db_checkpoint.go); queries
// that are open for 30 s are interrupted (db_guard.go).
//
// Every query is bounded by an index and a limit; a test checks the plans. Caches: the lookups of 10 000 viewers, 50 000 flags of statuses
// (4 MB), 50 000 terms of filters (10 MB), 20 000 verdicts of filters (6 MB). A job is parked if 12 attempts within two days fail.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"svc/internal/cache"
	"svc/internal/disk"
	"svc/internal/errs"
)

// Options are the settings of Open.
type Options struct {
	Dir               string                      // data directory; the database is svc.db in it
	Schema            string                      // text of schema.sql
	Readers           int                         // reading connections; 0: 3
	ReaderCache       int                         // KiB of page cache of each reader; 0: 4000
	WriterCache       int                         // KiB of page cache of the writer; 0: 8000
	LockTimeout       time.Duration               // how long a write waits while another process has the database; 0: 10 s
	Ballast           func() int64                // bytes of the ballast; nil: none
	LogLimit          func() int64                // bytes of the write-ahead log from which on it is emptied; nil: 64 MiB
	Admit             func(context.Context) error // called with the directory locked, before anything is changed; an error ends Open; nil: nothing
	Replicated        bool                        // another program, such as Litestream, does the checkpoints; beyond LogLimit this one does
	NewestBackup      func() string               // path of the newest backup, "" if there is none; nil: unknown
	SynchronousNormal bool                        // synchronous=NORMAL: faster, but a power loss may lose the last commits
	BlockersVisible   func() bool                 // blocked accounts still see the posts of accounts that block them; nil: they do not
	Federated         func() bool                 // outbox entries are written; nil: they are not
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
	networks      *cache.Cache[struct{}, *networks] // blocked ones, all in one entry
	flagCache     *cache.Cache[AccountID, viewerFlags]
	filterCache   *cache.Cache[AccountID, *FilterSet]
	verdicts      *filterVerdicts
	searchLimiter *searchLimiter
	anonymous     chan struct{} // has an element for each query of an anonymous request
	workerWake    chan struct{} // has an element when a job may have become due
	deliveryWake  chan struct{} // has an element when a delivery may have become due
	clockSetBack  chan struct{} // has an element when recurring jobs may be due too late
	now           func() time.Time
	log           *slog.Logger
	lock          *disk.File
	options       Options
	condition     *condition
	ballast       *ballast
	reads         *openReads
	guard         *guard          // nil: not open yet
	closing       context.Context // ends at Close
	startClosing  context.CancelFunc
	background    sync.WaitGroup // of work that ends with closing

	subscribers   []func([]Event)
	commits       atomic.Uint64
	keepAudiences atomic.Bool  // StatusRemoved events have audiences
	refusals      atomic.Int64 // added since the start
	overruns      overruns
	knowsGroups   atomic.Bool // a remote group may be stored
	serverClosed  atomic.Bool
	oldAddresses  atomic.Bool // there may be some
	seenCount     seenCount
	seen          seenFilters
	closed        atomic.Bool
}

// File is the name of the database in the data directory.
const File = "svc.db"

// Open opens the database in o.Dir, creates it if there is none, and upgrades an older one to the current schema. It returns ErrInUse if
// another process has the directory, and ErrNewerDatabase or ErrOtherSchema, before it reads any row, if this program cannot use the database.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Readers = cmp.Or(o.Readers, 3)
	o.ReaderCache = cmp.Or(o.ReaderCache, 4000)
	o.WriterCache = cmp.Or(o.WriterCache, 8000)
	o.LockTimeout = cmp.Or(o.LockTimeout, 10*time.Second)
	if o.Ballast == nil {
		o.Ballast = func() int64 { return 0 }
	}
	if o.LogLimit == nil {
		o.LogLimit = func() int64 { return MaxLogLimit }
	}
	if err := disk.MakeFolder(o.Dir); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	lock, err := Lock(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Admit != nil {
		if err := o.Admit(ctx); err != nil {
			return nil, errors.Join(err, lock.Close())
		}
	}
	db := &DB{
		lock: lock, now: o.Now, log: o.Log, options: o, workerWake: make(chan struct{}, 1), deliveryWake: make(chan struct{}, 1),
		clockSetBack: make(chan struct{}, 1),
		ballast:      newBallast(o), reads: newOpenReads(), seenCount: seenCount{limit: maxSeen},
	}
	db.condition = newCondition(db)
	db.closing, db.startClosing = context.WithCancel(context.WithoutCancel(ctx))
	db.makeStartRoom()
	if err := db.open(ctx); err != nil {
		switch state := db.Condition().State; {
		case state == Failed, errors.Is(damagedBy(err), ErrDamaged):
			err = damage(fmt.Sprintf("the database %s is damaged and cannot be opened: copy the data directory, check the disk, then restore a backup: %s: %v",
				db.path(), db.restoreAdvice(), err))
		case state == DiskFull:
			why := "cannot be opened without its log"
			if step := new(migrationError); errors.As(err, &step) {
				why = "cannot be upgraded"
			}
			err = fmt.Errorf("the disk of %s is full, and the database %s: delete files that you do not need: %w", o.Dir, why, err)
		case errors.Is(err, ErrNewerDatabase), errors.Is(err, ErrOtherSchema):
			err = fmt.Errorf("%s: %w", db.path(), err)
		}
		return nil, errors.Join(err, db.Close())
	}
	db.checkAtStart(ctx, markRunning(db.lock))
	return db, nil
}

// makeStartRoom removes the ballast if the disk is full, because a database cannot be opened without its log.
func (db *DB) makeStartRoom() {
	if free, err := db.ballast.free(); err == nil && free < startRoom && db.ballast.has() > 0 {
		db.condition.enter(DiskFull, fmt.Errorf("%d KiB are free on the disk of %s", free>>10, db.options.Dir))
	}
}

func (db *DB) path() string { return filepath.Join(db.options.Dir, File) }

func (db *DB) open(ctx context.Context) error {
	path := db.path()
	sync := "FULL"
	if db.options.SynchronousNormal {
		sync = "NORMAL"
	}
	args := []string{"_txlock=immediate", "_pragma=synchronous(" + sync + ")"}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 { // else setting it again would write, which a full disk refuses
		args = append(args, "_auto_vacuum=INCREMENTAL")
	}
	w, err := db.connect(db.options.WriterCache, db.checkWriter, nil, args...)
	if err != nil {
		return err
	}
	w.SetMaxOpenConns(1)
	if db.writer, err = newWriter(ctx, db, w); err != nil {
		return errors.Join(fmt.Errorf("open %s: %w", path, err), w.Close())
	}
	if err := db.writer.migrate(ctx, path, db.options.Schema); err != nil {
		return err
	}
	meta, err := db.writer.meta(ctx)
	if err != nil {
		return err
	}
	if meta == nil {
		return damage("it does not say which server it belongs to")
	}
	if err := setWorker(meta.Worker); err != nil {
		return err
	}
	db.ids = newIDSource(db.now, meta.LastID)
	if db.readers, err = db.connect(db.options.ReaderCache, db.condition.check, db.reads, "_pragma=query_only(1)"); err != nil {
		return err
	}
	db.readers.SetMaxOpenConns(db.options.Readers)
	db.readers.SetMaxIdleConns(db.options.Readers)
	if err := openAll(ctx, db.readers, db.options.Readers); err != nil {
		return err
	}
	db.lookupCache = cache.New[AccountID, Lookups](maxCachedLookups)
	db.networks = cache.New[struct{}, *networks](1)
	db.flagCache = cache.NewWeighted[AccountID](maxCachedFlags, func(f viewerFlags) int { return len(f) })
	db.filterCache = cache.NewWeighted[AccountID](maxCachedFilters, (*FilterSet).weight)
	db.anonymous = make(chan struct{}, max(1, db.options.Readers/2))
	db.verdicts = newFilterVerdicts()
	db.searchLimiter = newSearchLimiter(db.options.Readers)
	db.Subscribe(db.invalidateFilters) // first, because other subscribers may read filters
	db.Subscribe(db.noteClosure)
	db.reader = reader{q: newStatements(db.readers), db: db}
	db.findGroups(ctx)
	db.findClosure(ctx)
	db.findOldAddresses(ctx)
	db.writer.start()
	db.guard = startGuard(db)
	return nil
}

// openAll opens all connections of a pool, because later the process may have no open files left.
func openAll(ctx context.Context, pool *sqlx.DB, n int) (err error) {
	conns := make([]*sqlx.Conn, n)
	for i := range conns {
		if conns[i], err = pool.Connx(ctx); err != nil {
			break
		}
	}
	for _, c := range conns {
		if c != nil {
			c.Close() // returns it to the pool
		}
	}
	return err
}

// connect opens a pool whose connections all have the same settings. They are in the connection string, so that later connections have them
// too. busy_timeout comes first, because journal_mode may wait.
func (db *DB) connect(cache int, check func(string, error), reads *openReads, more ...string) (*sqlx.DB, error) {
	args := append([]string{
		fmt.Sprintf("_pragma=busy_timeout(%d)", db.options.LockTimeout.Milliseconds()),
		"_pragma=journal_mode(WAL)",
		"_pragma=foreign_keys(1)",
		"_pragma=trusted_schema(0)",
		"_pragma=cell_size_check(1)",
		"_pragma=temp_store(2)",
		fmt.Sprintf("_pragma=cache_size(-%d)", cache),
	}, more...)
	if db.options.Replicated { // who copies the log takes a log that was shortened for one that others have emptied
		args = append(args, "_pragma=wal_autocheckpoint(0)", "_pragma=journal_size_limit(-1)")
	} else {
		args = append(args, "_pragma=journal_size_limit(67108864)")
	}
	c, err := newConnector("file:"+(&url.URL{Path: db.path()}).EscapedPath()+"?"+strings.Join(args, "&"), check, reads)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", db.path(), err)
	}
	pool := sqlx.NewDb(sql.OpenDB(c), "sqlite")
	pool.SetConnMaxLifetime(0)
	pool.SetConnMaxIdleTime(0)
	return pool, nil
}

// Close waits for the running transaction, then closes all connections and releases the data directory.
func (db *DB) Close() error {
	if db.closed.Swap(true) {
		return nil
	}
	db.startClosing()
	if db.guard != nil {
		db.guard.close()
	}
	db.background.Wait()
	var errList []error
	if db.writer != nil {
		db.writer.end()
	}
	if db.readers != nil {
		errList = append(errList, db.readers.Close())
	}
	if db.writer != nil { // last, because the last connection keeps the files of the log
		errList = append(errList, db.writer.close())
	}
	if errors.Join(errList...) == nil && db.guard != nil && db.Condition().State != Failed {
		errList = append(errList, db.lock.Truncate(0))
	}
	return errors.Join(append(errList, db.lock.Close())...)
}

// DeliveryWake returns a channel that has an element when a delivery may have become due.
func (db *DB) DeliveryWake() <-chan struct{} { return db.deliveryWake }

// Now returns the time of the database's clock.
func (db *DB) Now() time.Time { return db.now() }

// Now returns the current time.
func (tx *Tx) Now() time.Time { return tx.db.now() }

// Meta is the row that identifies the database.
type Meta struct {
	ID        int64
	Worker    int64
	LastID    int64
	CreatedAt Time
	ServerURL string // "": not known yet
	KeysHash  []byte // empty: not known yet

	SchemaHash string // of the schema that svc made
	ServerHost string // "": that of ServerURL
}

// reader has all reads. DB reads from a pool and sees committed rows; Tx sees its own writes too.
type reader struct {
	q  querier
	db *DB
}

// querier is the connection or pool of a reader, with prepared statements.
type querier interface {
	sqlx.QueryerContext
	sqlx.ExecerContext
	queryWithin(context.Context, string, ...any) (*sql.Rows, error)
}

// list runs a query for many rows of type T, a struct or a single column.
func list[T any](ctx context.Context, r reader, what, query string, args ...any) ([]T, error) {
	release, err := r.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	rows, err := selectRows[T](ctx, r.q, query, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return rows, nil
}

// ids runs a query for one column of ids: list without reflection, for frequent queries.
func ids[T ~int64](ctx context.Context, r reader, what, query string, args ...any) ([]T, error) {
	rows, err := r.query(ctx, what, query, args...)
	if err != nil {
		return nil, err
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

// one runs a query for one row; sql.ErrNoRows becomes nil without an error.
func one[T any](ctx context.Context, r reader, what, query string, args ...any) (*T, error) {
	release, err := r.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	row := new(T)
	err = sqlx.GetContext(ctx, r.q, row, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	cutRead(ctx, row)
	return row, nil
}

// get is one for a row that must exist: without it, the error is errs.ErrRecordNotFound.
func get[T any](ctx context.Context, r reader, what, query string, args ...any) (*T, error) {
	row, err := one[T](ctx, r, what, query, args...)
	if row == nil && err == nil {
		err = notFound
	}
	return row, err
}

// value is get for a result that callers copy, such as a count.
func value[T any](ctx context.Context, r reader, what, query string, args ...any) (result T, err error) {
	row, err := get[T](ctx, r, what, query, args...)
	if row != nil {
		result = *row
	}
	return result, err
}

// isBusy returns true if err says that another connection has the lock.
func isBusy(err error) bool {
	return isCode(err, sqlite3.SQLITE_BUSY) || isCode(err, sqlite3.SQLITE_LOCKED)
}

// isCode returns true if err is an SQLite error with a primary code.
func isCode(err error, code int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == code
}

// Connections is the state of the reading connections.
type Connections struct {
	Pool   int // maximum
	Active int // in use
	Idle   int
}

// Connections returns the state of the reading connections.
func (db *DB) Connections() Connections {
	s := db.readers.Stats()
	return Connections{Pool: s.MaxOpenConnections, Active: s.InUse, Idle: s.MaxOpenConnections - s.InUse}
}

// ErrInUse is returned by Open if another process has the data directory.
var ErrInUse = errors.New("the data directory is in use by another svc process")

// Lock locks the data directory for this process, until the file is closed. Open calls it; others do for work on the files while the
// database is not open. The lock is a file of its own, because locks on the database file are released as soon as anything in the process
// closes it.
func Lock(dir string) (*disk.File, error) {
	path := filepath.Join(dir, "lock")
	f, err := disk.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
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

// exists returns true if a query has a row.
func (r reader) exists(ctx context.Context, query string, args ...any) (bool, error) {
	rows, err := r.query(ctx, "exists", query, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	is := rows.Next()
	if err := rows.Err(); err != nil {
		return false, fmt.Errorf("exists: %w in %s", err, query)
	}
	return is, nil
}
