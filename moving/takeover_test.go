package moving_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc/moving"
)

// target returns a target for reading only.
func target(t *testing.T) moving.Target {
	return moving.Target{Dir: filepath.Join(t.TempDir(), "data"), BaseURL: "https://old.example.org", Host: "old.example.org", Reserved: []string{"admin", "svc"}}
}

// writeFile writes a file into a temporary folder.
func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// prepare reads a source and returns its report.
func prepare(t *testing.T, s moving.Source) (*moving.Report, error) {
	t.Helper()
	k, err := moving.Prepare(context.Background(), s, target(t), true)
	if err != nil {
		return nil, err
	}
	return k.Report, k.Forget()
}

func TestDamagedDumps(t *testing.T) {
	whole := string(mastodonDump(t).bytes())
	lineOf := func(text string) int { return strings.Count(whole[:strings.Index(whole, text)], "\n") + 1 }
	for _, tt := range []struct {
		name, dump, want string
	}{
		{"empty", "", "neither a database of SQLite nor a plain dump"},
		{"a text", "hello\nworld\n", "neither a database of SQLite nor a plain dump"},
		{"the custom format", "PGDMP\x01\x0e\n", "line 1 of "},
		{"another program's tables", strings.ReplaceAll(whole, "oauth_access_tokens", "other_tokens"), "of no software that can be taken over"},
		{"truncated after the definitions", whole[:strings.Index(whole, "COPY ")], "without any rows"},
		{"truncated in a table", whole[:strings.Index(whole, "alice\t\\N")+3], fmt.Sprintf("line %d of ", lineOf("alice\t\\N"))},
		{"truncated after a table", whole[:strings.Index(whole, "\\.\n")+3], "without its last line"},
		{"without the end", strings.Replace(whole, "-- PostgreSQL database dump complete", "--", 1), "truncated"},
		{"a row with too few columns", strings.Replace(whole, "alice\t\\N\t", "alice\t", 1), fmt.Sprintf("line %d of ", lineOf("alice\t\\N"))},
		{"a row with too many columns", strings.Replace(whole, "alice\t\\N\t", "alice\t\\N\t\t", 1), "another number of columns"},
		{"a backslash at the end of a row", strings.Replace(whole, "\n\\.\n", "\\\n\\.\n", 1), "backslash"},
		{"a time that is none", strings.Replace(whole, "2020-01-02 03:04:05", "yesterday", 1), "has no time"},
		{"a column less", strings.Replace(whole, "username, domain", "usrname, domain", 1), "has no column username"},
		{"a table twice", strings.Replace(whole, "-- PostgreSQL database dump complete", "COPY public.accounts (id) FROM stdin;\n\\.\n-- PostgreSQL database dump complete", 1), "is there twice"},
		{"COPY of another form", strings.Replace(whole, "FROM stdin;", "FROM '/etc/passwd';", 1), "another form than pg_dump writes"},
		{"no accounts", strings.Replace(whole, "COPY public.accounts ", "COPY public.nobody ", 1), "no table accounts"},
		{"a private key that is none", strings.Replace(whole, "BEGIN RSA PRIVATE KEY", "BEGIN NOTHING", 1), "private_key"},
		{"a line of 17 MiB", strings.Replace(whole, "alice\t\\N", "alice"+strings.Repeat("a", 17<<20)+"\t\\N", 1), "longer than 16 MiB"},
		{"a database that is damaged", "SQLite format 3\x00" + strings.Repeat("x", 5000), "no database that can be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := moving.Source{Database: writeFile(t, "dump.sql", tt.dump)}
			to := target(t)
			k, err := moving.Prepare(context.Background(), s, to, false)
			if err == nil {
				k.Close()
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want %q", err, tt.want)
			}
			if left, _ := os.ReadDir(to.Dir); len(left) > 0 {
				t.Errorf("it left %v in the data directory", left)
			}
		})
	}
}

func TestNames(t *testing.T) {
	d := mastodonDump(t)
	d.account("7", "Alice", "")
	d.account("8", "svc", "")
	d.account("9", "12345", "")
	path := writeFile(t, "dump.sql", string(d.bytes()))
	_, err := prepare(t, moving.Source{Database: path})
	var names *moving.NameError
	if !errors.As(err, &names) {
		t.Fatalf("got %v, want a NameError", err)
	}
	for _, want := range []string{"Alice differs from alice only in case", "svc is reserved", "12345 is no nickname", "--rename OLD=NEW"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %q in it", err, want)
		}
	}
	renames := map[string]string{"Alice": "alice2", "svc": "services", "12345": "n12345"}
	r, err := prepare(t, moving.Source{Database: path, Rename: renames})
	if err != nil {
		t.Fatal(err)
	}
	if r.Counts[0].Kind != "accounts" || r.Counts[0].Taken != 5 {
		t.Errorf("got %v, want 5 accounts", r.Counts[0])
	}
	if _, err := prepare(t, moving.Source{Database: path, Rename: map[string]string{"nobody": "x"}}); err == nil || !strings.Contains(err.Error(), "no account nobody") {
		t.Errorf("an unknown name: got %v", err)
	}
}

func TestNotEmpty(t *testing.T) {
	to := target(t)
	if err := os.MkdirAll(filepath.Join(to.Dir, "media"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := moving.Source{Database: writeFile(t, "dump.sql", string(mastodonDump(t).bytes()))}
	if _, err := moving.Prepare(context.Background(), s, to, false); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("got %v, want that the directory is not empty", err)
	}
}
