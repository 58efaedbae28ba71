package server_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestSuggestions checks which accounts are suggested, and for which reason.
func TestSuggestions(t *testing.T) {
	srv := apptest.Start(t)
	admin := srv.SignUpAdmin()
	users := make(map[string]*apptest.User)
	set := func(nick string, settings map[string]any) {
		users[nick].SendJSON("PATCH", "/api/v1/accounts/update_credentials", settings).Want(200)
	}
	follow := func(nick string, whom ...string) {
		for _, target := range whom {
			users[nick].Post("/api/v1/accounts/" + users[target].ID + "/follow").Want(200)
		}
	}
	for _, nick := range strings.Fields("alice bob carol dave erin frank grace heidi ivan judy") {
		users[nick] = srv.SignUp(nick)
		set(nick, map[string]any{"discoverable": true})
	}
	alice := users["alice"]
	follow("alice", "bob", "carol", "dave")
	follow("bob", "alice", "erin", "frank", "grace", "heidi", "carol")
	follow("carol", "frank", "ivan")
	follow("dave", "judy")
	set("dave", map[string]any{"hide_follows": true})    // judy is not suggested
	set("grace", map[string]any{"discoverable": false})  // nor is grace
	set("heidi", map[string]any{"hide_followers": true}) // nor heidi
	suggested := func(params ...string) string {
		var list []string
		for _, o := range alice.Get("/api/v2/suggestions", params...).Want(200).List() {
			list = append(list, fmt.Sprint(o.Find("account.acct"), o.At("source"), o.At("sources")))
		}
		return strings.Join(list, " ")
	}
	check := func(what, want string, params ...string) {
		t.Helper()
		if got := suggested(params...); got != want {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
	}
	const ofFriends = "global[friends_of_friends]"
	check("frank is followed by two", "frank"+ofFriends+" ivan"+ofFriends+" erin"+ofFriends)
	check("with a limit", "frank"+ofFriends, "limit", "1")
	admin.SendJSON("PATCH", "/api/v1/svc/admin/users/suggest", map[string]any{"nicknames": []string{"ivan", "grace"}}).Want(200)
	check("with accounts that staff suggest", "ivanstaff[featured friends_of_friends] gracestaff[featured] frank"+ofFriends+" erin"+ofFriends)
	alice.Post("/api/v1/accounts/" + users["erin"].ID + "/block").Want(200)
	alice.Post("/api/v1/accounts/" + users["frank"].ID + "/mute").Want(200)
	users["ivan"].Post("/api/v1/accounts/" + alice.ID + "/block").Want(200)
	check("without blocked, blocking and muted ones", "gracestaff[featured]")
	set("carol", map[string]any{"discoverable": false})
	set("bob", map[string]any{"hide_follows": true})
	alice.Post("/api/v1/accounts/" + users["frank"].ID + "/unmute").Want(200)
	check("without friends that are not to be used", "gracestaff[featured]")
	if got := srv.As(nil).Get("/api/v2/suggestions").Want(200).List(); len(got) != 0 {
		t.Errorf("for a visitor: %v", got)
	}
	if got := alice.Get("/api/v1/suggestions").Want(200).List(); len(got) != 0 {
		t.Errorf("version 1 has %v", got)
	}
	alice.Do("DELETE", "/api/v1/suggestions/"+alice.ID, "", nil).Want(200)
	srv.As(nil).Do("DELETE", "/api/v1/suggestions/"+alice.ID, "", nil).Want(401)
}
