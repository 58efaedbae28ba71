package server_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"svc/internal/config"
	"svc/store"
)

const (
	outOfBand = "urn:ietf:wg:oauth:2.0:oob"
	callback  = "https://app.example.com/callback"
)

// walk goes through the authorize page with a fresh browser as somebody, allows what is asked, and returns the last page.
func (a *api) walk(nick string, params ...string) *webpage {
	a.t.Helper()
	login := a.browser().get("/oauth/authorize", params...).want(200)
	consent := login.submit(0, "authorization[name]", nick, "authorization[password]", testPassword).want(200)
	return consent.submit(0)
}

func TestAuthorizePage(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app := srv.registerApp("redirect_uris", callback, "client_name", "Test <b>app</b>", "website", "https://app.example.com")
	b := srv.browser()
	asked := []string{"response_type", "code", "client_id", app.id, "redirect_uri", callback, "scope", "read write:statuses", "state", "a&b=c d", "lang", "de"}

	login := b.get("/oauth/authorize", asked...).want(200, "Sign in", "Test <b>app</b>")
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Frame-Options": "DENY", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"Cross-Origin-Opener-Policy": "", "Access-Control-Allow-Origin": "", "Referrer-Policy": "same-origin",
	} {
		if got := login.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if policy := login.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "form-action") {
		t.Errorf("the policy is %q", policy)
	}

	again := login.submit(0, "authorization[name]", "alice", "authorization[password]", "wrong").want(401, "Invalid Username/Password")
	if got := again.forms[0].fields.Get("authorization[name]"); got != "alice" {
		t.Errorf("the name is %q after a wrong password", got)
	}
	if got := again.forms[0].fields.Get("authorization[password]"); got != "" {
		t.Errorf("the password comes back as %q", got)
	}
	login.submit(0, "authorization[name]", "nobody", "authorization[password]", testPassword).want(401, "Invalid Username/Password")
	if len(b.cookies) != 0 {
		t.Fatalf("cookies after wrong passwords: %v", b.cookies)
	}

	consent := again.submit(0, "authorization[password]", testPassword).want(200, "@alice", "Test <b>app</b>", "app.example.com",
		"See what you can see", "Post, edit and delete in your name")
	cookie := b.cookies["_svc_key"]
	if cookie == nil || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Secure {
		t.Fatalf("the session cookie is %v", cookie)
	}
	if allow := consent.forms[0].buttons[0].text; allow != "Allow" {
		t.Errorf("the first button is %q", allow)
	}
	to, params := consent.submit(0).location()
	if to != callback || params.Get("state") != "a&b=c d" {
		t.Errorf("led to %s with %v", to, params)
	}
	o := srv.grant(app, "authorization_code", "code", params.Get("code"), "redirect_uri", callback).want(200).object()
	if o.str("scope") != "read write:statuses" {
		t.Errorf("the scope is %q", o.str("scope"))
	}

	// Who is signed in is only asked whether the app may.
	consent = b.get("/oauth/authorize", asked...).want(200, "@alice")
	if consent.forms[0].hasText {
		t.Error("there is something to type for who is signed in")
	}
	_, params = consent.submit(1).location()
	if params.Get("error") != "access_denied" || params.Get("state") != "a&b=c d" || params.Has("code") {
		t.Errorf("after denial the app gets %v", params)
	}
	if !b.get("/oauth/authorize", append(asked, "force_login", "true")...).want(200).forms[0].hasText {
		t.Error("force_login does not ask who it is")
	}
	switched := consent.submit(2).want(200)
	if !switched.forms[0].hasText || len(b.cookies) != 0 {
		t.Error("another account cannot be chosen")
	}
	b.cookies["_svc_key"] = cookie
	if !b.get("/oauth/authorize", asked...).want(200).forms[0].hasText {
		t.Error("the session goes on after another account was chosen")
	}
}

