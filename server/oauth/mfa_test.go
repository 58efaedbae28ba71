package oauth_test

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

func TestMFASettings(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.Name = "My & place" })
	alice := srv.SignUp("alice")
	wantEnabled := func(want bool) {
		t.Helper()
		o := alice.Get("/api/v1/svc/accounts/mfa").Want(200).Object()
		for _, path := range []string{"enabled", "totp", "settings.enabled", "settings.totp"} {
			if o.Bool(path) != want {
				t.Errorf("%s is %t", path, !want)
			}
		}
	}
	wantEnabled(false)
	setup := alice.Get("/api/svc/accounts/mfa/setup/totp").Want(200).Object()
	first := setup.Str("key")
	uri, err := url.Parse(setup.Str("provisioning_uri"))
	if err != nil {
		t.Fatal(err)
	}
	q := uri.Query()
	if uri.Scheme != "otpauth" || uri.Host != "totp" || uri.Path != "/alice@example.org" || q.Get("secret") != first ||
		q.Get("issuer") != "My & place" || q.Get("digits") != "6" || q.Get("period") != "30" {
		t.Errorf("provisioning_uri is %s", uri)
	}
	if !regexp.MustCompile(`^[A-Z2-7]{16}$`).MatchString(first) {
		t.Errorf("the key is %q", first)
	}
	wantEnabled(false)
	secret := alice.Get("/api/v1/svc/accounts/mfa/setup/totp").Want(200).Object().Str("key")
	confirm := "/api/v1/svc/accounts/mfa/confirm/totp"
	alice.Get("/api/v1/svc/accounts/mfa/setup/sms").WantError(400, "undefined method")
	alice.Post("/api/v1/svc/accounts/mfa/confirm/sms", "password", apptest.Password, "code", "1").WantError(400, "undefined mfa method")
	alice.Post(confirm, "password", apptest.Password).WantError(400, "undefined mfa method")
	alice.Post(confirm, "password", "wrong", "code", apptest.TOTPCode(t, secret, 0)).WantError(422, "Invalid password.")
	alice.Post(confirm, "password", apptest.Password, "code", apptest.TOTPCode(t, first, 0)).WantError(422, "invalid_token")
	alice.Post(confirm, "password", apptest.Password, "code", apptest.TOTPCode(t, secret, -3)).WantError(422, "invalid_token")
	wantEnabled(false)
	alice.Post(confirm, "password", apptest.Password, "code", apptest.TOTPCode(t, secret, 0)).Want(200)
	wantEnabled(true)
	alice.Post(confirm, "password", apptest.Password, "code", apptest.TOTPCode(t, secret, 1)).WantError(422, "invalid_token") // there is no setup to confirm
	// An unconfirmed setup changes nothing.
	alice.Get("/api/v1/svc/accounts/mfa/setup/totp").Want(200)
	wantEnabled(true)
	doBasic(srv, "GET", "/api/v1/notifications", "alice", apptest.Password).Want(403)

	remove := func(method, password string) *apptest.Response {
		return alice.SendJSON("DELETE", "/api/v1/svc/accounts/mfa/"+method, map[string]string{"password": password})
	}
	remove("totp", "wrong").WantError(422, "Invalid password.")
	remove("sms", apptest.Password).WantError(400, "undefined mfa method")
	wantEnabled(true)
	remove("totp", apptest.Password).Want(200)
	wantEnabled(false)
	doBasic(srv, "GET", "/api/v1/notifications", "alice", apptest.Password).Want(200)
	alice.EnableMFA()
	alice.Do("DELETE", "/api/v1/svc/accounts/mfa/mfa?password="+url.QueryEscape(apptest.Password), "", nil).Want(200)
	wantEnabled(false)
	srv.As(nil).Get("/api/v1/svc/accounts/mfa").Want(403)
}

