package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
)

// schemaObject is a table, an index, a trigger or a view.
type schemaObject struct {
	Kind  string `db:"type"`
	Name  string
	Table string `db:"tbl_name"` // to which an index or a trigger belongs
	SQL   string
}

// schemaObjects are the objects of a schema in the order of their text, which is without comments and spacing.
type schemaObjects []schemaObject

// readSchema returns the objects of the database of a connection. It leaves out those that SQLite makes itself: automatic indexes, statistics,
// and the tables of a search index, whose text belongs to the version of SQLite. It leaves out names that begin with _, too, because
// other programs, such as Litestream, keep their state in tables of such names.
func readSchema(ctx context.Context, conn sqlx.QueryerContext) (schemaObjects, error) {
	var all []schemaObject
	if err := sqlx.SelectContext(ctx, conn, &all, `
		SELECT type, name, tbl_name, ifnull(sql, '') sql
		FROM sqlite_schema`); err != nil {
		return nil, fmt.Errorf("read the database's schema: %w", err)
	}
	made := make(map[string]bool)
	for i, o := range all {
		all[i].SQL = normalSQL(o.SQL)
		if strings.HasPrefix(all[i].SQL, "CREATE VIRTUAL TABLE ") {
			for _, part := range []string{"_data", "_idx", "_content", "_docsize", "_config"} {
				made[o.Name+part] = true
			}
		}
	}
	return slices.SortedFunc(func(yield func(schemaObject) bool) {
		for _, o := range all {
			if !strings.HasPrefix(o.Name, "sqlite_") && !strings.HasPrefix(o.Table, "_") && !made[o.Table] && !yield(o) {
				return
			}
		}
	}, func(a, b schemaObject) int { return cmp.Compare(a.SQL, b.SQL) }), nil
}

// hash returns the SHA-256 of the schema in hexadecimal digits.
func (s schemaObjects) hash() string {
	sum := sha256.New()
	for _, o := range s {
		fmt.Fprintln(sum, o.SQL)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// normalSQL returns a statement without comments, with single spaces, and without quotes that a name does not need: SQLite adds some when a
// table is renamed.
func normalSQL(sql string) string {
	var b strings.Builder
	b.Grow(len(sql))
	for token := range sqlTokens(sql) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(token)
	}
	return b.String()
}

// sqlTokens yields the tokens of a statement: strings, names, numbers, operators and brackets.
func sqlTokens(sql string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(sql); {
			n := tokenLength(sql[i:])
			token := sql[i : i+n]
			i += n
			switch c := token[0]; {
			case isSpace(c), n > 1 && (c == '-' || c == '/'): // spacing or a comment
				continue
			case c == '"' || c == '`' || c == '[':
				if name := token[1 : n-1]; isPlainName(name) {
					token = name
				}
			}
			if !yield(token) {
				return
			}
		}
	}
}

// tokenLength returns the length of the token, comment or spacing with which text begins.
func tokenLength(text string) int {
	end := func(from int, mark string) int {
		if i := strings.Index(text[from:], mark); i >= 0 {
			return from + i + len(mark)
		}
		return len(text)
	}
	c := text[0]
	switch {
	case strings.HasPrefix(text, "--"):
		return end(2, "\n")
	case strings.HasPrefix(text, "/*"):
		return end(2, "*/")
	case c == '[':
		return end(1, "]")
	case len(text) > 1 && (c == 'x' || c == 'X') && text[1] == '\'': // a blob
		return end(2, "'")
	case c == '\'' || c == '"' || c == '`':
		quote := text[:1]
		n := end(1, quote)
		for n < len(text) && text[n] == c { // a doubled quote
			n = end(n+1, quote)
		}
		return n
	}
	for _, class := range []func(byte) bool{isSpace, isWordByte, isOperatorByte} {
		if n := 1; class(c) {
			for n < len(text) && class(text[n]) {
				n++
			}
			return n
		}
	}
	return 1
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// isOperatorByte returns true for the parts of operators of several characters: <> >= || and so on. A minus is none, because it may begin a comment.
func isOperatorByte(c byte) bool { return c == '<' || c == '>' || c == '=' || c == '!' || c == '|' }

func isPlainName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 || !isWordByte(byte(r)) || r == '$' }) &&
		(name[0] < '0' || name[0] > '9')
}

// difference is what one schema has and another lacks, or has otherwise.
type difference struct {
	what string // accounts.note; the index home_status
	how  string // isMissing, isAdded, isOther
}

const (
	isMissing = "is missing"
	isAdded   = "was added"
	isOther   = "differs"
)

func (d difference) String() string { return d.what + " " + d.how }

// differences returns how a schema differs from the one that it should be, by column where possible.
func (s schemaObjects) differences(want schemaObjects) []difference {
	is, should := s.byName(), want.byName()
	var list []difference
	for _, o := range want {
		got, ok := is[o.Name]
		switch {
		case !ok:
			list = append(list, difference{o.title(), isMissing})
		case got.SQL != o.SQL && got.Kind == "table" && o.Kind == "table":
			list = append(list, tableDifferences(o.Name, got.SQL, o.SQL)...)
		case got.SQL != o.SQL:
			list = append(list, difference{o.title(), isOther})
		}
	}
	for _, o := range s {
		if _, ok := should[o.Name]; !ok {
			list = append(list, difference{o.title(), isAdded})
		}
	}
	return list
}

func (s schemaObjects) byName() map[string]schemaObject {
	m := make(map[string]schemaObject, len(s))
	for _, o := range s {
		m[o.Name] = o
	}
	return m
}

func (o schemaObject) title() string {
	if o.Kind == "table" {
		return o.Name
	}
	return "the " + o.Kind + " " + o.Name
}

func tableDifferences(table, got, want string) []difference {
	is, isOrder := columns(got)
	should, order := columns(want)
	var list []difference
	for _, name := range order {
		switch definition, ok := is[name]; {
		case !ok:
			list = append(list, difference{table + "." + name, isMissing})
		case definition != should[name]:
			list = append(list, difference{table + "." + name, isOther})
		}
	}
	for _, name := range isOrder {
		if _, ok := should[name]; !ok {
			list = append(list, difference{table + "." + name, isAdded})
		}
	}
	if len(list) == 0 { // a constraint, or the order of columns
		list = append(list, difference{table, isOther})
	}
	return list
}

// columns returns the definitions of the columns of a normal CREATE TABLE statement, and their names in its order.
func columns(create string) (definitions map[string]string, names []string) {
	definitions = make(map[string]string)
	var name, text string
	depth := 0
	for token := range sqlTokens(create) {
		switch {
		case token == "(":
			depth++
		case token == ")":
			depth--
		}
		if depth == 0 || depth == 1 && token == "(" {
			continue
		}
		if depth == 1 && token == "," {
			name, text = "", ""
			continue
		}
		if name == "" {
			name = token
			switch name {
			case "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT": // of the table
			default:
				names = append(names, name)
			}
		}
		text += " " + token
		definitions[name] = text
	}
	for _, constraint := range []string{"PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT"} {
		delete(definitions, constraint)
	}
	return definitions, names
}
