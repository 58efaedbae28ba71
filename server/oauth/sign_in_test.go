package oauth_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"svc/admin"
	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// doBasic makes a request with a name and a password.
func doBasic(a *apptest.Server, method, path, name, password string, headers ...string) *apptest.Response {
	a.T.Helper()
	req, err := http.NewRequestWithContext(a.T.Context(), method, a.URL+path, nil)
	if err != nil {
		a.T.Fatal(err)
	}
	req.SetBasicAuth(name, password)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return a.As(nil).DoRequest(req)
}

func TestBasic(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	secret := alice.Publish("psst", "visibility", "private")
	for _, tt := range []struct {
		name           string
		method, path   string
		user, password string
		headers        []string
		want           int
	}{
		{"nickname", "GET", "/api/v1/notifications", "alice", apptest.Password, nil, 200},
		{"cached", "GET", "/api/v1/notifications", "alice", apptest.Password, nil, 200},
		{"e-mail", "GET", "/api/v1/notifications", "alice@example.org", apptest.Password, nil, 200},
		{"all scopes", "POST", "/api/v1/statuses?status=hello", "alice", apptest.Password, nil, 200},
		{"extension", "GET", "/api/oauth_tokens", "alice", apptest.Password, nil, 200},
		{"a private status", "GET", "/api/v1/statuses/" + secret.ID(), "alice", apptest.Password, nil, 200},
		{"wrong: as anonymous", "GET", "/api/v1/statuses/" + secret.ID(), "alice", "wrong", nil, 404},
		{"wrong, on a public route", "GET", "/api/v1/timelines/public", "alice", "wrong", nil, 200},
		{"wrong", "GET", "/api/v1/notifications", "alice", "wrong", nil, 401},
		{"empty", "GET", "/api/v1/notifications", "alice", "", nil, 401},
		{"an unknown user", "GET", "/api/v1/notifications", "nobody", apptest.Password, nil, 401},
		{"from another site", "POST", "/api/v1/statuses?status=hello", "alice", apptest.Password, []string{"Origin", "https://evil.example.com"}, 403},
		{"a route for tokens", "GET", verifyCredentials, "alice", apptest.Password, nil, 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := doBasic(srv, tt.method, tt.path, tt.user, tt.password, tt.headers...).Want(tt.want)
			if strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Basic") {
				t.Error("browsers show their own password form")
			}
		})
	}
}

// TestBasicCache checks that a change of password and a deactivated account invalidate cached passwords.
func TestBasicCache(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	doBasic(srv, "GET", "/api/v1/notifications", "alice", apptest.Password).Want(200)
	alice.Post("/api/v1/svc/change_password", "password", apptest.Password, "new_password", "another one", "new_password_confirmation", "another one").Want(200)
	doBasic(srv, "GET", "/api/v1/notifications", "alice", apptest.Password).Want(401)
	doBasic(srv, "GET", "/api/v1/notifications", "alice", "another one").Want(200)
	srv.ChangeUser("alice", func(u *store.User) { u.DeactivatedAt = u.ConfirmedAt })
	doBasic(srv, "GET", "/api/v1/notifications", "alice", "another one").WantError(403, "Your login is currently disabled")
}

// TestBasicIsNotHashedEachTime holds all hashing slots, so that a request that hashes would block.
func TestBasicIsNotHashedEachTime(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	doBasic(srv, "GET", "/api/v1/notifications", "alice", apptest.Password).Want(200)
	first, err := srv.Social.Passwords.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Release()
	second, err := srv.Social.Passwords.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Release()
	doBasic(srv, "GET", "/api/v1/notifications", "alice", apptest.Password).Want(200)
}

