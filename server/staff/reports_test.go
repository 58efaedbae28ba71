package staff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

const (
	reportsPath = "/api/v1/svc/admin/reports"
	groupedPath = "/api/v1/svc/admin/grouped_reports"
)

// report reports statuses of an account, and returns the id of the report.
func report(by, target *apptest.User, comment string, statuses ...string) string {
	by.Server.T.Helper()
	return by.SendJSON("POST", "/api/v1/reports", apptest.Doc{"account_id": target.ID, "status_ids": statuses, "comment": comment}).Want(200).Object().ID()
}

// setState changes the state of a report.
func setState(root *apptest.User, id, state string) {
	root.Server.T.Helper()
	a := root.SendJSON("PATCH", reportsPath, apptest.Doc{"reports": []apptest.Doc{{"id": id, "state": state}}}).Want(204)
	if len(a.Body) > 0 {
		root.Server.T.Errorf("the body is %s", a.Body)
	}
}

// TestReportEntity checks every field of spec 2.17 and admin API 3.3, in the list and alone.
func TestReportEntity(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	kept, deleted := bob.Publish("rude"), bob.Publish("ruder", "spoiler_text", "look")
	id := report(alice, bob, "a < b\nand so on", kept.ID(), deleted.ID())
	bob.Do("DELETE", "/api/v1/statuses/"+deleted.ID(), "", nil).Want(200)
	root.SendJSON("POST", reportsPath+"/"+id+"/notes", apptest.Doc{"content": "seen"}).Want(204)
	want := apptest.Doc{
		"id": id, "state": "open", "content": "a &lt; b<br/>and so on", "rules": []any{},
		"account.id": bob.ID, "account.nickname": "bob", "account.is_active": true, "account.svc.is_confirmed": true, "account.email": "bob@example.org",
		"actor.id": alice.ID, "actor.nickname": "alice", "actor.deactivated": false,
		"statuses.0.id": kept.ID(), "statuses.0.content": "<p>rude</p>", "statuses.0.account.nickname": "bob",
		"statuses.1.id": "svc:fake:" + deleted.Str("uri"), "statuses.1.uri": deleted.Str("uri"), "statuses.1.content": "<p>ruder</p>",
		"statuses.1.spoiler_text": "look", "statuses.1.created_at": deleted.Str("created_at"), "statuses.1.account.id": bob.ID, "statuses.1.mentions": []any{},
		"notes.0.content": "seen", "notes.0.user.id": root.ID, "notes.0.user.nickname": "root",
	}
	shown := root.Get(reportsPath + "/" + id).Want(200).Object()
	wantFields(t, "the report", shown, want)
	for _, path := range []string{"created_at", "notes.0.created_at"} {
		if at, err := time.Parse("2006-01-02T15:04:05.000Z", shown.Find(path).(string)); err != nil || time.Since(at) > time.Minute {
			t.Errorf("%s is %v", path, shown.Find(path))
		}
	}
	if n, ok := shown.Find("notes.0.id").(float64); !ok || n < 1e15 {
		t.Errorf("the id of the note is %v, want an integer", shown.Find("notes.0.id"))
	}
	list := root.Get(reportsPath).Want(200).Object()
	wantFields(t, "the list", list, apptest.Doc{"total": 1.0, "reports.0.id": id, "reports.0.statuses.1.content": "<p>ruder</p>", "reports.0.notes.0.content": "seen"})
	for _, bad := range []string{"nonsense", "0", alice.ID} {
		root.Get(reportsPath+"/"+bad).WantError(404, "Not found")
	}
}

// TestReportsOfManyStatuses checks that lists show the first posts of a report, and the report all of them.
func TestReportsOfManyStatuses(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	var ids []string
	for range 25 {
		ids = append(ids, bob.Publish("spam").ID())
	}
	id := report(alice, bob, "", ids...)
	if n := len(root.Get(reportsPath).Want(200).Object().Find("reports.0.statuses").([]any)); n != 20 {
		t.Errorf("%d posts in the list, want 20", n)
	}
	if n := len(root.Get(reportsPath + "/" + id).Want(200).Object().At("statuses").([]any)); n != 25 {
		t.Errorf("%d posts in the report, want 25", n)
	}
}

