package server_test

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

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
		{"again", "GET", "/api/v1/notifications", "alice", apptest.Password, nil, 200},
		{"e-mail", "GET", "/api/v1/notifications", "alice@example.org", apptest.Password, nil, 200},
		{"everything is allowed", "POST", "/api/v1/statuses?status=hello", "alice", apptest.Password, nil, 200},
		{"extension", "GET", "/api/oauth_tokens", "alice", apptest.Password, nil, 200},
		{"what only alice sees", "GET", "/api/v1/statuses/" + secret.ID(), "alice", apptest.Password, nil, 200},
		{"wrong: as anybody", "GET", "/api/v1/statuses/" + secret.ID(), "alice", "wrong", nil, 404},
		{"wrong: open to all", "GET", "/api/v1/timelines/public", "alice", "wrong", nil, 200},
		{"wrong", "GET", "/api/v1/notifications", "alice", "wrong", nil, 401},
		{"empty", "GET", "/api/v1/notifications", "alice", "", nil, 401},
		{"nobody", "GET", "/api/v1/notifications", "nobody", apptest.Password, nil, 401},
		{"from another site", "POST", "/api/v1/statuses?status=hello", "alice", apptest.Password, []string{"Origin", "https://evil.example.com"}, 403},
		{"no app", "GET", verifyCredentials, "alice", apptest.Password, nil, 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := doBasic(srv, tt.method, tt.path, tt.user, tt.password, tt.headers...).Want(tt.want)
			if a.Header.Get("WWW-Authenticate") != "" && a.Header.Get("WWW-Authenticate") != `Bearer error="invalid_token"` {
				t.Error("browsers would ask for a password")
			}
		})
	}
}

// TestBasicForgets: what is remembered of a password ends with the password, and with the account.
func TestBasicForgets(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	doBasic(srv, "GET", "/api/v1/notifications", "alice", apptest.Password).Want(200)
	alice.Post("/api/v1/svc/change_password", "password", apptest.Password, "new_password", "another one", "new_password_confirmation", "another one").Want(200)
	doBasic(srv, "GET", "/api/v1/notifications", "alice", apptest.Password).Want(401)
	doBasic(srv, "GET", "/api/v1/notifications", "alice", "another one").Want(200)
	srv.ChangeUser("alice", func(u *store.User) { u.DeactivatedAt = u.ConfirmedAt })
	doBasic(srv, "GET", "/api/v1/notifications", "alice", "another one").WantError(403, "Your login is currently disabled")
}

func TestBasicIsNotHashedEachTime(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	doBasic(srv, "GET", "/api/v1/notifications", "alice", apptest.Password).Want(200)
	turn1, err := srv.Social.Passwords.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer turn1.Release()
	turn2, err := srv.Social.Passwords.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer turn2.Release()
	doBasic(srv, "GET", "/api/v1/notifications", "alice", apptest.Password).Want(200) // would wait for ever
}

func TestFailedLoginsAreThrottled(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.AppRegistration, c.RateLimit.Registration = config.Rate{}, config.Rate{}
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
	most := srv.Settings.RateLimit.FailedLogins.Count
	for range most {
		try("alice", "wrong").Want(400)
	}
	refused := try("alice", "wrong")
	refused.WantError(429, "Throttled")
	limit, left, wait := refused.Header.Get("X-RateLimit-Limit"), refused.Header.Get("X-RateLimit-Remaining"), refused.Header.Get("Retry-After")
	if limit != strconv.Itoa(most) || left != "0" || wait == "" {
		t.Errorf("%q of %q tries are left, retry after %q", left, limit, wait)
	}
	try("Alice", apptest.Password).WantError(429, "Throttled")
	doBasic(srv, "GET", "/api/v1/timelines/public", "alice", "wrong").Want(429)
	alice.Post("/api/v1/svc/change_password", "password", "wrong").Want(429)
	for range most {
		try("nobody", "wrong").Want(400)
	}
	try("nobody", "wrong").Want(429) // those who are not there are treated alike

	for range 2 { // from one address, whatever the name
		try("bob", "wrong").Want(400)
	}
	try("carol", "wrong").Want(429)
	srv.SetClock(2 * time.Minute)
	try("carol", "wrong").Want(400)
	try("alice", apptest.Password).Want(429)
	srv.SetClock(6 * time.Minute)
	try("alice", apptest.Password).Want(200)
}

// TestGuessingAtOnce has many guess at the same time: they do not get more tries for that.
func TestGuessingAtOnce(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.RateLimit.Enabled = true })
	srv.SignUp("alice")
	app := srv.RegisterApp()
	answers := make([]*apptest.Response, 30)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = srv.Grant(app, "password", "username", "alice", "password", "wrong") })
	}
	wg.Wait()
	looked := 0
	for _, a := range answers {
		if a.Status != 429 {
			looked++
		}
	}
	if most := srv.Settings.RateLimit.FailedLogins.Count; looked < most || looked > most+1 { // two passwords are looked at at a time
		t.Errorf("%d guesses were looked at, want %d", looked, most)
	}
}

// TestOldHashes: passwords that come from elsewhere work, and are hashed anew when they are used.
// TestSignInMeetsPasswordChange has some sign in while the password changes: what the old one gave is worth nothing after.
func TestSignInMeetsPasswordChange(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	app := srv.RegisterApp()
	passwords := [2]string{apptest.Password, "another horse"}
	for round := range 15 {
		old, next := passwords[round%2], passwords[(round+1)%2]
		answers := make([]*apptest.Response, 8)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() { answers[i] = srv.Grant(app, "password", "username", "alice", "password", old) })
		}
		if err := srv.Social.SetPassword(t.Context(), alice.AccountID(), next); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		for _, a := range answers {
			if a.Status != 200 {
				continue
			}
			if status := asToken(a, srv).Get(verifyCredentials).Status; status != 401 {
				t.Fatalf("round %d: a token that the old password gave is answered %d", round, status)
			}
		}
	}
}

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
