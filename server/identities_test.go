package server_test

import (
	"strings"
	"testing"

	"svc/server"
)

// TestIdentitiesAreBounded has somebody with a lot stored by front ends sign in again and again: what is remembered of the account is
// remembered once. What is remembered of many such accounts has a bound, too.
func TestIdentitiesAreBounded(t *testing.T) {
	srv := Start(t)
	large := `{"theme": "` + strings.Repeat("x", 400_000) + `"}`
	store := func(m *User) {
		m.Do("PATCH", "/api/v1/svc/settings/fe", "application/json", strings.NewReader(large)).Want(200)
		m.Get("/api/v1/svc/settings/fe").Want(200)
	}
	alice := srv.SignUp("alice")
	store(alice)
	app := srv.RegisterApp()
	for range 50 {
		token := srv.Grant(app, "password", "username", "alice", "password", Password, "scope", "read").Want(200).Object().Str("access_token")
		(&Client{srv, token}).Get("/api/v1/svc/settings/fe").Want(200)
	}
	if tokens, _, size := srv.HTTP.Identities(); tokens < 51 || size > 1_000_000 {
		t.Errorf("%d tokens of one account take %d bytes", tokens, size)
	}
	for _, p := range SignUpMany(srv, 60) {
		store(p)
		if _, people, size := srv.HTTP.Identities(); size > server.PeopleBytes+500_000 {
			t.Fatalf("%d people take %d bytes", people, size)
		}
	}
	if got := alice.Get("/api/v1/svc/settings/fe").Want(200).Object().Str("theme"); len(got) != 400_000 {
		t.Error("the settings have gone")
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
