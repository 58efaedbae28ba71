package store_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"svc/store"
)

// TestRowStatements checks that each statement that writes rows writes all columns of its table but those that its declaration leaves out, by
// rows whose fields are all set.
func TestRowStatements(t *testing.T) {
	declared := declaredStatements(t)
	if got, want := slices.Sorted(maps.Keys(store.RowStatements)), slices.Sorted(maps.Keys(declared)); !slices.Equal(got, want) {
		t.Errorf("RowStatements has\n%v, db_row_writer.go\n%v", got, want)
	}
	dir := t.TempDir()
	openAndClose(t, dir)
	db := sqlx.NewDb(rawDB(t, dir), "sqlite") // without foreign keys
	defer db.Close()
	db.SetMaxOpenConns(1)
	db.Mapper = store.Mapper
	mustExec(t, db, "PRAGMA ignore_check_constraints = 1")
	table := regexp.MustCompile(`^(?:INSERT.* INTO|UPDATE) (\w+) `)
	for name, d := range declared {
		t.Run(name, func(t *testing.T) {
			s := store.RowStatements[name]
			table := table.FindStringSubmatch(s.Text)[1]
			before, after := s.New(), s.New()
			fillRow(before, 0, true)
			fillRow(after, 1001, false)
			mustExec(t, db, "DELETE FROM "+table)
			if d.key != "" {
				db.Mapper.FieldByName(reflect.ValueOf(after), d.key).Set(db.Mapper.FieldByName(reflect.ValueOf(before), d.key))
				insertWhole(t, db, table, before)
				mustExec(t, db, s.Text, s.Args(after)...)
				wantRow(t, db, table, d, before, after)
			}
			if d.inserts {
				mustExec(t, db, "DELETE FROM "+table)
				mustExec(t, db, s.Text, s.Args(before)...)
				wantRow(t, db, table, d, nil, before)
			}
		})
	}
}

// declaredStatement is what the declaration of a statement says.
type declaredStatement struct {
	inserts bool
	key     string // of the row that it updates
	except  []string
	only    []string // nil: all but except
}

func (d declaredStatement) writes(column string) bool {
	if d.only != nil {
		return slices.Contains(d.only, column)
	}
	return !slices.Contains(d.except, column)
}

// declaredStatements reads the declarations in db_row_writer.go.
func declaredStatements(t *testing.T) map[string]declaredStatement {
	file, err := parser.ParseFile(token.NewFileSet(), "db_row_writer.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]declaredStatement{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) == 0 {
			return true
		}
		call := spec.Values[0].(*ast.CallExpr)
		var args []string
		for _, a := range call.Args {
			text, err := strconv.Unquote(a.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, text)
		}
		var d declaredStatement
		switch fn := call.Fun.(*ast.IndexExpr).X.(*ast.Ident).Name; fn {
		case "insert":
			d = declaredStatement{inserts: true, except: args[2:]}
		case "upsert":
			d = declaredStatement{inserts: true, key: args[1]}
		case "update":
			d = declaredStatement{key: args[1], except: args[2:]}
		case "updateOnly":
			d = declaredStatement{key: args[1], only: args[2:]}
		default:
			t.Errorf("unknown function %s", fn)
		}
		declared[spec.Names[0].Name] = d
		return false
	})
	return declared
}

// fillRow sets all fields to values other than zero, which differ from each other where their types have more than one.
func fillRow(row any, n int64, is bool) { setAll(reflect.ValueOf(row).Elem(), &n, is) }

