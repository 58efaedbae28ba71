package store_test

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc/internal/packed/packedtest"
	"svc/store"
)

var update = flag.Bool("update", false, "write the files of the newest version of the schema in testdata and migrations")

// TestMigrations checks that schema.sql and the migrations make the same schema, and that the schema of no version has changed: its hash is in
// migrations/hashes. With -update it adds the hash of a new version, and writes its testdata/version-N.sql; it never changes those of
// older ones.
func TestMigrations(t *testing.T) {
	packedtest.Compare(t, "migrations/0001-first.sql")
	newest := store.SchemaVersion()
	for version := 1; version <= newest; version++ {
		want, got, err := store.VersionHash(t.Context(), version)
		if err != nil {
			t.Fatal(err)
		}
		if want != got && (want != "" || version != newest) {
			t.Errorf("version %d of the schema has changed: a released migration must not; add another one", version)
		}
	}
	hash, text, differences, err := store.SchemaOf(t.Context(), makeDatabase(t, schemaText(t)))
	if err != nil {
		t.Fatal(err)
	}
	want, got, _ := store.VersionHash(t.Context(), newest)
	switch {
	case got != hash:
		t.Fatalf("schema.sql and the migrations to version %d differ (%s): add a migration to version %d, see CONTRIBUTING.md, \"A table\"",
			newest, strings.Join(differences, ", "), newest+1)
	case want == "" && *update:
		addHash(t, newest, hash)
	case want == "":
		t.Fatalf("version %d has no hash: run this test with -update", newest)
	}
	if *update {
		writeOld(t, newest, hash, text)
	}
}

func schemaText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// makeDatabase runs SQL on a new database, and returns its path.
func makeDatabase(t testing.TB, sql string) string {
	t.Helper()
	dir := t.TempDir()
	raw := rawDB(t, dir)
	defer raw.Close()
	if _, err := raw.Exec(sql); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, store.File)
}

func addHash(t *testing.T, version int, hash string) {
	t.Helper()
	f, err := os.OpenFile("migrations/hashes", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%d %s\n", version, hash); err != nil {
		t.Fatal(err)
	}
}

func oldFile(version int) string { return fmt.Sprintf("testdata/version-%d.sql", version) }

// writeOld writes the database of the newest version with the rows of testdata/rows.sql.
func writeOld(t *testing.T, version int, hash, schema string) {
	t.Helper()
	rows, err := os.ReadFile("testdata/rows.sql")
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("-- A database of version %d, written by TestMigrations -update while that was the newest. It does not change any more.\n\n%s\n%s", version, schema, rows)
	if version > 1 {
		text += fmt.Sprintf("UPDATE meta SET schema_hash = '%s';\n", hash)
	}
	text += fmt.Sprintf("PRAGMA user_version = %d;\n", version)
	if err := os.WriteFile(oldFile(version), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// makeOld creates a database of a version, with rows in every table, and returns its folder.
func makeOld(t testing.TB, version int) (dir string) {
	t.Helper()
	text, err := os.ReadFile(oldFile(version))
	if err != nil {
		t.Fatalf("each version of the schema needs a database of it: %v", err)
	}
	worker := fmt.Sprintf("UPDATE meta SET worker = %d;", store.WorkerNumber()) // one process, one number
	return filepath.Dir(makeDatabase(t, string(text)+worker))
}

// changedByMigrations are the columns, as TABLE.COLUMN, whose values migrations change or set, and type and value of each in the row that
// testdata/rows.sql has. All others keep their value, or have the default of the column.
func changedByMigrations() map[string]string {
	hash, _, _ := store.VersionHash(context.Background(), store.SchemaVersion())
	return map[string]string{
		"meta.schema_hash": "string " + hash,
		"tags.key":         "string name of tags",

		"collection_items.collection_id": "int64 1",
		"collection_items.state":         "int64 3",
	}
}

// queuedByMigrations are the kinds of jobs that migrations queue, and the version to which each leads.
var queuedByMigrations = map[string]int{store.CutLargeRows{}.Kind().Name: 3, store.Refold{}.Kind().Name: 6, store.MakeEd25519Keys{}.Kind().Name: 7}

// takeQueued removes the jobs that migrations have queued from the rows of a database that had a version, and checks that each is there.
func takeQueued(t *testing.T, version int, tables map[string][]row) {
	t.Helper()
	for kind, since := range queuedByMigrations {
		n := len(tables["jobs"])
		tables["jobs"] = slices.DeleteFunc(tables["jobs"], func(r row) bool { return r["kind"] == "string "+kind })
		if got := n-len(tables["jobs"]) == 1; got != (version < since) {
			t.Errorf("a job %s is queued: %v", kind, got)
		}
	}
}

// TestOldDatabases opens a database of each version: it gets the schema of a new one, and each row and column keeps its value.
func TestOldDatabases(t *testing.T) {
	fresh := t.TempDir()
	openAndClose(t, fresh)
	hash, _, _, err := store.SchemaOf(t.Context(), filepath.Join(fresh, store.File))
	if err != nil {
		t.Fatal(err)
	}
	for version := 1; version <= store.SchemaVersion(); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			dir := makeOld(t, version)
			if is, _, _, err := store.SchemaOf(t.Context(), filepath.Join(dir, store.File)); err != nil || is != must(store.VersionHash(t.Context(), version)) {
				t.Errorf("%s does not have the schema of the version: %v", oldFile(version), err)
			}
			before := tables(t, dir)
			for name, rows := range before {
				if len(rows) == 0 {
					t.Errorf("%s has no row of %s", oldFile(version), name)
				}
			}
			openAndClose(t, dir)
			if is, _, differences, err := store.SchemaOf(t.Context(), filepath.Join(dir, store.File)); err != nil || is != hash {
				t.Errorf("the migrated schema differs from a new one: %v %v", differences, err)
			}
			after := tables(t, dir)
			takeQueued(t, version, after)
			compareTables(t, dir, before, after)
			wantIntact(t, dir)
		})
	}
}

