package server_test

import (
	"encoding/json"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"svc/internal/config"
	"svc/store"
)

// asToken returns a caller with the token of an answer.
func (a *answer) asToken(srv *api) *caller {
	a.t.Helper()
	return &caller{srv, a.want(200).object().str("access_token")}
}

const me = "/api/v1/apps/verify_credentials" // works with any token

func TestGrants(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	srv.signUp("chief")
	srv.changeUser("chief", func(u *store.User) { u.IsAdmin = true })
	app := srv.registerApp("scopes", "read write:statuses push admin")
	code := srv.walk("alice", "response_type", "code", "client_id", app.id, "scope", "read").codes[0]
	refresh := srv.grant(app, "password", "username", "alice", "password", testPassword, "scope", "push").object().str("refresh_token")
	for _, tt := range []struct {
		name   string
		grant  string
		params []string
		scope  string
		user   bool
	}{
		{"a code", "authorization_code", []string{"code", code, "redirect_uri", outOfBand, "scope", "push"}, "read", true},
		{"the app", "client_credentials", nil, "read write:statuses push", false},
		{"the app, less", "client_credentials", []string{"scope", "read:statuses push", "redirect_uri", "ignored"}, "read:statuses push", false},
		{"a nickname", "password", []string{"username", "alice", "password", testPassword}, "read write:statuses push", true},
		{"in another case", "password", []string{"username", " ALICE ", "password", testPassword}, "read write:statuses push", true},
		{"an e-mail address", "password", []string{"username", "Alice@Example.org", "password", testPassword}, "read write:statuses push", true},
		{"a handle", "password", []string{"username", "@alice@" + srv.settings.Host(), "password", testPassword}, "read write:statuses push", true},
		{"the alias of username", "password", []string{"name", "alice", "password", testPassword, "scope", "read"}, "read", true},
		{"unknown scopes", "password", []string{"username", "alice", "password", testPassword, "scope", "read nonsense"}, "read", true},
		{"an administrator", "password", []string{"username", "chief", "password", testPassword, "scope", "read admin"}, "read admin", true},
		{"who is none", "password", []string{"username", "alice", "password", testPassword, "scope", "read admin"}, "read", true},
		{"a refresh token", "refresh_token", []string{"refresh_token", refresh}, "push", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.grant(app, tt.grant, tt.params...).want(200)
			o := a.object()
			if o.str("token_type") != "Bearer" || len(o.str("access_token")) != 43 || o.num("id") == 0 || o.str("scope") != tt.scope {
				t.Errorf("got %s", a.body)
			}
			if age := time.Now().Unix() - int64(o.num("created_at")); age < 0 || age > 60 {
				t.Errorf("created %d seconds ago", age)
			}
			if o.has("expires_in") || o.has("refresh_token") != tt.user || o.has("me") != tt.user {
				t.Errorf("members: %s", a.body)
			}
			if tt.user && !strings.HasPrefix(o.str("me"), srv.url+"/users/") {
				t.Errorf("me is %s", o.str("me"))
			}
			if a.header.Get("Cache-Control") != "no-store" || a.header.Get("Pragma") != "no-cache" || a.header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("headers: %v", a.header)
			}
			a.asToken(srv).get(me).want(200)
			if got := a.header.Get("Set-Cookie") != ""; got != tt.user {
				t.Errorf("cookie: %q", a.header.Get("Set-Cookie"))
			}
		})
	}
	if o := srv.grant(app, "password", "username", "alice", "password", testPassword).object(); !strings.HasSuffix(o.str("me"), "/"+alice.id) {
		t.Errorf("me is %s", o.str("me"))
	}
}

