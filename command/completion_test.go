package command_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"svc/command"
)

// complete returns what a shell is offered after a command line; its last word is being typed.
func (p *workspace) complete(words ...string) []string {
	p.t.Helper()
	r := p.runWithInput("", append([]string{"__complete"}, words...)...)
	if r.code != 0 || strings.Contains(r.errOut, "level=") || strings.Contains(r.errOut, "svc:") {
		p.t.Fatalf("complete %q: %d, %s", words, r.code, r.errOut)
	}
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	for i, line := range lines {
		lines[i], _, _ = strings.Cut(line, "\t")
	}
	return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, ":") })
}

// TestCompletion asks for completions without data, with them, and while a server runs.
func TestCompletion(t *testing.T) {
	p := newWorkspace(t)
	for _, words := range [][]string{{"user", "show", ""}, {"emoji", "remove", ""}, {"federation", "block", ""}, {"status", "list", "--account", ""}} {
		if got := p.complete(words...); len(got) > 0 {
			t.Errorf("%q without data: %q", words, got)
		}
	}
	if got := p.complete("config", "get", "instance.na"); !slices.Equal(got, []string{"instance.name"}) {
		t.Errorf("a setting without data: %q", got)
	}
	for _, nick := range []string{"alice", "Alfred", "bob", "alien"} {
		p.run("user", "create", nick, "--email", nick+"@example.org").ok()
	}
	p.exec(`INSERT INTO hosts (domain) VALUES ('one.example'), ('other.example'), ('two.example')`)
	p.run("federation", "block", "two.example").ok()
	p.run("federation", "block", "spam.example").ok()
	p.exec(`UPDATE accounts SET domain = 'one.example' WHERE nickname = 'alien'`)
	p.writeFile("data/emoji/cats/pack.json", "{}")
	tests := []struct{ words, want string }{
		{"user show al", "Alfred alice"},
		{"user show AL", "Alfred alice"},
		{"user show x", ""},
		{"user show alice b", ""},
		{"user show a%", ""},
		{"user delete alice b", "bob"},
		{"user follow alice b", "bob"},
		{"user create a", ""},
		{"user import alice fo", "follows"},
		{"user export alice domain", "domain_blocks"},
		{"user list --filter is_", "is_admin is_moderator"},
		{"status list --account bo", "bob"},
		{"report list --state c", "closed"},
		{"report list --by bo", "bob"},
		{"log moderation list --user bo", "bob"},
		{"federation block o", "one.example other.example"},
		{"federation unblock one.example t", "two.example"},
		{"federation unblock o", ""},
		{"federation unblock s", "spam.example"},
		{"federation deliveries --host tw", "two.example"},
		{"federation block two.example --rule media_r", "media_removal"},
		{"access block x --severity no", "no_access"},
		{"access blocks --kind net", "network"},
		{"emoji remove c", "cats"},
		{"emoji steal a@b.example --pack c", "cats"},
		{"config set instance.na", "instance.name"},
		{"config unset server.ur", "server.url"},
		{"config set instance.name i", ""},
		{"log level de", "debug"},
		{"help use", "user"},
		{"help user sho", "show"},
	}
	for _, running := range []bool{false, true} {
		if running {
			p.serve()
		}
		for _, tt := range tests {
			if got := strings.Join(p.complete(strings.Fields(tt.words)...), " "); got != tt.want {
				t.Errorf("%s (server: %v): got %q, want %q", tt.words, running, got, tt.want)
			}
		}
	}
}

// TestCompletionIsBounded checks that a large server offers no more than fifty names.
func TestCompletionIsBounded(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	for i := range 120 {
		p.exec(fmt.Sprintf(`INSERT INTO hosts (domain) VALUES ('h%d.example')`, i))
		p.writeFile(fmt.Sprintf("data/emoji/p%d/pack.json", i), "{}")
	}
	for _, words := range []string{"federation block h", "emoji remove p"} {
		if got := p.complete(strings.Fields(words)...); len(got) != 50 {
			t.Errorf("%s: %d completions", words, len(got))
		}
	}
	p.write("data/svc.db", strings.Repeat("nonsense", 1000))
	if got := p.complete("user", "show", "a"); len(got) > 0 {
		t.Errorf("of a damaged database: %q", got)
	}
	p.write("config.toml", "[nonsense")
	if got := p.complete("user", "show", "a"); len(got) > 0 {
		t.Errorf("with damaged settings: %q", got)
	}
}

// TestNicknamesAreCompleted goes through all commands: one with a NICK, HOST or PACK completes it.
func TestNicknamesAreCompleted(t *testing.T) {
	n := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, word := range []string{"NICK", "HOST", "PACK", "KIND"} {
			if strings.Contains(cmd.Use, word) {
				if n++; cmd.ValidArgsFunction == nil {
					t.Errorf("%s does not complete %s", cmd.CommandPath(), word)
				}
			}
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(command.Tree())
	if n < 30 {
		t.Errorf("there are %d such arguments", n)
	}
}
