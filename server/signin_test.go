package server_test

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"svc/internal/config"
	"svc/store"
)

// withBasic makes a request with a name and a password.
func (a *api) withBasic(method, path, name, password string, headers ...string) *answer {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.url+path, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	req.SetBasicAuth(name, password)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return a.as(nil).request(req)
}

func TestBasic(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	secret := alice.publish("psst", "visibility", "private")
	for _, tt := range []struct {
		name           string
		method, path   string
		user, password string
		headers        []string
		want           int
	}{
		{"nickname", "GET", "/api/v1/notifications", "alice", testPassword, nil, 200},
		{"again", "GET", "/api/v1/notifications", "alice", testPassword, nil, 200},
		{"e-mail", "GET", "/api/v1/notifications", "alice@example.org", testPassword, nil, 200},
		{"everything is allowed", "POST", "/api/v1/statuses?status=hello", "alice", testPassword, nil, 200},
		{"extension", "GET", "/api/oauth_tokens", "alice", testPassword, nil, 200},
		{"what only alice sees", "GET", "/api/v1/statuses/" + secret.id(), "alice", testPassword, nil, 200},
		{"wrong: as anybody", "GET", "/api/v1/statuses/" + secret.id(), "alice", "wrong", nil, 404},
		{"wrong: open to all", "GET", "/api/v1/timelines/public", "alice", "wrong", nil, 200},
		{"wrong", "GET", "/api/v1/notifications", "alice", "wrong", nil, 401},
		{"empty", "GET", "/api/v1/notifications", "alice", "", nil, 401},
		{"nobody", "GET", "/api/v1/notifications", "nobody", testPassword, nil, 401},
		{"from another site", "POST", "/api/v1/statuses?status=hello", "alice", testPassword, []string{"Origin", "https://evil.example.com"}, 403},
		{"no app", "GET", me, "alice", testPassword, nil, 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.withBasic(tt.method, tt.path, tt.user, tt.password, tt.headers...).want(tt.want)
			if a.header.Get("WWW-Authenticate") != "" && a.header.Get("WWW-Authenticate") != `Bearer error="invalid_token"` {
				t.Error("browsers would ask for a password")
			}
		})
	}
}

// TestBasicForgets: what is remembered of a password ends with the password, and with the account.
func TestBasicForgets(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	srv.withBasic("GET", "/api/v1/notifications", "alice", testPassword).want(200)
	alice.post("/api/v1/svc/change_password", "password", testPassword, "new_password", "another one", "new_password_confirmation", "another one").want(200)
	srv.withBasic("GET", "/api/v1/notifications", "alice", testPassword).want(401)
	srv.withBasic("GET", "/api/v1/notifications", "alice", "another one").want(200)
	srv.changeUser("alice", func(u *store.User) { u.DeactivatedAt = u.ConfirmedAt })
	srv.withBasic("GET", "/api/v1/notifications", "alice", "another one").wantError(403, "Your login is currently disabled")
}

func TestBasicIsNotHashedEachTime(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	srv.withBasic("GET", "/api/v1/notifications", "alice", testPassword).want(200)
	turn1, err := srv.social.Passwords.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer turn1.Done()
	turn2, err := srv.social.Passwords.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer turn2.Done()
	srv.withBasic("GET", "/api/v1/notifications", "alice", testPassword).want(200) // would wait for ever
}