func TestAuthorizeOutOfBand(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app := srv.registerApp()
	page := srv.walk("alice", "response_type", "code", "client_id", app.id).want(200, "Your code") // the only redirect address
	if len(page.codes) != 2 || page.codes[0] != page.codes[1] || len(page.codes[0]) != 43 {
		t.Fatalf("codes on the page: %q", page.codes)
	}
	srv.grant(app, "authorization_code", "code", page.codes[0], "redirect_uri", outOfBand).want(200)

	b := srv.browser()
	consent := b.get("/oauth/authorize", "response_type", "code", "client_id", app.id, "redirect_uri", outOfBand).
		submit(0, "authorization[name]", "alice@example.org", "authorization[password]", testPassword)
	consent.submit(1).want(200, "Access denied")
}

// TestAuthorizeAtOnce is a program that sends name and password with all the rest, and consents by that.
func TestAuthorizeAtOnce(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app := srv.registerApp("redirect_uris", callback)
	for name, fields := range map[string][]string{
		"nested": {"authorization[name]", "alice", "authorization[password]", testPassword, "authorization[client_id]", app.id,
			"authorization[redirect_uri]", callback, "authorization[response_type]", "code", "authorization[state]", "s",
			"authorization[scope][]", "read", "authorization[scope][]", "follow"},
		"plain": {"name", "@alice", "password", testPassword, "client_id", app.id, "redirect_uri", callback, "response_type", "code",
			"state", "s", "scope", "read follow"},
	} {
		t.Run(name, func(t *testing.T) {
			a := srv.as(nil).post("/oauth/authorize", fields...).want(302)
			u, err := url.Parse(a.header.Get("Location"))
			if err != nil || u.Query().Get("state") != "s" {
				t.Fatalf("led to %s, %v", u, err)
			}
			o := srv.grant(app, "authorization_code", "code", u.Query().Get("code")).want(200).object()
			if o.str("scope") != "read follow" {
				t.Errorf("the scope is %q", o.str("scope"))
			}
		})
	}
}

func TestAuthorizeRefuses(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app := srv.registerApp("redirect_uris", callback+" https://app.example.com/other", "scopes", "read write:statuses")
	oob := srv.registerApp("scopes", "admin:read")
	good := []string{"response_type", "code", "client_id", app.id, "redirect_uri", callback, "scope", "read", "state", "x"}
	for _, tt := range []struct {
		name   string
		change []string // "-" removes a parameter
		status int
		want   string // in the page, or error for the app
	}{
		{"an unknown app", []string{"client_id", "nobody"}, 400, "not known"},
		{"no app", []string{"client_id", "-"}, 400, "not known"},
		{"another address", []string{"redirect_uri", "https://app.example.com/callback/"}, 400, "not registered"},
		{"an address with a query", []string{"redirect_uri", callback + "?x=1"}, 400, "not registered"},
		{"another case", []string{"redirect_uri", "https://APP.example.com/callback"}, 400, "not registered"},
		{"no address of several", []string{"redirect_uri", "-"}, 400, "not registered"},
		{"more than registered", []string{"scope", "read write"}, 401, "This action is outside the authorized scopes"},
		{"a scope that does not exist", []string{"scope", "nonsense"}, 401, "This action is outside the authorized scopes"},
		{"another kind of answer", []string{"response_type", "token"}, 302, "unsupported_response_type"},
		{"no kind of answer", []string{"response_type", "-"}, 302, "unsupported_response_type"},
		{"the plain challenge", []string{"code_challenge", strings.Repeat("a", 43), "code_challenge_method", "plain"}, 302, "invalid_request"},
		{"a challenge without method", []string{"code_challenge", strings.Repeat("a", 43)}, 302, "invalid_request"},
		{"a malformed challenge", []string{"code_challenge", "a b", "code_challenge_method", "S256"}, 302, "invalid_request"},
		{"another kind of answer, and no way back", []string{"client_id", oob.id, "redirect_uri", "-", "scope", "-", "response_type", "token"}, 400, "kind"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			values := pairs(good)
			for i := 0; i < len(tt.change); i += 2 {
				if values.Set(tt.change[i], tt.change[i+1]); tt.change[i+1] == "-" {
					values.Del(tt.change[i])
				}
			}
			post := url.Values{"name": {"alice"}, "password": {testPassword}}
			for k, v := range values {
				post[k] = v
			}
			b := srv.browser()
			for _, page := range []*webpage{b.get("/oauth/authorize?" + values.Encode()), b.post("/oauth/authorize", post)} {
				if tt.status == 302 {
					to, params := page.location()
					if to != callback || params.Get("error") != tt.want || params.Get("state") != "x" || params.Get("error_description") == "" {
						t.Errorf("led to %s with %v", to, params)
					}
					continue
				}
				page.want(tt.status, tt.want)
				if page.header.Get("Content-Type") != "text/html; charset=utf-8" {
					t.Errorf("the error is %s", page.header.Get("Content-Type"))
				}
			}
			if len(b.cookies) != 0 {
				t.Error("there is a session")
			}
		})
	}
	srv.browser().get("/oauth/authorize", "client_id", oob.id, "response_type", "code").want(200).
		submit(0, "authorization[name]", "alice", "authorization[password]", testPassword).
		want(403, "This action is outside the authorized scopes") // nothing is left for who is no staff
}

