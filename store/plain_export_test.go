package store_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/store"
)

// nopCloser is a buffer as a file.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// exportTables writes the tables of a database with a row of each table.
func exportTables(t *testing.T, secrets bool) map[string]*bytes.Buffer {
	t.Helper()
	path := filepath.Join(makeOld(t, store.SchemaVersion()), store.File) // with a row of each table
	tables := make(map[string]*bytes.Buffer)
	e := &store.PlainExport{
		Secrets: secrets, Unseal: func(private []byte) (string, error) { return fmt.Sprintf("key of %d bytes", len(private)), nil },
		Create: func(table string) (io.WriteCloser, error) {
			tables[table] = new(bytes.Buffer)
			return nopCloser{tables[table]}, nil
		},
	}
	written, err := e.Run(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range written {
		if n := bytes.Count(tables[w.Table].Bytes(), []byte("\n")); int64(n) != w.Rows {
			t.Errorf("%s has %d lines and %d rows", w.Table, n, w.Rows)
		}
	}
	return tables
}

// ofOthers are tables whose row in testdata/rows.sql belongs to an account or a thread that is not exported.
var ofOthers = []string{"threads", "collections", "collection_items"}

// TestPlainExport writes a database with a row of each table: each table is exported, or there is a reason why not.
func TestPlainExport(t *testing.T) {
	tables := exportTables(t, true)
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`).FindAllStringSubmatch(string(schema), -1) {
		name := m[1]
		content, exported := tables[name]
		switch reason := store.NotExported(name); {
		case exported && reason != "":
			t.Errorf("%s is exported and has a reason why it is not", name)
		case !exported && reason == "":
			t.Errorf("%s is not exported, and has no reason (store/plain_tables.go)", name)
		case exported && content.Len() == 0 && !slices.Contains(ofOthers, name):
			t.Errorf("%s has no row: testdata/rows.sql has one", name)
		}
	}
	for table, wants := range map[string][]string{
		"accounts":     {`"nickname":"Alice"`, `"locked":true`, `"fields":[{`, `"birthday":"2000-12-31"`},
		"users":        {`"password_hash":"`, `"totp_secret":"`},
		"statuses":     {`"visibility":"`, `"created_at":"20`},
		"actor_keys":   {`"private":"key of `},
		"polls":        {`"multiple":true`},
		"backup_codes": {`"hash":"`},
		"oauth_apps":   {`"client_secret":"`},
	} {
		for _, want := range wants {
			if got := tables[table].String(); !strings.Contains(got, want) {
				t.Errorf("%s lacks %s: %s", table, want, got)
			}
		}
	}
	for table, content := range tables {
		for line := range strings.Lines(content.String()) {
			var row map[string]any
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Errorf("%s: %v in %s", table, err, line)
			}
			for column, value := range row {
				if text, ok := value.(string); ok && (strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{")) && json.Valid([]byte(text)) {
					t.Errorf("%s.%s is JSON as a text: %s", table, column, text)
				}
				if number, ok := value.(float64); ok && strings.HasSuffix(column, "_at") {
					t.Errorf("%s.%s is a time as a number: %v", table, column, number)
				}
			}
		}
	}
}

// TestPlainExportWithoutSecrets looks for each secret of the other export.
func TestPlainExportWithoutSecrets(t *testing.T) {
	all, without := exportTables(t, true), exportTables(t, false)
	for table, columns := range store.SecretColumns() {
		for _, column := range columns {
			if name := fmt.Sprintf("%q:", column); !strings.Contains(all[table].String(), name) || strings.Contains(without[table].String(), name) {
				t.Errorf("%s.%s: with secrets %s, without %s", table, column, all[table], without[table])
			}
		}
	}
}

// TestSecretsAreKnown checks that no column that is named like a secret is written by an export without them.
func TestSecretsAreKnown(t *testing.T) {
	for table, content := range exportTables(t, false) {
		for line := range strings.Lines(content.String()) {
			var row map[string]any
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			for column := range row {
				for _, word := range []string{"secret", "password", "token", "private", "totp"} {
					if strings.Contains(column, word) && table+"."+column != "host_blocks.private_comment" && column != "for_private_mentions" {
						t.Errorf("%s.%s", table, column)
					}
				}
			}
		}
	}
}

// TestExportDocumentation checks that docs/moving.md lists each exported table.
func TestExportDocumentation(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "docs", "moving.md"))
	if err != nil {
		t.Fatal(err)
	}
	for table := range exportTables(t, true) {
		if !bytes.Contains(docs, []byte("`"+table+"`")) {
			t.Errorf("docs/moving.md lacks `%s`", table)
		}
	}
}
