package oauth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

const (
	outOfBandURI = "urn:ietf:wg:oauth:2.0:oob"
	callback     = "https://app.example.com/callback"
)

// authorizeInBrowser signs in on the authorize page with a new browser, allows the request, and returns the last page.
func authorizeInBrowser(a *apptest.Server, nick string, params ...string) *apptest.Page {
	a.T.Helper()
	login := a.Browser().Get("/oauth/authorize", params...).Want(200)
	consent := login.Submit(0, "authorization[name]", nick, "authorization[password]", apptest.Password).Want(200)
	return consent.Submit(0)
}

func TestAuthorizePage(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp("redirect_uris", callback, "client_name", "Test <b>app</b>", "website", "https://app.example.com")
	b := srv.Browser()
	request := []string{"response_type", "code", "client_id", app.ID, "redirect_uri", callback, "scope", "read write:statuses", "state", "a&b=c d", "lang", "de"}

	login := b.Get("/oauth/authorize", request...).Want(200, "Sign in", "Test <b>app</b>")
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Frame-Options": "DENY", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"Cross-Origin-Opener-Policy": "", "Access-Control-Allow-Origin": "", "Referrer-Policy": "same-origin",
	} {
		if got := login.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if policy := login.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "form-action") {
		t.Errorf("the policy is %q", policy)
	}

	again := login.Submit(0, "authorization[name]", "alice", "authorization[password]", "wrong").Want(401, "Invalid Username/Password")
	if got := again.Forms[0].Fields.Get("authorization[name]"); got != "alice" {
		t.Errorf("the name is %q after a wrong password", got)
	}
	if got := again.Forms[0].Fields.Get("authorization[password]"); got != "" {
		t.Errorf("the form contains the password %q", got)
	}
	login.Submit(0, "authorization[name]", "nobody", "authorization[password]", apptest.Password).Want(401, "Invalid Username/Password")
	if len(b.Cookies) != 0 {
		t.Fatalf("cookies after wrong passwords: %v", b.Cookies)
	}

	consent := again.Submit(0, "authorization[password]", apptest.Password).Want(200, "@alice", "Test <b>app</b>", "app.example.com",
		"See what you can see", "Post, edit and delete in your name")
	cookie := b.Cookies["_svc_key"]
	if cookie == nil || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Secure {
		t.Fatalf("the session cookie is %v", cookie)
	}
	if allow := consent.Forms[0].Buttons[0].Text; allow != "Allow" {
		t.Errorf("the first button is %q", allow)
	}
	to, params := consent.Submit(0).Location()
	if to != callback || params.Get("state") != "a&b=c d" || params.Get("iss") != srv.URL {
		t.Errorf("redirected to %s with %v", to, params)
	}
	o := srv.Grant(app, "authorization_code", "code", params.Get("code"), "redirect_uri", callback).Want(200).Object()
	if o.Str("scope") != "read write:statuses" {
		t.Errorf("the scope is %q", o.Str("scope"))
	}

	// A signed-in user only gets the question for consent.
	consent = b.Get("/oauth/authorize", request...).Want(200, "@alice")
	if consent.Forms[0].HasText {
		t.Error("a signed-in user gets a form with text fields")
	}
	_, params = consent.Submit(1).Location()
	if params.Get("error") != "access_denied" || params.Get("state") != "a&b=c d" || params.Get("iss") != srv.URL || params.Has("code") {
		t.Errorf("after denial the app gets %v", params)
	}
	if !b.Get("/oauth/authorize", append(request, "force_login", "true")...).Want(200).Forms[0].HasText {
		t.Error("force_login does not show the form to sign in")
	}
	switched := consent.Submit(2).Want(200)
	if !switched.Forms[0].HasText || len(b.Cookies) != 0 {
		t.Error("the button for another account does not sign out")
	}
	b.Cookies["_svc_key"] = cookie
	if !b.Get("/oauth/authorize", request...).Want(200).Forms[0].HasText {
		t.Error("the session still exists after another account was chosen")
	}
}

