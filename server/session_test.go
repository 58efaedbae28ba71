package server_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"svc/store"
)

func TestRevoke(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app := srv.registerApp()
	for _, which := range []string{"access_token", "refresh_token"} {
		a := srv.grant(app, "password", "username", "alice", "password", testPassword)
		token := a.asToken(srv)
		token.get(me).want(200)
		r := srv.as(nil).send("POST", "/oauth/revoke", map[string]string{"client_id": app.id, "client_secret": app.secret, "token": a.object().str(which)}).want(200)
		if string(r.body) != "{}" {
			t.Errorf("the answer is %s", r.body)
		}
		token.get(me).want(401)
		srv.grant(app, "refresh_token", "refresh_token", a.object().str("refresh_token")).wantError(400, "invalid_grant")
	}
	srv.as(nil).post("/oauth/revoke", "token", "nonsense").want(200)
	srv.as(nil).post("/oauth/revoke").wantError(400, "invalid_request")

	// The cookie goes if it held the token, and only then.
	b := srv.browser()
	values := pairs([]string{"grant_type", "password", "client_id", app.id, "client_secret", app.secret, "username", "alice", "password", testPassword})
	b.post("/oauth/token", values).want(200)
	cookie := b.cookies["_svc_key"]
	if cookie == nil {
		t.Fatal("there is no cookie")
	}
	other := srv.grant(app, "password", "username", "alice", "password", testPassword).object().str("access_token")
	b.post("/oauth/revoke", pairs([]string{"token", other})).want(200)
	if b.cookies["_svc_key"] == nil {
		t.Error("the cookie went with another token")
	}
	b.get("/api/v1/notifications").want(200)
	b.post("/oauth/revoke", pairs([]string{"token", cookie.Value})).want(200)
	if b.cookies["_svc_key"] != nil {
		t.Error("the cookie is still there")
	}
	b.cookies["_svc_key"] = cookie
	b.get("/api/v1/notifications").want(401)
}

// TestTokenCookieFromElsewhere: another site must not sign a browser in, not even to an account of its own.
func TestTokenCookieFromElsewhere(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app := srv.registerApp()
	b := srv.browser()
	b.origin = "https://evil.example.com"
	b.post("/oauth/token", pairs([]string{"grant_type", "password", "client_id", app.id, "client_secret", app.secret, "username", "alice", "password", testPassword})).want(200)
	if len(b.cookies) != 0 {
		t.Errorf("cookies: %v", b.cookies)
	}
}

func TestCookieOnTheAPI(t *testing.T) {
	srv := startAPI(t)
	srv.signUp("alice")
	app := srv.registerApp()
	b := srv.browser()
	b.get("/oauth/authorize", "response_type", "code", "client_id", app.id).
		submit(0, "authorization[name]", "alice", "authorization[password]", testPassword).want(200)
	b.get("/api/v1/notifications").want(200)
	status := pairs([]string{"status", "hello"})
	b.post("/api/v1/statuses", status).want(200)
	b.origin = "https://evil.example.com"
	b.post("/api/v1/statuses", status).want(403)
	b.origin = "" // no word at all
	b.post("/api/v1/statuses", status).want(403)
}

func TestListTokens(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	app := srv.registerApp("client_name", "My app")
	token := srv.grant(app, "password", "username", "alice", "password", testPassword).asToken(srv)
	b := srv.browser()
	b.get("/oauth/authorize", "response_type", "code", "client_id", app.id).
		submit(0, "authorization[name]", "alice", "authorization[password]", testPassword).want(200)
	list := alice.get("/api/oauth_tokens.json").want(200).list()
	var names []string
	for _, o := range list {
		names = append(names, o.str("app_name"))
		if until, err := time.Parse("2006-01-02T15:04:05.000Z", o.str("valid_until")); err != nil || !until.After(time.Now()) {
			t.Errorf("valid until %s, %v", o.str("valid_until"), err)
		}
	}
	if strings.Join(names, ", ") != "svc, My app, Test" {
		t.Errorf("signed in are %q", names)
	}
	for _, o := range list[:2] {
		path := "/api/oauth_tokens/" + strconv.Itoa(o.num("id"))
		bob.do("DELETE", path, "", nil).want(201) // nothing happens
		if got := len(alice.get("/api/oauth_tokens").list()); got != 3 {
			t.Fatalf("%d are signed in after bob", got)
		}
	}
	for i, o := range list[:2] {
		alice.do("DELETE", "/api/oauth_tokens/"+strconv.Itoa(o.num("id")), "", nil).want(201)
		if got := len(alice.get("/api/oauth_tokens").list()); got != 2-i {
			t.Errorf("%d are signed in, want %d", got, 2-i)
		}
	}
	token.get(me).want(401)
	b.get("/api/v1/notifications").want(401)
	alice.do("DELETE", "/api/oauth_tokens/x", "", nil).wantError(400, "Invalid parameters")
	srv.as(nil).get("/api/oauth_tokens").wantError(403, "Invalid credentials.")

	// Signing out the browser itself takes its cookie.
	b.get("/oauth/authorize", "response_type", "code", "client_id", app.id).
		submit(0, "authorization[name]", "alice", "authorization[password]", testPassword).want(200)
	own := b.get("/api/oauth_tokens").want(200).list()[0].num("id")
	b.do("DELETE", "/api/oauth_tokens/"+strconv.Itoa(own), nil).want(201)
	if len(b.cookies) != 0 {
		t.Errorf("cookies: %v", b.cookies)
	}
}

// TestTokensAreBounded makes more tokens than an app and an account may have: those unused for the longest time go.
func TestTokensAreBounded(t *testing.T) {
	srv := startAPI(t)
	app := srv.registerApp()
	first := srv.grant(app, "client_credentials").asToken(srv)
	second := srv.grant(app, "client_credentials").asToken(srv)
	for range store.TokensPerApp - 2 {
		srv.grant(app, "client_credentials").want(200)
	}
	first.get(me).want(200)
	last := srv.grant(app, "client_credentials").asToken(srv)
	first.get(me).want(401)
	second.get(me).want(200)
	last.get(me).want(200)

	alice := srv.signUp("alice")
	ctx := t.Context()
	account, err := srv.db.AccountByName(ctx, "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	err = srv.db.Update(ctx, func(tx *store.Tx) error {
		for i := range store.TokensPerAccount + 5 {
			if err := tx.AddToken(ctx, &store.Token{Hash: []byte{byte(i), byte(i >> 8)}, AccountID: &account.ID}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	alice.get(me).want(401)
	rows, err := srv.db.TokensOf(ctx, account.ID)
	if err != nil || len(rows) != store.TokensPerAccount {
		t.Errorf("%d tokens are left, %v", len(rows), err)
	}
}
