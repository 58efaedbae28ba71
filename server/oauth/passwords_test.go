package oauth_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/admin"
	"svc/app/apptest"
	"svc/internal/config"
	"svc/internal/keys"
	"svc/store"
)

// TestPasswordMinLength checks the setting wherever a password is chosen.
func TestPasswordMinLength(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Accounts.PasswordMinLength = 17; c.Instance.RegistrationsOpen = true })
	alice := srv.SignUp("alice") // apptest.Password has more characters
	const short, long = "sixteen letters.", "seventeen letters"
	change := func(p string) *apptest.Response {
		return alice.Post("/api/v1/svc/change_password", "password", apptest.Password, "new_password", p, "new_password_confirmation", p)
	}
	change(short).WantError(200, "New password should be at least 17 characters.")
	srv.Browser().Get("/auth/sign_up").Want(200, "17 characters at least")
	change(long).WantFields(apptest.Doc{"status": "success"})
}

func TestChangePassword(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	app := srv.RegisterApp()
	code := authorizeInBrowser(srv, "alice", "response_type", "code", "client_id", app.ID).Codes[0]
	other := tokenClient(srv, srv.Grant(app, "password", "username", "alice", "password", apptest.Password))
	change := func(password, newPassword, again string) *apptest.Response {
		t.Helper()
		return alice.Post("/api/v1/svc/change_password", "password", password, "new_password", newPassword, "new_password_confirmation", again)
	}
	for _, tt := range []struct{ password, newPassword, again, want string }{
		{"wrong", "new", "other", "New password does not match confirmation."},
		{"wrong", "new", "new", "Invalid password."},
		{"", "new", "new", "Invalid password."},
		{apptest.Password, "", "", "New password can't be blank."},
		{apptest.Password, " ", " ", "New password can't be blank."},
		{apptest.Password, "1234567", "1234567", "New password should be at least 8 characters."},
		{apptest.Password, strings.Repeat("x", 257), strings.Repeat("x", 257), "New password should be at most 256 characters."},
		{apptest.Password, "Alice@Example.org", "Alice@Example.org", "New password can't be the nickname or the e-mail address."},
	} {
		change(tt.password, tt.newPassword, tt.again).WantError(200, tt.want)
	}
	srv.As(nil).Post("/api/v1/svc/change_password").WantError(403, "Invalid credentials.")
	tokenClient(srv, srv.Grant(app, "password", "username", "alice", "password", apptest.Password, "scope", "read")).
		Post("/api/svc/change_password").WantError(403, "Insufficient permissions: write:accounts.")
	alice.Get(verifyCredentials).Want(200)

	if got := change(apptest.Password, "the new one", "the new one").Want(200).Object().Str("status"); got != "success" {
		t.Errorf("status is %s", got)
	}
	for _, c := range []*apptest.Client{alice.Client, other} {
		c.Get(verifyCredentials).Want(401)
	}
	bob.Get(verifyCredentials).Want(200)
	srv.Grant(app, "authorization_code", "code", code).WantError(400, "invalid_grant")
	srv.Grant(app, "password", "username", "alice", "password", apptest.Password).WantError(400, "invalid_grant")
	srv.Grant(app, "password", "username", "alice", "password", "the new one").Want(200)
}

// TestConcurrentPasswordChanges changes the password several times at once: all but the first send a wrong old password.
func TestConcurrentPasswordChanges(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	responses := make([]*apptest.Response, 6)
	var wg sync.WaitGroup
	for i := range responses {
		wg.Go(func() {
			next := fmt.Sprintf("the new one %d", i)
			responses[i] = alice.Post("/api/v1/svc/change_password", "password", apptest.Password, "new_password", next, "new_password_confirmation", next)
		})
	}
	wg.Wait()
	changed := 0
	for _, a := range responses {
		if a.Status == 200 && a.Object().Fields["status"] == "success" {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d changes succeeded, want 1", changed)
	}
}

func TestPasswordReset(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.API.Name = "other" })
	alice := srv.SignUp("alice")
	account, err := srv.DB.AccountByName(t.Context(), "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	start := func() string {
		t.Helper()
		token, err := srv.Social.StartPasswordReset(t.Context(), account.ID)
		if err != nil {
			t.Fatal(err)
		}
		return "/api/v1/other/password_reset/" + token
	}
	old, link := start(), start()
	b := srv.Browser()
	b.Get(old).Want(200, "Invalid Token") // replaced by the newer one
	b.Get("/api/v1/other/password_reset/nonsense").Want(200, "Invalid Token")
	page := b.Get(link).Want(200, "New password for @alice")
	if page.Header.Get("Content-Type") != "text/html; charset=utf-8" || page.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers: %v", page.Header)
	}
	page.Submit(0, "data[password]", "one", "data[password_confirmation]", "two").Want(200, "Password reset failed: the two passwords are not the same.")
	page.Submit(0, "data[password]", " ", "data[password_confirmation]", " ").Want(200, "Password reset failed: the password can't be blank.")
	page.Submit(0, "data[password]", "1234567", "data[password_confirmation]", "1234567").Want(200, "the password should be at least 8 characters.")
	srv.ChangeUser("alice", func(u *store.User) { u.ResetRequired = true })
	page.Submit(0, "data[password]", "the new one", "data[password_confirmation]", "the new one").Want(200, "Password changed!")
	alice.Get(verifyCredentials).Want(401)
	app := srv.RegisterApp()
	srv.Grant(app, "password", "username", "alice", "password", apptest.Password).Want(400)
	srv.Grant(app, "password", "username", "alice", "password", "the new one").Want(200)
	page.Submit(0, "data[password]", "once again", "data[password_confirmation]", "once again").Want(200, "Password reset failed")
	b.Get(link).Want(200, "Invalid Token")
	srv.Grant(app, "password", "username", "alice", "password", "the new one").Want(200)

	link = start()
	if _, err := srv.Admin.ResetPassword(t.Context(), admin.PasswordReset{Name: account.Nickname, Password: "by command"}); err != nil {
		t.Fatal(err)
	}
	b.Get(link).Want(200, "Invalid Token") // a new password invalidates the link
	link = start()
	srv.ChangeUser("alice", func(u *store.User) { u.DeactivatedAt = u.ConfirmedAt })
	b.Get(link).Want(200, "Invalid Token")
}

func TestPasswordResetExpires(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	account, err := srv.DB.AccountByName(t.Context(), "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	token := keys.NewToken()
	err = srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		return tx.SetOneTimeToken(t.Context(), &store.OneTimeToken{
			Hash: keys.HashToken(token), Kind: store.ResetPassword, AccountID: account.ID, ExpiresAt: store.At(time.Now().Add(-time.Second)),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Browser().Get("/api/v1/svc/password_reset/"+token).Want(200, "Invalid Token")
}

func TestPasswordResetRateLimit(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.RateLimit.Enabled = true })
	b := srv.Browser()
	for range srv.Settings.RateLimit.PasswordReset.Count {
		b.Post("/api/v1/svc/password_reset", nil).Want(200, "Password reset failed")
	}
	b.Post("/api/v1/svc/password_reset", nil).Want(429, "Too many attempts")
}
