package server_test

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/server"
)

// acceptingPaths are routes whose parameter may be any text, with the reason.
var acceptingPaths = map[string]string{
	"PATCH /api/v1/svc/settings/:app":                           "front ends choose their names",
	"POST /api/v1/tags/:name/follow":                            "a hashtag need not exist",
	"POST /api/v1/tags/:name/unfollow":                          "a hashtag need not exist",
	"POST /api/v1/tags/:name/feature":                           "a hashtag need not exist",
	"POST /api/v1/tags/:name/unfeature":                         "a hashtag need not exist",
	"DELETE /api/oauth_tokens/:id":                              "201 also if there is no such token (extension API 4.3)",
	"DELETE /api/v1/suggestions/:account_id":                    "{} also if it is none",
	"POST /api/v1/notifications/:id/dismiss":                    "{} also if it is gone",
	"POST /api/v2/notifications/:group_key/dismiss":             "{} also if it is gone",
	"POST /api/v1/announcements/:id/dismiss":                    "{} also if it is gone",
	"DELETE /api/v1/svc/admin/instance_document/:document_name": "the default is back",
	"DELETE /api/v1/svc/admin/instances/:instance":              "a host need not be known: its posts may arrive while the job waits",
}

// TestPathParameters sends requests with parameters that name nothing, by each route that has one and as an admin: nothing fails with a 500 and
// nothing changes.
func TestPathParameters(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.Start(t)
	alice, root := srv.SignUp("alice"), srv.SignUpAdmin()
	list := alice.AddList("l", nil, root)
	values := []string{
		"x", "0", "-1", "%2b1", "01", " 1", "77777", "9999999999999999999999", strings.Repeat("0", 18), strings.Repeat("z", 18), "%00", "%20", "..%2f..%2fetc", "ä→☃", "%ff", ":id", "null",
		"9223372036854775807", "1.5", "1e3", list, strings.Repeat("A", 8000),
	}
	body := `{"ip":"192.0.2.0/24","severity":"no_access","domain":"x.example","title":"x","name":"x","text":"x","content":"x","status":"x","context":["home"],` +
		`"account_ids":["` + alice.ID + `"],"recipients":["` + alice.ID + `"],"type":"suspend","visibility":"unlisted","sensitive":true,"value":"1","choices":[0],` +
		`"scheduled_at":"` + apptest.FromNow(1e13) + `","keyword":"x","status_id":"x","quote_approval_policy":"nobody","comment":"x","category":"spam","last_read_id":"1"}`
	parameter := regexp.MustCompile(`[:*]\w+`)
	n := 0
	before := rowCounts(t, srv)
	for _, route := range server.Routes() {
		names := parameter.FindAllString(route.Path, -1)
		if len(names) == 0 || strings.HasPrefix(route.Path, "/web/") || strings.HasPrefix(route.Path, "/setup/") {
			continue
		}
		name := route.Method + " " + route.Path
		for _, value := range values {
			path := parameter.ReplaceAllString(route.Path, strings.ReplaceAll(value, "$", "$$"))
			a := root.Do(route.Method, escape(path), "application/json", strings.NewReader(body))
			n++
			if a.Status >= 500 && a.Status != 503 {
				t.Errorf("%s with %.40q: got %d %s", name, value, a.Status, a.Body)
			}
			isStaff := strings.HasPrefix(route.Access, "staff") || strings.HasPrefix(route.Access, "admin")
			if isStaff && route.Method != "GET" && a.Status < 400 && acceptingPaths[name] == "" {
				t.Errorf("%s with %.40q: got %d %.200s", name, value, a.Status, a.Body)
			}
		}
		if route.Method == "GET" {
			continue
		}
		now := rowCounts(t, srv)
		if acceptingPaths[name] != "" {
			before = now
			continue
		}
		for _, table := range slices.Sorted(maps.Keys(now)) {
			if now[table] != before[table] {
				t.Errorf("%s: table %s had %d rows and has %d", name, table, before[table], now[table])
			}
		}
		before = now
	}
	if n < 1500 {
		t.Errorf("only %d requests", n)
	}
	// A very long one is refused by the limits of the header or of the path.
	if a := root.Do("PUT", "/api/v1/admin/ip_blocks/"+strings.Repeat("A", 60_000), "application/json", strings.NewReader(body)); a.Status < 400 || a.Status >= 500 {
		t.Errorf("a long path: got %d", a.Status)
	}
}

// escape escapes what cannot stand in a path and leaves percent signs.
func escape(path string) string {
	var b strings.Builder
	for _, c := range path {
		if c < ' ' || c > '~' {
			b.WriteString(url.PathEscape(string(c)))
		} else {
			fmt.Fprintf(&b, "%c", c)
		}
	}
	return b.String()
}

// TestUnknownBlocks checks that changes of blocks that do not exist are a 404, and make none.
func TestUnknownBlocks(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	for _, kind := range []string{"ip_blocks", "domain_blocks", "domain_allows", "email_domain_blocks", "canonical_email_blocks"} {
		for _, id := range []string{"x", "0", "-1", "1", "9999999999999999999999", "%00"} {
			for _, method := range []string{"GET", "PUT", "DELETE"} {
				if method == "PUT" && kind != "ip_blocks" && kind != "domain_blocks" {
					continue
				}
				for _, body := range []string{`{}`, `{"ip":"192.0.2.0/24","severity":"no_access"}`, `{"domain":"x.example","severity":"suspend"}`} {
					root.Do(method, "/api/v1/admin/"+kind+"/"+id, "application/json", strings.NewReader(body)).Want(404)
				}
			}
		}
	}
	if n := srv.Count(`SELECT count(*) FROM ip_blocks`); n != 0 {
		t.Errorf("%d blocks were made", n)
	}
}
