package store

import (
	"context"
	"database/sql/driver"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"
)

// connector opens connections whose statements are observed: each error goes to check, and open queries are known to reads.
type connector struct {
	driver.Connector
	check func(query string, err error) // sees every error of a statement; nil errors are not passed
	reads *openReads                    // nil: queries are not listed
}

// newConnector returns a connector for a data source name.
func newConnector(dsn string, check func(string, error), reads *openReads) (*connector, error) {
	if err := keepPlans(); err != nil {
		return nil, err
	}
	base, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return &connector{base, check, reads}, nil
}

// Connect opens a connection.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		c.check("open", err)
		return nil, err
	}
	conn := &observedConn{sqliteConn: opened.(sqliteConn), connector: c}
	if c.reads != nil {
		c.reads.addConn(conn)
	}
	return conn, nil
}

// sqliteConn is what database/sql uses of a connection.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
	driver.Pinger
	sqlite.FileControl
}

// observedConn is a connection that knows its open query: a pointer to set, because most queries take some microseconds.
type observedConn struct {
	sqliteConn
	*connector
	open atomic.Pointer[observedRows] // of the newest query, nil if that is closed
}

func (c *observedConn) Close() error {
	if c.reads != nil {
		c.reads.removeConn(c)
	}
	return c.sqliteConn.Close()
}

func (c *observedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	st, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		c.check(query, err)
		return nil, err
	}
	return &observedStmt{st.(sqliteStmt), c, query}, nil
}

func (c *observedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	res, err := c.sqliteConn.ExecContext(ctx, query, args)
	if err != nil {
		c.check(query, err)
	}
	return res, err
}

func (c *observedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.sqliteConn.QueryContext(ctx, query, args)
	return c.observe(ctx, query, rows, err)
}

// observe returns rows whose errors are checked and that can be interrupted.
func (c *observedConn) observe(ctx context.Context, query string, rows driver.Rows, err error) (driver.Rows, error) {
	if err != nil {
		c.check(query, err)
		return nil, err
	}
	r := &observedRows{rows: rows, conn: c, query: query, budget: readBudgetOf(ctx)}
	if c.reads != nil {
		r.since = c.reads.tick.Load()
		c.reads.count.Add(1)
		c.open.Store(r)
	}
	return r, nil
}

type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type observedStmt struct {
	sqliteStmt
	conn  *observedConn
	query string
}

func (s *observedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	res, err := s.sqliteStmt.ExecContext(ctx, args)
	if err != nil {
		s.conn.check(s.query, err)
	}
	return res, err
}

func (s *observedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.sqliteStmt.QueryContext(ctx, args)
	return s.conn.observe(ctx, s.query, rows, err)
}

// observedRows are the rows of an open query. While it is open it keeps the write-ahead log from being emptied.
type observedRows struct {
	conn  *observedConn
	query string
	since int64 // tick of openReads

	budget *readBudget // nil: none

	mu          sync.Mutex // held during a step
	rows        driver.Rows
	interrupted bool
	closed      bool
}

func (r *observedRows) Columns() []string { return r.rows.Columns() }

func (r *observedRows) Next(dest []driver.Value) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.interrupted {
		return ErrReadInterrupted
	}
	err := r.rows.Next(dest)
	if err != nil { // io.EOF, too, which check ignores
		r.conn.check(r.query, err)
		return err
	}
	return r.budget.spend(dest)
}

func (r *observedRows) Close() error {
	r.conn.open.CompareAndSwap(r, nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closeOnce()
}

func (r *observedRows) closeOnce() error {
	if r.closed {
		return nil
	}
	r.closed = true
	return r.rows.Close()
}

// interrupt ends the query, so that it no longer holds its snapshot. It returns false if a step is running: that one ends first.
func (r *observedRows) interrupt() bool {
	if !r.mu.TryLock() {
		return false
	}
	defer r.mu.Unlock()
	r.conn.open.CompareAndSwap(r, nil)
	r.interrupted = true
	r.closeOnce() // the error would be that of the query's last step, which Next has returned
	return true
}
