package server_test

import (
	"slices"
	"strings"
	"testing"

	"svc/store"
)

func TestReport(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol, admin, moderator := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol"), srv.signUp("boss"), srv.signUp("mod")
	srv.promote(admin, true, false)
	srv.promote(moderator, false, true)
	bad := bob.publish("bad", "spoiler_text", "worse")
	secret := bob.publish("secret", "visibility", "direct")
	foreign := carol.publish("by another")
	boost := bob.post("/api/v1/statuses/" + foreign.id() + "/reblog").want(200).object()
	type params = map[string]any

	for _, tt := range []struct {
		name   string
		as     *member
		body   params
		status int
	}{
		{"without an account", alice, params{"comment": "x"}, 400},
		{"of nobody", alice, params{"account_id": "0"}, 404},
		{"of oneself", alice, params{"account_id": alice.id}, 422},
		{"with too long a comment", alice, params{"account_id": bob.id, "comment": strings.Repeat("x", 1001)}, 422},
		{"of too many statuses", alice, params{"account_id": bob.id, "status_ids": slices.Repeat([]string{bad.id()}, 101)}, 422},
		{"without a token", nil, params{"account_id": bob.id}, 401},
	} {
		if got := srv.as(tt.as).send("POST", "/api/v1/reports", tt.body); got.status != tt.status {
			t.Errorf("a report %s: got %d %s, want %d", tt.name, got.status, got.body, tt.status)
		}
	}
	reports := func(m *member) []*object {
		t.Helper()
		return m.get("/api/v1/notifications", "types[]", "svc:report").want(200).list()
	}
	if n := len(reports(admin)); n > 0 {
		t.Fatalf("%d notifications of refused reports", n)
	}

	answer := alice.send("POST", "/api/v1/reports", params{
		"account_id": bob.id, "status_ids": []string{bad.id(), secret.id(), foreign.id(), boost.id(), bad.id(), "0"},
		"comment": " look\n<here> ", "category": "spam", "forward": true, "rule_ids": nil,
	})
	wantEntity(t, "alice", answer, "Report")
	report := answer.object()
	if got := report.at("status_ids").([]any); len(got) != 1 || got[0] != bad.id() {
		t.Errorf("status_ids: got %v, want only %s, which is bob's and can be seen", got, bad.id())
	}
	for path, want := range map[string]any{"category": "spam", "comment": "look\n<here>", "forwarded": false, "action_taken": false, "target_account.id": bob.id} {
		if got := report.at(path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	alice.send("POST", "/api/v1/reports", params{"account_id": bob.id, "category": "unheard of"}).want(200)

	// The staff is told, nobody else.
	for _, m := range []*member{admin, moderator} {
		list := reports(m)
		if len(list) != 2 {
			t.Fatalf("%s has %d notifications, want 2", m.nick, len(list))
		}
		first := list[1]
		for path, want := range map[string]any{
			"type": "svc:report", "account.id": alice.id, "report.id": report.id(), "report.state": "open", "report.account.id": bob.id,
			"report.actor.id": alice.id, "report.content": "look<br/>&lt;here&gt;",
		} {
			if got := first.at(path); got != want {
				t.Errorf("%s: got %v, want %v", path, got, want)
			}
		}
		if got := first.at("report.statuses").([]any); len(got) != 1 || got[0].(map[string]any)["id"] != bad.id() {
			t.Errorf("report.statuses: got %v", got)
		}
		if types := notificationTypes(m.get("/api/v1/notifications").want(200)); slices.Contains(types, "svc:report") {
			t.Errorf("%s is told without asking for it", m.nick)
		}
	}
	for _, m := range []*member{alice, bob, carol} {
		if list := reports(m); len(list) > 0 {
			t.Errorf("%s sees the report", m.nick)
		}
	}
	bob.do("DELETE", "/api/v1/statuses/"+bad.id(), "", nil).want(200)
	if got := reports(admin)[1].at("report.statuses").([]any); len(got) != 0 {
		t.Errorf("after the deletion: got %v", got)
	}
	// Who is no longer staff no longer sees what the staff was told.
	told := reports(moderator)[0].id()
	moderator.get("/api/v1/notifications/" + told).want(200)
	srv.insert(`UPDATE users SET is_moderator = 0 WHERE account_id = ?`, moderator.accountID())
	if list := reports(moderator); len(list) > 0 {
		t.Error("who was a moderator still sees reports")
	}
	moderator.get("/api/v1/notifications/" + told).want(404)
	moderator.post("/api/v1/svc/notifications/read", "id", told).want(404)
	if list := moderator.post("/api/v1/svc/notifications/read", "max_id", "9999999999999999").want(200).list(); len(list) > 0 {
		t.Errorf("reading all shows who was a moderator %v", list)
	}
}

func notificationTypes(a *answer) []string {
	var types []string
	for _, n := range a.list() {
		types = append(types, n.str("type"))
	}
	return types
}

func TestAnnouncements(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	now := srv.db.Now().UnixMilli()
	for i, a := range []struct {
		starts, ends any
	}{{nil, nil}, {now - 1000, now + 3_600_000}, {now + 3_600_000, nil}, {nil, now - 1000}} {
		srv.insert(`INSERT INTO announcements (id, text, content, starts_at, ends_at, updated_at) VALUES (?, 'news', '<p>news</p>', ?, ?, ?)`,
			now<<10+int64(i), a.starts, a.ends, now)
	}
	answer := alice.get("/api/v1/announcements")
	wantEntity(t, "alice", answer, "[]Announcement")
	list := answer.list()
	if len(list) != 2 {
		t.Fatalf("got %d announcements, want those two that are current: %s", len(list), answer.body)
	}
	srv.as(nil).get("/api/v1/announcements").want(401)
	srv.as(nil).post("/api/v1/announcements/" + list[0].id() + "/dismiss").want(401)
	alice.post("/api/v1/announcements/none/dismiss").want(404)
	alice.post("/api/v1/announcements/" + store.AnnouncementID(now<<10+2).String() + "/dismiss").want(404) // is not to be seen yet
	alice.post("/api/v1/announcements/" + store.AnnouncementID(now<<10+3).String() + "/dismiss").want(200) // was, until just now
	for range 2 {
		alice.post("/api/v1/announcements/" + list[0].id() + "/dismiss").want(200)
	}
	for _, tt := range []struct {
		as     *member
		params []string
		want   []bool // read
	}{
		{alice, nil, []bool{true, false}},
		{alice, []string{"with_dismissed", "true"}, []bool{true, false}},
		{alice, []string{"with_dismissed", "false"}, []bool{false}},
		{bob, nil, []bool{false, false}},
	} {
		var read []bool
		for _, a := range tt.as.get("/api/v1/announcements", tt.params...).want(200).list() {
			read = append(read, a.truth("read"))
		}
		if !slices.Equal(read, tt.want) {
			t.Errorf("%s %v: got read %v, want %v", tt.as.nick, tt.params, read, tt.want)
		}
	}
}
