package staff_test

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/admin"
	"svc/app/apptest"
	"svc/server"
	"svc/server/web"
	"svc/store"
)

// unlogged are routes of staff that write by their method, and why they add no entry to the moderation log.
var unlogged = map[string]string{
	"POST /api/v1/admin/measures":                    "reads figures",
	"POST /api/v1/admin/dimensions":                  "reads figures",
	"POST /api/v1/admin/retention":                   "reads figures",
	"POST /api/v1/admin/canonical_email_blocks/test": "reads",
	"POST /api/v1/svc/admin/doctor":                  "reads",

	"POST /api/v1/svc/admin/jobs/retry":                  "TestJobs checks its entry",
	"POST /api/v1/svc/admin/federation/deliveries/retry": "TestDeliveries checks its entry",
	"POST /api/v1/svc/admin/federation/deliveries/drop":  "TestDeliveries checks its entry",
}

// readingChanges are routes that change something although their method is GET.
var readingChanges = []string{
	"GET /api/v1/svc/admin/restart", "GET /api/v1/svc/emoji/packs/import", "GET /api/v1/svc/admin/users/:nickname/password_reset",
}

// otherChanges are requests for the routes that the pages of the admin front end do not use.
var otherChanges = []adminCall{
	{request: "PUT A/users/disable_mfa", body: apptest.Doc{"nickname": "alice"}},
	{request: "POST A/users/bob/permission_group/moderator"},
	{request: "DELETE A/users/bob/permission_group/moderator"},
	{request: "PATCH A/users/suggest", body: apptest.Doc{"nicknames": list{"bob"}}},
	{request: "PATCH A/users/unsuggest", body: apptest.Doc{"nicknames": list{"bob"}}},
	{request: "POST A/users/follow", body: apptest.Doc{"follower": "alice", "followed": "bob"}},
	{request: "POST A/users/unfollow", body: apptest.Doc{"follower": "alice", "followed": "bob"}},
	{request: "POST A/announcements", body: apptest.Doc{"content": "news"}, keep: list{"announcement=id"}},
	{request: "PATCH A/announcements/{announcement}", body: apptest.Doc{"content": "more news"}},
	{request: "DELETE A/announcements/{announcement}"},
	{request: "POST A/rules", body: apptest.Doc{"text": "Be brief"}, keep: list{"other=id"}},
	{request: "PATCH A/rules/{other}", body: apptest.Doc{"text": "Be short"}},
	{request: "DELETE A/rules/{other}"},
	{request: "DELETE A/instances/far.example"},
	{request: "POST A/restart"},
	{request: "POST A/frontends/use", body: apptest.Doc{"version": "fe/main"}},
	{request: "POST A/frontends/use", body: apptest.Doc{"version": ""}},
	{request: "DELETE A/frontends", body: apptest.Doc{"version": "fe/main"}},
	{request: "POST A/storage/prune"},
	{request: "PUT A/settings/instance.name", body: apptest.Doc{"value": "Tea house"}},
	{request: "DELETE A/settings/instance.name"},
	{request: "POST A/jobs/1/retry"},
	{request: "DELETE A/jobs/2"},
	{request: "DELETE A/jobs"},

	{request: "POST A/users", body: apptest.Doc{"users": []apptest.Doc{
		{"nickname": "dora", "email": "dora@example.org", "password": "a long password"}, {"nickname": "emil", "email": "emil@example.org", "password": "a long password"},
		{"nickname": "fred", "email": "fred@example.org", "password": "a long password"}}}},
}

// pendingChanges are requests about dora, emil and fred, who await confirmation and approval, and all others.
var pendingChanges = []adminCall{
	{request: "PATCH A/users/resend_confirmation_email", body: apptest.Doc{"nicknames": list{"dora"}}},
	{request: "PATCH A/users/confirm_email", body: apptest.Doc{"nicknames": list{"dora", "emil", "fred"}}},
	{request: "PATCH A/users/approve", body: apptest.Doc{"nicknames": list{"dora"}}},
	{request: "GET /api/v1/admin/accounts?username=emil", keep: list{"emil=list.0.id"}},
	{request: "GET /api/v1/admin/accounts?username=fred", keep: list{"fred=list.0.id"}},
	{request: "POST /api/v1/admin/accounts/{emil}/approve"},
	{request: "POST /api/v1/admin/accounts/{fred}/reject"},
	{request: "POST /api/v1/admin/accounts/{emil}/action", body: "type=disable"},
	{request: "POST /api/v1/admin/accounts/{emil}/enable"},
	{request: "POST /api/v1/admin/accounts/{emil}/action", body: "type=sensitive"},
	{request: "POST /api/v1/admin/accounts/{emil}/unsensitive"},
	{request: "POST /api/v1/admin/accounts/{emil}/action", body: "type=silence"},
	{request: "POST /api/v1/admin/accounts/{emil}/unsilence"},
	{request: "POST /api/v1/admin/accounts/{emil}/action", body: "type=suspend"},
	{request: "POST /api/v1/admin/accounts/{emil}/unsuspend"},
	{request: "POST /api/v1/admin/accounts/{emil}/action", body: "type=suspend"},
	{request: "DELETE /api/v1/admin/accounts/{emil}"},

	{request: "POST /api/v1/admin/reports/{report}/reopen"},
	{request: "POST /api/v1/admin/reports/{report}/assign_to_self"},
	{request: "POST /api/v1/admin/reports/{report}/unassign"},
	{request: "PUT /api/v1/admin/reports/{report}", body: "category=spam"},
	{request: "POST /api/v1/admin/reports/{report}/resolve"},

	{request: "POST /api/v1/admin/domain_blocks", body: "domain=bad.example&severity=suspend", keep: list{"block=id"}},
	{request: "PUT /api/v1/admin/domain_blocks/{block}", body: "severity=silence"},
	{request: "DELETE /api/v1/admin/domain_blocks/{block}"},
	{request: "POST /api/v1/admin/domain_allows", body: "domain=good.example", keep: list{"allow=id"}},
	{request: "DELETE /api/v1/admin/domain_allows/{allow}"},
	{request: "POST /api/v1/admin/email_domain_blocks", body: "domain=mail.example", keep: list{"maildomain=id"}},
	{request: "DELETE /api/v1/admin/email_domain_blocks/{maildomain}"},
	{request: "POST /api/v1/admin/canonical_email_blocks", body: "email=spam@mail.example", keep: list{"mail=id"}},
	{request: "DELETE /api/v1/admin/canonical_email_blocks/{mail}"},
	{request: "POST /api/v1/admin/ip_blocks", body: "ip=192.0.2.0/24&severity=no_access", keep: list{"ip=id"}},
	{request: "PUT /api/v1/admin/ip_blocks/{ip}", body: "severity=sign_up_block"},
	{request: "DELETE /api/v1/admin/ip_blocks/{ip}"},
	{request: "DELETE A/users?nickname=dora"},
}

