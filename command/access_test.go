package command_test

import (
	"strings"
	"testing"
)

// TestAccessBlocks blocks e-mail domains, addresses and networks by command, with and without a running server.
func TestAccessBlocks(t *testing.T) {
	p := newWorkspace(t, "[instance]\nregistrations_open = true\n[captcha]\nenabled = false\n")
	p.run("user", "create", "alice", "--email", "alice@example.org", "--admin").ok()
	check := func(state string) {
		t.Helper()
		for _, tt := range []struct{ value, severity, want string }{
			{"trash.example", "", "trash.example: sign_up_block\n"},
			{"@slow.example", "sign_up_requires_approval", "slow.example: sign_up_requires_approval\n"},
			{"192.0.2.77/24", "no_access", "192.0.2.0/24: no_access\n"},
			{"2001:db8::1", "", "2001:db8::1: sign_up_block\n"},
		} {
			args := []string{"access", "block", tt.value}
			if tt.severity != "" {
				args = append(args, "--severity", tt.severity)
			}
			if out := p.run(args...).ok(); out != tt.want {
				t.Errorf("%s: block %s printed %q", state, tt.value, out)
			}
			p.run(args...).fails(1, "has already been taken")
		}
		p.run("access", "block", "Some.One+tag@example.com").ok()
		p.run("access", "block", "someone@example.com").fails(1, "has already been taken")
		p.run("access", "block", "nonsense").fails(1, "Domain is not a valid domain name")
		p.run("access", "block", "x@trash.example", "--severity", "no_access").fails(1, "is not possible for x@trash.example")
		p.run("access", "block", "other.example", "--expires-in", "1h").fails(1, "Only blocks of networks")
		p.run("access", "block", "198.51.100.1", "--severity", "maybe").fails(1, "Severity is not one of")
		p.run("access", "block").fails(2, "DOMAIN|EMAIL|NETWORK")
		p.run("access", "blocks", "--kind", "nonsense").fails(1, "is not one of")
		if out := p.run("access", "blocks").ok(); strings.Count(out, "\n") != 6 || strings.Contains(out, "someone") {
			t.Errorf("%s: the list is %s", state, out)
		}
		if out := p.run("access", "blocks", "--kind", "network", "--json").ok(); strings.Count(out, `"kind": "network"`) != 2 || strings.Contains(out, "email") {
			t.Errorf("%s: the networks are %s", state, out)
		}
		for _, value := range []string{"trash.example", "slow.example", "192.0.2.0/24", "2001:db8::1", "someone@example.com"} {
			p.run("access", "unblock", value).ok()
			p.run("access", "unblock", value).fails(1, "is not blocked")
		}
		log := p.run("log", "moderation", "list").ok()
		for _, want := range []string{"blocked e-mail domain trash.example", "unblocked network 192.0.2.0/24", "unblocked e-mail address with hash"} {
			if !strings.Contains(log, want) {
				t.Errorf("%s: the moderation log lacks %q", state, want)
			}
		}
	}
	check("stopped")
	p.serve()
	check("running")
}
