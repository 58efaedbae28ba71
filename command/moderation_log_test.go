package command_test

import (
	"strings"
	"testing"
)

// TestCommandsAreLogged checks that commands that change something other than an account add an entry to the moderation log.
func TestCommandsAreLogged(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org", "--admin").ok()
	p.run("emoji", "reload").ok()
	p.run("user", "create", "bob", "--email", "bob@example.org").ok()
	p.run("user", "rotate-keys", "alice").ok()
	p.write("mutes.csv", "Account address\nbob@"+strings.TrimPrefix(p.url, "http://")+"\n")
	p.run("user", "import", "alice", "mutes", "mutes.csv").ok()
	p.run("user", "backup", "alice").ok()
	log := p.run("log", "moderation", "list").ok()
	for _, want := range []string{"read all emoji packs again", "replaced the keys of @alice", "started an import of mutes for users: @alice", "requested account backup for @alice"} {
		if !strings.Contains(log, want) {
			t.Errorf("the moderation log lacks %q: %s", want, log)
		}
	}
}
