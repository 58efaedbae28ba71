package command_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// addParkedJob adds a job that has failed. No server may run.
func (p *workspace) addParkedJob(id int, kind, lastError string) {
	p.t.Helper()
	db, err := sql.Open("sqlite", p.path("data", "svc.db"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`
		INSERT INTO jobs (id, kind, payload, run_at, attempts, parked, last_error)
		VALUES (?, ?, '{}', 1000, 8, 1, ?)`, id, kind, lastError); err != nil {
		p.t.Fatal(err)
	}
}

// TestJobCommands runs the same commands with and without a server.
func TestJobCommands(t *testing.T) {
	for _, name := range []string{"without a server", "with a server"} {
		t.Run(name, func(t *testing.T) {
			p := newWorkspace(t)
			p.run("user", "create", "alice", "--email", "alice@example.org").ok()
			for i := range 4 {
				p.addParkedJob(i+1, "import", fmt.Sprintf("line %d is wrong", i+1))
			}
			if name == "with a server" {
				p.serve()
			}
			list := p.run("job", "list").ok()
			for _, want := range []string{"KIND", "import", "8", "line 1 is wrong", "line 4 is wrong"} {
				if !strings.Contains(list, want) {
					t.Errorf("the list does not contain %q:\n%s", want, list)
				}
			}
			p.run("job", "retry").fails(2, "name the job")
			p.run("job", "drop", "x").fails(2, "is not a job id")
			p.run("job", "drop", "1", "--all").fails(2, "name the job")
			p.run("job", "drop", "99").fails(1, "There is no parked job 99")
			if got := p.run("job", "drop", "2").ok(); got != "Jobs deleted: 1.\n" {
				t.Errorf("drop: got %q", got)
			}
			if got := p.run("job", "retry", "1").ok(); got != "Jobs that run again: 1.\n" {
				t.Errorf("retry: got %q", got)
			}
			p.run("job", "retry", "2").fails(1, "There is no parked job 2")
			if list := p.run("job", "list", "--json").ok(); strings.Contains(list, "line 2") || strings.Contains(list, "line 1") || !strings.Contains(list, `"last_error": "line 3 is wrong"`) {
				t.Errorf("the list is %s", list)
			}
			if got := p.run("job", "drop", "--all").ok(); got != "Jobs deleted: 2.\n" {
				t.Errorf("drop --all: got %q", got)
			}
		})
	}
}
