package command_test

import (
	"regexp"
	"strings"
	"testing"
)

func TestAppCommands(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"create"}, 2, "--name NAME --redirect-uri URI"},
		{[]string{"create", "--name", "a"}, 2, "--redirect-uri URI"},
		{[]string{"create", "--name", "a", "--redirect-uri", "x"}, 1, "redirect_uris must be an absolute URI"},
		{[]string{"create", "--name", "a", "--redirect-uri", "app:/x", "--scopes", "all"}, 1, "scopes must be some of: read write"},
		{[]string{"set", "x"}, 2, "is not the number of an entry"},
		{[]string{"set", "77", "--name", "b"}, 1, "There is no app 77"},
		{[]string{"delete", "77"}, 1, "There is no app 77"},
		{[]string{"delete"}, 2, "ID is missing"},
	} {
		p.run(append([]string{"app"}, tt.args...)...).fails(tt.code, tt.want)
	}
	created := p.run("app", "create", "--name", "Ours", "--redirect-uri", "https://a.example/x").ok()
	id := regexp.MustCompile(`Created app (\d+)\.\nClient id: +\S{43}\nClient secret: +\S{43}\n`).FindStringSubmatch(created)
	if id == nil {
		t.Fatalf("created: %q", created)
	}
	p.serve()
	p.run("app", "create", "--name", "Other", "--redirect-uri", "app:/x", "--trusted=false", "--scopes", "read").ok()
	list := p.run("app", "list").ok()
	if !regexp.MustCompile(`(?m)^2 +Other +no +read +app:/x\n1 +Ours +yes +read write follow push +https://a.example/x$`).MatchString(list) {
		t.Errorf("the list is %q", list)
	}
	if list := p.run("app", "list", "--trusted").ok(); strings.Contains(list, "Other") {
		t.Errorf("the trusted apps are %q", list)
	}
	p.run("app", "set", id[1], "--name", "Renamed").ok()
	if list := p.run("app", "list", "--name", "Renamed", "--json").ok(); !strings.Contains(list, `"trusted": true`) || strings.Contains(list, "secret") {
		t.Errorf("the renamed app: %q", list)
	}
	p.run("app", "delete", id[1]).ok()
	if list := p.run("app", "list").ok(); strings.Contains(list, "Renamed") {
		t.Errorf("after the deletion: %q", list)
	}
	if log := p.run("log", "moderation", "list").ok(); !strings.Contains(log, `the command line deleted OAuth app #1 "Renamed"`) {
		t.Errorf("the log: %q", log)
	}
}
