package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// Queries returns the texts of all statements that readers have prepared so far.
func (db *DB) Queries() []string {
	var texts []string
	db.q.(*statements).prepared.Range(func(text, _ any) bool {
		texts = append(texts, text.(string))
		return true
	})
	return texts
}

// Explain returns the lines of a query's plan.
func (db *DB) Explain(ctx context.Context, query string) ([]string, error) {
	type row struct {
		ID, Parent, Notused int
		Detail              string
	}
	var lines []string
	rows, err := db.readers.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, make([]any, parameters(query))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.ID, &r.Parent, &r.Notused, &r.Detail); err != nil {
			return nil, err
		}
		lines = append(lines, r.Detail)
	}
	return lines, rows.Err()
}

// ColumnNames returns the names of a query's columns.
func (db *DB) ColumnNames(ctx context.Context, query string) ([]string, error) {
	args := make([]any, parameters(query))
	for i := range args {
		args[i] = "[]" // for json_each
	}
	st, err := db.readers.PrepareContext(ctx, "SELECT * FROM ("+query+") LIMIT 0")
	if err != nil {
		return nil, err
	}
	defer st.Close()
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return rows.Columns()
}

// parameters counts the parameters of a query.
func parameters(query string) int {
	n, most := 0, 0
	for i := 0; i < len(query); i++ {
		if query[i] != '?' {
			continue
		}
		number := 0
		for i+1 < len(query) && query[i+1] >= '0' && query[i+1] <= '9' {
			number = number*10 + int(query[i+1]-'0')
			i++
		}
		if number == 0 {
			n++
		}
		most = max(most, number)
	}
	return n + most
}

// Exec runs a statement of a test.
func (tx *Tx) Exec(ctx context.Context, query string, args ...any) error {
	return tx.exec(ctx, "test", query, args...)
}

// Check returns what integrity_check and foreign_key_check find.
func (db *DB) Check(ctx context.Context) ([]string, error) {
	var found []string
	err := db.readers.SelectContext(ctx, &found, `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'
		UNION ALL SELECT "table" || ' ' || rowid || ' ' || parent FROM pragma_foreign_key_check`)
	return found, err
}

// Has returns true if a query has a row.
func (db *DB) Has(ctx context.Context, query string, args ...any) (bool, error) {
	return db.exists(ctx, query, args...)
}

var (
	SetWorker   = setWorker
	AppendFlake = appendFlake
)

// Columns returns the columns of a table.
func (db *DB) Columns(ctx context.Context, table string) ([]string, error) {
	return list[string](ctx, db.reader, "columns", `SELECT name FROM pragma_table_info(?)`, table)
}

// ColumnName is the name of a field's column.
var ColumnName = columnName

// VersionHash returns the hash that a version of the schema must have, "" if it is not known, and that which its migrations make.
func VersionHash(ctx context.Context, version int) (want, got string, err error) {
	is, err := schemaOf(ctx, version)
	return migrations[version-1].hash, is.hash(), err
}

