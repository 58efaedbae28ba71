package command_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestReportCommands(t *testing.T) {
	p := newWorkspace(t)
	for _, nick := range []string{"alice", "bob"} {
		p.run("user", "create", nick, "--email", nick+"@example.org").ok()
		p.addToken(nick, nick)
	}
	p.serve()
	var shown struct {
		PublicID string `json:"public_id"`
	}
	if err := json.Unmarshal([]byte(p.run("user", "show", "bob", "--json").ok()), &shown); err != nil {
		t.Fatal(err)
	}
	body := strings.NewReader("account_id=" + shown.PublicID + "&comment=very+rude")
	if status, answer, err := p.request(t.Context(), "POST", "/api/v1/reports", "alice", body); err != nil || status != 200 {
		t.Fatalf("%d %s %v", status, answer, err)
	}
	list := p.run("report", "list", "--state", "open", "--account", "bob", "--by", "alice").ok()
	id := regexp.MustCompile(`(?m)^(\w{18}) `).FindStringSubmatch(list)
	if id == nil || !strings.Contains(list, "very rude") {
		t.Fatalf("the list is %q", list)
	}
	p.run("report", "note", "add", id[1], "asked bob").ok()
	if got := p.run("report", "show", id[1]).ok(); !strings.Contains(got, "very rude") || !strings.Contains(got, "asked bob") || !strings.Contains(got, "the command line") {
		t.Errorf("the report is %q", got)
	}
	var report struct {
		State string
		Notes []struct{ ID int64 }
	}
	for _, tt := range []struct{ command, state string }{{"close", "closed"}, {"resolve", "resolved"}, {"reopen", "open"}} {
		p.run("report", tt.command, id[1]).ok()
		if err := json.Unmarshal([]byte(p.run("report", "show", id[1], "--json").ok()), &report); err != nil || report.State != tt.state {
			t.Errorf("after %s: %q, %v", tt.command, report.State, err)
		}
	}
	if log := p.run("log", "moderation", "list").ok(); !strings.Contains(log, "the command line updated report #"+id[1]+" (on user @alice) with 'open' state") {
		t.Errorf("the log is %q", log)
	}
	note := strconv.FormatInt(report.Notes[0].ID, 10)
	p.run("report", "note", "delete", id[1], note).ok()
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"list", "--state", "nice"}, 1, "Invalid value"},
		{[]string{"show"}, 2, "ID is missing"},
		{[]string{"show", "x"}, 1, "There is no report"},
		{[]string{"close", "x"}, 1, "There is no report"},
		{[]string{"close"}, 2, "ID is missing"},
		{[]string{"note", "add", id[1]}, 2, "TEXT is missing"},
		{[]string{"note", "add", "x", "text"}, 1, `there is no report "x"`},
		{[]string{"note", "add", id[1], " "}, 1, "the note has no text"},
		{[]string{"note", "delete", "x", note}, 1, `there is no report "x"`},
		{[]string{"note", "delete", id[1], note}, 1, "has no note"},
	} {
		p.run(append([]string{"report"}, tt.args...)...).fails(tt.code, tt.want)
	}
	if got := p.run("report", "list", "--json", "--domain", "example.com").ok(); strings.TrimSpace(got) != "[]" {
		t.Errorf("reports of another domain: %s", got)
	}
}