func TestMFASignIn(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	alice.Publish("hello")
	secret := alice.EnableMFA()
	codes := alice.Get("/api/v1/svc/accounts/mfa/backup_codes").Want(200).Object().At("codes").([]any)
	if len(codes) != 10 {
		t.Fatalf("%d backup codes", len(codes))
	}
	alice.Get("/api/v1/accounts/verify_credentials").Want(200)
	app, other := srv.RegisterApp(), srv.RegisterApp()

	challenged := func() string {
		t.Helper()
		refusal := srv.Grant(app, "password", "username", "alice", "password", apptest.Password, "scope", "read write")
		refusal.WantError(403, "mfa_required")
		o := refusal.Object()
		if got := o.Str("supported_challenge_types"); got != "totp,recovery" {
			t.Errorf("supported_challenge_types is %q", got)
		}
		return o.Str("mfa_token")
	}
	respond := func(c *apptest.App, token, kind, code string) *apptest.Response {
		t.Helper()
		return srv.As(nil).Post("/oauth/mfa/challenge", "client_id", c.ID, "client_secret", c.Secret, "mfa_token", token, "challenge_type", kind, "code", code)
	}
	srv.Grant(app, "password", "username", "alice", "password", "wrong").Want(400)
	token := challenged()
	respond(app, token, "totp", "000000").WantError(400, "Invalid code")
	respond(app, token, "sms", apptest.TOTPCode(t, secret, 0)).WantError(400, "Invalid code")
	respond(app, "nonsense", "totp", apptest.TOTPCode(t, secret, 0)).WantError(400, "Invalid code")
	respond(app, token, "totp", alice.MFACode).WantError(400, "Invalid code") // it confirmed the setup
	respond(other, token, "totp", apptest.TOTPCode(t, secret, 0)).WantError(400, "Invalid code")
	respond(&apptest.App{ID: app.ID, Secret: "wrong"}, token, "totp", apptest.TOTPCode(t, secret, 0)).WantError(401, "invalid_client")
	good := apptest.TOTPCode(t, secret, 0)
	granted := respond(app, token, "totp", good).Want(200).Object()
	if granted.Str("scope") != "read write" || granted.Str("token_type") != "Bearer" {
		t.Errorf("got %v", granted.Fields)
	}
	(&apptest.Client{Server: srv, Token: granted.Str("access_token")}).Get("/api/v1/accounts/verify_credentials").Want(200)
	respond(app, token, "totp", apptest.TOTPCode(t, secret, 1)).WantError(400, "Invalid code") // the challenge was used
	again := challenged()
	respond(app, again, "totp", good).WantError(400, "Invalid code") // so was the code
	respond(app, again, "recovery", strings.ToUpper(codes[0].(string))).Want(200)
	again = challenged()
	respond(app, again, "recovery", codes[0].(string)).WantError(400, "Invalid code")
	// After five wrong codes a challenge is invalid.
	for range 4 {
		respond(app, again, "recovery", "wrong").WantError(400, "Invalid code")
	}
	respond(app, again, "recovery", codes[1].(string)).WantError(400, "Invalid code")
	// New backup codes replace the old ones.
	fresh := alice.Get("/api/v1/svc/accounts/mfa/backup_codes").Want(200).Object().At("codes").([]any)
	respond(app, challenged(), "recovery", codes[1].(string)).WantError(400, "Invalid code")
	// Only one of several concurrent requests succeeds.
	token = challenged()
	var wg sync.WaitGroup
	statuses := make([]int, 4)
	for i := range statuses {
		wg.Go(func() { statuses[i] = respond(app, token, "recovery", fresh[1].(string)).Status })
	}
	wg.Wait()
	successes := 0
	for _, s := range statuses {
		if s == 200 {
			successes++
		}
	}
	if successes != 1 {
		t.Errorf("got %v, want one 200", statuses)
	}
	// A new password invalidates challenges.
	token = challenged()
	alice.Post("/api/v1/svc/change_password", "password", apptest.Password, "new_password", "another one", "new_password_confirmation", "another one").Want(200)
	respond(app, token, "recovery", fresh[2].(string)).WantError(400, "Invalid code")
}

