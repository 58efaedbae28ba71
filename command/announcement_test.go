package command_test

import (
	"regexp"
	"strings"
	"testing"
)

func TestAnnouncementCommands(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.addToken("alice", "alice")
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"add"}, 2, "TEXT is missing"},
		{[]string{"add", " "}, 1, "needs a text"},
		{[]string{"add", strings.Repeat("x", 10_001)}, 1, "longer than 10000"},
		{[]string{"add", "x", "--ends-at", "tomorrow"}, 2, "is not a time"},
		{[]string{"add", "x", "--starts-at", "2030-01-02", "--ends-at", "2030-01-01"}, 1, "before it starts"},
		{[]string{"add", "x", "--ends-at", "2020-01-01"}, 1, "would end in the past"},
		{[]string{"delete", "x"}, 1, "There is no announcement"},
	} {
		p.run(append([]string{"announcement"}, tt.args...)...).fails(tt.code, tt.want)
	}
	created := p.run("announcement", "add", "made before", "--ends-at", "2100-01-01").ok()
	p.serve()
	p.run("announcement", "add", "see https://example.org/<news>").ok()
	list := p.run("announcement", "list").ok()
	if !strings.Contains(list, "made before") || !strings.Contains(list, "2100-01-01T00:00:00Z") || !strings.Contains(list, "<news>") {
		t.Errorf("the list is %q", list)
	}
	_, body := p.get("/api/v1/announcements", "alice")
	if !strings.Contains(body, "made before") || !strings.Contains(body, `<a href=\"https://example.org/`) || !strings.Contains(body, "&lt;news&gt;") {
		t.Errorf("GET /api/v1/announcements: %s", body)
	}
	p.run("announcement", "set", "x", "--text", "y").fails(1, "There is no announcement")
	id := regexp.MustCompile(`announcement (\w+)\.`).FindStringSubmatch(created)[1]
	p.run("announcement", "set", id, "--text", " ").fails(1, "needs a text")
	p.run("announcement", "set", id, "--text", "made before, changed", "--ends-at", "", "--all-day").ok()
	if _, body := p.get("/api/v1/announcements", "alice"); !strings.Contains(body, "made before, changed") || strings.Contains(body, "2100") {
		t.Errorf("after the change: %s", body)
	}
	p.run("announcement", "delete", id).ok()
	if _, body := p.get("/api/v1/announcements", "alice"); strings.Contains(body, "made before") {
		t.Error("still listed after its deletion")
	}
}
