package oauth_test

import (
	"encoding/json"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

// tokenClient returns a client with the token of a response.
func tokenClient(srv *apptest.Server, a *apptest.Response) *apptest.Client {
	a.T.Helper()
	return &apptest.Client{Server: srv, Token: a.Want(200).Object().Str("access_token")}
}

const verifyCredentials = "/api/v1/apps/verify_credentials" // accepts any token

func TestGrants(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	srv.SignUp("chief")
	srv.ChangeUser("chief", func(u *store.User) { u.IsAdmin = true })
	app := srv.RegisterApp("scopes", "read write:statuses push admin")
	code := authorizeInBrowser(srv, "alice", "response_type", "code", "client_id", app.ID, "scope", "read").Codes[0]
	refresh := srv.Grant(app, "password", "username", "alice", "password", apptest.Password, "scope", "push").Object().Str("refresh_token")
	for _, tt := range []struct {
		name   string
		grant  string
		params []string
		scope  string
		user   bool // false: the token is the app's own
	}{
		{"a code", "authorization_code", []string{"code", code, "redirect_uri", outOfBandURI, "scope", "push"}, "read", true},
		{"the app", "client_credentials", nil, "read write:statuses push", false},
		{"the app, fewer scopes", "client_credentials", []string{"scope", "read:statuses push", "redirect_uri", "ignored"}, "read:statuses push", false},
		{"a nickname", "password", []string{"username", "alice", "password", apptest.Password}, "read write:statuses push", true},
		{"a nickname in other case", "password", []string{"username", " ALICE ", "password", apptest.Password}, "read write:statuses push", true},
		{"an e-mail address", "password", []string{"username", "Alice@Example.org", "password", apptest.Password}, "read write:statuses push", true},
		{"a handle", "password", []string{"username", "@alice@" + srv.Settings.Host(), "password", apptest.Password}, "read write:statuses push", true},
		{"the alias of username", "password", []string{"name", "alice", "password", apptest.Password, "scope", "read"}, "read", true},
		{"unknown scopes", "password", []string{"username", "alice", "password", apptest.Password, "scope", "read nonsense"}, "read", true},
		{"an administrator", "password", []string{"username", "chief", "password", apptest.Password, "scope", "read admin"}, "read admin", true},
		{"the scope admin for a user", "password", []string{"username", "alice", "password", apptest.Password, "scope", "read admin"}, "read", true},
		{"a refresh token", "refresh_token", []string{"refresh_token", refresh}, "push", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.Grant(app, tt.grant, tt.params...).Want(200)
			o := a.Object()
			if o.Str("token_type") != "Bearer" || len(o.Str("access_token")) != 43 || o.Int("id") == 0 || o.Str("scope") != tt.scope {
				t.Errorf("got %s", a.Body)
			}
			if age := time.Now().Unix() - int64(o.Int("created_at")); age < 0 || age > 60 {
				t.Errorf("created %d seconds ago", age)
			}
			if o.Has("expires_in") || o.Has("refresh_token") != tt.user || o.Has("me") != tt.user {
				t.Errorf("wrong members: %s", a.Body)
			}
			if tt.user && !strings.HasPrefix(o.Str("me"), srv.URL+"/users/") {
				t.Errorf("me is %s", o.Str("me"))
			}
			if a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Pragma") != "no-cache" || a.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("headers: %v", a.Header)
			}
			tokenClient(srv, a).Get(verifyCredentials).Want(200)
			if got := a.Header.Get("Set-Cookie") != ""; got != tt.user {
				t.Errorf("cookie: %q", a.Header.Get("Set-Cookie"))
			}
		})
	}
	if o := srv.Grant(app, "password", "username", "alice", "password", apptest.Password).Object(); !strings.HasSuffix(o.Str("me"), "/"+alice.ID) {
		t.Errorf("me is %s", o.Str("me"))
	}
}

