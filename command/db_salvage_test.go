package command_test

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestSalvage damages the database of a server without a backup. What can be read is saved, and the server runs with it.
func TestSalvage(t *testing.T) {
	const posts = 200
	p := newWorkspace(t, "[rate_limit]", "enabled = false")
	p.run("user", "create", "alice", "--email", "alice@example.org", "--password", apptest.Password).ok()
	s := p.serve()
	token := p.signIn("alice", apptest.Password)
	for i := range posts {
		body := url.Values{"status": {fmt.Sprintf("post number %d %s", i, strings.Repeat("tea ", 100))}}.Encode()
		if status, answer, err := p.request(t.Context(), "POST", "/api/v1/statuses", token, strings.NewReader(body)); err != nil || status != 200 {
			t.Fatalf("%d %s %v", status, answer, err)
		}
	}
	p.run("db", "salvage", "--yes").fails(1, "in use")
	s.stop()
	whole := p.queryInt(`SELECT count(*) FROM statuses`)

	// Some pages of the table of posts.
	file, err := os.OpenFile(p.path("data", "svc.db"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var list string
	p.query(&list, `SELECT group_concat(pageno, ' ') FROM (SELECT pageno FROM dbstat WHERE name = 'statuses' AND pagetype IN ('leaf', 'overflow') ORDER BY pageno)`)
	pages := strings.Fields(list)
	if len(pages) < 6 {
		t.Fatalf("the table has %d pages", len(pages))
	}
	for _, i := range []int{len(pages) / 3, len(pages) / 2, len(pages)/2 + 1} {
		number, err := strconv.ParseInt(pages[i], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		random := make([]byte, 4096)
		rand.Read(random)
		if _, err := file.WriteAt(random, (number-1)*4096); err != nil {
			t.Fatal(err)
		}
	}
	file.Close()
	if r := p.run("verify"); r.code == 0 {
		t.Fatal("the damage is not found")
	}
	if r := p.runWithInput("n\n", "db", "salvage"); r.code != 1 || !strings.Contains(r.errOut, "nothing was changed") {
		t.Errorf("declined: %d %s", r.code, r.errOut)
	}
	out := p.run("db", "salvage", "--yes").ok()
	if !strings.Contains(out, "statuses") || !strings.Contains(out, "svc.db.damaged-") {
		t.Errorf("got %s", out)
	}
	p.run("verify", "--fix").ok()
	if v := p.verify(0); len(v.Findings) > 0 {
		t.Errorf("got %+v", v)
	}
	left := p.queryInt(`SELECT count(*) FROM statuses`)
	if left >= whole || left < whole/2 {
		t.Errorf("%d of %d posts are left", left, whole)
	}
	s = p.serve()
	if status, body := p.get("/api/v1/timelines/home", p.signIn("alice", apptest.Password)); status != 200 || !strings.Contains(body, "post number") {
		t.Errorf("home: %d %s", status, body)
	}
	if status, body := p.get("/api/v2/search?q=number+tea&type=statuses", p.signIn("alice", apptest.Password)); status != 200 || !strings.Contains(body, "post number") {
		t.Errorf("search: %d %s", status, body)
	}
	if _, err := os.Stat(p.path("data", "salvage.tmp")); err == nil {
		t.Error("the work folder is left")
	}
	s.stop()
}

// TestSalvageWhole checks that nothing is lost from a database without damage, and that one without tables is refused and kept.
func TestSalvageWhole(t *testing.T) {
	p := newWorkspace(t)
	p.run("user", "create", "alice", "--email", "alice@example.org").ok()
	p.serve().stop()
	if out := p.run("db", "salvage", "--yes").ok(); strings.Contains(out, "statuses") || !strings.Contains(out, "0 rows referred to lost ones.") {
		t.Errorf("got %s", out)
	}
	p.run("verify", "--fix").ok() // builds the search indexes
	if v := p.verify(0); len(v.Findings) > 0 {
		t.Errorf("got %+v", v)
	}
	p.run("user", "show", "alice").ok()
	p.write("data/svc.db", strings.Repeat("nonsense ", 2000))
	p.run("db", "salvage", "--yes").fails(1, "salvage: ")
	if text, err := os.ReadFile(p.path("data", "svc.db")); err != nil || !strings.HasPrefix(string(text), "nonsense") {
		t.Error("a database that cannot be salvaged was changed")
	}
}
