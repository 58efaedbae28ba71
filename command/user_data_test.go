package command_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestUserData imports, exports and makes backups with and without a server.
func TestUserData(t *testing.T) {
	for _, name := range []string{"without a server", "with a server"} {
		t.Run(name, func(t *testing.T) {
			p := newWorkspace(t)
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			p.run("user", "create", "bob", "--email", "bob@example.org").ok()
			if name == "with a server" {
				p.serve()
			}
			host := strings.TrimPrefix(p.url, "http://")
			p.write("follows.csv", "Account address,Show boosts\nbob@"+host+",false\nnobody@"+host+",true\n")
			p.write("empty.csv", "\n")
			for _, tt := range []struct {
				args string
				code int
				want string
			}{
				{"user import alice --status", 0, "There are no imports.\n"},
				{"user import alice follows follows.csv --wait", 0, "Imported 1 of 2 entries, skipped 1.\n2  nobody@" + host + "  not found\n"},
				{"user import alice --status", 0, "finished  2        1         1\n2  nobody@"},
				{"user import @alice domain-blocks follows.csv", 0, "The import of 2 entries is queued."},
				{"user import alice follows empty.csv", 1, "The list is empty"},
				{"user import alice follows missing.csv", 1, "no such file"},
				{"user import nobody follows follows.csv", 1, `There is no account "nobody"`},
				{"user import alice nonsense follows.csv", 2, `unknown kind "nonsense": use one of follows, blocks`},
				{"user import alice follows", 2, "NICK KIND FILE"},
				{"user import alice follows follows.csv --status", 2, "NICK --status"},
				{"user import", 2, "NICK is missing"},
				{"user export alice follows", 0, "Account address,Show boosts,Notify on new posts,Languages\nbob@" + host + ",false,false,\n"},
				{"user export alice follows out.csv", 0, ""},
				{"user export alice nonsense", 2, "unknown kind"},
				{"user export alice", 2, "NICK KIND [FILE]"},
				{"user export nobody follows never.csv", 1, `There is no account "nobody"`},
				{"user export alice follows missing/out.csv", 1, "no such file"},
				{"user backup nobody", 1, `There is no account "nobody"`},
				{"user backup", 2, "NICK is missing"},
				{"user backup alice", 0, p.url + "/media/backups/archive-alice-"},
				{"user backup alice --wait", 0, "The backup is complete ("},
				{"user backup alice --wait", 0, p.url + "/media/backups/archive-alice-"}, // however old the last one is
			} {
				r := p.run(strings.Fields(tt.args)...)
				if tt.code != 0 {
					r.fails(tt.code, tt.want)
				} else if got := r.ok(); !strings.Contains(got, tt.want) {
					t.Errorf("svc %s: got %q, want %q in it", tt.args, got, tt.want)
				}
			}
			if got, err := os.ReadFile(p.path("out.csv")); err != nil || string(got) != p.run("user", "export", "alice", "follows").ok() {
				t.Errorf("the exported file is %q, %v", got, err)
			}
			if _, err := os.Stat(p.path("never.csv")); err == nil {
				t.Error("a refused export made a file")
			}
			r := p.runWithInput("alice\n", "user", "import", "bob", "blocks", "-", "--wait")
			if got := r.ok(); !strings.Contains(got, "Imported 1 of 1 entry") {
				t.Errorf("import from standard input: %q", got)
			}
		})
	}
}

// TestImportAfterKill kills the server in the middle of an import. The next one continues it, and tries each entry once.
func TestImportAfterKill(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	const n = 5000
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, "x%d\n", i)
	}
	p.write("list.txt", list.String())
	p.run("user", "import", "alice", "mutes", "list.txt").ok()
	s := p.serve()
	s.waitUntil("the first entries", func() bool { return p.queryInt(`SELECT skipped FROM imports`) > 0 })
	s.signal(syscall.SIGKILL)
	<-s.done
	if got := p.queryInt(`SELECT count(*) FROM imports WHERE finished_at IS NULL AND skipped < total`); got != 1 {
		t.Fatal("the import was finished before the kill")
	}
	p.serve().waitUntil("the end of the import", func() bool { return p.queryInt(`SELECT count(*) FROM imports WHERE finished_at IS NOT NULL`) == 1 })
	if got := p.queryInt(`SELECT skipped FROM imports`); got != n {
		t.Errorf("%d entries were skipped, want %d", got, n)
	}
}
