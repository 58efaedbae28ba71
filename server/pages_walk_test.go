package server_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/server"
)

// TestPagesWalk sends requests to all routes for signed-in browsers: without a session each leads to the page for signing in, whatever token
// the request has, and a form without the token of its session, or of another site, changes nothing.
func TestPagesWalk(t *testing.T) {
	srv := apptest.Start(t)
	admin := srv.SignUp("admin")
	srv.SetRole(admin, true, false)
	browser := admin.SignedIn()
	clients := map[string]*apptest.Client{"a visitor": srv.As(nil), "a token": srv.NewToken(admin, "read write follow push admin")}
	for _, route := range server.Routes() {
		if route.Access != "session" {
			continue
		}
		path := pathParameter.ReplaceAllString(route.Path, "1")
		for name, client := range clients {
			a := client.Do(route.Method, path, "", nil)
			if a.Status != 302 || !strings.HasPrefix(a.Header.Get("Location"), "/web/sign_in?") {
				t.Errorf("%s %s: %s gets %d %s", route.Method, path, name, a.Status, a.Header.Get("Location"))
			}
		}
		if route.Method == "GET" {
			continue
		}
		for name, origin := range map[string]string{"no token": srv.URL, "another site": "https://evil.example"} {
			if path == "/web/share" && name == "no token" {
				continue // the browser sends it for another program, and knows no token
			}
			browser.Origin = origin
			if a := browser.Post(path, nil); a.Status != 403 {
				t.Errorf("%s %s: a form with %s gets %d", route.Method, path, name, a.Status)
			}
		}
	}
}