func TestGrantFailures(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app, other := srv.RegisterApp("scopes", "read write"), srv.RegisterApp()
	code := func() string {
		return authorizeInBrowser(srv, "alice", "response_type", "code", "client_id", app.ID).Codes[0]
	}
	foreign := srv.Grant(other, "password", "username", "alice", "password", apptest.Password).Object().Str("refresh_token")
	login := []string{"username", "alice", "password", apptest.Password}
	for _, tt := range []struct {
		name   string
		app    *apptest.App
		grant  string
		params []string
		status int
		want   string
	}{
		{"an unknown app", &apptest.App{ID: "nobody", Secret: "x"}, "client_credentials", nil, 401, "invalid_client"},
		{"a wrong secret", &apptest.App{ID: app.ID, Secret: other.Secret}, "client_credentials", nil, 401, "invalid_client"},
		{"no secret", &apptest.App{ID: app.ID, Secret: ""}, "password", login, 401, "invalid_client"},
		{"no app", &apptest.App{}, "password", login, 401, "invalid_client"},
		{"no grant", app, "", nil, 400, "invalid_request"},
		{"an unknown grant", app, "implicit", nil, 400, "unsupported_grant_type"},
		{"an unknown code", app, "authorization_code", []string{"code", "nonsense"}, 400, "invalid_grant"},
		{"no code", app, "authorization_code", nil, 400, "invalid_grant"},
		{"a code of another app", other, "authorization_code", []string{"code", code()}, 400, "invalid_grant"},
		{"another redirect URI", app, "authorization_code", []string{"code", code(), "redirect_uri", callback}, 400, "invalid_grant"},
		{"a wrong password", app, "password", []string{"username", "alice", "password", "wrong"}, 400, "invalid_grant"},
		{"no password", app, "password", []string{"username", "alice"}, 400, "invalid_grant"},
		{"an unknown user", app, "password", []string{"username", "nobody", "password", apptest.Password}, 400, "invalid_grant"},
		{"no name", app, "password", []string{"password", apptest.Password}, 400, "invalid_grant"},
		{"a remote handle", app, "password", []string{"username", "alice@example.com", "password", apptest.Password}, 400, "invalid_grant"},
		{"scopes that the app lacks", app, "password", append(login, "scope", "read push"), 400, "invalid_scope"},
		{"only unknown scopes", app, "password", append(login, "scope", "nonsense"), 400, "invalid_scope"},
		{"scopes that the app lacks, own token", app, "client_credentials", []string{"scope", "follow"}, 400, "invalid_scope"},
		{"the admin scope for an app", other, "client_credentials", []string{"scope", "admin"}, 400, "invalid_scope"},
		{"an unknown refresh token", app, "refresh_token", []string{"refresh_token", "nonsense"}, 400, "invalid_grant"},
		{"a refresh token of another app", app, "refresh_token", []string{"refresh_token", foreign}, 400, "invalid_grant"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.Grant(tt.app, tt.grant, tt.params...)
			a.WantError(tt.status, tt.want)
			if a.Object().Str("error_description") == "" || a.Header.Get("Set-Cookie") != "" {
				t.Errorf("got %s %v", a.Body, a.Header)
			}
			if strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Basic") {
				t.Error("browsers show their own password form")
			}
		})
	}
}

