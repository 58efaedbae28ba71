package moving_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"svc/moving"
)

// postgres is a server of PostgreSQL, reached by a socket in its folder.
type postgres struct {
	t             *testing.T
	programs, dir string
	asUser        *syscall.Credential // nil: the user of this test; PostgreSQL refuses to run as root
}

// startPostgres starts a server. SVC_TEST_POSTGRES names the folder of its programs.
func startPostgres(t *testing.T) *postgres {
	t.Helper()
	p := &postgres{t: t, programs: os.Getenv("SVC_TEST_POSTGRES")}
	if p.programs == "" {
		t.Skip("SVC_TEST_POSTGRES names no folder with the programs of PostgreSQL")
	}
	var err error
	if p.dir, err = os.MkdirTemp("", "postgres"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(p.dir) })
	if os.Getuid() == 0 {
		p.becomePostgres()
	}
	data := filepath.Join(p.dir, "data")
	p.run(nil, "initdb", "-D", data, "-A", "trust", "-U", "test", "-E", "UTF8", "--no-locale", "--no-sync")
	p.run(nil, "pg_ctl", "-D", data, "-w", "-l", filepath.Join(p.dir, "log"), "-o", "-k "+p.dir+" -c listen_addresses='' -c fsync=off", "start")
	t.Cleanup(func() { p.run(nil, "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop") })
	return p
}

// becomePostgres makes the programs run as the user postgres, whose the folder becomes.
func (p *postgres) becomePostgres() {
	p.t.Helper()
	u, err := user.Lookup("postgres")
	if err != nil {
		p.t.Skip(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	p.asUser = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	if err := os.Chown(p.dir, uid, gid); err != nil {
		p.t.Fatal(err)
	}
}

// run runs a program of PostgreSQL, and returns what it prints.
func (p *postgres) run(input []byte, program string, args ...string) []byte {
	p.t.Helper()
	c := exec.Command(filepath.Join(p.programs, program), args...)
	c.Dir, c.Stdin = p.dir, bytes.NewReader(input)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: p.asUser}
	var out, messages bytes.Buffer
	c.Stdout, c.Stderr = &out, &messages
	if program == "pg_ctl" {
		c.Stdout, c.Stderr = nil, nil // the server keeps them open
	}
	if err := c.Run(); err != nil {
		p.t.Fatalf("%s %q: %v: %s", program, args, err, messages.String())
	}
	return out.Bytes()
}

// dumped makes a database of a dump's tables, with the types that its values have, and returns the dump that pg_dump makes of it.
func (p *postgres) dumped(name string, d *dump, more ...string) []byte {
	p.t.Helper()
	var sql bytes.Buffer
	for _, table := range d.names {
		x := d.tables[table]
		var columns, names []string
		for i, c := range x.columns {
			columns, names = append(columns, `"`+c+`" `+postgresType(c, x.rows, i)), append(names, `"`+c+`"`)
		}
		fmt.Fprintf(&sql, "CREATE TABLE %s (%s);\n", table, strings.Join(columns, ", "))
		fmt.Fprintf(&sql, "COPY %s (%s) FROM stdin;\n", table, strings.Join(names, ", "))
		for _, r := range x.rows {
			sql.WriteString(r + "\n")
		}
		sql.WriteString("\\.\n")
	}
	p.run(nil, "createdb", "-h", p.dir, "-U", "test", name)
	p.run(sql.Bytes(), "psql", "-h", p.dir, "-U", "test", "-d", name, "-v", "ON_ERROR_STOP=1", "-q")
	p.run([]byte("CREATE INDEX ON "+d.names[0]+" (id); CREATE SEQUENCE s; CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$\nSELECT 1\n$$;"), "psql", "-h", p.dir, "-U", "test", "-d", name)
	return p.run(nil, "pg_dump", append([]string{"--format=plain", "-h", p.dir, "-U", "test", "-d", name}, more...)...)
}

// Forms of the values of a column that is no text.
var postgresTypes = []struct {
	name string
	form *regexp.Regexp
}{
	{"boolean", regexp.MustCompile(`^[tf]$`)},
	{"bigint", regexp.MustCompile(`^-?[0-9]{1,18}$`)},
	{"timestamp without time zone", regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?$`)},
	{"uuid", regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)},
	{"jsonb", regexp.MustCompile(`^(\{\}|\[\]|\{ *".*\}|\[ *[{"].*\])$`)},
	{"text[]", regexp.MustCompile(`^\{.*\}$`)},
}

// postgresArrays are columns of arrays that may be empty in all rows.
var postgresArrays = []string{"tags", "domain_blocks", "also_known_as", "scopes", "following", "context", "ordered_media_attachment_ids", "media_descriptions", "poll_options", "rule_ids", "status_ids"}

// postgresType returns the type of the column at a place of rows.
func postgresType(column string, rows []string, at int) string {
	var values []string
	for _, r := range rows {
		if v := strings.Split(r, "\t")[at]; v != `\N` {
			values = append(values, strings.NewReplacer(`\\`, `\`).Replace(v))
		}
	}
	for _, typ := range postgresTypes {
		if typ.name == "jsonb" && slices.Contains(postgresArrays, column) {
			continue
		}
		if len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return !typ.form.MatchString(v) }) {
			return typ.name
		}
	}
	return "text"
}

// TestPostgres takes over from dumps that pg_dump has made of real databases: the report is that of the dumps that other tests write.
func TestPostgres(t *testing.T) {
	p, whole := startPostgres(t), t
	for _, tt := range []struct {
		name string
		fill func(*testing.T) *dump
		more []string // options of pg_dump
	}{
		{"mastodon", filledDump, nil},
		{"mastodon_quoted", filledDump, []string{"--quote-all-identifiers", "--clean", "--if-exists", "--create"}},
		{"pleroma", filledPleroma, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p.t = t
			defer func() { p.t = whole }()
			d := tt.fill(t)
			real := p.dumped(tt.name, d, tt.more...)
			want, err := prepare(t, moving.Source{Database: writeFile(t, "dump.sql", string(d.bytes()))})
			if err != nil {
				t.Fatal(err)
			}
			got, err := prepare(t, moving.Source{Database: writeFile(t, "real.sql", string(real))})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("the report is\n%+v\nwant\n%+v", got, want)
			}
			if len(got.Counts) < 15 {
				t.Errorf("the report counts %d kinds", len(got.Counts))
			}
			takeOver(t, settings(t, oldHost), moving.Source{Database: writeFile(t, "real.sql", string(real))})
		})
	}
}