// TestListReports checks filters, paging and totals.
func TestListReports(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	names := make(map[string]string)
	for _, name := range []string{"a", "b", "c", "d"} {
		names[report(alice, bob, name)] = name
	}
	for id, name := range names {
		switch name {
		case "b":
			setState(root, id, "closed")
		case "c":
			setState(root, id, "resolved")
		}
	}
	for _, tt := range []struct {
		params list
		total  float64
		want   string
	}{
		{nil, 4, "d c b a"},
		{list{"state", "open"}, 2, "d a"},
		{list{"state", "closed"}, 1, "b"},
		{list{"state", "resolved"}, 1, "c"},
		{list{"page_size", "3"}, 4, "d c b"},
		{list{"page_size", "3", "page", "2"}, 4, "a"},
		{list{"page_size", "1", "page", "2", "state", "open"}, 2, "a"},
		{list{"page", "5"}, 4, ""},
		{list{"page", "x", "page_size", "0"}, 4, "d c b a"},
		{list{"limit", "1"}, 4, "d c b a"}, // accepted, without effect
		{list{"page_size", "99999"}, 4, "d c b a"},
	} {
		o := root.Get(reportsPath, tt.params...).Want(200).Object()
		var got []string
		for _, id := range apptest.ListField(o, "reports", "id") {
			got = append(got, names[id])
		}
		if strings.Join(got, " ") != tt.want || o.At("total") != tt.total {
			t.Errorf("%v: got %v of %v, want %q of %v", tt.params, got, o.At("total"), tt.want, tt.total)
		}
	}
	root.Get(reportsPath, "state", "nice").WantError(400, "nice - Invalid value for enum.")
	root.Get(strings.Replace(reportsPath, "/v1/svc", "/svc", 1)).Want(200)
}

// TestUpdateReports checks PATCH reports: all transitions, errors of single items, and the moderation log.
func TestUpdateReports(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	first, second := report(alice, bob, "a"), report(alice, bob, "b")
	state := func(id string) string { return root.Get(reportsPath + "/" + id).Want(200).Object().Str("state") }
	n := 0
	for _, to := range []string{"closed", "resolved", "open", "resolved", "closed", "open", "open"} {
		before := state(first)
		setState(root, first, to)
		if got := state(first); got != to {
			t.Errorf("%s, want %s", got, to)
		}
		if to != before {
			n++
			wantLog(t, root.Client, fmt.Sprintf("@root updated report #%s (on user @alice) with '%s' state", first, to))
		}
	}
	if got := len(messages(root.Client)); got != n {
		t.Errorf("%d entries in the log, want %d", got, n)
	}
	entry := root.Get(logPath, "page_size", "1").Want(200).List()[0]
	wantFields(t, "the entry", entry, apptest.Doc{
		"data.action": "report_update", "data.subject.type": "report", "data.subject.id": first, "data.subject.state": "open", "data.subject_actor.nickname": "alice",
	})

	faults := root.SendJSON("PATCH", reportsPath, apptest.Doc{"reports": []apptest.Doc{
		{"id": first, "state": "closed"}, {"id": second, "state": "nice"}, {"id": "nonsense", "state": "open"}, {"id": second, "state": "resolved"},
	}}).Want(400).List()
	if len(faults) != 2 {
		t.Fatalf("%d errors, want 2", len(faults))
	}
	wantFields(t, "a bad state", faults[0], apptest.Doc{"id": second, "error": "Unsupported state"})
	wantFields(t, "an unknown report", faults[1], apptest.Doc{"id": "nonsense", "error": "not_found"})
	if state(first) != "closed" || state(second) != "resolved" {
		t.Error("the other items were not changed")
	}
	for _, tt := range []struct {
		body  apptest.Doc
		error string
	}{
		{apptest.Doc{}, "Missing field: reports."},
		{apptest.Doc{"reports": []apptest.Doc{{"id": first}}}, "Missing field: state."},
		{apptest.Doc{"reports": []apptest.Doc{{"state": "open"}}}, "Missing field: id."},
		{apptest.Doc{"reports": slices.Repeat([]apptest.Doc{{"id": first, "state": "open"}}, 101)}, "At most 100 reports can be changed at once"},
	} {
		root.SendJSON("PATCH", reportsPath, tt.body).WantError(400, tt.error)
	}
}

