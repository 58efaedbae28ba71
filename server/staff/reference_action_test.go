package staff_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// TestAccountActions checks the actions, how they end, and the moderation log.
func TestAccountActions(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	far := srv.AddRemoteAccount("far", "example.com")
	path := moderatedAccounts + "/" + alice.ID
	for _, tt := range []struct {
		action, flag, end, log, endLog string
		again                          int // of a second end
	}{
		{"sensitive", "sensitized", "unsensitive", "@root added tags: mrf_tag:media-force-nsfw to users: @alice", "@root removed tags: mrf_tag:media-force-nsfw from users: @alice", 200},
		{"silence", "silenced", "unsilence", "@root added tags: mrf_tag:force-unlisted to users: @alice", "@root removed tags: mrf_tag:force-unlisted from users: @alice", 200},
		{"disable", "disabled", "enable", "@root deactivated users: @alice", "@root activated users: @alice", 200},
		{"suspend", "suspended", "unsuspend", "@root deactivated users: @alice", "@root activated users: @alice", 403},
	} {
		if got := string(root.Post(path+"/action", "type", tt.action).Want(200).Body); got != "{}" {
			t.Errorf("%s: got %s", tt.action, got)
		}
		wantLog(t, root.Client, tt.log)
		n := len(messages(root.Client))
		root.Post(path+"/action", "type", tt.action).Want(200) // again
		if got := len(messages(root.Client)); got != n {
			t.Errorf("%s: the second time was logged", tt.action)
		}
		if !root.Get(path).Want(200).Object().Bool(tt.flag) {
			t.Errorf("%s: not %s", tt.action, tt.flag)
		}
		if root.Post(path + "/" + tt.end).Want(200).Object().Bool(tt.flag) {
			t.Errorf("%s: still %s", tt.end, tt.flag)
		}
		wantLog(t, root.Client, tt.endLog)
		root.Post(path + "/" + tt.end).Want(tt.again)
		wantLog(t, root.Client, tt.endLog)
	}
	root.Post(moderatedAccounts+"/"+far+"/action", "type", "suspend").Want(200)
	wantFields(t, "a suspended remote account", root.Get(moderatedAccounts+"/"+far).Want(200).Object(), apptest.Doc{"suspended": true, "disabled": false})

	n := len(messages(root.Client))
	elsewhere := report(srv.SignUp("carol"), bob, "loud")
	for _, tt := range []struct {
		id     string
		params list
		code   int
		error  string
	}{
		{alice.ID, list{"type", "shout"}, 422, `Validation failed: Type "shout" is not included in the list`},
		{alice.ID, list{"text", "x"}, 422, "Validation failed: Type can't be blank"},
		{alice.ID, list{"type", "silence", "report_id", "nonsense"}, 404, "Record not found"},
		{alice.ID, list{"type", "silence", "report_id", elsewhere}, 422, "Validation failed: Report #" + elsewhere + " is about another account"},
		{alice.ID, list{"type", "silence", "text", strings.Repeat("x", 5001)}, 422, "Validation failed: Text is too long (maximum is 5000 characters)"},
		{alice.ID, list{"type", "silence", "warning_preset_id", "1"}, 422, "Validation failed: Warning preset does not exist; write a text"},
		{alice.ID, list{"type[]", "silence", "type[]", "none"}, 400, "type - Invalid string. Got: array."},
		{far, list{"type", "disable"}, 422, "Validation failed: Type disable is for local accounts; suspend hides a remote account"},
		{"nonsense", list{"type", "silence"}, 404, "Record not found"},
		{root.ID, list{"type", "suspend", "report_id", report(bob, root, "bossy")}, 409, ""}, // the last admin
	} {
		a := root.Post(moderatedAccounts+"/"+tt.id+"/action", tt.params...).Want(tt.code)
		if tt.error != "" {
			a.WantError(tt.code, tt.error)
		}
	}
	for _, what := range []string{"approve", "reject", "enable", "unsuspend", "unsilence", "unsensitive"} {
		root.Post(moderatedAccounts+"/nonsense/"+what).WantError(404, "Record not found")
	}
	if len(messages(root.Client)) != n {
		t.Errorf("a refusal was logged: %q", messages(root.Client)[0])
	}
	wantFields(t, "after refusals", root.Get(path).Want(200).Object(), apptest.Doc{"silenced": false, "disabled": false})
	if got := len(root.Get("/api/v1/admin/reports").Want(200).List()); got != 2 {
		t.Errorf("%d reports are open after refusals, want 2", got)
	}
}

