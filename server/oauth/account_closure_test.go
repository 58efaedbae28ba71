package oauth_test

import (
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

const ownAccount = "/api/v1/accounts/verify_credentials"

func TestDeleteAccount(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	bob.AccountAction(alice.ID, "follow")
	alice.AccountAction(bob.ID, "follow")
	post := alice.Publish("hello")
	other := srv.NewToken(alice, "read")
	socket := srv.OpenStream(alice.Client, "stream", "user")

	for _, path := range []string{"/api/v1/svc/delete_account", "/api/svc/delete_account"} {
		alice.Post(path).WantError(200, "Invalid password.")
		alice.Post(path, "password", "wrong").WantError(200, "Invalid password.")
		srv.As(nil).Post(path, "password", apptest.Password).WantError(403, "Invalid credentials.")
		other.Post(path, "password", apptest.Password).WantError(403, "Insufficient permissions: write:accounts.")
	}
	alice.Get(ownAccount).Want(200)

	if got := alice.Post("/api/svc/delete_account?password=" + "correct+horse+battery+staple").Want(200); string(got.Body) != `{"status":"success"}` {
		t.Errorf("got %s", got.Body)
	}
	alice.Get(ownAccount).Want(401)
	other.Get(ownAccount).Want(401)
	if code := socket.WaitEnd(); code != 1008 {
		t.Errorf("the socket was closed with %d", code)
	}
	alice.Post("/api/v1/svc/delete_account", "password", apptest.Password).WantError(403, "Invalid credentials.")
	bob.Get("/api/v1/accounts/" + alice.ID).Want(404)
	bob.Get("/api/v1/statuses/" + post.ID()).Want(404)
	srv.RunJobs()
	me := bob.Get(ownAccount).Want(200).Object()
	if me.Int("followers_count") != 0 || me.Int("following_count") != 0 {
		t.Errorf("follows of the deleted account count: %v", me.Fields)
	}
	app := srv.RegisterApp()
	srv.Grant(app, "password", "username", "alice", "password", apptest.Password).WantError(400, "invalid_grant")
	token := srv.Grant(app, "client_credentials").Want(200).Object().Str("access_token")
	again := (&apptest.Client{Server: srv, Token: token}).Post("/api/v1/accounts", "username", "Alice", "email", "alice@example.org",
		"password", apptest.Password, "agreement", "true")
	if again.Status != 400 {
		t.Errorf("the nickname of a deleted account can be registered again: %d %s", again.Status, again.Body)
	}
}

func TestDisableAccount(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, root := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUpAdmin()
	bob.AccountAction(alice.ID, "follow")
	alice.AccountAction(bob.ID, "follow")
	post := alice.Publish("hello")
	socket := srv.OpenStream(alice.Client, "stream", "user")
	alice.Post("/api/v1/svc/disable_account", "password", "wrong").WantError(200, "Invalid password.")
	srv.As(nil).Post("/api/v1/svc/disable_account", "password", apptest.Password).WantError(403, "Invalid credentials.")
	srv.NewToken(alice, "read").Post("/api/v1/svc/disable_account").WantError(403, "Insufficient permissions: write:accounts.")

	if got := alice.Post("/api/v1/svc/disable_account", "password", apptest.Password).Want(200); string(got.Body) != `{"status":"success"}` {
		t.Errorf("got %s", got.Body)
	}
	if code := socket.WaitEnd(); code != 1008 {
		t.Errorf("the socket was closed with %d", code)
	}
	srv.RunJobs()
	app := srv.RegisterApp()
	srv.Grant(app, "password", "username", "alice", "password", apptest.Password).Want(403)
	bob.Get("/api/v1/accounts/" + alice.ID).Want(404)
	bob.Get("/api/v1/statuses/" + post.ID()).Want(404)
	if o := root.Get("/api/v1/accounts/" + alice.ID).Want(200).Object(); !o.Bool("svc.deactivated") {
		t.Error("staff do not see that the account is deactivated")
	}

	if _, err := srv.Admin.ActivateUsers(t.Context(), []string{"alice"}); err != nil {
		t.Fatal(err)
	}
	alice.Get(ownAccount).Want(401) // the old token stays revoked
	bob.Get("/api/v1/statuses/" + post.ID()).Want(200)
	back := tokenClient(srv, srv.Grant(app, "password", "username", "alice", "password", apptest.Password))
	me := back.Get(ownAccount).Want(200).Object()
	if me.Int("followers_count") != 1 || me.Int("following_count") != 0 {
		t.Errorf("after the activation: %d followers, %d followed", me.Int("followers_count"), me.Int("following_count"))
	}
}

func TestLastAdminStays(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	for _, path := range []string{"/api/v1/svc/delete_account", "/api/v1/svc/disable_account"} {
		root.Post(path, "password", apptest.Password).WantError(200, "This is the last admin: make another account an admin first")
	}
	root.Get(ownAccount).Want(200)
	srv.SetRole(srv.SignUp("second"), true, false)
	root.Post("/api/v1/svc/disable_account", "password", apptest.Password).WantFields(apptest.Doc{"status": "success"})
}

// TestClosingCountsWrongPasswords checks that the password of an account cannot be guessed with its token.
func TestClosingCountsWrongPasswords(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.FailedLogins = config.Rate{Count: 3, Window: time.Minute}
	})
	alice := srv.SignUp("alice")
	for _, path := range []string{"delete_account", "disable_account", "change_password"} {
		alice.Post("/api/v1/svc/"+path, "password", "wrong").WantError(200, "Invalid password.")
	}
	for _, path := range []string{"delete_account", "disable_account", "change_password"} {
		alice.Post("/api/v1/svc/"+path, "password", apptest.Password).WantError(429, "Throttled")
	}
	app := srv.RegisterApp()
	if !isSlowed(t, func() *apptest.Response {
		return srv.Grant(app, "password", "username", "alice", "password", apptest.Password)
	}, 200) {
		t.Error("these failures do not count for signing in")
	}
}