func TestFailedLoginLimit(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.AppRegistration, c.RateLimit.Registration, c.RateLimit.Timeline = config.Rate{}, config.Rate{}, config.Rate{}
		c.RateLimit.Authentication = config.Rate{Count: 12, Window: time.Minute}
	})
	alice := srv.SignUp("alice")
	app := srv.RegisterApp()
	try := func(name, password string) *apptest.Response {
		t.Helper()
		return srv.Grant(app, "password", "username", name, "password", password)
	}
	for range 10 {
		try("alice", apptest.Password).Want(200) // only failures count
	}
	for _, path := range []string{"/oauth/token", "/api/v1/timelines/public", "/api/v1/svc/change_password"} {
		for range 4 { // counted by address, for all names and ways to send a password
			switch path {
			case "/oauth/token":
				try("nobody", "wrong").Want(400)
			case "/api/v1/timelines/public":
				doBasic(srv, "GET", path, "bob", "wrong").Want(200)
			default:
				alice.Post(path, "password", "wrong").WantError(200, "Invalid password.")
			}
		}
	}
	refused := try("carol", "wrong")
	refused.WantError(429, "Throttled")
	limit, left, wait := refused.Header.Get("X-RateLimit-Limit"), refused.Header.Get("X-RateLimit-Remaining"), refused.Header.Get("Retry-After")
	if limit != "12" || left != "0" || wait == "" {
		t.Errorf("%q of %q tries are left, retry after %q", left, limit, wait)
	}
	try("alice", apptest.Password).WantError(429, "Throttled")
	doBasic(srv, "GET", "/api/v1/timelines/public", "alice", apptest.Password).Want(429)
	alice.Post("/api/v1/svc/change_password", "password", "wrong").Want(429)
	srv.SetClock(2 * time.Minute)
	try("carol", "wrong").Want(400)
	try("alice", apptest.Password).Want(200)
}

// TestConcurrentGuesses checks that concurrent wrong passwords count as much as consecutive ones.
func TestConcurrentGuesses(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.RateLimit.Enabled = true })
	srv.SignUp("alice")
	app := srv.RegisterApp()
	responses := together(t, 30, 29, func(int) *apptest.Response {
		return srv.Grant(app, "password", "username", "alice", "password", "wrong")
	})
	checked := 0
	for _, a := range responses {
		if a.Status != 429 {
			checked++
		}
	}
	if most := srv.Settings.RateLimit.FailedLogins.Count; checked < most || checked > most+2 { // two passwords are hashed at once, and one is slowed
		t.Errorf("%d guesses were checked, want %d", checked, most)
	}
}

// TestSignInDuringPasswordChange signs in while the password changes: all tokens from the old password are revoked.
func TestSignInDuringPasswordChange(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	app := srv.RegisterApp()
	passwords := [2]string{apptest.Password, "another horse"}
	for round := range 15 {
		old, next := passwords[round%2], passwords[(round+1)%2]
		responses := make([]*apptest.Response, 8)
		var wg sync.WaitGroup
		for i := range responses {
			wg.Go(func() { responses[i] = srv.Grant(app, "password", "username", "alice", "password", old) })
		}
		if _, err := srv.Admin.ResetPassword(t.Context(), admin.PasswordReset{Name: alice.ID, Password: next}); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		for _, a := range responses {
			if a.Status != 200 {
				continue
			}
			if status := tokenClient(srv, a).Get(verifyCredentials).Status; status != 401 {
				t.Fatalf("round %d: a token from the old password gets %d", round, status)
			}
		}
	}
}

// TestOldHashes signs in with a hash of another server, which is replaced by a current one.
func TestOldHashes(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	old, err := bcrypt.GenerateFromPassword([]byte("old password"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	srv.ChangeUser("alice", func(u *store.User) { u.PasswordHash = string(old) })
	app := srv.RegisterApp()
	srv.Grant(app, "password", "username", "alice", "password", "wrong").Want(400)
	srv.Grant(app, "password", "username", "alice", "password", "old password").Want(200)
	srv.ChangeUser("alice", func(u *store.User) {
		if u.PasswordHash == string(old) {
			t.Error("the old hash is still there")
		}
	})
	srv.Grant(app, "password", "username", "alice", "password", "old password").Want(200)
	doBasic(srv, "GET", "/api/v1/notifications", "alice", "old password").Want(200)
}

func TestMalformedBasic(t *testing.T) {
	srv := apptest.Start(t)
	for _, header := range []string{"Basic", "Basic !", "Basic " + base64.StdEncoding.EncodeToString([]byte("alice"))} {
		req, err := http.NewRequest("GET", srv.URL+"/api/v1/notifications", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", header)
		srv.As(nil).DoRequest(req).Want(401)
	}
}
