package server_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/server"
	"svc/store"
)

var pathParameter = regexp.MustCompile(`[:*]\w+`)

// refusals are the beginnings of the errors that refuse access.
var refusals = []string{
	"The access token is invalid", "Invalid credentials", "This method requires an authenticated user",
	"This action is outside the authorized scopes", "Insufficient permissions", "User is not a staff member", "User is not an admin", "User isn't privileged",
}

// accessError returns the error if the response refuses access, else "".
func accessError(a *apptest.Response) string {
	var body struct{ Error string }
	if a.Status != 401 && a.Status != 403 && a.Status != 422 || json.Unmarshal(a.Body, &body) != nil {
		return ""
	}
	for _, r := range refusals {
		if strings.HasPrefix(body.Error, r) {
			return body.Error
		}
	}
	return ""
}

// TestAccessWalk sends requests to all routes as every kind of caller, and compares the access with that in the route tables. Routes may
// refuse the meaningless requests with any status except 500.
func TestAccessWalk(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.Start(t)
	alice, moderator, admin := srv.SignUp("alice"), srv.SignUp("moderator"), srv.SignUp("admin")
	srv.SetRole(moderator, false, true)
	srv.SetRole(admin, true, false)
	const all = "read write follow push admin"
	callers := []struct {
		name   string
		rank   int // 0 nobody, 1 an app, 2 a user, 3 a moderator, 4 an admin
		scopes string
		caller *apptest.Client
	}{
		{"an anonymous client", 0, "", srv.As(nil)},
		{"a wrong token", 0, "", &apptest.Client{Server: srv, Token: "wrong"}},
		{"an app", 1, all, srv.NewToken(nil, all)},
		{"a user", 2, all, srv.NewToken(alice, all)},
		{"a user without scopes", 2, "push", srv.NewToken(alice, "push")},
		{"a user with other scopes", 2, "read:search write:conversations", srv.NewToken(alice, "read:search write:conversations")},
		{"a moderator", 3, all, srv.NewToken(moderator, all)},
		{"an admin", 4, all, srv.NewToken(admin, all)},
		{"an admin without scopes", 4, "push", srv.NewToken(admin, "push")},
	}
	ranks := map[string]int{"anyone": 0, "app": 1, "user": 2, "staff": 3, "admin": 4}
	for _, route := range server.Routes() {
		if route.Access == "session" { // see TestPagesWalk
			continue
		}
		access, scopes, _ := strings.Cut(route.Access, " ")
		access, privilege, _ := strings.Cut(access, ":")
		rank, ok := ranks[access]
		if !ok {
			t.Fatalf("%s %s has the unknown access %q", route.Method, route.Path, route.Access)
		}
		path := pathParameter.ReplaceAllString(route.Path, "1")
		for _, c := range callers {
			if endsSession(path) && c.rank > 0 || route.Method+path == "POST/api/v1/accounts" && c.rank > 1 { // for apps only
				continue
			}
			covered := scopes == ""
			for _, scope := range strings.Split(scopes, "|") {
				covered = covered || store.ParseScopes(c.scopes).Allow(scope)
			}
			want := rank == 0 || c.rank >= rank && covered
			if privilege != "" && !srv.Settings.Instance.HasPrivilege(c.rank == 4, c.rank == 3, config.Privilege(privilege)) {
				want = false
			}
			if path == "/api/v1/streaming" && c.name == "a wrong token" { // refused although the route is public (client API 4.10)
				want = false
			}
			a := c.caller.Do(route.Method, path, "", nil)
			got := accessError(a) == ""
			if got != want {
				t.Errorf("%s %s (%s): %s has access: %v, want %v: %d %s", route.Method, route.Path, route.Access, c.name, got, want, a.Status, a.Body)
			}
			if a.Status >= 500 && a.Status != 503 {
				t.Errorf("%s %s: %s gets %d %s", route.Method, route.Path, c.name, a.Status, a.Body)
			}
			if strings.HasPrefix(path, "/api/") && a.Status != 204 && !json.Valid(a.Body) && !strings.HasPrefix(a.Header.Get("Content-Type"), "text/") {
				t.Errorf("%s %s: %s gets a body that is not JSON: %d %q", route.Method, route.Path, c.name, a.Status, a.Body)
			}
			if rank > 0 && !want && a.Status < 400 {
				t.Errorf("%s %s: %s gets %d", route.Method, route.Path, c.name, a.Status)
			}
		}
	}
}

// endsSession returns true for paths that revoke the tokens of the callers.
func endsSession(path string) bool {
	return strings.Contains(path, "delete_account") || strings.Contains(path, "disable_account") || strings.Contains(path, "oauth_tokens")
}

// TestUnknownPaths checks that unknown paths return a 404 in JSON with CORS headers.
func TestUnknownPaths(t *testing.T) {
	srv := apptest.Start(t)
	for _, tt := range []struct{ method, path string }{
		{"GET", "/api/v1/no-such-thing"}, {"POST", "/api/v1/no-such-thing"}, {"GET", "/api/v9/instance"},
		{"GET", "/api/v1/statuses/1/2/3/4"}, {"POST", "/api/v1/svc/nothing"}, {"GET", "/api/svc/nothing"},
	} {
		t.Run(fmt.Sprint(tt.method, tt.path), func(t *testing.T) {
			a := srv.As(nil).Do(tt.method, tt.path, "", nil)
			a.WantError(404, "Record not found")
			if got := a.Header.Get("Access-Control-Allow-Origin"); got != "*" {
				t.Errorf("Access-Control-Allow-Origin is %q", got)
			}
		})
	}
}