// SchemaOf returns the hash and the normal text of the schema of a database, and how it differs from that which migrations make.
func SchemaOf(ctx context.Context, path string) (hash, text string, differences []string, err error) {
	db, err := openReadOnly(path)
	if err != nil {
		return "", "", nil, err
	}
	defer db.Close()
	is, err := readSchema(ctx, db)
	if err != nil {
		return "", "", nil, err
	}
	want, err := schemaOf(ctx, SchemaVersion())
	if err != nil {
		return "", "", nil, err
	}
	for _, d := range is.differences(want) {
		differences = append(differences, d.String())
	}
	hash = is.hash()
	slices.SortFunc(is, func(a, b schemaObject) int { // tables before their indexes
		return cmp.Or(cmp.Compare(a.Table, b.Table), -cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	for _, o := range is {
		text += o.SQL + ";\n"
	}
	return hash, text, differences, nil
}

// AddMigration adds a migration to those of this program until the returned function is called. It has the hash of the schema that it makes, or
// wrong if that is not "".
func AddMigration(ctx context.Context, name, sql, wrong string) (remove func(), err error) {
	before := migrations
	migrations = append(migrations[:len(before):len(before)], migration{name: name, sql: sql, rewrites: strings.HasPrefix(sql, rewritesMark)})
	remove = func() { migrations = before }
	is, err := schemaOf(ctx, SchemaVersion())
	migrations[len(before)].hash = cmp.Or(wrong, is.hash())
	return remove, err
}

// WorkerNumber returns the worker number of this process.
func WorkerNumber() int64 { return newWorkerNumber() }

// FiltersCached returns true if the filters of an account are cached.
func (db *DB) FiltersCached(owner AccountID) bool {
	_, ok := db.filterCache.Get(owner)
	return ok
}

// TouchAll invalidates all caches.
func (tx *Tx) TouchAll() { tx.invalidateAll() }

// BreakOffSearches changes maxSearchTime, and returns the old value.
func BreakOffSearches(after time.Duration) (before time.Duration) {
	before, maxSearchTime = maxSearchTime, after
	return before
}

// BeginSearch takes the slot of a search.
func (db *DB) BeginSearch(ctx context.Context, viewer AccountID) (end func(), err error) {
	return db.searchLimiter.acquire(ctx, viewer)
}

// SetSearchTimeout sets how long a search waits for its slot.
func (db *DB) SetSearchTimeout(d time.Duration) { db.searchLimiter.timeout = d }

// Searching returns how many searches run or wait.
func (db *DB) Searching() int64 { return db.searchLimiter.active.Load() }

// TakeWake consumes the signal by which a new job wakes the worker.
func (db *DB) TakeWake() { <-db.workerWake }

// AccountReferences are the columns that keep a remote account from being pruned.
var AccountReferences = accountReferences

// ForeignKeys returns the columns, as table.column, that refer to a table.
func (db *DB) ForeignKeys(ctx context.Context, to string) ([]string, error) {
	return list[string](ctx, db.reader, "foreign keys", `
		SELECT t.name || '.' || k."from"
		FROM sqlite_schema t, pragma_foreign_key_list(t.name) k
		WHERE t.type = 'table' AND k."table" = ?`, to)
}

// StatusReferences returns the columns, as table.column, that keep a remote post from being pruned.
func StatusReferences() []string {
	columns := slices.Clone(keptByReference)
	for _, reference := range reactionsByLocal {
		columns = append(columns, reference[:strings.LastIndexByte(reference, '.')])
	}
	return columns
}

const MaxAbsent = maxAbsent

// ForReaders returns a database with just what Hold needs.
func ForReaders(n int) *DB {
	db := &DB{anonymous: make(chan struct{}, max(1, n/2))}
	db.reader.db = db
	return db
}

// Hold waits until a query may take a connection.
func (db *DB) Hold(ctx context.Context) (release func(), err error) { return db.hold(ctx) }

// Held is how many connections queries of anonymous requests have.
func (db *DB) Held() int { return len(db.anonymous) }

// Texts returns the texts that a query finds.
func (db *DB) Texts(ctx context.Context, query string, args ...any) ([]string, error) {
	return list[string](ctx, db.reader, "texts", query, args...)
}

// OpenQuery runs a query on a reading connection, and leaves it open.
func (db *DB) OpenQuery(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return db.reader.q.QueryContext(ctx, query, args...)
}

// MaxJobsPerDomain is how many jobs of one domain may be queued.
const MaxJobsPerDomain = maxJobsPerDomain

// ErrSlow is the error of an attempt that waited for another server for too long.
var ErrSlow = errSlow

// SetDemoteAfter changes after which time the domain of a running job is demoted.
func (w *Worker) SetDemoteAfter(d time.Duration) { w.demoteAfter = d }

// LookForJobs looks for due jobs and runs none.
func (w *Worker) LookForJobs(ctx context.Context) error {
	jobs, err := w.due(ctx, w.db.now(), 1, 1)
	for _, j := range jobs {
		w.release(j.ID)
	}
	return err
}

// CountRows returns the number that a query selects.
func CountRows(ctx context.Context, db *DB, query string) (int, error) {
	n, err := one[int](ctx, db.reader, "count", query)
	if err != nil || n == nil {
		return 0, err
	}
	return *n, nil
}

// SetMaxSeen changes how many seen ids of all domains are kept.
func (db *DB) SetMaxSeen(n int) { db.seenCount.limit = n }

// ReadLong runs a query as a task of maintenance.
func (db *DB) ReadLong(ctx context.Context, query string) error {
	return db.readLong(ctx, "endless", func(ctx context.Context, conn *sqlx.DB) error {
		_, err := conn.ExecContext(ctx, query)
		return err
	})
}

// CancelTasks ends tasks of maintenance, as a large write-ahead log does.
func (db *DB) CancelTasks() { db.reads.cancelTasks() }

// NextJobAt returns when the next job is due after now, nil if there is none.
func (db *DB) NextJobAt(ctx context.Context, now time.Time) (*Time, error) {
	return db.nextJobAt(ctx, At(now))
}

// GuardTicks returns how often the guard has begun its round.
func (db *DB) GuardTicks() int64 { return int64(db.reads.tick.Load()) }

// LargeTables returns the tables of CutLargeRows.
func LargeTables() (names []string) {
	for _, t := range largeTables {
		names = append(names, t.name)
	}
	return names
}

// RowStatement is a statement that writes a row, for tests of all of them.
type RowStatement struct {
	Text string
	New  func() any          // a pointer to an empty row
	Args func(row any) []any // of a pointer to a row
}

func exportStatement[T any](s rowStatement[T]) RowStatement {
	return RowStatement{s.text, func() any { return new(T) }, func(row any) []any { return s.args(row.(*T)) }}
}

// RowStatements are the statements of db_row_writer.go by their names.
var RowStatements = map[string]RowStatement{
	"insertAccount":            exportStatement(insertAccount),
	"updateAccount":            exportStatement(updateAccount),
	"saveActor":                exportStatement(saveActor),
	"insertActorKey":           exportStatement(insertActorKey),
	"insertUser":               exportStatement(insertUser),
	"updateUser":               exportStatement(updateUser),
	"updateTOTP":               exportStatement(updateTOTP),
	"insertOneTimeToken":       exportStatement(insertOneTimeToken),
	"insertMFAChallenge":       exportStatement(insertMFAChallenge),
	"insertApp":                exportStatement(insertApp),
	"updateApp":                exportStatement(updateApp),
	"insertCode":               exportStatement(insertCode),
	"insertToken":              exportStatement(insertToken),
	"renewToken":               exportStatement(renewToken),
	"insertPushSubscription":   exportStatement(insertPushSubscription),
	"insertStatus":             exportStatement(insertStatus),
	"updateStatus":             exportStatement(updateStatus),
	"insertRecipient":          exportStatement(insertRecipient),
	"insertStatusEdit":         exportStatement(insertStatusEdit),
	"insertScheduledStatus":    exportStatement(insertScheduledStatus),
	"insertPoll":               exportStatement(insertPoll),
	"updatePoll":               exportStatement(updatePoll),
	"insertMedia":              exportStatement(insertMedia),
	"describeMedia":            exportStatement(describeMedia),
	"insertReaction":           exportStatement(insertReaction),
	"insertQuoteAuthorization": exportStatement(insertQuoteAuthorization),
	"insertCollection":         exportStatement(insertCollection),
	"updateCollection":         exportStatement(updateCollection),
	"insertCollectionItem":     exportStatement(insertCollectionItem),
	"updateCollectionItem":     exportStatement(updateCollectionItem),
	"insertInteractionRequest": exportStatement(insertInteractionRequest),
	"insertNotification":       exportStatement(insertNotification),
	"saveNotificationPolicy":   exportStatement(saveNotificationPolicy),
	"insertFollow":             exportStatement(insertFollow),
	"saveMute":                 exportStatement(saveMute),
	"insertChat":               exportStatement(insertChat),
	"insertChatMessage":        exportStatement(insertChatMessage),
	"insertChatCopy":           exportStatement(insertChatCopy),
	"insertScrobble":           exportStatement(insertScrobble),
	"insertBookmarkFolder":     exportStatement(insertBookmarkFolder),
	"insertList":               exportStatement(insertList),
	"updateList":               exportStatement(updateList),
	"insertFilter":             exportStatement(insertFilter),
	"updateFilter":             exportStatement(updateFilter),
	"insertFilterKeyword":      exportStatement(insertFilterKeyword),
	"updateFilterKeyword":      exportStatement(updateFilterKeyword),
	"insertFilterStatus":       exportStatement(insertFilterStatus),
	"saveRemoteStatus":         exportStatement(saveRemoteStatus),
	"insertActivity":           exportStatement(insertActivity),
	"insertQueuedActivity":     exportStatement(insertQueuedActivity),
	"saveRelay":                exportStatement(saveRelay),
	"insertReport":             exportStatement(insertReport),
	"insertReportedStatus":     exportStatement(insertReportedStatus),
	"insertReportNote":         exportStatement(insertReportNote),
	"insertLogEntry":           exportStatement(insertLogEntry),
	"insertAnnouncement":       exportStatement(insertAnnouncement),
	"updateAnnouncement":       exportStatement(updateAnnouncement),
	"insertArchive":            exportStatement(insertArchive),
	"updateArchive":            exportStatement(updateArchive),
	"insertImportedStatus":     exportStatement(insertImportedStatus),
	"saveServerBackups":        exportStatement(saveServerBackups),
}

// Mapper maps the columns of tables to the fields of rows.
var Mapper = mapper

// NotExported returns why PlainExport leaves out a table, "" if it does not.
func NotExported(table string) string { return notExported[table] }

// SecretColumns returns the columns by table that only an export with secrets has.
func SecretColumns() map[string][]string {
	columns := make(map[string][]string)
	for _, t := range plainTables {
		if t.secrets != "" {
			columns[t.name] = strings.Fields(t.secrets)
		}
	}
	return columns
}