func TestAuthorizeOutOfBand(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp()
	page := authorizeInBrowser(srv, "alice", "response_type", "code", "client_id", app.ID).Want(200, "Your code") // the only redirect URI
	if len(page.Codes) != 2 || page.Codes[0] != page.Codes[1] || len(page.Codes[0]) != 43 {
		t.Fatalf("codes on the page: %q", page.Codes)
	}
	srv.Grant(app, "authorization_code", "code", page.Codes[0], "redirect_uri", outOfBandURI).Want(200)

	b := srv.Browser()
	consent := b.Get("/oauth/authorize", "response_type", "code", "client_id", app.ID, "redirect_uri", outOfBandURI).
		Submit(0, "authorization[name]", "alice@example.org", "authorization[password]", apptest.Password)
	consent.Submit(1).Want(200, "Access denied")
}

// TestAuthorizeInOneRequest sends name and password with the parameters, as programs do. That counts as consent.
func TestAuthorizeInOneRequest(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp("redirect_uris", callback)
	for name, fields := range map[string][]string{
		"nested": {"authorization[name]", "alice", "authorization[password]", apptest.Password, "authorization[client_id]", app.ID,
			"authorization[redirect_uri]", callback, "authorization[response_type]", "code", "authorization[state]", "s",
			"authorization[scope][]", "read", "authorization[scope][]", "follow"},
		"plain": {"name", "@alice", "password", apptest.Password, "client_id", app.ID, "redirect_uri", callback, "response_type", "code",
			"state", "s", "scope", "read follow"},
	} {
		t.Run(name, func(t *testing.T) {
			a := srv.As(nil).Post("/oauth/authorize", fields...).Want(302)
			u, err := url.Parse(a.Header.Get("Location"))
			if err != nil || u.Query().Get("state") != "s" {
				t.Fatalf("redirected to %s, %v", u, err)
			}
			o := srv.Grant(app, "authorization_code", "code", u.Query().Get("code"), "redirect_uri", callback).Want(200).Object()
			if o.Str("scope") != "read follow" {
				t.Errorf("the scope is %q", o.Str("scope"))
			}
		})
	}
}

func TestAuthorizeErrors(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp("redirect_uris", callback+" https://app.example.com/other", "scopes", "read write:statuses")
	oob := srv.RegisterApp("scopes", "admin:read")
	good := []string{"response_type", "code", "client_id", app.ID, "redirect_uri", callback, "scope", "read", "state", "x"}
	for _, tt := range []struct {
		name   string
		change []string // "-" removes a parameter
		status int
		want   string // in the page, or error for the app
	}{
		{"an unknown app", []string{"client_id", "nobody"}, 400, "does not know"},
		{"no app", []string{"client_id", "-"}, 400, "does not know"},
		{"another redirect URI", []string{"redirect_uri", "https://app.example.com/callback/"}, 400, "not registered"},
		{"a redirect URI with another query", []string{"redirect_uri", callback + "?x=1"}, 400, "not registered"},
		{"a redirect URI in other case", []string{"redirect_uri", "https://APP.example.com/callback"}, 400, "not registered"},
		{"none of several redirect URIs", []string{"redirect_uri", "-"}, 400, "not registered"},
		{"scopes that are not registered", []string{"scope", "read write"}, 302, "invalid_scope"},
		{"a scope that does not exist", []string{"scope", "nonsense"}, 302, "invalid_scope"},
		{"scopes that are not registered, with another redirect URI", []string{"scope", "read write", "redirect_uri", "https://evil.example.com/"}, 400, "not registered"},
		{"scopes that are not registered, without a redirect URI", []string{"client_id", oob.ID, "redirect_uri", "-", "scope", "write"}, 400, "permissions"},
		{"another response type", []string{"response_type", "token"}, 302, "unsupported_response_type"},
		{"no response type", []string{"response_type", "-"}, 302, "unsupported_response_type"},
		{"the plain challenge", []string{"code_challenge", strings.Repeat("a", 43), "code_challenge_method", "plain"}, 302, "invalid_request"},
		{"a challenge without method", []string{"code_challenge", strings.Repeat("a", 43)}, 302, "invalid_request"},
		{"a malformed challenge", []string{"code_challenge", "a b", "code_challenge_method", "S256"}, 302, "invalid_request"},
		{"another response type without a redirect URI", []string{"client_id", oob.ID, "redirect_uri", "-", "scope", "-", "response_type", "token"}, 400, "response type"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			values := apptest.Pairs(good)
			for i := 0; i < len(tt.change); i += 2 {
				if values.Set(tt.change[i], tt.change[i+1]); tt.change[i+1] == "-" {
					values.Del(tt.change[i])
				}
			}
			post := url.Values{"name": {"alice"}, "password": {apptest.Password}}
			for k, v := range values {
				post[k] = v
			}
			b := srv.Browser()
			for _, page := range []*apptest.Page{b.Get("/oauth/authorize?" + values.Encode()), b.Post("/oauth/authorize", post)} {
				if tt.status == 302 {
					to, params := page.Location()
					if to != callback || params.Get("error") != tt.want || params.Get("state") != "x" || params.Get("error_description") == "" {
						t.Errorf("redirected to %s with %v", to, params)
					}
					continue
				}
				page.Want(tt.status, tt.want)
				if page.Header.Get("Content-Type") != "text/html; charset=utf-8" {
					t.Errorf("the error is %s", page.Header.Get("Content-Type"))
				}
			}
			if len(b.Cookies) != 0 {
				t.Error("the browser has a session")
			}
		})
	}
	srv.Browser().Get("/oauth/authorize", "client_id", oob.ID, "response_type", "code").Want(200).
		Submit(0, "authorization[name]", "alice", "authorization[password]", apptest.Password).
		Want(403, "This action is outside the authorized scopes") // no scope is left, because alice is not staff
}

