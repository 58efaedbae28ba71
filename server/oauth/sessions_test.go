package oauth_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/store"
)

func TestRevoke(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp()
	for _, which := range []string{"access_token", "refresh_token"} {
		a := srv.Grant(app, "password", "username", "alice", "password", apptest.Password)
		token := tokenClient(srv, a)
		token.Get(verifyCredentials).Want(200)
		r := srv.As(nil).SendJSON("POST", "/oauth/revoke", map[string]string{"client_id": app.ID, "client_secret": app.Secret, "token": a.Object().Str(which)}).Want(200)
		if string(r.Body) != "{}" {
			t.Errorf("got %s, want {}", r.Body)
		}
		token.Get(verifyCredentials).Want(401)
		srv.Grant(app, "refresh_token", "refresh_token", a.Object().Str("refresh_token")).WantError(400, "invalid_grant")
	}
	client := []string{"client_id", app.ID, "client_secret", app.Secret}
	srv.As(nil).Post("/oauth/revoke", append(client, "token", "nonsense")...).Want(200)
	srv.As(nil).Post("/oauth/revoke", client...).WantError(400, "invalid_request")

	// The cookie is deleted only if it has the revoked token.
	b := srv.Browser()
	values := apptest.Pairs([]string{"grant_type", "password", "client_id", app.ID, "client_secret", app.Secret, "username", "alice", "password", apptest.Password})
	b.Post("/oauth/token", values).Want(200)
	cookie := b.Cookies["_svc_key"]
	if cookie == nil {
		t.Fatal("no cookie was set")
	}
	other := srv.Grant(app, "password", "username", "alice", "password", apptest.Password).Object().Str("access_token")
	b.Post("/oauth/revoke", apptest.Pairs(append(client, "token", other))).Want(200)
	if b.Cookies["_svc_key"] == nil {
		t.Error("revoking another token deleted the cookie")
	}
	b.Get("/api/v1/notifications").Want(200)
	b.Post("/oauth/revoke", apptest.Pairs(append(client, "token", cookie.Value))).Want(200)
	if b.Cookies["_svc_key"] != nil {
		t.Error("the cookie is still there")
	}
	b.Cookies["_svc_key"] = cookie
	b.Get("/api/v1/notifications").Want(401)
}

// TestRevokeByOtherClients checks that only the app that a token was issued to can revoke it (RFC 7009 2.1).
func TestRevokeByOtherClients(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app, other := srv.RegisterApp(), srv.RegisterApp()
	token := tokenClient(srv, srv.Grant(app, "password", "username", "alice", "password", apptest.Password))
	for _, tt := range []struct {
		name       string
		id, secret string
		status     int
		want       string
	}{
		{"no client", "", "", 401, "invalid_client"},
		{"an unknown client", "nobody", app.Secret, 401, "invalid_client"},
		{"a wrong secret", app.ID, other.Secret, 401, "invalid_client"},
		{"no secret", app.ID, "", 401, "invalid_client"},
		{"another client", other.ID, other.Secret, 403, "unauthorized_client"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv.As(nil).Post("/oauth/revoke", "token", token.Token, "client_id", tt.id, "client_secret", tt.secret).WantError(tt.status, tt.want)
			token.Get(verifyCredentials).Want(200)
		})
	}
	srv.RevokeToken(token.Token).Want(200)
	token.Get(verifyCredentials).Want(401)
}

// TestTokenCookieFromAnotherSite checks that another site cannot sign a browser in, not even to an account that the site owns.
func TestTokenCookieFromAnotherSite(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp()
	b := srv.Browser()
	b.Origin = "https://evil.example.com"
	b.Post("/oauth/token", apptest.Pairs([]string{"grant_type", "password", "client_id", app.ID, "client_secret", app.Secret, "username", "alice", "password", apptest.Password})).Want(200)
	if len(b.Cookies) != 0 {
		t.Errorf("cookies: %v", b.Cookies)
	}
}

func TestCookieOnAPI(t *testing.T) {
	srv := apptest.Start(t)
	srv.SignUp("alice")
	app := srv.RegisterApp()
	b := srv.Browser()
	b.Get("/oauth/authorize", "response_type", "code", "client_id", app.ID).
		Submit(0, "authorization[name]", "alice", "authorization[password]", apptest.Password).Want(200)
	b.Get("/api/v1/notifications").Want(200)
	status := apptest.Pairs([]string{"status", "hello"})
	b.Post("/api/v1/statuses", status).Want(200)
	b.Origin = "https://evil.example.com"
	b.Post("/api/v1/statuses", status).Want(403)
	b.Origin = "" // the header is empty
	b.Post("/api/v1/statuses", status).Want(403)
}

