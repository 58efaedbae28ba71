package command_test

import (
	"strings"
	"testing"
)

// TestUserStateCommands checks that the commands do what staff can do by the admin API, with the same entries of the moderation log.
func TestUserStateCommands(t *testing.T) {
	p := newWorkspace(t)
	p.serve()
	for _, tt := range []struct {
		args string
		code int
		want string // in the output
		log  string // the newest entry, "" if nothing is logged
	}{
		{"user create alice --email alice@example.org", 0, "Created", "created users: @alice"},
		{"user create bob --email bob@example.org", 0, "Created", "created users: @bob"},
		{"user tag alice Foo mrf_tag:sandbox", 0, `Tags of alice: ["foo" "mrf_tag:sandbox"]`, "added tags: foo, mrf_tag:sandbox to users: @alice"},
		{"user tag alice", 2, "NICK TAG", ""},
		{"user tag nobody x", 1, "There is no account", ""},
		{"user list --tag foo", 0, "alice@example.org", ""},
		{"user list --tag foo --json", 0, `"mrf_tag:sandbox"`, ""},
		{"user list --filter is_admin", 0, "NICKNAME", ""},
		{"user list --filter nice", 2, "there is no \"nice\"", ""},
		{"user list --query LIC --limit 1", 0, "alice@example.org", ""},
		{"user list --email bob@example.org", 0, "bob", ""},
		{"user list --remote", 0, "NICKNAME", ""},
		{"user show alice --json", 0, `"nickname": "alice"`, ""},
		{"user untag alice foo", 0, `Tags of alice: ["mrf_tag:sandbox"]`, "removed tags: foo from users: @alice"},
		{"user suggest alice bob", 0, "alice is suggested.\nbob is suggested.\n", "added suggested users: @alice, @bob"},
		{"user unsuggest alice", 0, "alice is not suggested.", "removed suggested users: @alice"},
		{"user follow alice bob", 0, "alice follows bob.", "made @alice follow @bob"},
		{"user follow alice bob", 0, "alice follows bob already.", ""},
		{"user follow alice", 2, "NICK OTHER", ""},
		{"user unfollow alice bob", 0, "alice does not follow bob any more.", "made @alice unfollow @bob"},
		{"user set alice --moderator --locked", 0, "moderator", "updated users: @alice"},
		{"user set alice --admin", 0, "admin, moderator", "made @alice admin"},
		{"user set alice --moderator=false", 0, "admin", "revoked moderator role from @alice"},
		{"user force-password-reset bob", 0, "bob must set a new password.", "forced password reset for users: @bob"},
		{"user resend-confirmation bob", 0, "bob needs no confirmation.", ""},
		{"user reset-password bob", 0, "password_reset/", "created a password reset link for users: @bob"},
		{"user reset-password bob --password another-horse", 0, "signed out", "set the password of users: @bob"},
		{"user deactivate bob nobody", 1, "There is no account", ""},
		{"user deactivate bob", 0, "bob is deactivated.", "deactivated users: @bob"},
		{"user activate bob", 0, "bob is active.", "activated users: @bob"},
		{"user invites --json", 0, "[]", ""},
		{"user delete bob --yes", 0, "bob is deleted.", "deleted users: @bob"},
	} {
		before := p.run("log", "moderation", "list", "--limit", "1", "--json").ok()
		r := p.run(strings.Fields(tt.args)...)
		if tt.code != 0 {
			r.fails(tt.code, tt.want)
		} else if got := r.ok(); !strings.Contains(got, tt.want) {
			t.Errorf("svc %s: got %q, want %q in it", tt.args, got, tt.want)
		}
		after := p.run("log", "moderation", "list", "--limit", "1", "--json").ok()
		if tt.log == "" && after != before || !strings.Contains(after, `"message": "the command line `+tt.log) && tt.log != "" {
			t.Errorf("svc %s: the newest entry is %s, want %q", tt.args, after, tt.log)
		}
	}
}