// TestReportNotes checks both endpoints of notes.
func TestReportNotes(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob, moderator := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("moderator")
	srv.SetRole(moderator, false, true)
	moderator.Client = srv.NewToken(moderator, "admin")
	id, other := report(alice, bob, ""), report(alice, bob, "")
	path := reportsPath + "/" + id + "/notes"
	text := func(a *apptest.Response, want string) {
		t.Helper()
		if got := string(a.Want(400).Body); got != `"`+want+`"` {
			t.Errorf("got %s, want %q", got, want)
		}
	}
	text(root.SendJSON("POST", path, apptest.Doc{}), "Invalid parameters")
	text(root.SendJSON("POST", path, apptest.Doc{"content": "  "}), "Invalid parameters")
	text(root.SendJSON("POST", path, apptest.Doc{"content": strings.Repeat("x", 5001)}), "A note has at most 5000 characters")
	text(root.SendJSON("POST", reportsPath+"/nonsense/notes", apptest.Doc{"content": "x"}), "Invalid parameters")
	apptest.WantList(t, "the log", messages(root.Client))

	moderator.Post(path, "content", "first").Want(204)
	wantLog(t, root.Client, "@moderator added note 'first' to report #"+id+" on user @alice")
	root.Post(path, "content", "second").Want(204)
	notes := root.Get(reportsPath + "/" + id).Want(200).Object()
	wantFields(t, "the notes", notes, apptest.Doc{"notes.0.content": "first", "notes.0.user.id": moderator.ID, "notes.1.content": "second"})
	note := fmt.Sprintf("%.0f", notes.Find("notes.0.id"))
	for _, bad := range []string{path + "/1", path + "/nonsense", reportsPath + "/" + other + "/notes/" + note, reportsPath + "/nonsense/notes/" + note} {
		text(root.Do("DELETE", bad, "", nil), "Invalid parameters")
	}
	root.Do("DELETE", path+"/"+note, "", nil).Want(204)
	wantLog(t, root.Client, "@root deleted note 'first' from report #"+id+" on user @alice")
	text(root.Do("DELETE", path+"/"+note, "", nil), "Invalid parameters")
	if n := len(root.Get(reportsPath + "/" + id).Want(200).Object().At("notes").([]any)); n != 1 {
		t.Errorf("%d notes are left", n)
	}
	srv.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 199)
		INSERT INTO report_notes (id, report_id, content) SELECT i, ?, 'x' FROM n`, store.ParseID[store.ReportID](id))
	text(root.Post(path, "content", "one too many"), "A report has at most 200 notes")
	if n := srv.Count("SELECT count(*) FROM report_notes"); n != 200 {
		t.Errorf("%d notes", n)
	}
	srv.Exec("DELETE FROM reports")
	if n := srv.Count("SELECT count(*) FROM report_notes"); n != 0 {
		t.Errorf("%d notes are left without the report", n)
	}
}

// TestGroupedReports checks GET grouped_reports.
func TestGroupedReports(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, carol, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("carol"), srv.SignUp("bob")
	if got := string(root.Get(groupedPath).Want(200).Body); got != `{"reports":[]}` {
		t.Errorf("without reports: %s", got)
	}
	one, two := bob.Publish("one").ID(), bob.Publish("two").ID()
	report(alice, bob, "without posts")
	first := report(alice, bob, "both", one, two)
	again := report(alice, bob, "again", one)
	latest := report(carol, bob, "too", one)
	setState(root, first, "closed")
	bob.Do("DELETE", "/api/v1/statuses/"+two, "", nil).Want(200)
	o := root.Get(groupedPath).Want(200).Object()
	groups := o.At("reports").([]any)
	if len(groups) != 2 {
		t.Fatalf("%d groups, want 2", len(groups))
	}
	wantFields(t, "the groups", o, apptest.Doc{
		"reports.0.account.id": bob.ID, "reports.0.status.id": one, "reports.0.status.content": "<p>one</p>", "reports.0.status.deleted": false,
		"reports.0.reports.0.id": latest, "reports.0.reports.1.id": again, "reports.0.reports.2.id": first, "reports.0.reports.2.state": "closed",
		"reports.0.reports.2.statuses.0.id": one, "reports.0.actors.0.id": carol.ID, "reports.0.actors.1.id": alice.ID,
		"reports.0.date":   root.Get(reportsPath + "/" + latest).Want(200).Object().Str("created_at"),
		"reports.1.status": map[string]any{"id": two, "deleted": true}, "reports.1.account.id": bob.ID, "reports.1.reports.0.id": first,
	})
	if n := len(o.Find("reports.0.actors").([]any)); n != 2 {
		t.Errorf("%d actors, want each once", n)
	}
	if n := len(o.Find("reports.0.reports.2.statuses").([]any)); n != 1 {
		t.Errorf("%d posts of a grouped report, want only that of the group", n)
	}
}

// TestWhoHearsOfReports checks that notifications and mail are for staff with the privilege only.
func TestWhoHearsOfReports(t *testing.T) {
	srv := apptest.Start(t, apptest.WithMail, func(c *config.Config) {
		c.Instance.ModeratorPrivileges, c.Instance.AdminPrivileges = []string{"reports_manage_reports"}, []string{"users_read"}
	})
	root, alice, bob, moderator := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("moderator")
	srv.SetRole(moderator, false, true)
	id := report(alice, bob, "rude")
	for m, want := range map[*apptest.User]int{root: 0, moderator: 1, alice: 0} {
		if got := m.Get("/api/v1/notifications", "types[]", "svc:report").Want(200).List(); len(got) != want {
			t.Errorf("%s has %d notifications, want %d", m.Nickname, len(got), want)
		} else if want == 1 && got[0].Str("report.id") != id {
			t.Errorf("the notification is about %v", got[0].At("report.id"))
		}
	}
	srv.RunJobs()
	var to []string
	for _, m := range srv.Mails() {
		if strings.Contains(m.Subject, "New report") {
			to = append(to, m.To)
		}
	}
	apptest.WantList(t, "recipients of mail", to, "moderator@example.org")
	root.Get(reportsPath).WantError(403, "User isn't privileged.")
}
