package server_test

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"svc/internal/config"
)

// enableMFA sets up a second factor and returns its secret. One code is used up by that.
func (m *member) enableMFA() (secret string) {
	t := m.api.t
	t.Helper()
	setup := m.get("/api/v1/svc/accounts/mfa/setup/totp").want(200).object()
	secret = setup.str("key")
	m.post("/api/v1/svc/accounts/mfa/confirm/totp", "password", testPassword, "code", codeAt(t, secret, -1)).want(200)
	return secret
}

// codeAt is the code that an app shows so many steps from now.
func codeAt(t testing.TB, secret string, steps int) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, time.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func TestMFASettings(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.Instance.Name = "My & place" })
	alice := srv.signUp("alice")
	wantEnabled := func(want bool) {
		t.Helper()
		o := alice.get("/api/v1/svc/accounts/mfa").want(200).object()
		for _, path := range []string{"enabled", "totp", "settings.enabled", "settings.totp"} {
			if o.truth(path) != want {
				t.Errorf("%s is %t", path, !want)
			}
		}
	}
	wantEnabled(false)
	setup := alice.get("/api/svc/accounts/mfa/setup/totp").want(200).object()
	first := setup.str("key")
	uri, err := url.Parse(setup.str("provisioning_uri"))
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
	secret := alice.get("/api/v1/svc/accounts/mfa/setup/totp").want(200).object().str("key")
	confirm := "/api/v1/svc/accounts/mfa/confirm/totp"
	alice.get("/api/v1/svc/accounts/mfa/setup/sms").wantError(400, "undefined method")
	alice.post("/api/v1/svc/accounts/mfa/confirm/sms", "password", testPassword, "code", "1").wantError(400, "undefined mfa method")
	alice.post(confirm, "password", testPassword).wantError(400, "undefined mfa method")
	alice.post(confirm, "password", "wrong", "code", codeAt(t, secret, 0)).wantError(422, "Invalid password.")
	alice.post(confirm, "password", testPassword, "code", codeAt(t, first, 0)).wantError(422, "invalid_token")
	alice.post(confirm, "password", testPassword, "code", codeAt(t, secret, -3)).wantError(422, "invalid_token")
	wantEnabled(false)
	alice.post(confirm, "password", testPassword, "code", codeAt(t, secret, 0)).want(200)
	wantEnabled(true)
	alice.post(confirm, "password", testPassword, "code", codeAt(t, secret, 1)).wantError(422, "invalid_token") // nothing to confirm
	// A set-up that is not confirmed leaves things as they are.
	alice.get("/api/v1/svc/accounts/mfa/setup/totp").want(200)
	wantEnabled(true)
	srv.withBasic("GET", "/api/v1/notifications", "alice", testPassword).want(403)

	remove := func(method, password string) *answer {
		return alice.send("DELETE", "/api/v1/svc/accounts/mfa/"+method, map[string]string{"password": password})
	}
	remove("totp", "wrong").wantError(422, "Invalid password.")
	remove("sms", testPassword).wantError(400, "undefined mfa method")
	wantEnabled(true)
	remove("totp", testPassword).want(200)
	wantEnabled(false)
	srv.withBasic("GET", "/api/v1/notifications", "alice", testPassword).want(200)
	alice.enableMFA()
	alice.do("DELETE", "/api/v1/svc/accounts/mfa/mfa?password="+url.QueryEscape(testPassword), "", nil).want(200)
	wantEnabled(false)
	srv.as(nil).get("/api/v1/svc/accounts/mfa").want(403)
}