// TestMFAPage signs in through the HTML pages.
func TestMFAPage(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	secret := alice.EnableMFA()
	code := alice.Get("/api/v1/svc/accounts/mfa/backup_codes").Want(200).Object().At("codes").([]any)[0].(string)
	app := srv.RegisterApp("redirect_uris", "https://app.example/back")
	login := func(more ...string) *apptest.Response {
		t.Helper()
		return srv.As(nil).Post("/oauth/authorize", append([]string{"client_id", app.ID, "redirect_uri", "https://app.example/back",
			"response_type", "code", "scope", "read", "state", "st", "name", "alice", "password", apptest.Password}, more...)...)
	}
	tokenOn := func(a *apptest.Response) string {
		t.Helper()
		m := regexp.MustCompile(`name="mfa\[mfa_token\]" value="([^"]+)"`).FindSubmatch(a.Body)
		if m == nil {
			t.Fatalf("no challenge on the page: %s", a.Body)
		}
		return string(m[1])
	}
	verify := func(token, code string) *apptest.Response {
		t.Helper()
		return srv.As(nil).Post("/oauth/mfa/verify", "mfa[mfa_token]", token, "mfa[code]", code)
	}
	page := login().Want(200)
	if page.Header.Get("Set-Cookie") != "" {
		t.Error("the password alone signs in the browser")
	}
	token := tokenOn(page)
	if again := verify(token, "123"); again.Status != 401 || tokenOn(again) != token {
		t.Errorf("a wrong code: %d", again.Status)
	}
	srv.As(nil).Post("/oauth/mfa/challenge", "client_id", app.ID, "client_secret", app.Secret, "mfa_token", token, "challenge_type", "totp",
		"code", apptest.TOTPCode(t, secret, 0)).WantError(400, "Invalid code") // the challenge is a browser's, not an app's
	back := verify(token, apptest.TOTPCode(t, secret, 0)).Want(302)
	to, err := url.Parse(back.Header.Get("Location"))
	if err != nil || to.Host != "app.example" || to.Query().Get("state") != "st" || to.Query().Get("code") == "" {
		t.Fatalf("redirected to %s", back.Header.Get("Location"))
	}
	srv.Grant(app, "authorization_code", "code", to.Query().Get("code"), "redirect_uri", "https://app.example/back").Want(200)
	verify(token, apptest.TOTPCode(t, secret, 1)).Want(401) // the challenge was used
	// The server's own form asks for consent after the code.
	consent := verify(tokenOn(login("consent", "ask").Want(200)), code).Want(200)
	if !strings.Contains(string(consent.Body), `value="approve"`) || consent.Header.Get("Set-Cookie") == "" {
		t.Errorf("no form for consent: %s", consent.Body)
	}
}

func TestMFARateLimit(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.AppRegistration, c.RateLimit.Registration = config.Rate{}, config.Rate{}
		c.RateLimit.Authentication = config.Rate{Count: 100, Window: time.Minute}
	})
	alice := srv.SignUp("alice")
	alice.EnableMFA()
	app := srv.RegisterApp()
	wrong := func() int {
		token := srv.Grant(app, "password", "username", "alice", "password", apptest.Password).Want(403).Object().Str("mfa_token")
		return srv.As(nil).Post("/oauth/mfa/challenge", "client_id", app.ID, "client_secret", app.Secret, "mfa_token", token,
			"challenge_type", "totp", "code", "wrong").Status
	}
	for range srv.Settings.RateLimit.FailedLogins.Count {
		if got := wrong(); got != 400 {
			t.Fatalf("got %d", got)
		}
	}
	if got := wrong(); got != 429 {
		t.Errorf("after many wrong codes for one account, each in a new challenge: got %d, want 429", got)
	}
}