func TestAuthorizeFromElsewhere(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app := srv.registerApp("redirect_uris", callback)
	asked := []string{"response_type", "code", "client_id", app.id, "redirect_uri", callback}
	b := srv.browser()
	login := b.get("/oauth/authorize", asked...)
	b.origin = "https://evil.example.com"
	login.submit(0, "authorization[name]", "alice", "authorization[password]", testPassword).want(403, "another site")
	b.origin = srv.url
	consent := login.submit(0, "authorization[name]", "alice", "authorization[password]", testPassword).want(200)
	b.origin = "null"
	consent.submit(0).want(403, "another site")
	b.origin = srv.url

	other := srv.browser()
	foreign := other.get("/oauth/authorize", asked...).submit(0, "authorization[name]", "alice", "authorization[password]", testPassword)
	consent.forms[0].fields.Set("form_token", foreign.forms[0].fields.Get("form_token"))
	consent.submit(0).want(403, "another site")
	consent.forms[0].fields.Del("form_token")
	consent.submit(0).want(403, "another site")

	// The token of an app in the cookie is no session: the app could give itself leave for more.
	own := srv.grant(app, "password", "username", "alice", "password", testPassword, "scope", "read").want(200)
	b = srv.browser()
	b.cookies["_svc_key"] = &http.Cookie{Name: "_svc_key", Value: own.object().str("access_token")}
	if !b.get("/oauth/authorize", asked...).want(200).forms[0].hasText {
		t.Error("an app can consent for the person")
	}
}

func TestAuthorizeUnusableAccounts(t *testing.T) {
	srv := startAPI(t)
	app := srv.registerApp()
	for nick, tt := range unusable {
		srv.signUp(nick)
		srv.changeUser(nick, tt.change)
		login := srv.browser().get("/oauth/authorize", "response_type", "code", "client_id", app.id)
		login.submit(0, "authorization[name]", nick, "authorization[password]", testPassword).want(403, tt.signIn)
		login.submit(0, "authorization[name]", nick, "authorization[password]", "wrong").want(401, "Invalid Username/Password")
	}
}

// unusable are the states in which an account cannot be used, by nickname.
var unusable = map[string]struct {
	change                  func(*store.User)
	identifier, signIn, use string
}{
	"disabled": {func(u *store.User) { u.DeactivatedAt = u.ConfirmedAt },
		"account_is_disabled", "Your account is currently disabled", "Your login is currently disabled"},
	"forced": {func(u *store.User) { u.ResetRequired = true },
		"password_reset_required", "Password reset is required", "Password reset is required"},
	"pending": {func(u *store.User) { u.ApprovedAt, u.ConfirmedAt = nil, nil },
		"awaiting_approval", "Your account is awaiting approval.", "Your login is currently pending approval"},
	"unconfirmed": {func(u *store.User) { u.ConfirmedAt = nil },
		"missing_confirmed_email", "Your login is missing a confirmed e-mail address", "Your login is missing a confirmed e-mail address"},
}