func TestFailedLoginsAreThrottled(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.AppRegistration, c.RateLimit.Registration = config.Rate{}, config.Rate{}
		c.RateLimit.Authentication = config.Rate{Count: 12, Window: time.Minute}
	})
	alice := srv.signUp("alice")
	app := srv.registerApp()
	try := func(name, password string) *answer {
		t.Helper()
		return srv.grant(app, "password", "username", name, "password", password)
	}
	for range 10 {
		try("alice", testPassword).want(200) // only failures count
	}
	most := srv.settings.RateLimit.FailedLogins.Count
	for range most {
		try("alice", "wrong").want(400)
	}
	refused := try("alice", "wrong")
	refused.wantError(429, "Throttled")
	limit, left, wait := refused.header.Get("X-RateLimit-Limit"), refused.header.Get("X-RateLimit-Remaining"), refused.header.Get("Retry-After")
	if limit != strconv.Itoa(most) || left != "0" || wait == "" {
		t.Errorf("%q of %q tries are left, retry after %q", left, limit, wait)
	}
	try("Alice", testPassword).wantError(429, "Throttled")
	srv.withBasic("GET", "/api/v1/timelines/public", "alice", "wrong").want(429)
	alice.post("/api/v1/svc/change_password", "password", "wrong").want(429)
	for range most {
		try("nobody", "wrong").want(400)
	}
	try("nobody", "wrong").want(429) // those who are not there are treated alike

	for range 2 { // from one address, whatever the name
		try("bob", "wrong").want(400)
	}
	try("carol", "wrong").want(429)
	now := time.Now()
	srv.server.SetClock(func() time.Time { return now.Add(2 * time.Minute) })
	try("carol", "wrong").want(400)
	try("alice", testPassword).want(429)
	srv.server.SetClock(func() time.Time { return now.Add(6 * time.Minute) })
	try("alice", testPassword).want(200)
}

// TestGuessingAtOnce has many guess at the same time: they do not get more tries for that.
func TestGuessingAtOnce(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.RateLimit.Enabled = true })
	srv.signUp("alice")
	app := srv.registerApp()
	answers := make([]*answer, 30)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = srv.grant(app, "password", "username", "alice", "password", "wrong") })
	}
	wg.Wait()
	looked := 0
	for _, a := range answers {
		if a.status != 429 {
			looked++
		}
	}
	if most := srv.settings.RateLimit.FailedLogins.Count; looked < most || looked > most+1 { // two passwords are looked at at a time
		t.Errorf("%d guesses were looked at, want %d", looked, most)
	}
}

// TestOldHashes: passwords that come from elsewhere work, and are hashed anew when they are used.
// TestSignInMeetsPasswordChange has some sign in while the password changes: what the old one gave is worth nothing after.
func TestSignInMeetsPasswordChange(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	app := srv.registerApp()
	passwords := [2]string{testPassword, "another horse"}
	for round := range 15 {
		old, next := passwords[round%2], passwords[(round+1)%2]
		answers := make([]*answer, 8)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() { answers[i] = srv.grant(app, "password", "username", "alice", "password", old) })
		}
		if err := srv.social.SetPassword(t.Context(), alice.accountID(), next); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		for _, a := range answers {
			if a.status != 200 {
				continue
			}
			if status := a.asToken(srv).get(me).status; status != 401 {
				t.Fatalf("round %d: a token that the old password gave is answered %d", round, status)
			}
		}
	}
}

func TestOldHashes(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	old, err := bcrypt.GenerateFromPassword([]byte("old password"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	srv.changeUser("alice", func(u *store.User) { u.PasswordHash = string(old) })
	app := srv.registerApp()
	srv.grant(app, "password", "username", "alice", "password", "wrong").want(400)
	srv.grant(app, "password", "username", "alice", "password", "old password").want(200)
	srv.changeUser("alice", func(u *store.User) {
		if u.PasswordHash == string(old) {
			t.Error("the old hash is still there")
		}
	})
	srv.grant(app, "password", "username", "alice", "password", "old password").want(200)
	srv.withBasic("GET", "/api/v1/notifications", "alice", "old password").want(200)
}

func TestMalformedBasic(t *testing.T) {
	srv := startAPI(t)
	for _, header := range []string{"Basic", "Basic !", "Basic " + base64.StdEncoding.EncodeToString([]byte("alice"))} {
		req, err := http.NewRequest("GET", srv.url+"/api/v1/notifications", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", header)
		srv.as(nil).request(req).want(401)
	}
}