// TestEveryChangeIsLogged makes a change by each route of staff that writes, as the router lists them, and checks that one of its requests
// added an entry to the moderation log.
func TestEveryChangeIsLogged(t *testing.T) {
	f, alice := newAdminFrontend(t, "/api/v1/svc/admin")
	alice.EnableMFA()
	addParkedJobs(f.Server, 1, 3)
	var want []string
	patterns := make(map[string]*regexp.Regexp)
	for _, r := range server.Routes() {
		isStaff := strings.HasPrefix(r.Access, "staff") || strings.HasPrefix(r.Access, "admin")
		if name := r.Method + " " + r.Path; isStaff && (r.Method != "GET" || slices.Contains(readingChanges, name)) && unlogged[name] == "" {
			want = append(want, name)
			patterns[name] = regexp.MustCompile("^" + regexp.MustCompile(`:\w+`).ReplaceAllString(name, "[^/]+") + "$")
		}
	}
	if len(want) < 85 {
		t.Errorf("only %d routes change something: %v", len(want), want)
	}
	called, logged := make(map[string]bool), make(map[string]bool)
	entries := func() int {
		page, err := f.Server.Admin.Log(t.Context(), admin.LogQuery{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return len(page)
	}
	before := entries()
	f.after = func(method, path string) {
		now := entries()
		address, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		name := f.routeOf(method, address.Path, patterns)
		called[name] = true
		logged[name] = logged[name] || now > before
		before = now
	}
	for _, page := range [][]adminCall{
		adminUsersPage, adminUserPage, adminReportsPage, adminStatusesPage, adminInvitesPage, adminRelaysPage, adminMediaPage, adminEmojiPage, adminSettingsPage,
		adminLogPage, otherChanges,
	} {
		f.walk("the log", page)
	}
	for _, nick := range []string{"dora", "emil", "fred"} {
		f.Server.ChangeUser(nick, func(u *store.User) { u.ApprovedAt, u.ConfirmedAt = nil, nil })
	}
	f.walk("the log", pendingChanges)
	archive := string(apptest.Zip(t, map[string][]byte{"cat.png": apptest.PNG(4, 4)}))
	f.walk("the log", []adminCall{{request: "POST P/emoji/packs/download_zip", body: []apptest.FormPart{
		apptest.ValuePart("name", "zipped"), {Name: "file", Filename: "zipped.zip", Content: archive, IsFile: true}}}})
	outbox := apptest.Zip(t, map[string][]byte{"actor.json": []byte(`{"id":"https://old.example/users/alice","type":"Person","preferredUsername":"alice"}`), "outbox.json": []byte(`{"orderedItems":[]}`)})
	if err := os.WriteFile(filepath.Join(f.Server.Dir, "imports", "old.zip"), outbox, 0o600); err != nil {
		t.Fatal(err)
	}
	f.walk("the log", []adminCall{{request: "POST A/archives", body: apptest.Doc{"nickname": "alice", "file": "old.zip"}}})
	wantTranslated(t, f.Server)
	for _, name := range want {
		switch {
		case !called[name]:
			t.Errorf("%s was not called: add a request to otherChanges, or a reason to unlogged", name)
		case !logged[name]:
			t.Errorf("%s added no entry to the moderation log", name)
		}
	}
}

// wantTranslated checks that each language of the pages has all entries of the moderation log.
func wantTranslated(t *testing.T, srv *apptest.Server) {
	t.Helper()
	entries, err := srv.Admin.Log(t.Context(), admin.LogQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range web.Languages()[1:] {
		for _, e := range entries {
			if m.LogMessage(e.Message) == e.Message {
				t.Errorf("%s: the messages do not have %q (%s)", m.Language, e.Message, e.Action)
			}
		}
	}
}

// routeOf returns the route of a request, "" if it is none of the patterns. A route without parameters comes first.
func (f *adminFrontend) routeOf(method, path string, patterns map[string]*regexp.Regexp) string {
	path = strings.Replace(path, "/api/v1/"+f.Server.Settings.API.Name+"/", "/api/v1/svc/", 1)
	if _, ok := patterns[method+" "+path]; ok {
		return method + " " + path
	}
	for name, pattern := range patterns {
		if pattern.MatchString(method + " " + path) {
			return name
		}
	}
	return ""
}
