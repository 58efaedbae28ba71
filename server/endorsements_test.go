package server_test

import (
	"fmt"
	"slices"
	"strings"
	"svc/app/apptest"
	"testing"
)

func TestEndorse(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	alice.Post("/api/v1/accounts/" + bob.ID + "/follow").Want(200)

	alice.Post("/api/v1/accounts/"+carol.ID+"/pin").WantError(422, "Could not endorse: You are not following carol")
	alice.Post("/api/v1/accounts/" + alice.ID + "/pin").Want(403)
	alice.Post("/api/v1/accounts/nobody/pin").Want(404)
	srv.As(nil).Post("/api/v1/accounts/" + bob.ID + "/pin").Want(401)
	for range 2 { // endorsing twice is not an error
		if !alice.Post("/api/v1/accounts/" + bob.ID + "/pin").Want(200).Object().Bool("endorsed") {
			t.Error("the response does not have endorsed")
		}
	}
	wantAccounts := func(want ...string) {
		t.Helper()
		for _, list := range []struct {
			as   *apptest.User
			path string
		}{
			{nil, "/api/v1/svc/accounts/" + alice.ID + "/endorsements"},
			{nil, "/api/v1/accounts/" + alice.ID + "/endorsements"},
			{alice, "/api/v1/endorsements"},
		} {
			if got := srv.As(list.as).Get(list.path).Want(200).IDs(); !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", list.path, got, want)
			}
		}
	}
	wantAccounts(bob.ID)
	apptest.WantIDs(t, "of an anonymous client (spec 4.6)", srv.As(nil).Get("/api/v1/endorsements"))
	apptest.WantIDs(t, "of bob", bob.Get("/api/v1/endorsements"))
	srv.As(nil).Get("/api/v1/accounts/nobody/endorsements").Want(404)
	if bob.Get("/api/v1/accounts/relationships", "id[]", alice.ID).List()[0].Bool("endorsed") {
		t.Error("alice is endorsed by bob, too")
	}
	for range 2 {
		if alice.Post("/api/v1/accounts/" + bob.ID + "/unpin").Want(200).Object().Bool("endorsed") {
			t.Error("still endorsed")
		}
	}
	wantAccounts()
	for _, end := range []struct{ as, path string }{
		{"alice", "/api/v1/accounts/" + bob.ID + "/unfollow"},
		{"bob", "/api/v1/accounts/" + alice.ID + "/remove_from_followers"},
		{"bob", "/api/v1/accounts/" + alice.ID + "/block"},
	} {
		alice.Post("/api/v1/accounts/" + bob.ID + "/follow").Want(200)
		alice.Post("/api/v1/accounts/" + bob.ID + "/pin").Want(200)
		wantAccounts(bob.ID)
		map[string]*apptest.User{"alice": alice, "bob": bob}[end.as].Post(end.path).Want(200)
		wantAccounts()
	}
}

// TestEndorseAliases checks the names of the reference API since 4.4.
func TestEndorseAliases(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	endorse, unendorse := "/api/v1/accounts/"+bob.ID+"/endorse", "/api/v1/accounts/"+bob.ID+"/unendorse"
	alice.Post(endorse).WantError(422, "Could not endorse: You are not following bob")
	srv.As(nil).Post(endorse).Want(401)
	srv.As(nil).Post(unendorse).Want(401)
	srv.NewToken(alice, "read").Post(endorse).Want(403)
	alice.Post("/api/v1/accounts/nobody/endorse").Want(404)
	alice.Post("/api/v1/accounts/nobody/unendorse").Want(404)
	alice.Post("/api/v1/accounts/" + bob.ID + "/follow").Want(200)
	if !alice.Post(endorse).Want(200).Object().Bool("endorsed") {
		t.Error("not endorsed")
	}
	if alice.Post(unendorse).Want(200).Object().Bool("endorsed") {
		t.Error("still endorsed")
	}
	apptest.WantIDs(t, "endorsements", alice.Get("/api/v1/endorsements"))
}

// TestEndorsementPages walks through the list in both forms.
func TestEndorsementPages(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	var want []string
	for i := range 5 {
		m := srv.SignUp(fmt.Sprintf("m%d", i))
		alice.Post("/api/v1/accounts/" + m.ID + "/follow").Want(200)
		alice.Post("/api/v1/accounts/" + m.ID + "/endorse").Want(200)
		want = append([]string{m.ID}, want...)
	}
	for _, path := range []string{"/api/v1/endorsements", "/api/v1/accounts/" + alice.ID + "/endorsements"} {
		first := alice.Get(path, "limit", "2")
		apptest.WantIDs(t, "first page", first, want[:2]...)
		apptest.WantIDs(t, "second page", alice.Get(path, "limit", "2", "max_id", want[1]), want[2:4]...)
		apptest.WantIDs(t, "before", alice.Get(path, "limit", "2", "min_id", want[4]), want[2:4]...)
		if link := first.Header.Get("Link"); !strings.Contains(link, "max_id="+want[1]) {
			t.Errorf("%s has the Link %s", path, link)
		}
	}
}

func TestEndorseMany(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	for i := range 21 {
		m := srv.SignUp(fmt.Sprintf("m%d", i))
		alice.Post("/api/v1/accounts/" + m.ID + "/follow").Want(200)
		if a := alice.Post("/api/v1/accounts/" + m.ID + "/pin"); i < 20 {
			a.Want(200)
		} else {
			a.WantError(422, "You have already pinned the maximum number of users")
		}
	}
}

func TestFamiliarFollowers(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, dave, erin := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("dave"), srv.SignUp("erin")
	for _, f := range [][2]*apptest.User{{alice, bob}, {alice, carol}, {bob, dave}, {carol, dave}, {erin, dave}, {carol, erin}} {
		f[0].Post("/api/v1/accounts/" + f[1].ID + "/follow").Want(200)
	}
	familiar := func(ids ...string) string {
		t.Helper()
		var params []string
		for _, id := range ids {
			params = append(params, "id[]", id)
		}
		nick := map[any]string{}
		for _, m := range []*apptest.User{alice, bob, carol, dave, erin} {
			nick[m.ID] = m.Nickname
		}
		text := ""
		for _, entry := range alice.Get("/api/v1/accounts/familiar_followers", params...).Want(200).List() {
			text += nick[entry.ID()] + ":"
			var names []string
			for _, a := range entry.At("accounts").([]any) {
				names = append(names, nick[a.(map[string]any)["id"]])
			}
			slices.Sort(names)
			text += fmt.Sprint(names)
		}
		return text
	}
	if got, want := familiar(dave.ID, erin.ID, bob.ID), "dave:[bob carol]erin:[carol]bob:[]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	bob.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_follows": true}).Want(200)
	erin.SendJSON("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_followers": true}).Want(200)
	if got, want := familiar(dave.ID, erin.ID), "dave:[carol]erin:[]"; got != want {
		t.Errorf("with hidden lists got %s, want %s", got, want)
	}
	if got := familiar(); got != "" {
		t.Errorf("without ids got %s", got)
	}
	if got := alice.Get("/api/v1/accounts/familiar_followers", "id[]", "nobody", "id[]", "").Want(200).IDs(); len(got) > 0 {
		t.Errorf("for invalid ids got %s", got)
	}
	srv.As(nil).Get("/api/v1/accounts/familiar_followers", "id[]", dave.ID).Want(401)
}
