package server_test

import (
	"strings"
	"sync"
	"testing"

	"svc/app/apptest"
	"svc/server"
)

func TestSetup(t *testing.T) {
	srv := apptest.Start(t)
	link := server.SetupURL(srv.Settings, srv.Keys)
	b := srv.Browser()
	b.Get(link+"x").Want(404, "There is no page at this address")
	b.Get("/setup/nonsense").Want(404)
	page := b.Get(link).Want(200, "Create the first account", "@nickname@"+srv.Settings.Host())
	if page.Header.Get("Cache-Control") != "no-store" || page.Header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("headers: %v", page.Header)
	}
	good := []string{"nickname", "owner", "email", "owner@example.org", "password", apptest.Password, "password_confirmation", apptest.Password}
	for _, tt := range []struct {
		field, value, want string
	}{
		{"password_confirmation", "another", "The second password is not the same as the first"},
		{"nickname", "a b", "The nickname has invalid format"},
		{"nickname", "", "The nickname can't be blank"},
		{"email", "x", "The e-mail address has invalid format"},
	} {
		again := page.Submit(0, append(good, tt.field, tt.value)...).Want(422, tt.want)
		if again.Forms[0].Fields.Get("nickname") == "" && tt.field != "nickname" || again.Forms[0].Fields.Get("password") != "" {
			t.Errorf("the form is repeated with %v", again.Forms[0].Fields)
		}
	}
	page.Submit(0, append(good, "password", " ", "password_confirmation", " ")...).Want(422, "The password can't be blank")
	b.Origin = "https://evil.example.com"
	page.Submit(0, good...).Want(403)
	b.Origin = srv.URL

	page.Submit(0, good...).Follow().Want(200, "Welcome! Your account is ready.", "@owner")
	if b.Cookies["_svc_key"] == nil {
		t.Error("the browser is not signed in")
	}
	b.Get("/api/v1/notifications").Want(200)
	account, err := srv.DB.AccountByName(t.Context(), "owner", "")
	if err != nil {
		t.Fatal(err)
	}
	if user, err := srv.DB.User(t.Context(), account.ID); err != nil || !user.IsAdmin || !user.CanSignIn() {
		t.Errorf("the account is %+v, %v", user, err)
	}
	closed := srv.Browser().Get(link).Want(410, "has an administrator")
	if len(closed.Forms) != 0 {
		t.Error("the page still has a form")
	}
	page.Submit(0, "nickname", "second", "password", apptest.Password, "password_confirmation", apptest.Password).Want(410)
	srv.Browser().Get("/setup/nonsense").Want(404)
}

// TestSetupAtOnce checks that of concurrent requests to create the first account one succeeds.
func TestSetupAtOnce(t *testing.T) {
	srv := apptest.Start(t)
	path := strings.TrimPrefix(server.SetupURL(srv.Settings, srv.Keys), srv.URL)
	var wg sync.WaitGroup
	statuses := make([]int, 6)
	for i := range statuses {
		wg.Go(func() {
			nick := "owner" + string(rune('a'+i))
			statuses[i] = srv.As(nil).Post(path, "nickname", nick, "password", apptest.Password, "password_confirmation", apptest.Password).Status
		})
	}
	wg.Wait()
	created := 0
	for _, s := range statuses {
		switch s {
		case 302:
			created++
		case 410:
		default:
			t.Errorf("got %d", s)
		}
	}
	if created != 1 {
		t.Errorf("%d accounts were created", created)
	}
}