func TestGrantFailures(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app, other := srv.registerApp("scopes", "read write"), srv.registerApp()
	code := func() string {
		return srv.walk("alice", "response_type", "code", "client_id", app.id).codes[0]
	}
	foreign := srv.grant(other, "password", "username", "alice", "password", testPassword).object().str("refresh_token")
	login := []string{"username", "alice", "password", testPassword}
	for _, tt := range []struct {
		name   string
		app    *client
		grant  string
		params []string
		status int
		want   string
	}{
		{"an unknown app", &client{"nobody", "x"}, "client_credentials", nil, 401, "invalid_client"},
		{"a wrong secret", &client{app.id, other.secret}, "client_credentials", nil, 401, "invalid_client"},
		{"no secret", &client{app.id, ""}, "password", login, 401, "invalid_client"},
		{"no app", &client{}, "password", login, 401, "invalid_client"},
		{"no grant", app, "", nil, 400, "invalid_request"},
		{"an unknown grant", app, "implicit", nil, 400, "unsupported_grant_type"},
		{"an unknown code", app, "authorization_code", []string{"code", "nonsense"}, 400, "invalid_grant"},
		{"no code", app, "authorization_code", nil, 400, "invalid_grant"},
		{"a code of another app", other, "authorization_code", []string{"code", code()}, 400, "invalid_grant"},
		{"another address", app, "authorization_code", []string{"code", code(), "redirect_uri", callback}, 400, "invalid_grant"},
		{"a wrong password", app, "password", []string{"username", "alice", "password", "wrong"}, 400, "invalid_grant"},
		{"no password", app, "password", []string{"username", "alice"}, 400, "invalid_grant"},
		{"nobody", app, "password", []string{"username", "nobody", "password", testPassword}, 400, "invalid_grant"},
		{"no name", app, "password", []string{"password", testPassword}, 400, "invalid_grant"},
		{"a handle elsewhere", app, "password", []string{"username", "alice@example.com", "password", testPassword}, 400, "invalid_grant"},
		{"more than the app may", app, "password", append(login, "scope", "read push"), 400, "invalid_scope"},
		{"only unknown scopes", app, "password", append(login, "scope", "nonsense"), 400, "invalid_scope"},
		{"more than the app may, by itself", app, "client_credentials", []string{"scope", "follow"}, 400, "invalid_scope"},
		{"administration by an app", other, "client_credentials", []string{"scope", "admin"}, 400, "invalid_scope"},
		{"an unknown refresh token", app, "refresh_token", []string{"refresh_token", "nonsense"}, 400, "invalid_grant"},
		{"a refresh token of another app", app, "refresh_token", []string{"refresh_token", foreign}, 400, "invalid_grant"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := srv.grant(tt.app, tt.grant, tt.params...)
			a.wantError(tt.status, tt.want)
			if a.object().str("error_description") == "" || a.header.Get("Set-Cookie") != "" {
				t.Errorf("got %s %v", a.body, a.header)
			}
			if strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Basic") {
				t.Error("browsers would ask for a password")
			}
		})
	}
}

func TestGrantsOfUnusableAccounts(t *testing.T) {
	srv := startAPI(t)
	app := srv.registerApp()
	for nick, tt := range unusable {
		t.Run(nick, func(t *testing.T) {
			m := srv.signUp(nick)
			code := srv.walk(nick, "response_type", "code", "client_id", app.id).codes[0]
			refresh := srv.grant(app, "password", "username", nick, "password", testPassword).object().str("refresh_token")
			srv.changeUser(nick, tt.change)
			for _, a := range []*answer{
				srv.grant(app, "password", "username", nick, "password", testPassword),
				srv.grant(app, "authorization_code", "code", code),
				srv.grant(app, "refresh_token", "refresh_token", refresh),
			} {
				a.wantError(403, tt.signIn)
				if got := a.object().str("identifier"); got != tt.identifier {
					t.Errorf("identifier is %s", got)
				}
			}
			srv.grant(app, "password", "username", nick, "password", "wrong").wantError(400, "invalid_grant")

			m.get("/api/v1/notifications").wantError(403, tt.use)
			m.get("/api/oauth_tokens").wantError(403, "Invalid credentials.")
			m.get("/api/v1/timelines/public").want(200) // as anybody
			basic := srv.as(nil)
			basicHeader := func(path string) *answer {
				req, err := http.NewRequest("GET", srv.url+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				req.SetBasicAuth(nick, testPassword)
				return basic.request(req)
			}
			basicHeader("/api/v1/notifications").wantError(403, tt.use)
		})
	}
}

// TestTokenInAllForms asks as the various clients do.
func TestTokenInAllForms(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app := srv.registerApp()
	params := map[string]string{"grant_type": "password", "client_id": app.id, "client_secret": app.secret, "username": "alice", "password": testPassword, "scope": "read write"}
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
	withBasic := func(id, secret string) *answer {
		req, err := http.NewRequest("POST", srv.url+"/oauth/token", strings.NewReader(pairs([]string{"grant_type", "password", "username", "alice",
			"password", testPassword, "client_id", "nobody", "client_secret", "wrong", "scope", "read write"}).Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.SetBasicAuth(id, secret)
		return srv.as(nil).request(req)
	}
	for name, a := range map[string]*answer{
		"urlencoded": srv.as(nil).post("/oauth/token", list...),
		"multipart":  srv.as(nil).do("POST", "/oauth/token", w.FormDataContentType(), strings.NewReader(form.String())),
		"JSON":       srv.as(nil).send("POST", "/oauth/token", params),
		"Basic":      withBasic(app.id, app.secret),
	} {
		if o := a.want(200).object(); o.str("scope") != "read write" {
			t.Errorf("%s: got %s", name, a.body)
		}
	}
	withBasic(app.id, "wrong").wantError(401, "invalid_client")
	srv.as(nil).do("POST", "/oauth/token", "application/json", strings.NewReader("{")).want(400)
}

func TestCodeWorksOnce(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app := srv.registerApp()
	code := srv.walk("alice", "response_type", "code", "client_id", app.id).codes[0]
	first := srv.grant(app, "authorization_code", "code", code)
	refresh := first.object().str("refresh_token")
	token := first.asToken(srv)
	token.get(me).want(200)
	srv.grant(app, "authorization_code", "code", code).wantError(400, "invalid_grant")
	token.get(me).wantError(401, "The access token is invalid") // somebody has stolen the code, here or there
	srv.grant(app, "refresh_token", "refresh_token", refresh).wantError(400, "invalid_grant")
	srv.grant(app, "authorization_code", "code", code).wantError(400, "invalid_grant")

	// What was renewed falls too.
	code = srv.walk("alice", "response_type", "code", "client_id", app.id).codes[0]
	first = srv.grant(app, "authorization_code", "code", code).want(200)
	second := srv.grant(app, "refresh_token", "refresh_token", first.object().str("refresh_token"))
	token = second.asToken(srv)
	token.get(me).want(200)
	srv.grant(app, "authorization_code", "code", code).wantError(400, "invalid_grant")
	token.get(me).want(401)

	// A revoked token does not bring its code back to life.
	code = srv.walk("alice", "response_type", "code", "client_id", app.id).codes[0]
	token = srv.grant(app, "authorization_code", "code", code).asToken(srv)
	srv.as(nil).post("/oauth/revoke", "token", token.token).want(200)
	srv.grant(app, "authorization_code", "code", code).wantError(400, "invalid_grant")
}

// TestCodeAtOnce has many redeem a code at the same time: at most one token comes of it, and none is left.
func TestCodeAtOnce(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app := srv.registerApp()
	code := srv.walk("alice", "response_type", "code", "client_id", app.id).codes[0]
	answers := make([]*answer, 8)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = srv.grant(app, "authorization_code", "code", code) })
	}
	wg.Wait()
	granted := 0
	for _, a := range answers {
		if a.status == 200 {
			granted++
			a.asToken(srv).get(me).want(401)
		} else {
			a.wantError(400, "invalid_grant")
		}
	}
	if granted != 1 {
		t.Errorf("%d were granted a token", granted)
	}
}

