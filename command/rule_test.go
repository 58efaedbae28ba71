package command_test

import (
	"regexp"
	"testing"
)

func TestRuleCommands(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"add"}, 2, "TEXT is missing"},
		{[]string{"add", " "}, 1, "Missing field: text."},
		{[]string{"set", "7", "--text", "x"}, 1, `There is no rule "7"`},
		{[]string{"delete", "x"}, 1, `There is no rule "x"`},
	} {
		p.run(append([]string{"rule"}, tt.args...)...).fails(tt.code, tt.want)
	}
	p.run("rule", "add", "Be kind", "--hint", "always").ok()
	p.serve()
	p.run("rule", "add", "Be first", "--priority", "-5").ok()
	p.run("rule", "set", "1", "--text", "Be nice").ok()
	if list := p.run("rule", "list").ok(); !regexp.MustCompile(`(?m)^2 +-5 +Be first +-\n1 +0 +Be nice +always$`).MatchString(list) {
		t.Errorf("the list is %q", list)
	}
	p.run("rule", "delete", "2").ok()
	_, body := p.get("/api/v1/instance/rules", "")
	if want := `[{"id":"1","text":"Be nice","hint":"always"}]`; body != want {
		t.Errorf("the rules are %s, want %s", body, want)
	}
}