func TestAuthorizeFromAnotherSite(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp("redirect_uris", callback)
	request := []string{"response_type", "code", "client_id", app.ID, "redirect_uri", callback}
	b := srv.Browser()
	login := b.Get("/oauth/authorize", request...)
	b.Origin = "https://evil.example.com"
	login.Submit(0, "authorization[name]", "alice", "authorization[password]", apptest.Password).Want(403, "another site")
	b.Origin = srv.URL
	consent := login.Submit(0, "authorization[name]", "alice", "authorization[password]", apptest.Password).Want(200)
	b.Origin = "null"
	consent.Submit(0).Want(403, "another site")
	b.Origin = srv.URL

	other := srv.Browser()
	foreign := other.Get("/oauth/authorize", request...).Submit(0, "authorization[name]", "alice", "authorization[password]", apptest.Password)
	consent.Forms[0].Fields.Set("form_token", foreign.Forms[0].Fields.Get("form_token"))
	consent.Submit(0).Want(403, "another site")
	consent.Forms[0].Fields.Del("form_token")
	consent.Submit(0).Want(403, "another site")

	// The token of an app in the cookie is not a session, because the app could authorize itself for more scopes.
	own := srv.Grant(app, "password", "username", "alice", "password", apptest.Password, "scope", "read").Want(200)
	b = srv.Browser()
	b.Cookies["_svc_key"] = &http.Cookie{Name: "_svc_key", Value: own.Object().Str("access_token")}
	if !b.Get("/oauth/authorize", request...).Want(200).Forms[0].HasText {
		t.Error("an app can consent for its user")
	}
}

func TestAuthorizeUnavailableAccounts(t *testing.T) {
	srv := apptest.Start(t)
	app := srv.RegisterApp()
	for nick, tt := range unavailable {
		srv.SignUp(nick)
		srv.ChangeUser(nick, tt.change)
		login := srv.Browser().Get("/oauth/authorize", "response_type", "code", "client_id", app.ID)
		login.Submit(0, "authorization[name]", nick, "authorization[password]", apptest.Password).Want(403, tt.signIn)
		login.Submit(0, "authorization[name]", nick, "authorization[password]", "wrong").Want(401, "Invalid Username/Password")
	}
}

