package command_test

import (
	"strings"
	"testing"
)

// TestFederationBlocks blocks servers, imports and exports lists, and unblocks, without a running server.
func TestFederationBlocks(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addInstance("deep.spam.example", 2, 6)
	contains := func(want string, args ...string) {
		t.Helper()
		if got := p.run(append([]string{"federation"}, args...)...).ok(); !strings.Contains(got, want) {
			t.Errorf("svc federation %s prints %q, want %q in it", args, got, want)
		}
	}
	contains("deep.spam.example  2         6      0          0", "block", "spam.example", "--preview")
	contains("Nothing is stored", "block", "other.example", "--preview")
	contains("spam.example: reject, reject_fetches\n", "block", "spam.example", "--comment", "spam", "--private-comment", "ticket 4")
	contains("spam.example: reject, reject_fetches, media_nsfw\n", "block", "spam.example", "--rule", "media_nsfw")
	contains("ticket 4", "blocks")
	contains(`"private_comment": "ticket 4"`, "blocks", "--json")
	p.run("federation", "block", "x.example", "--rule", "kill").fails(1, `"kill" is not a rule for hosts`)
	p.run("federation", "block", "a b").fails(1, "is not a host such as example.org")
	p.run("federation", "unblock", "x.example").fails(1, "x.example is not blocked")

	p.write("list.csv", "#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate\n"+
		"spam.example,suspend,False,False,again,False\nloud.example,silence,True,False,\"loud, rude\",False\nb*d.example,suspend,False,False,,True\nsecret.example,suspend,False,False,,True\n")
	contains("To be restricted: 2 servers. Skipped: 2 entries.", "import-blocks", "list.csv", "--preview")
	contains("line 2: spam.example: is restricted already\nline 4: b*d.example: the host is obfuscated\nRestricted: 2 servers. Skipped: 2 entries.\n", "import-blocks", "list.csv")
	p.write("plain.txt", "# a comment\nplain.example\n\nnot a host\n")
	contains("Restricted: 1 server. Skipped: 1 entry.", "import-blocks", "plain.txt")
	p.write("list.json", `{"blocks": [{"domain": "json.example", "severity": "silence", "reject_media": true, "public_comment": "x"}]}`)
	contains("Restricted: 1 server. Skipped: 0 entries.", "import-blocks", "list.json")
	p.write("bad.json", `{"blocks`)
	p.run("federation", "import-blocks", "bad.json").fails(1, "not valid JSON")
	want := "#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate\n" +
		"json.example,silence,True,False,x,False\nloud.example,silence,True,False,\"loud, rude\",False\nplain.example,suspend,False,False,,False\n" +
		"secret.example,suspend,False,False,,True\nspam.example,suspend,False,False,spam,False\n"
	if got := p.run("federation", "export-blocks").ok(); got != want {
		t.Errorf("export-blocks prints %q, want %q", got, want)
	}
	s := p.serve()
	s.waitUntil("the accounts to be hidden", func() bool {
		return p.queryInt(`SELECT count(*) FROM accounts WHERE rejected = 1 AND unavailable = 1`) == 2
	})
	contains("spam.example is no longer restricted.", "unblock", "spam.example")
	s.waitUntil("the accounts to be shown", func() bool {
		return p.queryInt(`SELECT count(*) FROM accounts WHERE unavailable = 1 AND domain <> ''`) == 0
	})
	if got := p.run("log", "moderation", "list").ok(); !strings.Contains(got, "removed the restrictions of spam.example") || !strings.Contains(got, "imported blocks of 2 hosts: loud.example, secret.example") {
		t.Errorf("the moderation log is %q", got)
	}
}
