package server_test

import (
	"fmt"
	"slices"
	"testing"
)

func TestAliases(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	srv.signUp("bob")
	domain := srv.settings.Host()
	const path = "/api/v1/svc/aliases"
	wantAliases := func(want ...any) {
		t.Helper()
		if got := alice.get(path).want(200).object().at("aliases").([]any); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	alias := func(name string) map[string]string { return map[string]string{"alias": name} }
	wantAliases()
	alice.send("PUT", path, alias("nobody")).wantError(404, "Target account does not exist.")
	alice.send("PUT", path, alias("nobody@elsewhere.example")).wantError(404, "Target account does not exist.")
	alice.send("PUT", path, alias("alice")).want(403)
	alice.send("PUT", path, nil).want(400)
	srv.as(nil).get(path).want(403)
	for range 2 {
		if got := alice.send("PUT", path, alias("@bob")).want(200).object().str("status"); got != "success" {
			t.Errorf("got %q", got)
		}
	}
	wantAliases("bob@" + domain)
	alice.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"also_known_as": []string{"https://elsewhere.example/users/1"}}).want(200)
	wantAliases("https://elsewhere.example/users/1")
	alice.send("DELETE", path, alias("bob")).wantError(404, "Account has no such alias.")
	alice.send("DELETE", path, alias("https://elsewhere.example/users/1")).want(200)
	wantAliases()
	// What is listed can be removed by that name, also if nobody sees the account any more.
	carol := srv.signUp("carol")
	alice.send("PUT", path, alias("carol")).want(200)
	srv.withhold(carol)
	wantAliases("carol@" + domain)
	alice.send("DELETE", path, alias("carol@"+domain)).want(200)
	wantAliases()
}

func TestMoveAccount(t *testing.T) {
	srv := startAPI(t)
	old, fresh := srv.signUp("old"), srv.signUp("fresh")
	var followers []*member
	for i := range 3 {
		m := srv.signUp(fmt.Sprintf("f%d", i))
		m.post("/api/v1/accounts/"+old.id+"/follow", "notify", "true", "reblogs", "false").want(200)
		followers = append(followers, m)
	}
	stays, blocked := followers[1], followers[2]
	stays.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"allow_following_move": false}).want(200)
	fresh.post("/api/v1/accounts/" + blocked.id + "/block").want(200)
	move := func(password, target string) *answer {
		t.Helper()
		return old.post("/api/v1/svc/move_account", "password", password, "target_account", target)
	}
	wantFailed := func(a *answer, message string) {
		t.Helper()
		if got := a.want(200).object().str("error"); got != message {
			t.Errorf("got %q, want %q", got, message)
		}
	}
	wantFailed(move("wrong", "fresh"), "Invalid password.")
	move(testPassword, "nobody").wantError(404, "Target account not found.")
	wantFailed(move(testPassword, "fresh"), "Target account must have the origin in `alsoKnownAs`")
	if srv.as(nil).get("/api/v1/accounts/" + old.id).want(200).object().has("moved") {
		t.Error("moved without the other's word")
	}
	fresh.send("PUT", "/api/v1/svc/aliases", map[string]string{"alias": "old"}).want(200)
	for range 2 {
		move(testPassword, "@fresh").want(200)
	}
	srv.settle()
	if got := srv.as(nil).get("/api/v1/accounts/" + old.id).want(200).object().str("moved.id"); got != fresh.id {
		t.Errorf("moved to %s", got)
	}
	for i, m := range followers {
		list := m.get("/api/v1/notifications", "types[]", "move").want(200).list()
		if len(list) != 1 || list[0].str("account.id") != old.id || list[0].str("target.id") != fresh.id {
			t.Errorf("%s: notifications are %v", m.nick, list)
		}
		rel := m.get("/api/v1/accounts/relationships", "id[]", old.id, "id[]", fresh.id).list()
		led := i == 0
		if rel[0].truth("following") == led || rel[1].truth("following") != led {
			t.Errorf("%s follows the old: %t, the new: %t", m.nick, rel[0].truth("following"), rel[1].truth("following"))
		}
		if rel[0].truth("subscribing") == led || rel[1].truth("subscribing") != led {
			t.Errorf("%s is told of the posts of the old: %t, of the new: %t", m.nick, rel[0].truth("subscribing"), rel[1].truth("subscribing"))
		}
		if led && rel[1].truth("showing_reblogs") {
			t.Errorf("%s sees boosts now", m.nick)
		}
	}
	wantFailed(old.post("/api/v1/svc/move_account", "password", testPassword, "target_account", "f1"), "Target account must have the origin in `alsoKnownAs`")
}

