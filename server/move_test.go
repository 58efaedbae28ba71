package server_test

import (
	"fmt"
	"slices"
	"svc/app/apptest"
	"testing"
)

func TestAliases(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	srv.SignUp("bob")
	domain := srv.Settings.Host()
	const path = "/api/v1/svc/aliases"
	wantAliases := func(want ...any) {
		t.Helper()
		if got := alice.Get(path).Want(200).Object().At("aliases").([]any); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	alias := func(name string) map[string]string { return map[string]string{"alias": name} }
	wantAliases()
	alice.SendJSON("PUT", path, alias("nobody")).WantError(404, "Target account does not exist.")
	alice.SendJSON("PUT", path, alias("nobody@other.example")).WantError(404, "Target account does not exist.")
	alice.SendJSON("PUT", path, alias("alice")).Want(403)
	alice.SendJSON("PUT", path, nil).Want(400)
	srv.As(nil).Get(path).Want(403)
	for range 2 {
		if got := alice.SendJSON("PUT", path, alias("@bob")).Want(200).Object().Str("status"); got != "success" {
			t.Errorf("got %q", got)
		}
	}
	wantAliases("bob@" + domain)
	alice.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"also_known_as": []string{"https://other.example/users/1"}}).Want(200)
	wantAliases("https://other.example/users/1")
	alice.SendJSON("DELETE", path, alias("bob")).WantError(404, "Account has no such alias.")
	alice.SendJSON("DELETE", path, alias("https://other.example/users/1")).Want(200)
	wantAliases()
	// An alias can be removed by its listed name even if the account is unavailable.
	carol := srv.SignUp("carol")
	alice.SendJSON("PUT", path, alias("carol")).Want(200)
	srv.MakeUnavailable(carol)
	wantAliases("carol@" + domain)
	alice.SendJSON("DELETE", path, alias("carol@"+domain)).Want(200)
	wantAliases()
}

func TestMoveAccount(t *testing.T) {
	srv := apptest.Start(t)
	old, fresh := srv.SignUp("old"), srv.SignUp("fresh")
	var followers []*apptest.User
	for i := range 3 {
		m := srv.SignUp(fmt.Sprintf("f%d", i))
		m.Post("/api/v1/accounts/"+old.ID+"/follow", "notify", "true", "reblogs", "false").Want(200)
		followers = append(followers, m)
	}
	stays, blocked := followers[1], followers[2]
	stays.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"allow_following_move": false}).Want(200)
	fresh.Post("/api/v1/accounts/" + blocked.ID + "/block").Want(200)
	move := func(password, target string) *apptest.Response {
		t.Helper()
		return old.Post("/api/v1/svc/move_account", "password", password, "target_account", target)
	}
	wantFailed := func(a *apptest.Response, message string) {
		t.Helper()
		if got := a.Want(200).Object().Str("error"); got != message {
			t.Errorf("got %q, want %q", got, message)
		}
	}
	wantFailed(move("wrong", "fresh"), "Invalid password.")
	move(apptest.Password, "nobody").WantError(404, "Target account not found.")
	wantFailed(move(apptest.Password, "fresh"), "Target account must have the origin in `alsoKnownAs`")
	if srv.As(nil).Get("/api/v1/accounts/" + old.ID).Want(200).Object().Has("moved") {
		t.Error("moved although the target does not list the old account as an alias")
	}
	fresh.SendJSON("PUT", "/api/v1/svc/aliases", map[string]string{"alias": "old"}).Want(200)
	for range 2 {
		move(apptest.Password, "@fresh").Want(200)
	}
	srv.RunJobs()
	if got := srv.As(nil).Get("/api/v1/accounts/" + old.ID).Want(200).Object().Str("moved.id"); got != fresh.ID {
		t.Errorf("moved to %s", got)
	}
	for i, m := range followers {
		list := m.Get("/api/v1/notifications", "types[]", "move").Want(200).List()
		if len(list) != 1 || list[0].Str("account.id") != old.ID || list[0].Str("target.id") != fresh.ID {
			t.Errorf("%s: notifications are %v", m.Nickname, list)
		}
		rel := m.Get("/api/v1/accounts/relationships", "id[]", old.ID, "id[]", fresh.ID).List()
		wantMoved := i == 0
		if rel[0].Bool("following") == wantMoved || rel[1].Bool("following") != wantMoved {
			t.Errorf("%s follows the old account: %t, the new one: %t", m.Nickname, rel[0].Bool("following"), rel[1].Bool("following"))
		}
		if rel[0].Bool("subscribing") == wantMoved || rel[1].Bool("subscribing") != wantMoved {
			t.Errorf("%s is subscribed to the old account: %t, to the new one: %t", m.Nickname, rel[0].Bool("subscribing"), rel[1].Bool("subscribing"))
		}
		if wantMoved && rel[1].Bool("showing_reblogs") {
			t.Errorf("%s has boosts enabled", m.Nickname)
		}
	}
	wantFailed(old.Post("/api/v1/svc/move_account", "password", apptest.Password, "target_account", "f1"), "Target account must have the origin in `alsoKnownAs`")
}