func TestCodeExpires(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app := srv.registerApp()
	code := srv.walk("alice", "response_type", "code", "client_id", app.id).codes[0]
	now := time.Now()
	srv.server.SetClock(func() time.Time { return now.Add(store.CodeTime + time.Second) })
	srv.grant(app, "authorization_code", "code", code).wantError(400, "invalid_grant")
	srv.server.SetClock(func() time.Time { return now.Add(store.CodeTime - time.Minute) })
	srv.grant(app, "authorization_code", "code", code).want(200)
}

func TestRefresh(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.OAuth.TokenLifetime = time.Hour })
	srv.signUp("alice")
	app := srv.registerApp()
	first := srv.grant(app, "password", "username", "alice", "password", testPassword, "scope", "read")
	if got := first.object().num("expires_in"); got != 3600 {
		t.Errorf("expires_in is %d", got)
	}
	old := first.asToken(srv)
	old.get(me).want(200)
	now := time.Now()
	srv.server.SetClock(func() time.Time { return now.Add(2 * time.Hour) })
	old.get(me).wantError(401, "The access token is invalid")
	second := srv.grant(app, "refresh_token", "refresh_token", first.object().str("refresh_token")) // works after the end
	fresh := second.asToken(srv)
	fresh.get(me).want(200)
	o := second.object()
	if o.str("scope") != "read" || o.num("expires_in") != 3600 || o.str("refresh_token") == first.object().str("refresh_token") {
		t.Errorf("got %s", second.body)
	}
	srv.server.SetClock(time.Now)
	old.get(me).want(401)
	srv.grant(app, "refresh_token", "refresh_token", first.object().str("refresh_token")).wantError(400, "invalid_grant")
	srv.grant(app, "client_credentials").want(200)
}

func TestOAuthMetadata(t *testing.T) {
	srv := startAPI(t)
	a := srv.as(nil).get("/.well-known/oauth-authorization-server").want(200)
	var m map[string]any
	if err := json.Unmarshal(a.body, &m); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"issuer": srv.url, "authorization_endpoint": srv.url + "/oauth/authorize", "token_endpoint": srv.url + "/oauth/token",
		"revocation_endpoint": srv.url + "/oauth/revoke", "app_registration_endpoint": srv.url + "/api/v1/apps",
	} {
		if m[key] != want {
			t.Errorf("%s is %v, want %s", key, m[key], want)
		}
	}
	if got := a.object().texts("code_challenge_methods_supported"); len(got) != 1 || got[0] != "S256" {
		t.Errorf("challenge methods: %v", got)
	}
	if a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Error("web clients cannot read it")
	}
}
