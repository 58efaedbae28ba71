package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// PlainExport writes tables of a copy of the database as JSON lines, a row an object. Booleans are booleans, times RFC 3339 in UTC, visibilities their
// names, JSON columns JSON, and other columns as they are. Ids hold within the export.
type PlainExport struct {
	Secrets bool // password hashes, private keys, second factors, secrets of apps, values of settings
	// Unseal returns the private key of a row of actor_keys as text; it is called only with Secrets.
	Unseal func(private []byte) (string, error)
	Create func(table string) (io.WriteCloser, error) // called for each table, one after another
}

// ExportedTable is a table that was written.
type ExportedTable struct {
	Table string
	Rows  int64
}

// Run writes the tables of the database at a path, which is changed.
func (e *PlainExport) Run(ctx context.Context, path string) (written []ExportedTable, err error) {
	db, err := sqlx.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=journal_mode(off)&_pragma=synchronous(off)&_pragma=foreign_keys(0)")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, keepRows); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	for _, t := range plainTables {
		n, err := e.table(ctx, db, t)
		if err != nil {
			return nil, fmt.Errorf("export of %s: %w", t.name, err)
		}
		written = append(written, ExportedTable{t.name, n})
	}
	return written, nil
}

// table writes one table, in the order of its primary key.
func (e *PlainExport) table(ctx context.Context, db *sqlx.DB, t plainTable) (rows int64, err error) {
	columns, err := e.columns(ctx, db, t)
	if err != nil {
		return 0, err
	}
	names := make([]string, len(columns))
	var order []string
	for i, c := range columns {
		names[i] = c.Name
		if c.Key > 0 {
			order = append(order, c.Name)
		}
	}
	if len(order) == 0 {
		order = names[:1]
	}
	where := t.where
	if where == "" {
		where = "true"
	}
	found, err := db.QueryxContext(ctx, `SELECT `+strings.Join(names, ", ")+` FROM `+t.name+` WHERE `+where+` ORDER BY `+strings.Join(order, ", "))
	if err != nil {
		return 0, err
	}
	defer found.Close()
	out, err := e.Create(t.name)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	w := bufio.NewWriterSize(out, 64<<10)
	for found.Next() {
		values, err := found.SliceScan()
		if err != nil {
			return rows, err
		}
		if err := e.row(w, columns, values); err != nil {
			return rows, err
		}
		rows++
	}
	if err := found.Err(); err != nil {
		return rows, err
	}
	return rows, w.Flush()
}

// plainColumn is a column of an exported table.
type plainColumn struct {
	Name string
	Key  int `db:"pk"` // place in the primary key, 0: none
	kind plainKind
}

// plainKind says how the values of a column are written.
type plainKind int

const (
	plainValue plainKind = iota
	plainBool
	plainTime
	plainVisibility
	plainJSON
	plainPrivateKey
)

// columns returns the columns that are written.
func (e *PlainExport) columns(ctx context.Context, db *sqlx.DB, t plainTable) (columns []plainColumn, err error) {
	if err := db.SelectContext(ctx, &columns, `SELECT name, pk FROM pragma_table_info(?)`, t.name); err != nil {
		return nil, err
	}
	var sql string
	if err := db.GetContext(ctx, &sql, `SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?`, t.name); err != nil {
		return nil, err
	}
	omitted := strings.Fields(t.omitted)
	if !e.Secrets {
		omitted = append(omitted, strings.Fields(t.secrets)...)
	}
	columns = slices.DeleteFunc(columns, func(c plainColumn) bool { return slices.Contains(omitted, c.Name) })
	for i, c := range columns {
		columns[i].kind = kindOf(t.name, c.Name, sql)
	}
	return columns, nil
}

// jsonColumns are the JSON columns that the schema does not show as such by a default.
var jsonColumns = []string{
	"polls.options", "scheduled_statuses.draft", "direct_conversations.recipients", "filters.context", "moderation_log.data", "settings.value", "frontend_settings.settings",
	"status_edits.media", "status_edits.poll", "chat_messages.emojis",
}

var (
	// boolColumn and jsonColumn match the declaration of a column that has one of two numbers, or JSON.
	boolColumn = regexp.MustCompile(`CHECK\s*\(\s*(\w+) IN\s*\(\s*0\s*,\s*1\s*\)`)
	jsonColumn = regexp.MustCompile(`(\w+)\s+TEXT\s+NOT NULL\s+DEFAULT '(?:\[\]|\{\})'`)
)

// kindOf returns how a column is written, by its name and by the schema of its table.
func kindOf(table, name, sql string) plainKind {
	declared := func(by *regexp.Regexp) bool {
		return slices.ContainsFunc(by.FindAllStringSubmatch(sql, -1), func(m []string) bool { return m[1] == name })
	}
	switch {
	case table == "actor_keys" && name == "private":
		return plainPrivateKey
	case name == "visibility", name == "default_visibility", name == "pending_visibility":
		return plainVisibility
	case strings.HasSuffix(name, "_at"), name == "unreachable_since":
		return plainTime
	case slices.Contains(jsonColumns, table+"."+name) || declared(jsonColumn):
		return plainJSON
	case declared(boolColumn):
		return plainBool
	}
	return plainValue
}

// row writes a row as an object whose members have the order of the columns.
func (e *PlainExport) row(w *bufio.Writer, columns []plainColumn, values []any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	for i, c := range columns {
		value, err := e.value(c.kind, values[i])
		if err != nil {
			return err
		}
		text.Reset()
		if err := encoder.Encode(value); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		w.WriteByte(separator) // a Writer keeps its first error for Flush
		fmt.Fprintf(w, "%q:", c.Name)
		w.Write(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	}
	_, err := w.WriteString("}\n")
	return err
}

// value converts a value of the database.
func (e *PlainExport) value(kind plainKind, v any) (any, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case []byte:
		switch kind {
		case plainPrivateKey:
			return e.Unseal(x)
		case plainValue:
			return base64.StdEncoding.EncodeToString(x), nil
		}
		return e.value(kind, string(x))
	case int64:
		switch kind {
		case plainBool:
			return x != 0, nil
		case plainVisibility:
			return Visibility(x), nil
		case plainTime:
			if x == 0 {
				return nil, nil
			}
			return time.UnixMilli(x).UTC(), nil
		}
	case string:
		if kind == plainJSON && json.Valid([]byte(x)) {
			return json.RawMessage(x), nil
		}
	}
	return v, nil
}