// TestConcurrentMFACodes checks that concurrent wrong codes count as much as consecutive ones.
func TestConcurrentMFACodes(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.AppRegistration, c.RateLimit.Registration = config.Rate{}, config.Rate{}
		c.RateLimit.Authentication = config.Rate{Count: 1000, Window: time.Minute}
	})
	alice := srv.SignUp("alice")
	secret := alice.EnableMFA()
	app := srv.RegisterApp()
	challenge := func() string {
		return srv.Grant(app, "password", "username", "alice", "password", apptest.Password).Want(403).Object().Str("mfa_token")
	}
	respond := func(token, code string) int {
		return srv.As(nil).Post("/oauth/mfa/challenge", "client_id", app.ID, "client_secret", app.Secret, "mfa_token", token,
			"challenge_type", "totp", "code", code).Status
	}
	if got := respond(challenge(), apptest.TOTPCode(t, secret, 0)); got != 200 {
		t.Fatalf("the right code: %d", got)
	}
	tokens := make([]string, 10)
	for i := range tokens {
		tokens[i] = challenge()
	}
	statuses := make(chan int, 4*len(tokens))
	var wg sync.WaitGroup
	for range 4 {
		for _, token := range tokens {
			wg.Go(func() { statuses <- respond(token, "wrong") })
		}
	}
	wg.Wait()
	close(statuses)
	tried := 0
	for status := range statuses {
		if status != 429 {
			tried++
		}
	}
	if most := srv.Settings.RateLimit.FailedLogins.Count; tried != most {
		t.Errorf("%d codes were checked, want %d: earlier successes do not count", tried, most)
	}
}

// TestMFASignsOut checks that enabling or disabling MFA revokes the account's other tokens, sessions and codes.
func TestMFASignsOut(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	app := srv.RegisterApp("redirect_uris", "https://app.example/back")
	wantSignedIn := func(want bool, what, token string) {
		t.Helper()
		status := map[bool]int{true: 200, false: 401}[want]
		if got := (&apptest.Client{Server: srv, Token: token}).Get("/api/v1/accounts/verify_credentials").Status; got != status {
			t.Errorf("%s: got %d, want %d", what, got, status)
		}
	}
	byPassword := srv.Grant(app, "password", "username", "alice", "password", apptest.Password).Want(200).Object()
	page := srv.As(nil).Post("/oauth/authorize", "client_id", app.ID, "redirect_uri", "https://app.example/back", "response_type", "code",
		"scope", "read", "name", "alice", "password", apptest.Password).Want(302)
	back, err := url.Parse(page.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	session := regexp.MustCompile(`^_svc_key=([^;]+)`).FindStringSubmatch(page.Header.Get("Set-Cookie"))[1]
	wantSignedIn(true, "a token", byPassword.Str("access_token")) // caches the token
	wantSignedIn(true, "a browser", session)

	secret := alice.EnableMFA()
	wantSignedIn(true, "the token that made the change", alice.Token)
	wantSignedIn(false, "a token", byPassword.Str("access_token"))
	wantSignedIn(false, "a browser", session)
	srv.Grant(app, "refresh_token", "refresh_token", byPassword.Str("refresh_token")).WantError(400, "invalid_grant")
	srv.Grant(app, "authorization_code", "code", back.Query().Get("code")).WantError(400, "invalid_grant")

	mfaToken := srv.Grant(app, "password", "username", "alice", "password", apptest.Password).Want(403).Object().Str("mfa_token")
	byBoth := srv.As(nil).Post("/oauth/mfa/challenge", "client_id", app.ID, "client_secret", app.Secret, "mfa_token", mfaToken,
		"challenge_type", "totp", "code", apptest.TOTPCode(t, secret, 0)).Want(200).Object().Str("access_token")
	wantSignedIn(true, "a token from before the change", byBoth)
	alice.SendJSON("DELETE", "/api/v1/svc/accounts/mfa/totp", map[string]string{"password": apptest.Password}).Want(200)
	wantSignedIn(true, "the token that made the change", alice.Token)
	wantSignedIn(false, "a token from before the change", byBoth)
	// Disabling MFA that is not enabled revokes nothing.
	again := srv.Grant(app, "password", "username", "alice", "password", apptest.Password).Want(200).Object().Str("access_token")
	alice.SendJSON("DELETE", "/api/v1/svc/accounts/mfa/totp", map[string]string{"password": apptest.Password}).Want(200)
	wantSignedIn(true, "a token", again)
}
