package command_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"svc/internal/doctor"
)

// TestSchemas has each command look at databases whose schema is not the one that svc makes, in the data directory and in a backup. All of them say
// the same, and none calls damaged what another version has written.
func TestSchemas(t *testing.T) {
	const development = "the database was made by a development version of svc whose schema 1 differs from the released one ("
	released, err := os.ReadFile("../store/testdata/version-1.sql")
	if err != nil {
		t.Fatal(err)
	}
	version1 := strings.Replace(string(released), "PRAGMA user_version", "DELETE FROM jobs; DELETE FROM settings; UPDATE meta SET keys_hash = x'', server_url = ''; PRAGMA user_version", 1)
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.run("backup", "svc.tar").ok()
	whole := readTar(t, p.path("svc.tar"))
	settings, err := os.ReadFile(p.config) // with the address of the server to which the database belongs
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		old    bool   // the database is one of version 1
		change string // SQL
		kind   string // of the finding of svc verify; "": none
		want   string
	}{
		{"version 1", true, ``, "", ""},
		{"version 1 without a column", true, `ALTER TABLE accounts DROP COLUMN background`, "other_schema", development + "accounts.background is missing)"},
		{"version 1 without a table", true, `DROP TABLE markers`, "other_schema", development + "markers is missing)"},
		{"version 1 without an index", true, `DROP INDEX statuses_account`, "other_schema", development + "the index statuses_account is missing)"},
		{"version 1 with another column", true, `ALTER TABLE accounts ADD COLUMN more TEXT`, "other_schema", development + "accounts.more was added)"},
		{"version 1 with another definition", true, `DROP INDEX statuses_account; CREATE INDEX statuses_account ON statuses (id)`, "other_schema", development + "the index statuses_account differs)"},
		{"a newer version", false, `DROP TABLE meta; PRAGMA user_version = 9999`, "newer_version", "written by a newer version of svc (schema 9999"},
		{"another database", false, `PRAGMA user_version = 0`, "other_schema", "not one of svc"},
		{"a table of another program", false, `CREATE TABLE _litestream_seq (id INTEGER)`, "", ""},
		{"an index that was added", false, `CREATE INDEX mine ON statuses (id)`, "other_schema", "changed by another program than svc (the index mine was added)"},
		{"a table that was lost", false, `DROP TABLE markers`, "damaged", "markers is missing"},
		{"a column that was lost", false, `ALTER TABLE accounts DROP COLUMN background`, "damaged", "accounts.background is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := newWorkspace(t)
			q.write("config.toml", string(settings))
			list := whole
			if tt.old {
				list = changeDatabase(t, whole, dropAll(t, p)+version1)
			}
			list = withManifest(t, changeDatabase(t, list, tt.change))
			writeTar(t, q.path("svc.tar"), list)
			if err := os.Mkdir(q.path("data"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				if e.name == "svc.db" || !tt.old && strings.HasPrefix(e.name, "keys/") {
					os.Mkdir(q.path("data/keys"), 0o700)
					q.write("data/"+e.name, string(e.content))
				}
			}
			q.wantSchema(tt.kind, tt.want)
		})
	}
}

// dropAll returns SQL that empties a database.
func dropAll(t *testing.T, p *workspace) string {
	t.Helper()
	var list string
	p.query(&list, `SELECT group_concat('DROP TABLE ' || name, ';') FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite_%'`)
	return "PRAGMA foreign_keys = 0;" + list + ";"
}

// wantSchema checks what the commands say of the database and of svc.tar, which has the same one. kind "": it can be used.
func (p *workspace) wantSchema(kind, want string) {
	t := p.t
	t.Helper()
	code, failed := 1, 1
	switch kind {
	case "":
		code, failed = 0, 0
	case "damaged":
		code = 3
	}
	for _, args := range [][]string{{"verify", "--json"}, {"verify", "svc.tar", "--json"}} {
		r := p.run(args...)
		var v verification
		if err := json.Unmarshal([]byte(r.out), &v); err != nil || r.code != code && kind != "" {
			t.Fatalf("%s: got %d, %q, %q", r.what, r.code, r.out, r.errOut)
		}
		if found := strings.Contains(v.kinds(), "database/"); found != (kind != "") || found && !strings.Contains(v.kinds(), "database/"+kind) {
			t.Errorf("%s: got %s, want %s", r.what, v.kinds(), kind)
		}
		p.wantWords(r.what, r.out+r.errOut, kind, want)
	}
	commands := [][]string{{"restore", "svc.tar", "--data-dir", "restored"}, {"backup", "again.tar"}, {"user", "list"}, {"db", "check"}}
	if kind != "" {
		commands = append(commands, []string{"serve"})
	}
	for _, args := range commands {
		r := p.run(args...)
		if kind == "damaged" && args[0] == "backup" {
			continue // it says so in other words
		}
		if r.code != failed {
			t.Errorf("%s: got %d, %q", r.what, r.code, r.errOut)
		}
		p.wantWords(r.what, r.errOut, kind, want)
	}
	r := p.run("doctor", "--json")
	var report doctor.Report
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Results {
		if c.Name == "database" {
			if (c.Status == doctor.Failure) != (kind != "") {
				t.Errorf("doctor: %+v", c)
			}
			p.wantWords("doctor", fmt.Sprint(c.Seen, c.Advice), kind, want)
		}
	}
}

func (p *workspace) wantWords(what, text, kind, want string) {
	p.t.Helper()
	if !strings.Contains(text, want) || kind != "damaged" && kind != "" && strings.Contains(text, "damaged") {
		p.t.Errorf("%s says %q, want %q", what, text, want)
	}
}
