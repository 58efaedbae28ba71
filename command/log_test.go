package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestModerationLogCommands runs the commands without and with a server.
func TestModerationLogCommands(t *testing.T) {
	p := newWorkspace(t)
	p.run("announcement", "add", "first").fails(1, "no database")
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.run("announcement", "add", "first").ok()
	p.serve()
	p.run("user", "invite").ok()
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"list", "--from", "yesterday"}, 1, "is not a date"},
		{[]string{"export", "a", "b"}, 2, "unexpected argument"},
		{[]string{"export", "/nowhere/log.csv"}, 1, "no such file"},
	} {
		p.run(append([]string{"log", "moderation"}, tt.args...)...).fails(tt.code, tt.want)
	}
	list := p.run("log", "moderation", "list").ok()
	if invite, first := strings.Index(list, "the command line created invite #1\n"), strings.Index(list, "the command line created announcement"); invite < 0 || first < invite {
		t.Errorf("the list is %q", list)
	}
	for _, tt := range []struct{ args, want, not string }{
		{"list --search INVITE", "invite #1", "announcement"},
		{"list --limit 1", "invite #1", "announcement"},
		{"list --until 2020-01-01", "TIME", "invite"},
		{"list --user alice", "TIME", "invite"},
		{"list --json --search invite", `"action": "invite_create"`, "announcement"},
		{"export --search invite", ",the command line,invite_create,the command line created invite #1\n", "announcement"},
		{"export --json --search announcement", `"text":"first"`, "invite"},
	} {
		if got := p.run(append([]string{"log", "moderation"}, strings.Fields(tt.args)...)...).ok(); !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: got %q, want %q and not %q", tt.args, got, tt.want, tt.not)
		}
	}
	file := filepath.Join(t.TempDir(), "log.csv")
	p.run("log", "moderation", "export", file).ok()
	if b, err := os.ReadFile(file); err != nil || strings.Count(string(b), "\n") < 2 {
		t.Errorf("%v, the file is %q", err, b)
	}
}