func TestGrantsOfUnavailableAccounts(t *testing.T) {
	srv := apptest.Start(t)
	app := srv.RegisterApp()
	for nick, tt := range unavailable {
		t.Run(nick, func(t *testing.T) {
			m := srv.SignUp(nick)
			code := authorizeInBrowser(srv, nick, "response_type", "code", "client_id", app.ID).Codes[0]
			refresh := srv.Grant(app, "password", "username", nick, "password", apptest.Password).Object().Str("refresh_token")
			srv.ChangeUser(nick, tt.change)
			for _, a := range []*apptest.Response{
				srv.Grant(app, "password", "username", nick, "password", apptest.Password),
				srv.Grant(app, "authorization_code", "code", code),
				srv.Grant(app, "refresh_token", "refresh_token", refresh),
			} {
				a.WantError(403, tt.signIn)
				if got := a.Object().Str("identifier"); got != tt.identifier {
					t.Errorf("identifier is %s", got)
				}
			}
			srv.Grant(app, "password", "username", nick, "password", "wrong").WantError(400, "invalid_grant")

			m.Get("/api/v1/notifications").WantError(403, tt.use)
			m.Get("/api/oauth_tokens").WantError(403, "Invalid credentials.")
			m.Get("/api/v1/timelines/public").Want(200) // as an anonymous request
			doBasic(srv, "GET", "/api/v1/notifications", nick, apptest.Password).WantError(403, tt.use)
		})
	}
}

