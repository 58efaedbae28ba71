package server_test

import (
	"strings"
	"testing"

	"svc/server"
)

// TestIdentitiesAreBounded has somebody with a lot stored by front ends sign in again and again: what is remembered of the account is
// remembered once. What is remembered of many such accounts has a bound, too.
func TestIdentitiesAreBounded(t *testing.T) {
	srv := startAPI(t)
	large := `{"theme": "` + strings.Repeat("x", 400_000) + `"}`
	store := func(m *member) {
		m.do("PATCH", "/api/v1/svc/settings/fe", "application/json", strings.NewReader(large)).want(200)
		m.get("/api/v1/svc/settings/fe").want(200)
	}
	alice := srv.signUp("alice")
	store(alice)
	app := srv.registerApp()
	for range 50 {
		token := srv.grant(app, "password", "username", "alice", "password", testPassword, "scope", "read").want(200).object().str("access_token")
		(&caller{srv, token}).get("/api/v1/svc/settings/fe").want(200)
	}
	if tokens, _, size := srv.server.Identities(); tokens < 51 || size > 1_000_000 {
		t.Errorf("%d tokens of one account take %d bytes", tokens, size)
	}
	for _, p := range crowdOf(srv, 60) {
		store(p)
		if _, people, size := srv.server.Identities(); size > server.PeopleBytes+500_000 {
			t.Fatalf("%d people take %d bytes", people, size)
		}
	}
	if got := alice.get("/api/v1/svc/settings/fe").want(200).object().str("theme"); len(got) != 400_000 {
		t.Error("the settings have gone")
	}
	alice.send("PATCH", "/api/v1/svc/settings/fe", map[string]any{"theme": nil, "other": 1}).want(200)
	if got := srv.newToken(alice, "read").get("/api/v1/svc/settings/fe").want(200).object(); got.has("theme") {
		t.Error("a new token has old settings")
	}
	if err := srv.social.DeleteAccount(t.Context(), alice.accountID()); err != nil {
		t.Fatal(err)
	}
	alice.get("/api/v1/svc/settings/fe").want(403)
}