// changeUser changes somebody as those who run the server do.
func (a *api) changeUser(nick string, change func(*store.User)) {
	a.t.Helper()
	ctx := a.t.Context()
	err := a.db.Update(ctx, func(tx *store.Tx) error {
		account, err := tx.AccountByName(ctx, nick, "")
		if err != nil {
			return err
		}
		user, err := tx.User(ctx, account.ID)
		if err != nil {
			return err
		}
		change(user)
		return tx.SaveUser(ctx, user)
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

func TestPKCE(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app := srv.registerApp()
	verifier := "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // of RFC 7636, appendix B
	const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	for _, tt := range []struct {
		name     string
		asked    []string
		verifier string
		want     int
	}{
		{"right", []string{"code_challenge", challenge, "code_challenge_method", "S256"}, verifier, 200},
		{"wrong", []string{"code_challenge", challenge, "code_challenge_method", "S256"}, verifier + "x", 400},
		{"the challenge itself", []string{"code_challenge", challenge, "code_challenge_method", "S256"}, challenge, 400},
		{"missing", []string{"code_challenge", challenge, "code_challenge_method", "S256"}, "", 400},
		{"not asked for", nil, "anything", 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page := srv.walk("alice", append([]string{"response_type", "code", "client_id", app.id}, tt.asked...)...).want(200)
			a := srv.grant(app, "authorization_code", "code", page.codes[0], "code_verifier", tt.verifier).want(tt.want)
			if tt.want == 400 {
				a.wantError(400, "invalid_grant")
				srv.grant(app, "authorization_code", "code", page.codes[0], "code_verifier", verifier).want(200) // it is not lost by that
			}
		})
	}
	sum := sha256.Sum256([]byte(verifier))
	if base64.RawURLEncoding.EncodeToString(sum[:]) != challenge {
		t.Error("the example is wrong")
	}
}

// TestRedirectByteForByte uses an address as web clients register it, with an address inside.
func TestRedirectByteForByte(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	for _, tt := range []struct{ registered, want string }{
		{"https://web.example.com/api/example.org/oauth/https%3A%2F%2Fweb.example.com?a=%20+b", "https://web.example.com/api/example.org/oauth/https%3A%2F%2Fweb.example.com?a=%20+b&code="},
		{"com.example.app://callback", "com.example.app://callback?code="},
		{"com.example.app:/callback?x", "com.example.app:/callback?x&code="},
		{"https://bücher.example/ü", "https://bücher.example/ü?code="},
	} {
		app := srv.registerApp("redirect_uris", tt.registered)
		page := srv.walk("alice", "response_type", "code", "client_id", app.id, "redirect_uri", tt.registered).answer.want(302)
		to := page.header.Get("Location")
		code, ok := strings.CutPrefix(to, tt.want)
		if !ok || len(code) != 43 {
			t.Errorf("led to %s, want %s", to, tt.want)
		}
		decoded, _ := url.QueryUnescape(tt.registered)
		if decoded != tt.registered {
			srv.browser().get("/oauth/authorize", "response_type", "code", "client_id", app.id, "redirect_uri", decoded).want(400)
			srv.grant(app, "authorization_code", "code", code, "redirect_uri", decoded).wantError(400, "invalid_grant")
		}
		srv.grant(app, "authorization_code", "code", code, "redirect_uri", tt.registered).want(200)
	}
}

func TestSecureCookieAndItsName(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) {
		c.Server.URL = strings.Replace(c.Server.URL, "http://", "https://", 1)
		c.API.Name = "other"
	})
	base := strings.Replace(srv.url, "https://", "http://", 1)
	srv.url = base
	srv.signUp("alice")
	app := srv.registerApp()
	b := srv.browser()
	b.origin = srv.settings.URL().String()
	b.get("/oauth/authorize", "response_type", "code", "client_id", app.id).want(200).
		submit(0, "authorization[name]", "alice", "authorization[password]", testPassword).want(200)
	names := []string{}
	for name, c := range b.cookies {
		names = append(names, name)
		if !c.Secure {
			t.Errorf("%s is not bound to https", name)
		}
	}
	if !slices.Equal(names, []string{"_other_key"}) {
		t.Errorf("cookies: %v", names)
	}
}

func TestAuthorizeIsThrottled(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.RateLimit.Enabled = true })
	app := srv.registerApp()
	b := srv.browser()
	login := b.get("/oauth/authorize", "response_type", "code", "client_id", app.id)
	for range srv.settings.RateLimit.Authentication.Count {
		login.submit(0).want(200)
	}
	login.submit(0).want(429, "Too many tries")
}
