package staff_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"svc/admin"
	"svc/app/apptest"
	"svc/internal/config"
)

const logPath = "/api/v1/svc/admin/moderation_log"

// messages returns the messages of the moderation log.
func messages(c *apptest.Client, params ...string) []string {
	c.Server.T.Helper()
	list := []string{}
	for _, e := range c.Get(logPath, params...).Want(200).List() {
		list = append(list, e.Str("message"))
	}
	return list
}

// TestCompatibleLists checks that a server that says to be of another product answers with the objects that its front ends read, and that
// its own pages show the same rows.
func TestCompatibleLists(t *testing.T) {
	srv := apptest.Start(t, apptest.AllowLoopback, func(c *config.Config) { c.API.Compatible = "Pleroma 2.7.1" })
	root := srv.SignUpAdmin()
	relay := apptest.StartFake(t).AddActor("relay", apptest.Doc{"type": "Application", "endpoints": nil})
	if list := root.Get("/api/v1/svc/admin/relay").Want(200).Object().At("relays").([]any); len(list) != 0 {
		t.Errorf("without relays: %v", list)
	}
	root.Post("/api/v1/svc/admin/relay", "relay_url", relay).Want(200)
	for _, text := range []string{"one", "two", "three"} {
		root.Post("/api/v1/svc/admin/rules", "text", text).Want(200)
	}
	if o := root.Get("/api/v1/svc/admin/relay").Want(200).Object(); o.Find("relays.0.actor") != relay || o.Find("relays.0.followed_back") != false {
		t.Errorf("the relays are %v", o.Fields)
	}
	for _, tt := range []struct {
		query []string
		items int
		total float64
	}{
		{nil, 4, 4},
		{[]string{"page_size", "2"}, 2, 4},
		{[]string{"page_size", "3", "page", "2"}, 1, 4},
		{[]string{"search", "relay"}, 1, 1},
		{[]string{"user_id", root.ID, "page_size", "1"}, 1, 4},
		{[]string{"user_id", "nobody"}, 0, 0},
		{[]string{"start_date", "2090-01-01"}, 0, 0},
	} {
		o := root.Get(logPath, tt.query...).Want(200).Object()
		if items := o.At("items").([]any); len(items) != tt.items || o.At("total") != tt.total {
			t.Errorf("%v: %d items, total %v", tt.query, len(items), o.At("total"))
		}
	}
	root.Get(logPath, "start_date", "yesterday").Want(400)
	if o := root.Get("/api/v1/svc/admin/users/root").Want(200).Object(); o.At("id") != root.ID {
		t.Errorf("the id of an account is %v", o.At("id"))
	}
	browser := root.SignedIn()
	browser.Get("/web/admin/relays").Want(200, relay)
	browser.Get("/web/admin/log").Want(200, "followed relay")
}