// unavailable has the states in which an account cannot be used, by nickname.
var unavailable = map[string]struct {
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

func TestPKCE(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp()
	verifier := "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // of RFC 7636, appendix B
	const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	for _, tt := range []struct {
		name     string
		params   []string
		verifier string
		want     int
	}{
		{"right", []string{"code_challenge", challenge, "code_challenge_method", "S256"}, verifier, 200},
		{"wrong", []string{"code_challenge", challenge, "code_challenge_method", "S256"}, verifier + "x", 400},
		{"the challenge itself", []string{"code_challenge", challenge, "code_challenge_method", "S256"}, challenge, 400},
		{"missing", []string{"code_challenge", challenge, "code_challenge_method", "S256"}, "", 400},
		{"no challenge", nil, verifier, 400},
		{"neither", nil, "", 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page := authorizeInBrowser(srv, "alice", append([]string{"response_type", "code", "client_id", app.ID}, tt.params...)...).Want(200)
			a := srv.Grant(app, "authorization_code", "code", page.Codes[0], "code_verifier", tt.verifier).Want(tt.want)
			if tt.want == 400 {
				a.WantError(400, "invalid_grant")
				right := map[bool]string{true: verifier, false: ""}[tt.params != nil]
				srv.Grant(app, "authorization_code", "code", page.Codes[0], "code_verifier", right).Want(200) // the code is still valid
			}
		})
	}
	sum := sha256.Sum256([]byte(verifier))
	if base64.RawURLEncoding.EncodeToString(sum[:]) != challenge {
		t.Error("challenge is not the hash of verifier")
	}
}

// TestRepeatedParameters checks that the endpoints of OAuth refuse a parameter that was sent twice in the query or in the body, and change
// nothing.
func TestRepeatedParameters(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	app := srv.RegisterApp("redirect_uris", callback, "scopes", "read write")
	good := []string{"response_type", "code", "client_id", app.ID, "redirect_uri", callback, "scope", "read", "state", "x"}
	for _, repeated := range []string{"response_type", "scope", "state", "code_challenge", "unknown"} {
		a := srv.As(nil).Get("/oauth/authorize", append(good, repeated, "read", repeated, "read")...).Want(302)
		to, err := url.Parse(a.Header.Get("Location"))
		if q := to.Query(); err != nil || q.Get("error") != "invalid_request" || !strings.Contains(q.Get("error_description"), repeated) || q.Get("iss") != srv.URL {
			t.Errorf("%s twice: redirected to %s, %v", repeated, to, err)
		}
	}
	for _, repeated := range []string{"client_id", "redirect_uri"} {
		srv.As(nil).Get("/oauth/authorize", append(good, repeated, "https://evil.example/")...).Want(400) // and no redirect
	}
	srv.As(nil).Post("/oauth/authorize", append(good, "name", "alice", "password", apptest.Password, "authorization[name]", "a", "authorization[name]", "b")...).Want(302)
	srv.As(nil).Get("/oauth/authorize", "response_type", "code", "client_id", app.ID, "redirect_uri", callback, "scope[]", "read", "scope[]", "write").Want(200)

	password := []string{"grant_type", "password", "client_id", app.ID, "client_secret", app.Secret, "username", "alice", "password", apptest.Password}
	tokens := srv.Count(`SELECT count(*) FROM oauth_tokens`)
	for _, tt := range []struct {
		path   string
		params []string
	}{
		{"/oauth/token", append(password, "username", "bob")},
		{"/oauth/token", append(password, "scope", "read", "scope", "write")},
		{"/oauth/revoke", []string{"client_id", app.ID, "client_secret", app.Secret, "token", alice.Token, "token", "x"}},
		{"/oauth/mfa/challenge", []string{"client_id", app.ID, "client_secret", app.Secret, "mfa_token", "x", "mfa_token", "y"}},
	} {
		o := srv.As(nil).Post(tt.path, tt.params...).Want(400).Object()
		if o.Str("error") != "invalid_request" || !strings.Contains(o.Str("error_description"), "more than once") {
			t.Errorf("%s with %v: %v", tt.path, tt.params, o.Fields)
		}
	}
	if n := srv.Count(`SELECT count(*) FROM oauth_tokens`); n != tokens {
		t.Errorf("%d tokens are there, want %d", n, tokens)
	}
	alice.Get(verifyCredentials).Want(200) // not revoked
	metadata := srv.As(nil).Get("/.well-known/oauth-authorization-server").Want(200).Object()
	if !metadata.Bool("authorization_response_iss_parameter_supported") || metadata.Str("issuer") != srv.URL {
		t.Errorf("the metadata are %v", metadata.Fields)
	}
	if got := alice.Get("/oauth/userinfo").Want(200).Object().Str("iss"); got != srv.URL {
		t.Errorf("the issuer of userinfo is %s", got)
	}
}

