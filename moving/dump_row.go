package moving

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxListElements bounds an array in a column.
const maxListElements = 10_000

// mapping says how the rows of a table of the source become rows of the scratch database.
type mapping struct {
	columns  []string // needed
	optional []string // that only some versions have
	load     func(*loader, *row) error
}

// row is a row of a source. Its methods read columns of the mapping; the first value that cannot be read is the error of the row.
type row struct {
	index map[string]int // of a column in values
	// values are the texts of all columns; nil: NULL.
	values [][]byte
	err    error
	spare  []byte // for values with escapes
}

// valueError is a value that has another form than its column.
type valueError struct{ column, want string }

func (e *valueError) Error() string { return "the column " + e.column + " has no " + e.want }

// rowOf returns an empty row for a table with these columns.
func (m *mapping) rowOf(table string, columns []string) (row, error) {
	r := row{index: make(map[string]int), values: make([][]byte, len(columns))}
	for i, name := range columns {
		if slices.Contains(m.columns, name) || slices.Contains(m.optional, name) {
			r.index[name] = i
		}
	}
	for _, name := range m.columns {
		if _, ok := r.index[name]; !ok {
			return row{}, fmt.Errorf("the table %s has no column %s, so this version of the software is not known", table, name)
		}
	}
	return r, nil
}

// split reads the values of a line of COPY in its text format (PostgreSQL, COPY, File Formats).
func (r *row) split(line []byte) error {
	r.err = nil
	r.spare = r.spare[:0]
	if cap(r.spare) < len(line) {
		r.spare = make([]byte, 0, len(line)) // so that values stay where they are while it grows
	}
	for i := range r.values {
		field, rest, more := bytes.Cut(line, []byte{'\t'})
		if last := i == len(r.values)-1; more == last {
			return errors.New("the row has another number of columns than its table")
		}
		value, err := r.unescape(field)
		if err != nil {
			return err
		}
		r.values[i], line = value, rest
	}
	return nil
}

// unescape returns a value without its escapes, nil for NULL. Text that is no UTF-8 has U+FFFD.
func (r *row) unescape(field []byte) ([]byte, error) {
	if len(field) == 2 && field[0] == '\\' && field[1] == 'N' {
		return nil, nil
	}
	if bytes.IndexByte(field, '\\') < 0 {
		return field, nil
	}
	start := len(r.spare)
	for i := 0; i < len(field); i++ {
		c := field[i]
		if c != '\\' {
			r.spare = append(r.spare, c)
			continue
		}
		if i++; i == len(field) {
			return nil, errors.New("the row ends with a backslash")
		}
		switch c = field[i]; {
		case c == 'b':
			c = '\b'
		case c == 'f':
			c = '\f'
		case c == 'n':
			c = '\n'
		case c == 'r':
			c = '\r'
		case c == 't':
			c = '\t'
		case c == 'v':
			c = '\v'
		case c == 'x' && i+1 < len(field) && isHex(field[i+1]):
			n := 1
			for n < 2 && i+1+n < len(field) && isHex(field[i+1+n]) {
				n++
			}
			v, _ := strconv.ParseUint(string(field[i+1:i+1+n]), 16, 8)
			c, i = byte(v), i+n
		case '0' <= c && c <= '7':
			n := 1
			for n < 3 && i+n < len(field) && '0' <= field[i+n] && field[i+n] <= '7' {
				n++
			}
			v, _ := strconv.ParseUint(string(field[i:i+n]), 8, 16)
			c, i = byte(v), i+n-1
		}
		r.spare = append(r.spare, c)
	}
	return r.spare[start:len(r.spare):len(r.spare)], nil
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// raw returns a value, nil for NULL and for a column that this version does not have.
func (r *row) raw(column string) []byte {
	i, ok := r.index[column]
	if !ok {
		return nil
	}
	return r.values[i]
}

// has returns true if a column is not NULL.
func (r *row) has(column string) bool { return r.raw(column) != nil }

// text returns a text, "" for NULL. It is valid UTF-8 without NUL, which SQLite and JSON have no place for.
func (r *row) text(column string) string {
	v := r.raw(column)
	if !utf8.Valid(v) || bytes.IndexByte(v, 0) >= 0 {
		return strings.ReplaceAll(strings.ToValidUTF8(string(v), "\uFFFD"), "\x00", "")
	}
	return string(v)
}

// bool returns false for NULL.
func (r *row) bool(column string) bool {
	switch string(r.raw(column)) {
	case "", "f", "false", "0":
		return false
	case "t", "true", "1":
		return true
	}
	r.fail(column, "boolean")
	return false
}

// int returns 0 for NULL.
func (r *row) int(column string) int64 {
	v := r.raw(column)
	if len(v) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		r.fail(column, "integer")
	}
	return n
}