func TestListTokens(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	app := srv.RegisterApp("client_name", "My app")
	token := tokenClient(srv, srv.Grant(app, "password", "username", "alice", "password", apptest.Password))
	b := srv.Browser()
	b.Get("/oauth/authorize", "response_type", "code", "client_id", app.ID).
		Submit(0, "authorization[name]", "alice", "authorization[password]", apptest.Password).Want(200)
	list := alice.Get("/api/oauth_tokens.json").Want(200).List()
	var names []string
	for _, o := range list {
		names = append(names, o.Str("app_name"))
		if until, err := time.Parse("2006-01-02T15:04:05.000Z", o.Str("valid_until")); err != nil || !until.After(time.Now()) {
			t.Errorf("valid_until is %s, %v", o.Str("valid_until"), err)
		}
	}
	if strings.Join(names, ", ") != "svc, My app, Test" {
		t.Errorf("tokens of %q", names)
	}
	for _, o := range list[:2] {
		path := "/api/oauth_tokens/" + strconv.Itoa(o.Int("id"))
		bob.Do("DELETE", path, "", nil).Want(201) // changes nothing
		if got := len(alice.Get("/api/oauth_tokens").List()); got != 3 {
			t.Fatalf("%d tokens after bob's request, want 3", got)
		}
	}
	for i, o := range list[:2] {
		alice.Do("DELETE", "/api/oauth_tokens/"+strconv.Itoa(o.Int("id")), "", nil).Want(201)
		if got := len(alice.Get("/api/oauth_tokens").List()); got != 2-i {
			t.Errorf("%d tokens, want %d", got, 2-i)
		}
	}
	token.Get(verifyCredentials).Want(401)
	b.Get("/api/v1/notifications").Want(401)
	alice.Do("DELETE", "/api/oauth_tokens/"+strconv.Itoa(list[0].Int("id")), "", nil).Want(201) // it is gone, as an unknown one
	alice.Do("DELETE", "/api/oauth_tokens/x", "", nil).WantError(400, "Invalid parameters")
	srv.As(nil).Get("/api/oauth_tokens").WantError(403, "Invalid credentials.")
	app = srv.RegisterApp()
	for scope, want := range map[string][2]int{
		"push": {403, 403}, "write:statuses": {403, 403}, "read:security": {200, 403}, "write:security": {403, 201}, "read": {200, 403}, "write": {403, 201},
	} {
		m := tokenClient(srv, srv.Grant(app, "password", "username", "alice", "password", apptest.Password, "scope", scope))
		m.Get("/api/oauth_tokens").Want(want[0])
		m.Do("DELETE", "/api/oauth_tokens/999999", "", nil).Want(want[1])
	}

	// A browser that revokes its own session loses the cookie.
	b.Get("/oauth/authorize", "response_type", "code", "client_id", app.ID).
		Submit(0, "authorization[name]", "alice", "authorization[password]", apptest.Password).Want(200)
	own := b.Get("/api/oauth_tokens").Want(200).List()[0].Int("id")
	b.Do("DELETE", "/api/oauth_tokens/"+strconv.Itoa(own), nil).Want(201)
	if len(b.Cookies) != 0 {
		t.Errorf("cookies: %v", b.Cookies)
	}
}

// TestMaxTokens adds more tokens than an app and an account may have: the least recently used ones are deleted.
func TestMaxTokens(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.Start(t)
	app := srv.RegisterApp()
	first := tokenClient(srv, srv.Grant(app, "client_credentials"))
	second := tokenClient(srv, srv.Grant(app, "client_credentials"))
	for range store.TokensPerApp - 2 {
		srv.Grant(app, "client_credentials").Want(200)
	}
	first.Get(verifyCredentials).Want(200)
	last := tokenClient(srv, srv.Grant(app, "client_credentials"))
	first.Get(verifyCredentials).Want(401)
	second.Get(verifyCredentials).Want(200)
	last.Get(verifyCredentials).Want(200)

	alice := srv.SignUp("alice")
	ctx := t.Context()
	account, err := srv.DB.AccountByName(ctx, "alice", "")
	if err != nil {
		t.Fatal(err)
	}
	err = srv.DB.Update(ctx, func(tx *store.Tx) error {
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
	alice.Get(verifyCredentials).Want(401)
	rows, err := srv.DB.TokensOf(ctx, account.ID)
	if err != nil || len(rows) != store.TokensPerAccount {
		t.Errorf("%d tokens are left, %v", len(rows), err)
	}
}