func TestMFASignIn(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	alice.publish("who was signed in stays so")
	secret := alice.enableMFA()
	codes := alice.get("/api/v1/svc/accounts/mfa/backup_codes").want(200).object().at("codes").([]any)
	if len(codes) != 10 {
		t.Fatalf("%d backup codes", len(codes))
	}
	alice.get("/api/v1/accounts/verify_credentials").want(200)
	app, other := srv.registerApp(), srv.registerApp()

	challenged := func() string {
		t.Helper()
		refusal := srv.grant(app, "password", "username", "alice", "password", testPassword, "scope", "read write")
		refusal.wantError(403, "mfa_required")
		o := refusal.object()
		if got := o.str("supported_challenge_types"); got != "totp,recovery" {
			t.Errorf("supported_challenge_types is %q", got)
		}
		return o.str("mfa_token")
	}
	answer := func(c *client, token, kind, code string) *answer {
		t.Helper()
		return srv.as(nil).post("/oauth/mfa/challenge", "client_id", c.id, "client_secret", c.secret, "mfa_token", token, "challenge_type", kind, "code", code)
	}
	srv.grant(app, "password", "username", "alice", "password", "wrong").want(400)
	token := challenged()
	answer(app, token, "totp", "000000").wantError(400, "Invalid code")
	answer(app, token, "sms", codeAt(t, secret, 0)).wantError(400, "Invalid code")
	answer(app, "nonsense", "totp", codeAt(t, secret, 0)).wantError(400, "Invalid code")
	answer(app, token, "totp", codeAt(t, secret, -1)).wantError(400, "Invalid code") // the one it was confirmed with
	answer(other, token, "totp", codeAt(t, secret, 0)).wantError(400, "Invalid code")
	answer(&client{app.id, "wrong"}, token, "totp", codeAt(t, secret, 0)).wantError(401, "invalid_client")
	good := codeAt(t, secret, 0)
	granted := answer(app, token, "totp", good).want(200).object()
	if granted.str("scope") != "read write" || granted.str("token_type") != "Bearer" {
		t.Errorf("got %v", granted.m)
	}
	(&caller{srv, granted.str("access_token")}).get("/api/v1/accounts/verify_credentials").want(200)
	answer(app, token, "totp", codeAt(t, secret, 1)).wantError(400, "Invalid code") // the challenge is spent
	again := challenged()
	answer(app, again, "totp", good).wantError(400, "Invalid code") // and so is the code
	answer(app, again, "recovery", strings.ToUpper(codes[0].(string))).want(200)
	again = challenged()
	answer(app, again, "recovery", codes[0].(string)).wantError(400, "Invalid code")
	// After five wrong answers the right one comes too late.
	for range 4 {
		answer(app, again, "recovery", "wrong").wantError(400, "Invalid code")
	}
	answer(app, again, "recovery", codes[1].(string)).wantError(400, "Invalid code")
	// New backup codes void the old.
	fresh := alice.get("/api/v1/svc/accounts/mfa/backup_codes").want(200).object().at("codes").([]any)
	answer(app, challenged(), "recovery", codes[1].(string)).wantError(400, "Invalid code")
	// Of two that answer at once, one gets in.
	token = challenged()
	var wg sync.WaitGroup
	statuses := make([]int, 4)
	for i := range statuses {
		wg.Go(func() { statuses[i] = answer(app, token, "recovery", fresh[1].(string)).status })
	}
	wg.Wait()
	in := 0
	for _, s := range statuses {
		if s == 200 {
			in++
		}
	}
	if in != 1 {
		t.Errorf("got %v, want one 200", statuses)
	}
	// A challenge does not outlive the password.
	token = challenged()
	alice.post("/api/v1/svc/change_password", "password", testPassword, "new_password", "another one", "new_password_confirmation", "another one").want(200)
	answer(app, token, "recovery", fresh[2].(string)).wantError(400, "Invalid code")
}

// TestMFAPage signs in through the pages that people see.
func TestMFAPage(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	secret := alice.enableMFA()
	code := alice.get("/api/v1/svc/accounts/mfa/backup_codes").want(200).object().at("codes").([]any)[0].(string)
	app := srv.registerApp("redirect_uris", "https://app.example/back")
	login := func(more ...string) *answer {
		t.Helper()
		return srv.as(nil).post("/oauth/authorize", append([]string{"client_id", app.id, "redirect_uri", "https://app.example/back",
			"response_type", "code", "scope", "read", "state", "st", "name", "alice", "password", testPassword}, more...)...)
	}
	tokenOn := func(a *answer) string {
		t.Helper()
		m := regexp.MustCompile(`name="mfa\[mfa_token\]" value="([^"]+)"`).FindSubmatch(a.body)
		if m == nil {
			t.Fatalf("no challenge on the page: %s", a.body)
		}
		return string(m[1])
	}
	verify := func(token, code string) *answer {
		t.Helper()
		return srv.as(nil).post("/oauth/mfa/verify", "mfa[mfa_token]", token, "mfa[code]", code)
	}
	page := login().want(200)
	if page.header.Get("Set-Cookie") != "" {
		t.Error("the password alone signs the browser in")
	}
	token := tokenOn(page)
	if again := verify(token, "123"); again.status != 401 || tokenOn(again) != token {
		t.Errorf("a wrong code: %d", again.status)
	}
	srv.as(nil).post("/oauth/mfa/challenge", "client_id", app.id, "client_secret", app.secret, "mfa_token", token, "challenge_type", "totp",
		"code", codeAt(t, secret, 0)).wantError(400, "Invalid code") // it is no challenge of an app
	back := verify(token, codeAt(t, secret, 0)).want(302)
	to, err := url.Parse(back.header.Get("Location"))
	if err != nil || to.Host != "app.example" || to.Query().Get("state") != "st" || to.Query().Get("code") == "" {
		t.Fatalf("sent to %s", back.header.Get("Location"))
	}
	srv.grant(app, "authorization_code", "code", to.Query().Get("code"), "redirect_uri", "https://app.example/back").want(200)
	verify(token, codeAt(t, secret, 1)).want(401) // spent
	// Who signs in at our own form is asked, after that, whether the app may.
	consent := verify(tokenOn(login("consent", "ask").want(200)), code).want(200)
	if !strings.Contains(string(consent.body), `value="approve"`) || consent.header.Get("Set-Cookie") == "" {
		t.Errorf("no question for consent: %s", consent.body)
	}
}

