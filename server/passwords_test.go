package server_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/config"
	"svc/internal/keys"
	"svc/store"
)

func TestChangePassword(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	app := srv.registerApp()
	code := srv.walk("alice", "response_type", "code", "client_id", app.id).codes[0]
	other := srv.grant(app, "password", "username", "alice", "password", testPassword).asToken(srv)
	change := func(password, newPassword, again string) *answer {
		t.Helper()
		return alice.post("/api/v1/svc/change_password", "password", password, "new_password", newPassword, "new_password_confirmation", again)
	}
	for _, tt := range []struct{ password, newPassword, again, want string }{
		{"wrong", "new", "other", "New password does not match confirmation."},
		{"wrong", "new", "new", "Invalid password."},
		{"", "new", "new", "Invalid password."},
		{testPassword, "", "", "New password can't be blank."},
		{testPassword, " ", " ", "New password can't be blank."},
		{testPassword, strings.Repeat("x", 257), strings.Repeat("x", 257), "New password should be at most 256 character(s)."},
	} {
		change(tt.password, tt.newPassword, tt.again).wantError(200, tt.want)
	}
	srv.as(nil).post("/api/v1/svc/change_password").wantError(403, "Invalid credentials.")
	srv.grant(app, "password", "username", "alice", "password", testPassword, "scope", "read").asToken(srv).
		post("/api/svc/change_password").wantError(403, "Insufficient permissions: write:accounts.")
	alice.get(me).want(200)

	if got := change(testPassword, "the new one", "the new one").want(200).object().str("status"); got != "success" {
		t.Errorf("status is %s", got)
	}
	for _, c := range []*caller{alice.caller, other} {
		c.get(me).want(401)
	}
	bob.get(me).want(200)
	srv.grant(app, "authorization_code", "code", code).wantError(400, "invalid_grant")
	srv.grant(app, "password", "username", "alice", "password", testPassword).wantError(400, "invalid_grant")
	srv.grant(app, "password", "username", "alice", "password", "the new one").want(200)
}

// TestChangePasswordAtOnce has the password changed twice at a time: the one that comes later no longer knows it.
func TestChangePasswordAtOnce(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	answers := make([]*answer, 6)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			next := fmt.Sprintf("the new one %d", i)
			answers[i] = alice.post("/api/v1/svc/change_password", "password", testPassword, "new_password", next, "new_password_confirmation", next)
		})
	}
	wg.Wait()
	changed := 0
	for _, a := range answers {
		if a.status == 200 && a.object().m["status"] == "success" {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("it was changed %d times", changed)
	}
}

func TestPasswordReset(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.API.Name = "other" })
	alice := srv.signUp("alice")
	account, err := srv.db.AccountByName(t.Context(), "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	start := func() string {
		t.Helper()
		token, err := srv.social.StartPasswordReset(t.Context(), account.ID)
		if err != nil {
			t.Fatal(err)
		}
		return "/api/v1/other/password_reset/" + token
	}
	old, link := start(), start()
	b := srv.browser()
	b.get(old).want(200, "Invalid Token") // replaced by the newer one
	b.get("/api/v1/other/password_reset/nonsense").want(200, "Invalid Token")
	page := b.get(link).want(200, "New password for @alice")
	if page.header.Get("Content-Type") != "text/html; charset=utf-8" || page.header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers: %v", page.header)
	}
	page.submit(0, "data[password]", "one", "data[password_confirmation]", "two").want(200, "Password reset failed: the two passwords are not the same.")
	page.submit(0, "data[password]", " ", "data[password_confirmation]", " ").want(200, "Password reset failed: the password can't be blank.")
	srv.changeUser("alice", func(u *store.User) { u.ResetRequired = true })
	page.submit(0, "data[password]", "the new one", "data[password_confirmation]", "the new one").want(200, "Password changed!")
	alice.get(me).want(401)
	app := srv.registerApp()
	srv.grant(app, "password", "username", "alice", "password", testPassword).want(400)
	srv.grant(app, "password", "username", "alice", "password", "the new one").want(200)
	page.submit(0, "data[password]", "again", "data[password_confirmation]", "again").want(200, "Password reset failed")
	b.get(link).want(200, "Invalid Token")
	srv.grant(app, "password", "username", "alice", "password", "the new one").want(200)

	link = start()
	if err := srv.social.SetPassword(t.Context(), account.ID, "by command"); err != nil {
		t.Fatal(err)
	}
	b.get(link).want(200, "Invalid Token") // it was for the old password
	link = start()
	srv.changeUser("alice", func(u *store.User) { u.DeactivatedAt = u.ConfirmedAt })
	b.get(link).want(200, "Invalid Token")
}

func TestPasswordResetExpires(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	account, err := srv.db.AccountByName(t.Context(), "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	token := keys.NewToken()
	err = srv.db.Update(t.Context(), func(tx *store.Tx) error {
		return tx.SetOneTimeToken(t.Context(), &store.OneTimeToken{
			Hash: keys.HashToken(token), Kind: store.ResetPassword, AccountID: account.ID, ExpiresAt: store.At(time.Now().Add(-time.Second)),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.browser().get("/api/v1/svc/password_reset/"+token).want(200, "Invalid Token")
}

func TestPasswordResetIsThrottled(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.RateLimit.Enabled = true })
	b := srv.browser()
	for range srv.settings.RateLimit.PasswordReset.Count {
		b.post("/api/v1/svc/password_reset", nil).want(200, "Invalid Token")
	}
	b.post("/api/v1/svc/password_reset", nil).want(429, "Too many tries")
}