// TestFrontendSettingsMove checks that migration 4 keeps what front ends store, of any JSON type.
func TestFrontendSettingsMove(t *testing.T) {
	dir := makeOld(t, 3)
	db := rawDB(t, dir)
	deep := strings.Repeat(`[`, 2000) + strings.Repeat(`]`, 2000)
	for id, settings := range map[int]string{
		1: `{"a \"b\" ü":{"x":[1,2.50,"é"]},"array":[],"text":"q\"uote","number":1.5,"yes":true,"no":false,"nothing":null}`,
		3: `{"deep":` + deep + `}`,
		4: `{}`,
	} {
		if _, err := db.Exec(`
			INSERT INTO accounts (id, nickname, nickname_key, uri, url, created_at) VALUES (?1, 'n' || ?1, 'n' || ?1, ?1, ?1, 0) ON CONFLICT DO NOTHING;
			INSERT INTO users (account_id, password_hash, settings_store) VALUES (?1, '', ?2)
			ON CONFLICT DO UPDATE SET settings_store = excluded.settings_store`, id, settings); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	openAndClose(t, dir)
	db = rawDB(t, dir)
	defer db.Close()
	got := texts(t, db, `SELECT account_id || ' ' || name || ' ' || settings FROM frontend_settings ORDER BY account_id, name`)
	want := []string{
		`1 a "b" ü {"x":[1,2.50,"é"]}`, `1 array []`, `1 no false`, `1 nothing null`, `1 number 1.5`, `1 text "q\"uote"`, `1 yes true`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func must(want, _ string, err error) string {
	if err != nil {
		return err.Error()
	}
	return want
}

type row map[string]any

// tables returns all rows of all tables. Of the search indexes, which keep no text, it returns those that a word finds: one that was indexed,
// or one of the account from which a migration indexes it again.
func tables(t *testing.T, dir string) map[string][]row {
	t.Helper()
	db := rawDB(t, dir)
	defer db.Close()
	found := make(map[string][]row)
	for _, name := range texts(t, db, `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite_%'`) {
		query := `SELECT * FROM ` + name + ` ORDER BY 1, 2`
		if strings.HasSuffix(name, "_fts") {
			query = `SELECT rowid, 0 FROM ` + name + ` WHERE ` + name + ` MATCH 'words OR accounts'`
		}
		if columns := texts(t, db, `SELECT name FROM pragma_table_info(?)`, name); len(columns) == 1 {
			query = `SELECT * FROM ` + name + ` ORDER BY 1`
		}
		found[name] = rowsOf(t, db, query)
	}
	return found
}

func texts(t *testing.T, db *sql.DB, query string, args ...any) (list []string) {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		list = append(list, text)
	}
	return list
}

func rowsOf(t *testing.T, db *sql.DB, query string) []row {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	list := []row{}
	for rows.Next() {
		values, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		r := make(row)
		for i, c := range columns {
			r[c] = fmt.Sprintf("%T %[1]v", values[i])
		}
		list = append(list, r)
	}
	return list
}

func compareTables(t *testing.T, dir string, before, after map[string][]row) {
	t.Helper()
	db := rawDB(t, dir)
	defer db.Close()
	changed := changedByMigrations()
	for name, rows := range before {
		if len(after[name]) != len(rows) {
			t.Errorf("%s has %d rows, had %d", name, len(after[name]), len(rows))
			continue
		}
		for i, r := range after[name] {
			for column, value := range r {
				want, had := rows[i][column]
				if set, ok := changed[name+"."+column]; ok {
					want = set
				} else if !had {
					want = rowsOf(t, db, `SELECT `+defaultOf(t, db, name, column)+` d`)[0]["d"].(string)
				}
				if value != want {
					t.Errorf("%s.%s is %v, want %v", name, column, value, want)
				}
			}
		}
	}
}

func defaultOf(t *testing.T, db *sql.DB, table, column string) string {
	t.Helper()
	return texts(t, db, `SELECT ifnull(dflt_value, 'NULL') FROM pragma_table_info(?) WHERE name = ?`, table, column)[0]
}

func wantIntact(t *testing.T, dir string) {
	t.Helper()
	if err := store.Check(t.Context(), filepath.Join(dir, store.File)); err != nil {
		t.Error(err)
	}
	db := rawDB(t, dir)
	defer db.Close()
	if left := texts(t, db, `PRAGMA integrity_check`); !slices.Equal(left, []string{"ok"}) {
		t.Error(left)
	}
}
