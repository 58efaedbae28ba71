package server_test

import (
	"strings"
	"sync"
	"testing"

	"svc/server"
)

func TestSetup(t *testing.T) {
	srv := startAPI(t)
	link := server.SetupURL(srv.settings, srv.keys)
	b := srv.browser()
	b.get(link+"x").want(404, "There is no page at this address")
	b.get("/setup/nonsense").want(404)
	page := b.get(link).want(200, "Make the first account", "@nickname@"+srv.settings.Host())
	if page.header.Get("Cache-Control") != "no-store" || page.header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("headers: %v", page.header)
	}
	good := []string{"nickname", "owner", "email", "owner@example.org", "password", testPassword, "password_confirmation", testPassword}
	for _, tt := range []struct {
		field, value, want string
	}{
		{"password_confirmation", "another", "The second password is not the same as the first"},
		{"nickname", "a b", "The nickname has invalid format"},
		{"nickname", "", "The nickname can't be blank"},
		{"email", "x", "The address has invalid format"},
	} {
		again := page.submit(0, append(good, tt.field, tt.value)...).want(422, tt.want)
		if again.forms[0].fields.Get("nickname") == "" && tt.field != "nickname" || again.forms[0].fields.Get("password") != "" {
			t.Errorf("the form comes back with %v", again.forms[0].fields)
		}
	}
	page.submit(0, append(good, "password", " ", "password_confirmation", " ")...).want(422, "The password can't be blank")
	b.origin = "https://evil.example.com"
	page.submit(0, good...).want(403)
	b.origin = srv.url

	page.submit(0, good...).want(200, "Welcome, @owner", srv.settings.Host())
	if b.cookies["_svc_key"] == nil {
		t.Error("the browser is not signed in")
	}
	b.get("/api/v1/notifications").want(200)
	account, err := srv.db.AccountByName(t.Context(), "owner", "")
	if err != nil {
		t.Fatal(err)
	}
	if user, err := srv.db.User(t.Context(), account.ID); err != nil || !user.IsAdmin || !user.Usable() {
		t.Errorf("the account is %+v, %v", user, err)
	}
	gone := srv.browser().get(link).want(410, "has an administrator")
	if len(gone.forms) != 0 {
		t.Error("there is a form still")
	}
	page.submit(0, "nickname", "second", "password", testPassword, "password_confirmation", testPassword).want(410)
	srv.browser().get("/setup/nonsense").want(404)
}

// TestSetupAtOnce has several make the first account at the same time: one does.
func TestSetupAtOnce(t *testing.T) {
	srv := startAPI(t)
	path := strings.TrimPrefix(server.SetupURL(srv.settings, srv.keys), srv.url)
	var wg sync.WaitGroup
	statuses := make([]int, 6)
	for i := range statuses {
		wg.Go(func() {
			nick := "owner" + string(rune('a'+i))
			statuses[i] = srv.as(nil).post(path, "nickname", nick, "password", testPassword, "password_confirmation", testPassword).status
		})
	}
	wg.Wait()
	made := 0
	for _, s := range statuses {
		switch s {
		case 200:
			made++
		case 410:
		default:
			t.Errorf("got %d", s)
		}
	}
	if made != 1 {
		t.Errorf("%d accounts were made", made)
	}
}