func setAll(v reflect.Value, n *int64, is bool) {
	*n++
	switch field := v.Addr().Interface().(type) {
	case *store.FilterContext: // not read from any other text
		*field = store.FilterContexts[*n%int64(len(store.FilterContexts))]
		return
	case *store.Visibility: // not read from JSON as any other number
		*field = store.Visibility(1 + *n%5)
		return
	case *store.NotificationType: // not written with any other text
		*field = store.NotificationKinds[*n%int64(len(store.NotificationKinds))].Type
		return
	case *store.Field: // nothing sets VerifiedAt
		*field = store.Field{Name: fmt.Sprint("name", *n), Value: fmt.Sprint("value", *n)}
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(is)
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.String:
		v.SetString(fmt.Sprint("text", *n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAll(v.Elem(), n, is)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(fmt.Append(nil, *n))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setAll(v.Index(0), n, is)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		setAll(key, n, is)
		setAll(value, n, is)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Interface:
		v.Set(reflect.ValueOf(fmt.Sprint("text", *n)))
	case reflect.Struct:
		for i := range v.NumField() {
			setAll(v.Field(i), n, is)
		}
	default:
		panic(v.Type())
	}
}

func mustExec(t *testing.T, db *sqlx.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// insertWhole inserts a row by the fields of its struct, which are those of the table (TestRowsMirrorTables).
func insertWhole(t *testing.T, db *sqlx.DB, table string, row any) {
	t.Helper()
	v := reflect.ValueOf(row).Elem()
	var args []any
	for i := range v.NumField() {
		args = append(args, v.Field(i).Interface())
	}
	mustExec(t, db, "INSERT INTO "+table+" VALUES (?"+strings.Repeat(", ?", len(args)-1)+")", args...)
}

// wantRow checks the only row of a table: what a statement writes is that of written, the rest that of before, or anything but that of
// written if before is nil.
func wantRow(t *testing.T, db *sqlx.DB, table string, d declaredStatement, before, written any) {
	t.Helper()
	w := reflect.ValueOf(written).Elem()
	got := reflect.New(w.Type())
	if err := db.Get(got.Interface(), "SELECT * FROM "+table); err != nil {
		t.Fatal(err)
	}
	for i := range w.NumField() {
		name := store.ColumnName(w.Type().Field(i).Name)
		has, want := got.Elem().Field(i).Interface(), w.Field(i).Interface()
		switch {
		case d.writes(name):
			if !reflect.DeepEqual(has, want) {
				t.Errorf("%s is %v, want %v", name, has, want)
			}
		case before == nil:
			if reflect.DeepEqual(has, want) {
				t.Errorf("%s is written", name)
			}
		default:
			if was := reflect.ValueOf(before).Elem().Field(i).Interface(); !reflect.DeepEqual(has, was) {
				t.Errorf("%s has become %v, was %v", name, has, was)
			}
		}
	}
}

// BenchmarkAddStatus measures the writing of a post without the commit.
func BenchmarkAddStatus(b *testing.B) {
	benchmarkWrite(b, func(tx *store.Tx, a *store.Account, i int) error {
		return tx.AddStatus(b.Context(), &store.Status{ID: tx.NewStatusID(), AccountID: a.ID, ConversationID: store.ConversationID(i + 1),
			ContentType: "text/plain", Language: "en", URI: fmt.Sprint("https://example.org/", a.ID, "/", i), Text: "hello", Content: "<p>hello</p>"})
	})
}

// BenchmarkSaveAccount measures the writing of a profile without the commit.
func BenchmarkSaveAccount(b *testing.B) {
	benchmarkWrite(b, func(tx *store.Tx, a *store.Account, i int) error {
		a.Note = strconv.Itoa(i)
		return tx.SaveAccount(b.Context(), a)
	})
}

func benchmarkWrite(b *testing.B, write func(*store.Tx, *store.Account, int) error) {
	db := open(b)
	a := addAccount(b, db, "alice")
	b.ReportAllocs()
	mustUpdate(b, db, func(tx *store.Tx) error {
		for i := range b.N {
			if i == 1 {
				b.ResetTimer() // after the statements are prepared
			}
			if err := write(tx, a, i); err != nil {
				return err
			}
		}
		b.StopTimer() // before the commit
		return nil
	})
}