// TestRedirectURIUnchanged redirects to URIs as web clients register them, byte for byte.
func TestRedirectURIUnchanged(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	for _, tt := range []struct{ registered, want string }{
		{"https://web.example.com/api/example.org/oauth/https%3A%2F%2Fweb.example.com?a=%20+b", "https://web.example.com/api/example.org/oauth/https%3A%2F%2Fweb.example.com?a=%20+b&code="},
		{"com.example.app://callback", "com.example.app://callback?code="},
		{"com.example.app:/callback?x", "com.example.app:/callback?x&code="},
		{"https://bücher.example/ü", "https://bücher.example/ü?code="},
	} {
		app := srv.RegisterApp("redirect_uris", tt.registered)
		page := authorizeInBrowser(srv, "alice", "response_type", "code", "client_id", app.ID, "redirect_uri", tt.registered).Response.Want(302)
		to := page.Header.Get("Location")
		code, ok := strings.CutPrefix(to, tt.want)
		code, issuer, _ := strings.Cut(code, "&iss=")
		if issuer != url.QueryEscape(srv.URL) {
			t.Errorf("redirected to %s, want the issuer %s", to, srv.URL)
		}
		if !ok || len(code) != 43 {
			t.Errorf("redirected to %s, want %s", to, tt.want)
		}
		decoded, _ := url.QueryUnescape(tt.registered)
		if decoded != tt.registered {
			srv.Browser().Get("/oauth/authorize", "response_type", "code", "client_id", app.ID, "redirect_uri", decoded).Want(400)
			srv.Grant(app, "authorization_code", "code", code, "redirect_uri", decoded).WantError(400, "invalid_grant")
		}
		srv.Grant(app, "authorization_code", "code", code).WantError(400, "invalid_grant") // the request named it
		srv.Grant(app, "authorization_code", "code", code, "redirect_uri", tt.registered).Want(200)
	}
}

// TestRedirectURINotGiven checks that an app that left out its only redirect URI may leave it out again, or name it, also with a second
// factor in between.
func TestRedirectURINotGiven(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp("redirect_uris", callback)
	for _, tt := range []struct {
		name   string
		params []string
		want   int
	}{
		{"left out again", nil, 200},
		{"named", []string{"redirect_uri", callback}, 200},
		{"another", []string{"redirect_uri", callback + "/"}, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page := authorizeInBrowser(srv, "alice", "response_type", "code", "client_id", app.ID).Response.Want(302)
			to, err := url.Parse(page.Header.Get("Location"))
			if err != nil {
				t.Fatal(err)
			}
			srv.Grant(app, "authorization_code", append([]string{"code", to.Query().Get("code")}, tt.params...)...).Want(tt.want)
		})
	}
}

func TestSecureCookie(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.Server.URL = strings.Replace(c.Server.URL, "http://", "https://", 1)
		c.API.Name = "other"
	})
	base := strings.Replace(srv.URL, "https://", "http://", 1)
	srv.URL = base
	srv.SignUp("alice")
	app := srv.RegisterApp()
	b := srv.Browser()
	b.Origin = srv.Settings.URL().String()
	b.Get("/oauth/authorize", "response_type", "code", "client_id", app.ID).Want(200).
		Submit(0, "authorization[name]", "alice", "authorization[password]", apptest.Password).Want(200)
	names := []string{}
	for name, c := range b.Cookies {
		names = append(names, name)
		if !c.Secure {
			t.Errorf("%s lacks Secure", name)
		}
	}
	if !slices.Equal(names, []string{"__Host-other_key"}) {
		t.Errorf("cookies: %v", names)
	}
}

func TestAuthorizeRateLimit(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.RateLimit.Enabled = true })
	app := srv.RegisterApp()
	b := srv.Browser()
	login := b.Get("/oauth/authorize", "response_type", "code", "client_id", app.ID)
	for range srv.Settings.RateLimit.Authentication.Count {
		login.Submit(0).Want(200)
	}
	login.Submit(0).Want(429, "Too many attempts")
}
