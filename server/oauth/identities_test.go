package oauth_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestCachedIdentities changes and deletes an account with many tokens and large settings. The server caches some of them.
func TestCachedIdentities(t *testing.T) {
	srv := apptest.Start(t)
	large := `{"theme": "` + strings.Repeat("x", 400_000) + `"}`
	store := func(m *apptest.User) {
		m.Do("PATCH", "/api/v1/svc/settings/fe", "application/json", strings.NewReader(large)).Want(200)
		m.Get("/api/v1/svc/settings/fe").Want(200)
	}
	alice := srv.SignUp("alice")
	store(alice)
	app := srv.RegisterApp()
	for range 50 {
		token := srv.Grant(app, "password", "username", "alice", "password", apptest.Password, "scope", "read").Want(200).Object().Str("access_token")
		(&apptest.Client{Server: srv, Token: token}).Get("/api/v1/svc/settings/fe").Want(200)
	}
	for _, p := range apptest.SignUpMany(srv, 60) {
		store(p)
	}
	if got := alice.Get("/api/v1/svc/settings/fe").Want(200).Object().Str("theme"); len(got) != 400_000 {
		t.Error("the settings are lost")
	}
	alice.SendJSON("PATCH", "/api/v1/svc/settings/fe", map[string]any{"theme": nil, "other": 1}).Want(200)
	if got := srv.NewToken(alice, "read").Get("/api/v1/svc/settings/fe").Want(200).Object(); got.Has("theme") {
		t.Error("a new token has old settings")
	}
	if err := srv.Social.DeleteAccount(t.Context(), alice.AccountID()); err != nil {
		t.Fatal(err)
	}
	alice.Get("/api/v1/svc/settings/fe").Want(403)
}
