package staff_test

import (
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestOverview shows the overview of an account. Only staff who may manage reports get counts of reports.
func TestOverview(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.ModeratorPrivileges = []string{"users_read"}
	})
	root, moderator, bob := srv.SignUpAdmin(), srv.SignUp("moderator"), srv.SignUp("bob")
	srv.SetRole(moderator, false, true)
	bob.Publish("hello")
	moderator.Post("/api/v1/reports", "account_id", bob.ID, "comment", "rude").Want(200)
	path := func(name string) string { return "/api/v1/svc/admin/users/" + name + "/overview" }
	for _, name := range []string{"bob", bob.ID} {
		o := root.Get(path(name)).Want(200).Object()
		wantFields(t, name, o, apptest.Doc{"statuses_count": 1.0, "reports.open": 1.0, "reports.against": 1.0, "reports.by": 0.0, "server": nil})
		if o.Int("sessions") == 0 || o.Find("last_active_at") == nil {
			t.Errorf("the overview is %v", o.Fields)
		}
	}
	eve := srv.AddRemoteAccount("eve", "far.example")
	wantFields(t, "a remote account", root.Get(path(eve)).Want(200).Object(), apptest.Doc{"server.domain": "far.example", "last_active_at": nil})
	wantFields(t, "without the privilege", srv.NewToken(moderator, "read admin:read").Get(path("bob")).Want(200).Object(), apptest.Doc{"reports": nil})
	root.Get(path("nobody")).Want(404)
	bob.Get(path("bob")).Want(403)

	root.Post("/api/v1/admin/accounts/"+bob.ID+"/action", "type", "silence", "text", "too loud").Want(200)
	for account, want := range map[string]int{"bob": 1, bob.ID: 1, "moderator": 0, "nobody": 0} {
		if list := root.Get("/api/v1/svc/admin/moderation_log", "account_id", account, "search", "added tags").Want(200).List(); len(list) != want {
			t.Errorf("%s: %d entries, want %d", account, len(list), want)
		}
	}
}