// TestMovedIsCurrent checks that `moved` is the current target account, and absent while that is unavailable.
func TestMovedIsCurrent(t *testing.T) {
	srv := apptest.Start(t)
	old, fresh, bob := srv.SignUp("old"), srv.SignUp("fresh"), srv.SignUp("bob")
	bob.Post("/api/v1/accounts/" + old.ID + "/follow").Want(200)
	post := old.Publish("the last post")
	fresh.SendJSON("PUT", "/api/v1/svc/aliases", map[string]string{"alias": "old"}).Want(200)
	old.Post("/api/v1/svc/move_account", "password", apptest.Password, "target_account", "fresh").Want(200)
	srv.RunJobs()
	shown := func() map[string]any {
		t.Helper()
		moved := map[string]any{}
		for name, o := range map[string]*apptest.Object{
			"the account":      srv.As(nil).Get("/api/v1/accounts/" + old.ID).Want(200).Object(),
			"the author":       {T: t, Fields: bob.Get("/api/v1/statuses/" + post.ID()).Want(200).Object().At("account").(map[string]any)},
			"the account, own": old.Get("/api/v1/accounts/verify_credentials").Want(200).Object(),
		} {
			if moved[name] = nil; o.Has("moved") {
				moved[name] = o.At("moved.display_name")
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
	fresh.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"display_name": "Fresh"}).Want(200)
	want("Fresh")
	notifications := bob.Get("/api/v1/notifications", "types[]", "move").Want(200).List()
	srv.MakeUnavailable(fresh)
	want(nil)
	bob.Get("/api/v1/notifications/" + notifications[0].ID()).Want(404)
}

// TestMoveBack moves an account back to its old account, including the followers.
func TestMoveBack(t *testing.T) {
	srv := apptest.Start(t)
	old, fresh, third, bob := srv.SignUp("old"), srv.SignUp("fresh"), srv.SignUp("third"), srv.SignUp("bob")
	bob.Post("/api/v1/accounts/" + old.ID + "/follow").Want(200)
	for _, pair := range [][2]*apptest.User{{old, fresh}, {fresh, old}, {old, third}} {
		pair[0].SendJSON("PUT", "/api/v1/svc/aliases", map[string]string{"alias": pair[1].Nickname}).Want(200)
	}
	move := func(from, to *apptest.User) *apptest.Response {
		t.Helper()
		return from.Post("/api/v1/svc/move_account", "password", apptest.Password, "target_account", to.Nickname).Want(200)
	}
	move(old, fresh)
	srv.RunJobs()
	if got := move(third, old).Object().Str("error"); got != "Target account must have the origin in `alsoKnownAs`" {
		t.Errorf("to an account that has moved itself: got %q", got)
	}
	if got := move(fresh, old).Object().Str("status"); got != "success" {
		t.Errorf("moving back: got %q", got)
	}
	srv.RunJobs()
	if srv.As(nil).Get("/api/v1/accounts/" + old.ID).Want(200).Object().Has("moved") {
		t.Error("the old account is still marked as moved")
	}
	if got := srv.As(nil).Get("/api/v1/accounts/" + fresh.ID).Want(200).Object().Str("moved.id"); got != old.ID {
		t.Errorf("moved back to %s", got)
	}
	rel := bob.Get("/api/v1/accounts/relationships", "id[]", old.ID, "id[]", fresh.ID).List()
	if !rel[0].Bool("following") || rel[1].Bool("following") {
		t.Errorf("bob follows the old account: %t, the new one: %t", rel[0].Bool("following"), rel[1].Bool("following"))
	}
}