func (r *row) float(column string) float64 {
	v := r.raw(column)
	if len(v) == 0 {
		return 0
	}
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil || n != n {
		r.fail(column, "number")
		return 0
	}
	return n
}

// timeLayouts are the forms of times: of PostgreSQL with and without a time zone, and of the drivers of SQLite.
var timeLayouts = []string{
	"2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07", "2006-01-02 15:04:05.999999999Z07:00", time.RFC3339Nano,
	"2006-01-02 15:04:05.999999999 -0700 MST", "2006-01-02",
}

// time returns Unix milliseconds, 0 for NULL and for times before 1970.
func (r *row) time(column string) int64 {
	v := string(r.raw(column))
	if v == "" || v == "infinity" || v == "-infinity" {
		return 0
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, v); err == nil {
			return max(0, t.UnixMilli())
		}
	}
	r.fail(column, "time")
	return 0
}

// list returns the elements of an array: of PostgreSQL, or of JSON, as bun writes it into SQLite.
func (r *row) list(column string) []string {
	v := r.text(column)
	switch {
	case v == "" || v == "{}" || v == "[]" || v == "null":
		return nil
	case v[0] == '[':
		var list []any
		if json.Unmarshal([]byte(v), &list) != nil || len(list) > maxListElements {
			r.fail(column, "list")
			return nil
		}
		texts := make([]string, len(list))
		for i, e := range list {
			if f, ok := e.(float64); ok {
				texts[i] = strconv.FormatFloat(f, 'f', -1, 64)
			} else if e != nil {
				texts[i] = fmt.Sprint(e)
			}
		}
		return texts
	case v[0] == '{' && v[len(v)-1] == '}':
		list, ok := splitArray(v[1 : len(v)-1])
		if !ok {
			r.fail(column, "list")
		}
		return list
	}
	r.fail(column, "list")
	return nil
}

// splitArray splits the inside of an array of one dimension (PostgreSQL, Arrays, Input and Output Syntax).
func splitArray(v string) (list []string, ok bool) {
	for {
		var b strings.Builder
		if strings.HasPrefix(v, `"`) {
			i := 1
			for ; i < len(v) && v[i] != '"'; i++ {
				if v[i] == '\\' {
					i++
				}
				if i < len(v) {
					b.WriteByte(v[i])
				}
			}
			if i >= len(v) {
				return nil, false
			}
			v = v[i+1:]
		} else {
			end := strings.IndexByte(v, ',')
			if end < 0 {
				end = len(v)
			}
			if element := v[:end]; element != "NULL" {
				b.WriteString(element)
			}
			v = v[end:]
		}
		if list = append(list, b.String()); len(list) > maxListElements {
			return nil, false
		}
		if v == "" {
			return list, true
		}
		if v[0] != ',' {
			return nil, false
		}
		v = v[1:]
	}
}

// json reads a value of JSON into v. NULL leaves it.
func (r *row) json(column string, v any) {
	if b := r.raw(column); len(b) > 0 {
		if err := json.Unmarshal(b, v); err != nil {
			r.fail(column, "JSON of the expected form")
		}
	}
}

func (r *row) fail(column, want string) {
	if r.err == nil {
		r.err = &valueError{column, want}
	}
}