func TestMFAIsThrottled(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.AppRegistration, c.RateLimit.Registration = config.Rate{}, config.Rate{}
		c.RateLimit.Authentication = config.Rate{Count: 100, Window: time.Minute}
	})
	alice := srv.signUp("alice")
	alice.enableMFA()
	app := srv.registerApp()
	wrong := func() int {
		token := srv.grant(app, "password", "username", "alice", "password", testPassword).want(403).object().str("mfa_token")
		return srv.as(nil).post("/oauth/mfa/challenge", "client_id", app.id, "client_secret", app.secret, "mfa_token", token,
			"challenge_type", "totp", "code", "wrong").status
	}
	for range srv.settings.RateLimit.FailedLogins.Count {
		if got := wrong(); got != 400 {
			t.Fatalf("got %d", got)
		}
	}
	if got := wrong(); got != 429 {
		t.Errorf("after many wrong codes for one account, in challenges of their own: got %d, want 429", got)
	}
}

// TestMFATriesAtOnce: many tries at the same time are not more tries.
func TestMFATriesAtOnce(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.AppRegistration, c.RateLimit.Registration = config.Rate{}, config.Rate{}
		c.RateLimit.Authentication = config.Rate{Count: 1000, Window: time.Minute}
	})
	alice := srv.signUp("alice")
	secret := alice.enableMFA()
	app := srv.registerApp()
	challenge := func() string {
		return srv.grant(app, "password", "username", "alice", "password", testPassword).want(403).object().str("mfa_token")
	}
	answer := func(token, code string) int {
		return srv.as(nil).post("/oauth/mfa/challenge", "client_id", app.id, "client_secret", app.secret, "mfa_token", token,
			"challenge_type", "totp", "code", code).status
	}
	if got := answer(challenge(), codeAt(t, secret, 0)); got != 200 {
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
			wg.Go(func() { statuses <- answer(token, "wrong") })
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
	if most := srv.settings.RateLimit.FailedLogins.Count; tried != most {
		t.Errorf("%d codes were looked at, want %d: those who were right before count nothing", tried, most)
	}
}

// TestMFASignsOut: nothing that was signed in by the password alone outlives the coming of a second factor, nor the other way round.
func TestMFASignsOut(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	app := srv.registerApp("redirect_uris", "https://app.example/back")
	wantSignedIn := func(want bool, what, token string) {
		t.Helper()
		status := map[bool]int{true: 200, false: 401}[want]
		if got := (&caller{srv, token}).get("/api/v1/accounts/verify_credentials").status; got != status {
			t.Errorf("%s: got %d, want %d", what, got, status)
		}
	}
	byPassword := srv.grant(app, "password", "username", "alice", "password", testPassword).want(200).object()
	page := srv.as(nil).post("/oauth/authorize", "client_id", app.id, "redirect_uri", "https://app.example/back", "response_type", "code",
		"scope", "read", "name", "alice", "password", testPassword).want(302)
	back, err := url.Parse(page.header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	session := regexp.MustCompile(`^_svc_key=([^;]+)`).FindStringSubmatch(page.header.Get("Set-Cookie"))[1]
	wantSignedIn(true, "a token", byPassword.str("access_token")) // from now on it is remembered
	wantSignedIn(true, "a browser", session)

	secret := alice.enableMFA()
	wantSignedIn(true, "who asked for it", alice.token)
	wantSignedIn(false, "a token", byPassword.str("access_token"))
	wantSignedIn(false, "a browser", session)
	srv.grant(app, "refresh_token", "refresh_token", byPassword.str("refresh_token")).wantError(400, "invalid_grant")
	srv.grant(app, "authorization_code", "code", back.Query().Get("code")).wantError(400, "invalid_grant")

	mfaToken := srv.grant(app, "password", "username", "alice", "password", testPassword).want(403).object().str("mfa_token")
	byBoth := srv.as(nil).post("/oauth/mfa/challenge", "client_id", app.id, "client_secret", app.secret, "mfa_token", mfaToken,
		"challenge_type", "totp", "code", codeAt(t, secret, 0)).want(200).object().str("access_token")
	wantSignedIn(true, "a token of the time of two factors", byBoth)
	alice.send("DELETE", "/api/v1/svc/accounts/mfa/totp", map[string]string{"password": testPassword}).want(200)
	wantSignedIn(true, "who asked for it", alice.token)
	wantSignedIn(false, "a token of the time of two factors", byBoth)
	// Ending what there is not signs nobody out.
	again := srv.grant(app, "password", "username", "alice", "password", testPassword).want(200).object().str("access_token")
	alice.send("DELETE", "/api/v1/svc/accounts/mfa/totp", map[string]string{"password": testPassword}).want(200)
	wantSignedIn(true, "a token", again)
}