// TestModerationLog checks spec 2.22, and filters and paging of GET moderation_log.
func TestModerationLog(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	apptest.WantList(t, "the empty log", messages(root.Client))

	account, err := srv.DB.Account(t.Context(), root.AccountID())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.Admin.As(account).CreateInvite(t.Context(), admin.NewInvite{}); err != nil {
		t.Fatal(err)
	}
	before := time.Now().UTC()
	if _, err := srv.Admin.CreateAnnouncement(t.Context(), admin.Announcement{Text: "100% news"}); err != nil {
		t.Fatal(err)
	}
	entries := root.Get(logPath).Want(200).List()
	if len(entries) != 2 {
		t.Fatalf("%d entries, want 2", len(entries))
	}
	invited, announced := entries[1], entries[0]
	wantFields(t, "an entry of an admin", invited, apptest.Doc{
		"message": "@root created invite #1", "data.action": "invite_create", "data.message": "@root created invite #1",
		"data.actor.nickname": "root", "data.actor.id": float64(root.AccountID()), "data.actor.type": "user",
		"data.subject.id": 1.0, "data.subject.type": "invite",
	})
	if at := time.Unix(int64(invited.At("time").(float64)), 0); time.Since(at) > time.Minute || time.Since(at) < 0 {
		t.Errorf("time is %v", at)
	}
	if id, ok := invited.At("id").(float64); !ok || id < 1e15 {
		t.Errorf("id is %v, want an integer", invited.At("id"))
	}
	id := announced.Str("data.subject.id")
	wantFields(t, "an entry of the command line", announced, apptest.Doc{
		"message": "the command line created announcement #" + id, "data.actor.nickname": "the command line", "data.actor.id": nil,
		"data.actor.type": "system", "data.text": "100% news",
	})

	m := invited.Str("message")
	both := []string{announced.Str("message"), m}
	rootID := fmt.Sprint(int64(root.AccountID()))
	tomorrow := before.AddDate(0, 0, 1).Format("2006-01-02T15:04:05")
	for _, tt := range []struct {
		name   string
		params []string
		want   []string
	}{
		{"the second page", []string{"page_size", "1", "page", "2"}, []string{m}},
		{"a page past the end", []string{"page", "9"}, nil},
		{"a page that is no number", []string{"page", "x", "page_size", "-1"}, both},
		{"by integer id", []string{"user_id", rootID}, []string{m}},
		{"by flake", []string{"user_id", root.ID}, []string{m}},
		{"by nickname", []string{"user_id", "@root"}, []string{m}},
		{"by an unknown account", []string{"user_id", "nobody"}, nil},
		{"search", []string{"search", "INVITE #1"}, []string{m}},
		{"search with a wildcard", []string{"search", "created%"}, nil},
		{"search and account", []string{"search", "announcement", "user_id", rootID}, nil},
		{"since tomorrow", []string{"start_date", tomorrow}, nil},
		{"until tomorrow", []string{"end_date", tomorrow}, both},
		{"with an offset", []string{"end_date", tomorrow + "+01:00"}, both},
		{"with Z", []string{"start_date", "2020-01-01T00:00:00Z", "end_date", "2020-01-02T00:00:00Z"}, nil},
		{"the whole day", []string{"start_date", before.Format(time.DateOnly), "end_date", time.Now().UTC().Format(time.DateOnly)}, both},
	} {
		t.Run(tt.name, func(t *testing.T) {
			apptest.WantList(t, "messages", messages(root.Client, tt.params...), tt.want...)
		})
	}
	for _, bad := range []string{"start_date", "end_date"} {
		root.Get(logPath, bad, "yesterday").WantError(400, `"yesterday" is not a date such as 2030-01-31T18:00:00`)
	}
	// Both spellings of the prefix.
	root.Get(strings.Replace(logPath, "/v1/svc", "/svc", 1)).Want(200)
}

// TestPrivilegedAccess checks that a role without the privilege is refused, and that another role may have it.
func TestPrivilegedAccess(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Instance.AdminPrivileges, c.Instance.ModeratorPrivileges = nil, []string{"moderation_log_read"}
	})
	root, moderator, both, alice := srv.SignUpAdmin(), srv.SignUp("moderator"), srv.SignUp("both"), srv.SignUp("alice")
	srv.SetRole(moderator, false, true)
	srv.SetRole(both, true, true)
	for _, tt := range []struct {
		name   string
		client *apptest.Client
		want   int
		error  string
	}{
		{"anonymous", srv.As(nil), 403, "Invalid credentials."},
		{"an app", srv.NewToken(nil, "admin"), 403, "Invalid credentials."},
		{"a user", srv.NewToken(alice, "admin"), 403, "User is not a staff member."},
		{"an admin without the privilege", root.Client, 403, "User isn't privileged."},
		{"a moderator with it", srv.NewToken(moderator, "admin:read"), 200, ""},
		{"both roles", srv.NewToken(both, "admin"), 200, ""},
		{"a narrower scope", srv.NewToken(moderator, "admin:read:accounts"), 403, "Insufficient permissions: admin:read."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.client.Get(logPath)
			if tt.want == 200 {
				a.Want(200)
			} else {
				a.WantError(tt.want, tt.error)
			}
		})
	}
}
