package server_test

import (
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/store"
)

func TestReport(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, admin, moderator := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("boss"), srv.SignUp("mod")
	srv.SetRole(admin, true, false)
	srv.SetRole(moderator, false, true)
	bad := bob.Publish("bad", "spoiler_text", "worse")
	secret := bob.Publish("secret", "visibility", "direct")
	others := carol.Publish("by another")
	boost := bob.Post("/api/v1/statuses/" + others.ID() + "/reblog").Want(200).Object()
	type params = map[string]any

	for _, tt := range []struct {
		name   string
		as     *apptest.User
		body   params
		status int
	}{
		{"without an account", alice, params{"comment": "x"}, 400},
		{"of an unknown account", alice, params{"account_id": "0"}, 404},
		{"of the viewer", alice, params{"account_id": alice.ID}, 422},
		{"with too long a comment", alice, params{"account_id": bob.ID, "comment": strings.Repeat("x", 1001)}, 422},
		{"of too many statuses", alice, params{"account_id": bob.ID, "status_ids": slices.Repeat([]string{bad.ID()}, 101)}, 422},
		{"without a token", nil, params{"account_id": bob.ID}, 401},
	} {
		if got := srv.As(tt.as).SendJSON("POST", "/api/v1/reports", tt.body); got.Status != tt.status {
			t.Errorf("a report %s: got %d %s, want %d", tt.name, got.Status, got.Body, tt.status)
		}
	}
	reports := func(m *apptest.User) []*apptest.Object {
		t.Helper()
		return m.Get("/api/v1/notifications", "types[]", "svc:report").Want(200).List()
	}
	if n := len(reports(admin)); n > 0 {
		t.Fatalf("%d notifications about refused reports", n)
	}

	response := alice.SendJSON("POST", "/api/v1/reports", params{
		"account_id": bob.ID, "status_ids": []string{bad.ID(), secret.ID(), others.ID(), boost.ID(), bad.ID(), "0"},
		"comment": " look\n<here> ", "category": "spam", "forward": true, "rule_ids": nil,
	})
	WantEntity(t, "alice", response, "Report")
	report := response.Object()
	if got := report.At("status_ids").([]any); len(got) != 1 || got[0] != bad.ID() {
		t.Errorf("status_ids: got %v, want only %s, which is bob's and visible to alice", got, bad.ID())
	}
	for path, want := range map[string]any{"category": "spam", "comment": "look\n<here>", "forwarded": false, "action_taken": false, "target_account.id": bob.ID} {
		if got := report.At(path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	alice.SendJSON("POST", "/api/v1/reports", params{"account_id": bob.ID, "category": "unknown"}).Want(200)

	// Only staff get notifications.
	for _, m := range []*apptest.User{admin, moderator} {
		list := reports(m)
		if len(list) != 2 {
			t.Fatalf("%s has %d notifications, want 2", m.Nickname, len(list))
		}
		first := list[1]
		for path, want := range map[string]any{
			"type": "svc:report", "account.id": alice.ID, "report.id": report.ID(), "report.state": "open", "report.account.id": bob.ID,
			"report.actor.id": alice.ID, "report.content": "look<br/>&lt;here&gt;",
		} {
			if got := first.At(path); got != want {
				t.Errorf("%s: got %v, want %v", path, got, want)
			}
		}
		if got := first.At("report.statuses").([]any); len(got) != 1 || got[0].(map[string]any)["id"] != bad.ID() {
			t.Errorf("report.statuses: got %v", got)
		}
		if types := notificationTypes(m.Get("/api/v1/notifications").Want(200)); slices.Contains(types, "svc:report") {
			t.Errorf("%s gets reports without requesting the type", m.Nickname)
		}
	}
	for _, m := range []*apptest.User{alice, bob, carol} {
		if list := reports(m); len(list) > 0 {
			t.Errorf("%s sees the report", m.Nickname)
		}
	}
	bob.Do("DELETE", "/api/v1/statuses/"+bad.ID(), "", nil).Want(200)
	if got := reports(admin)[1].Find("report.statuses.0.id"); got != "svc:fake:"+bad.Str("uri") {
		t.Errorf("after the deletion: got %v, want the copy", got)
	}
	// A former moderator no longer sees notifications for staff.
	notification := reports(moderator)[0].ID()
	moderator.Get("/api/v1/notifications/" + notification).Want(200)
	srv.Exec(`UPDATE users SET is_moderator = 0 WHERE account_id = ?`, moderator.AccountID())
	if list := reports(moderator); len(list) > 0 {
		t.Error("a former moderator still sees reports")
	}
	moderator.Get("/api/v1/notifications/" + notification).Want(404)
	moderator.Post("/api/v1/svc/notifications/read", "id", notification).Want(404)
	if list := moderator.Post("/api/v1/svc/notifications/read", "max_id", "9999999999999999").Want(200).List(); len(list) > 0 {
		t.Errorf("marking all as read returns %v to a former moderator", list)
	}
}

func notificationTypes(a *apptest.Response) []string {
	var types []string
	for _, n := range a.List() {
		types = append(types, n.Str("type"))
	}
	return types
}

func TestAnnouncements(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	now := srv.DB.Now().UnixMilli()
	for i, a := range []struct {
		starts, ends any
	}{{nil, nil}, {now - 1000, now + 3_600_000}, {now + 3_600_000, nil}, {nil, now - 1000}} {
		srv.Exec(`INSERT INTO announcements (id, text, content, starts_at, ends_at, updated_at) VALUES (?, 'news', '<p>news</p>', ?, ?, ?)`,
			now<<10+int64(i), a.starts, a.ends, now)
	}
	response := alice.Get("/api/v1/announcements")
	WantEntity(t, "alice", response, "[]Announcement")
	list := response.List()
	if len(list) != 2 {
		t.Fatalf("got %d announcements, want the two current ones: %s", len(list), response.Body)
	}
	srv.As(nil).Get("/api/v1/announcements").Want(401)
	srv.As(nil).Post("/api/v1/announcements/" + list[0].ID() + "/dismiss").Want(401)
	alice.Post("/api/v1/announcements/none/dismiss").Want(404)
	alice.Post("/api/v1/announcements/" + store.AnnouncementID(now<<10+2).String() + "/dismiss").Want(404) // has not started
	alice.Post("/api/v1/announcements/" + store.AnnouncementID(now<<10+3).String() + "/dismiss").Want(200) // has just ended
	for range 2 {
		alice.Post("/api/v1/announcements/" + list[0].ID() + "/dismiss").Want(200)
	}
	for _, tt := range []struct {
		as     *apptest.User
		params []string
		want   []bool // read
	}{
		{alice, nil, []bool{true, false}},
		{alice, []string{"with_dismissed", "true"}, []bool{true, false}},
		{alice, []string{"with_dismissed", "false"}, []bool{false}},
		{bob, nil, []bool{false, false}},
	} {
		var read []bool
		for _, a := range tt.as.Get("/api/v1/announcements", tt.params...).Want(200).List() {
			read = append(read, a.Bool("read"))
		}
		if !slices.Equal(read, tt.want) {
			t.Errorf("%s %v: got read %v, want %v", tt.as.Nickname, tt.params, read, tt.want)
		}
	}
}
