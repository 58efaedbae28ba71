package server_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/server"
)

// hostileBodies are bodies that cost much where they are parsed without bounds.
func hostileBodies() map[string]struct{ contentType, body string } {
	list := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	const (
		formType = "application/x-www-form-urlencoded"
		jsonType = "application/json"
		multi    = "multipart/form-data; boundary=frontier"
		head     = "--frontier\r\nContent-Disposition: form-data; name=\"status\""
		end      = "\r\n\r\nx\r\n--frontier--\r\n"
	)
	return map[string]struct{ contentType, body string }{
		"deep JSON":           {jsonType, strings.Repeat(`{"status":`, 90_000) + "1" + strings.Repeat("}", 90_000)},
		"a long key":          {jsonType, `{"` + strings.Repeat("k", 1_000_000) + `":1}`},
		"many keys":           {jsonType, "{" + strings.TrimSuffix(list(70_000, `"k%d":1,`), ",") + "}"},
		"a long number":       {jsonType, `{"status":1` + strings.Repeat("0", 1_000_000) + `}`},
		"many values":         {jsonType, `{"status":[` + strings.TrimSuffix(strings.Repeat("{},", 300_000), ",") + `]}`},
		"not UTF-8":           {jsonType, "{\"status\":\"\xff\"}"},
		"not JSON":            {jsonType, "<svg>"},
		"unfinished JSON":     {jsonType, `{"status":"` + strings.Repeat("a", 500_000)},
		"many keys of a form": {formType, list(70_000, "k%d=1&")},
		"deep keys":           {formType, list(1000, "status%d"+strings.Repeat("[a]", 15)+"=1&")},
		"many parameters":     {multi, head + list(120_000, ";x%d=1") + end},
		"many headers":        {multi, head + list(10_000, "\r\na%d:") + end},
		"an endless header":   {multi, head + strings.Repeat("\r\nX-A: "+strings.Repeat("a", 900), 1000)},
		"an unfinished form":  {multi, head + "\r\n\r\n" + strings.Repeat("a", 500_000)},
		"another type":        {"image/png; " + list(2000, "x%d=1;"), strings.Repeat("a", 1_000_000)},
	}
}

// TestHostileBodiesWalk sends hostile bodies to all routes that have one. No route fails, or needs much memory for one, and nothing is stored.
func TestHostileBodiesWalk(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.Start(t, func(c *config.Config) { c.API.Name = "svc" }) // translating bodies to another name takes long, and memory
	admin := srv.SignUp("admin")
	srv.SetRole(admin, true, false)
	callers := []*apptest.Client{srv.As(nil), srv.NewToken(admin, "read write follow push admin")}
	tables := []string{"statuses", "media", "follows", "filters", "lists", "reports", "scheduled_statuses", "queued_activities"}
	rows := make(map[string]int)
	for _, table := range tables {
		rows[table] = srv.Count("SELECT count(*) FROM " + table)
	}
	const mostBytes = 12 << 20 // of memory that is allocated for one request
	var inboxes []string
	for _, route := range server.Routes() {
		path := pathParameter.ReplaceAllString(route.Path, "1")
		if route.Method == "GET" || endsSession(path) || strings.Contains(path, "restart") {
			continue
		}
		if strings.HasSuffix(path, "inbox") {
			inboxes = append(inboxes, path)
		}
		for name, b := range hostileBodies() {
			for i, caller := range callers {
				if i == 0 && route.Access != "anyone" && len(b.body) > 10_000 { // answered before the body is read
					continue
				}
				var a *apptest.Response
				n := allocated(mostBytes, func() {
					a = caller.Do(route.Method, path, b.contentType, strings.NewReader(b.body))
				})
				if n > mostBytes {
					t.Errorf("%s %s, %s: %d bytes were allocated", route.Method, path, name, n)
				}
				if a.Status >= 500 && a.Status != 503 {
					t.Errorf("%s %s, %s: got %d %.200s", route.Method, path, name, a.Status, a.Body)
				}
			}
		}
	}
	slices.Sort(inboxes)
	if want := []string{"/internal/fetch/inbox", "/inbox", "/relay/inbox", "/users/1/inbox"}; len(inboxes) != len(want) {
		t.Errorf("inboxes are %v, want %v: give new ones rest.Access.Inbox", inboxes, want)
	}
	for _, table := range tables {
		if n := srv.Count("SELECT count(*) FROM " + table); n != rows[table] {
			t.Errorf("%s has %d rows, want %d as before", table, n, rows[table])
		}
	}
}

// allocated returns how many bytes a call of f allocates. It calls f again if those are more than most, because what runs in the background
// is counted, too.
func allocated(most uint64, f func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		if least = min(least, after.TotalAlloc-before.TotalAlloc); least <= most {
			break
		}
	}
	return least
}