// TestActionResolvesReports checks which reports an action resolves, and that none is resolved without its privilege.
func TestActionResolvesReports(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.ModeratorPrivileges = []string{"users_manage_tags"} })
	root, moderator, alice, bob, carol := srv.SignUpAdmin(), srv.SignUp("moderator"), srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	srv.SetRole(moderator, false, true)
	first, second := report(bob, alice, "rude"), report(carol, alice, "ruder")
	other := report(alice, bob, "loud")
	path := moderatedAccounts + "/" + alice.ID + "/action"
	wantOpen := func(what string, ids ...string) {
		t.Helper()
		apptest.WantIDs(t, what, root.Get("/api/v1/admin/reports"), ids...)
	}
	root.Post(path, "type", "none", "report_id", first, "text", "it was a joke").Want(200)
	wantOpen("after no action", other, second)
	if got := messages(root.Client)[1]; got != "@root took no action against users: @alice" {
		t.Errorf("the log has %q", got)
	}
	if found, err := srv.HasRow(`SELECT 1 FROM moderation_log WHERE action = 'no_action' AND data LIKE '%it was a joke%'`); err != nil || !found {
		t.Errorf("the log has no text: %v", err)
	}
	byModerator := srv.NewToken(moderator, "admin:write")
	byModerator.Post(path, "type", "silence").Want(200)
	wantOpen("after an action by a moderator who may not manage reports", other, second)
	for _, params := range []list{{"type", "sensitive", "report_id", second}, {"type", "none"}, {"type", "suspend"}} {
		byModerator.Post(path, params...).WantError(403, "User isn't privileged.")
	}
	root.Post(path, "type", "sensitive").Want(200)
	wantOpen("after an action", other)
	report(carol, alice, "again")
	root.Post(path, "type", "sensitive").Want(200)
	wantOpen("after an action that is in force already", other)
}

// TestAccountActionMail checks who gets a mail about an action, and its text.
func TestAccountActionMail(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail, func(c *config.Config) { c.Instance.Email = "staff@example.org" })
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	far := srv.AddRemoteAccount("far", "example.com")
	srv.Mails()
	path := moderatedAccounts + "/" + alice.ID + "/action"
	for _, tt := range []struct{ action, want string }{
		{"none", "have a message about your account. It is not restricted."},
		{"sensitive", "are marked as sensitive from now on."},
		{"silence", "do not appear in public timelines from now on."},
		{"suspend", "deactivated your account: you cannot sign in"},
	} {
		root.Post(path, "type", tt.action, "send_email_notification", "true", "text", "Be nice.\n<b>Please.</b>").Want(200)
		mails := srv.Mails()
		if len(mails) != 1 || mails[0].To != "alice@example.org" || mails[0].Subject != "About your account at svc" {
			t.Fatalf("%s: got %v", tt.action, mails)
		}
		for _, want := range []string{tt.want, "> Be nice.\n> <b>Please.</b>", "write to staff@example.org."} {
			if !strings.Contains(mails[0].Text, want) {
				t.Errorf("%s: no %q in\n%s", tt.action, want, mails[0].Text)
			}
		}
		for _, want := range []string{tt.want, "Be nice.\n&lt;b&gt;Please.&lt;/b&gt;"} {
			if !strings.Contains(mails[0].HTML, want) {
				t.Errorf("%s: no %q in\n%s", tt.action, want, mails[0].HTML)
			}
		}
	}
	none := func(what string) {
		t.Helper()
		if got := srv.Mails(); len(got) > 0 {
			t.Errorf("%s: a mail to %s", what, got[0].To)
		}
	}
	root.Post(path, "type", "suspend", "send_email_notification", "true").Want(200)
	none("an action that is in force already")
	root.Post(moderatedAccounts + "/" + alice.ID + "/enable").Want(200)
	root.Post(path, "type", "disable").Want(200)
	none("not asked for")
	root.Post(moderatedAccounts+"/"+far+"/action", "type", "suspend", "send_email_notification", "true").Want(200)
	none("a remote account")
	srv.ChangeUser("alice", func(u *store.User) { u.ConfirmedAt = nil })
	root.Post(path, "type", "none", "send_email_notification", "true").Want(200)
	none("an address that is not confirmed")
	srv.Exec("UPDATE users SET email = '', email_key = NULL, confirmed_at = 1 WHERE is_admin = 0")
	root.Post(path, "type", "none", "send_email_notification", "true").Want(200)
	none("no address")
}