// TestMovedIsCurrent: an account that has moved shows the other as it is now, and only as long as it may be seen.
func TestMovedIsCurrent(t *testing.T) {
	srv := startAPI(t)
	old, fresh, bob := srv.signUp("old"), srv.signUp("fresh"), srv.signUp("bob")
	bob.post("/api/v1/accounts/" + old.id + "/follow").want(200)
	post := old.publish("the last words")
	fresh.send("PUT", "/api/v1/svc/aliases", map[string]string{"alias": "old"}).want(200)
	old.post("/api/v1/svc/move_account", "password", testPassword, "target_account", "fresh").want(200)
	srv.settle()
	shown := func() map[string]any {
		t.Helper()
		moved := map[string]any{}
		for name, o := range map[string]*object{
			"the account":      srv.as(nil).get("/api/v1/accounts/" + old.id).want(200).object(),
			"the author":       {t: t, m: bob.get("/api/v1/statuses/" + post.id()).want(200).object().at("account").(map[string]any)},
			"the account, own": old.get("/api/v1/accounts/verify_credentials").want(200).object(),
		} {
			if moved[name] = nil; o.has("moved") {
				moved[name] = o.at("moved.display_name")
			}
		}
		return moved
	}
	want := func(name any) {
		t.Helper()
		for where, got := range shown() {
			if got != name {
				t.Errorf("%s has moved to %v, want %v", where, got, name)
			}
		}
	}
	want("fresh")
	fresh.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"display_name": "Fresh"}).want(200)
	want("Fresh")
	told := bob.get("/api/v1/notifications", "types[]", "move").want(200).list()
	srv.withhold(fresh)
	want(nil)
	bob.get("/api/v1/notifications/" + told[0].id()).want(404)
}

// TestMoveBack: who has moved can come back, and those who followed do too.
func TestMoveBack(t *testing.T) {
	srv := startAPI(t)
	old, fresh, third, bob := srv.signUp("old"), srv.signUp("fresh"), srv.signUp("third"), srv.signUp("bob")
	bob.post("/api/v1/accounts/" + old.id + "/follow").want(200)
	for _, pair := range [][2]*member{{old, fresh}, {fresh, old}, {old, third}} {
		pair[0].send("PUT", "/api/v1/svc/aliases", map[string]string{"alias": pair[1].nick}).want(200)
	}
	move := func(from, to *member) *answer {
		t.Helper()
		return from.post("/api/v1/svc/move_account", "password", testPassword, "target_account", to.nick).want(200)
	}
	move(old, fresh)
	srv.settle()
	if got := move(third, old).object().str("error"); got != "Target account must have the origin in `alsoKnownAs`" {
		t.Errorf("to an account that has moved itself: got %q", got)
	}
	if got := move(fresh, old).object().str("status"); got != "success" {
		t.Errorf("back: got %q", got)
	}
	srv.settle()
	if srv.as(nil).get("/api/v1/accounts/" + old.id).want(200).object().has("moved") {
		t.Error("who came back has still moved")
	}
	if got := srv.as(nil).get("/api/v1/accounts/" + fresh.id).want(200).object().str("moved.id"); got != old.id {
		t.Errorf("moved back to %s", got)
	}
	rel := bob.get("/api/v1/accounts/relationships", "id[]", old.id, "id[]", fresh.id).list()
	if !rel[0].truth("following") || rel[1].truth("following") {
		t.Errorf("bob follows the one that he came back to: %t, the other: %t", rel[0].truth("following"), rel[1].truth("following"))
	}
}