// TestTokenEncodings requests a token in each encoding that clients use.
func TestTokenEncodings(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp()
	params := map[string]string{"grant_type": "password", "client_id": app.ID, "client_secret": app.Secret, "username": "alice", "password": apptest.Password, "scope": "read write"}
	var list []string
	var form strings.Builder
	w := multipart.NewWriter(&form)
	for k, v := range params {
		list = append(list, k, v)
		if err := w.WriteField(k, v); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	withBasic := func(id, secret string) *apptest.Response {
		req, err := http.NewRequest("POST", srv.URL+"/oauth/token", strings.NewReader(apptest.Pairs([]string{"grant_type", "password", "username", "alice",
			"password", apptest.Password, "client_id", "unknown", "client_secret", "wrong", "scope", "read write"}).Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.SetBasicAuth(id, secret)
		return srv.As(nil).DoRequest(req)
	}
	for name, a := range map[string]*apptest.Response{
		"urlencoded": srv.As(nil).Post("/oauth/token", list...),
		"multipart":  srv.As(nil).Do("POST", "/oauth/token", w.FormDataContentType(), strings.NewReader(form.String())),
		"JSON":       srv.As(nil).SendJSON("POST", "/oauth/token", params),
		"Basic":      withBasic(app.ID, app.Secret),
	} {
		if o := a.Want(200).Object(); o.Str("scope") != "read write" {
			t.Errorf("%s: got %s", name, a.Body)
		}
	}
	withBasic(app.ID, "wrong").WantError(401, "invalid_client")
	srv.As(nil).Do("POST", "/oauth/token", "application/json", strings.NewReader("{")).Want(400)
}

func TestCodeWorksOnce(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp()
	code := authorizeInBrowser(srv, "alice", "response_type", "code", "client_id", app.ID).Codes[0]
	first := srv.Grant(app, "authorization_code", "code", code)
	refresh := first.Object().Str("refresh_token")
	token := tokenClient(srv, first)
	token.Get(verifyCredentials).Want(200)
	srv.Grant(app, "authorization_code", "code", code).WantError(400, "invalid_grant")
	token.Get(verifyCredentials).WantError(401, "The access token is invalid") // the code may be stolen, so its tokens are revoked
	srv.Grant(app, "refresh_token", "refresh_token", refresh).WantError(400, "invalid_grant")
	srv.Grant(app, "authorization_code", "code", code).WantError(400, "invalid_grant")

	// Tokens from a refresh are revoked, too.
	code = authorizeInBrowser(srv, "alice", "response_type", "code", "client_id", app.ID).Codes[0]
	first = srv.Grant(app, "authorization_code", "code", code).Want(200)
	second := srv.Grant(app, "refresh_token", "refresh_token", first.Object().Str("refresh_token"))
	token = tokenClient(srv, second)
	token.Get(verifyCredentials).Want(200)
	srv.Grant(app, "authorization_code", "code", code).WantError(400, "invalid_grant")
	token.Get(verifyCredentials).Want(401)

	// Revoking the token does not make its code valid again.
	code = authorizeInBrowser(srv, "alice", "response_type", "code", "client_id", app.ID).Codes[0]
	token = tokenClient(srv, srv.Grant(app, "authorization_code", "code", code))
	srv.RevokeToken(token.Token).Want(200)
	srv.Grant(app, "authorization_code", "code", code).WantError(400, "invalid_grant")
}

// TestConcurrentCodes redeems a code several times at once: one request gets a token, and the others revoke it.
func TestConcurrentCodes(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp()
	code := authorizeInBrowser(srv, "alice", "response_type", "code", "client_id", app.ID).Codes[0]
	responses := make([]*apptest.Response, 8)
	var wg sync.WaitGroup
	for i := range responses {
		wg.Go(func() { responses[i] = srv.Grant(app, "authorization_code", "code", code) })
	}
	wg.Wait()
	granted := 0
	for _, a := range responses {
		if a.Status == 200 {
			granted++
			tokenClient(srv, a).Get(verifyCredentials).Want(401)
		} else {
			a.WantError(400, "invalid_grant")
		}
	}
	if granted != 1 {
		t.Errorf("%d requests got a token, want 1", granted)
	}
}

func TestCodeExpires(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp()
	code := authorizeInBrowser(srv, "alice", "response_type", "code", "client_id", app.ID).Codes[0]
	srv.SetClock(store.AuthorizationCodeTTL + time.Second)
	srv.Grant(app, "authorization_code", "code", code).WantError(400, "invalid_grant")
	srv.SetClock(store.AuthorizationCodeTTL - time.Minute)
	srv.Grant(app, "authorization_code", "code", code).Want(200)
}

func TestRefresh(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.OAuth.TokenLifetime = time.Hour })
	srv.SignUp("alice")
	app := srv.RegisterApp()
	first := srv.Grant(app, "password", "username", "alice", "password", apptest.Password, "scope", "read")
	if got := first.Object().Int("expires_in"); got != 3600 {
		t.Errorf("expires_in is %d", got)
	}
	old := tokenClient(srv, first)
	old.Get(verifyCredentials).Want(200)
	srv.SetClock(2 * time.Hour)
	old.Get(verifyCredentials).WantError(401, "The access token is invalid")
	second := srv.Grant(app, "refresh_token", "refresh_token", first.Object().Str("refresh_token")) // works after the access token expired
	fresh := tokenClient(srv, second)
	fresh.Get(verifyCredentials).Want(200)
	o := second.Object()
	if o.Str("scope") != "read" || o.Int("expires_in") != 3600 || o.Str("refresh_token") == first.Object().Str("refresh_token") {
		t.Errorf("got %s", second.Body)
	}
	srv.SetClock(0)
	old.Get(verifyCredentials).Want(401)
	srv.Grant(app, "refresh_token", "refresh_token", first.Object().Str("refresh_token")).WantError(400, "invalid_grant")
	srv.Grant(app, "client_credentials").Want(200)
}

func TestOAuthMetadata(t *testing.T) {
	srv := apptest.Start(t)
	a := srv.As(nil).Get("/.well-known/oauth-authorization-server").Want(200)
	var m map[string]any
	if err := json.Unmarshal(a.Body, &m); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"issuer": srv.URL, "authorization_endpoint": srv.URL + "/oauth/authorize", "token_endpoint": srv.URL + "/oauth/token",
		"revocation_endpoint": srv.URL + "/oauth/revoke", "userinfo_endpoint": srv.URL + "/oauth/userinfo", "app_registration_endpoint": srv.URL + "/api/v1/apps",
	} {
		if m[key] != want {
			t.Errorf("%s is %v, want %s", key, m[key], want)
		}
	}
	if got := stringsAt(a.Object(), "code_challenge_methods_supported"); len(got) != 1 || got[0] != "S256" {
		t.Errorf("challenge methods: %v", got)
	}
	if a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Error("CORS does not allow web clients")
	}
}
