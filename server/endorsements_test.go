package server_test

import (
	"fmt"
	"slices"
	"testing"
)

func TestEndorse(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	alice.post("/api/v1/accounts/" + bob.id + "/follow").want(200)

	alice.post("/api/v1/accounts/"+carol.id+"/pin").wantError(422, "Could not endorse: You are not following carol")
	alice.post("/api/v1/accounts/" + alice.id + "/pin").want(403)
	alice.post("/api/v1/accounts/nobody/pin").want(404)
	srv.as(nil).post("/api/v1/accounts/" + bob.id + "/pin").want(401)
	for range 2 { // twice is no error
		if !alice.post("/api/v1/accounts/" + bob.id + "/pin").want(200).object().truth("endorsed") {
			t.Error("the answer does not say endorsed")
		}
	}
	list := "/api/v1/svc/accounts/" + alice.id + "/endorsements"
	wantAccounts := func(want ...string) {
		t.Helper()
		if got := srv.as(nil).get(list).want(200).ids(); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", list, got, want)
		}
	}
	wantAccounts(bob.id)
	if got := alice.get("/api/v1/endorsements").want(200).ids(); len(got) > 0 {
		t.Errorf("/api/v1/endorsements: got %v, want none (spec 4.6)", got)
	}
	if bob.get("/api/v1/accounts/relationships", "id[]", alice.id).list()[0].truth("endorsed") {
		t.Error("an endorsement works the other way round, too")
	}
	for range 2 {
		if alice.post("/api/v1/accounts/" + bob.id + "/unpin").want(200).object().truth("endorsed") {
			t.Error("still endorsed")
		}
	}
	wantAccounts()
	for _, end := range []struct{ as, path string }{
		{"alice", "/api/v1/accounts/" + bob.id + "/unfollow"},
		{"bob", "/api/v1/accounts/" + alice.id + "/remove_from_followers"},
		{"bob", "/api/v1/accounts/" + alice.id + "/block"},
	} {
		alice.post("/api/v1/accounts/" + bob.id + "/follow").want(200)
		alice.post("/api/v1/accounts/" + bob.id + "/pin").want(200)
		wantAccounts(bob.id)
		map[string]*member{"alice": alice, "bob": bob}[end.as].post(end.path).want(200)
		wantAccounts()
	}
}

func TestEndorseMany(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	for i := range 21 {
		m := srv.signUp(fmt.Sprintf("m%d", i))
		alice.post("/api/v1/accounts/" + m.id + "/follow").want(200)
		if a := alice.post("/api/v1/accounts/" + m.id + "/pin"); i < 20 {
			a.want(200)
		} else {
			a.wantError(422, "You have already pinned the maximum number of users")
		}
	}
}

func TestFamiliarFollowers(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol, dave, erin := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol"), srv.signUp("dave"), srv.signUp("erin")
	for _, f := range [][2]*member{{alice, bob}, {alice, carol}, {bob, dave}, {carol, dave}, {erin, dave}, {carol, erin}} {
		f[0].post("/api/v1/accounts/" + f[1].id + "/follow").want(200)
	}
	familiar := func(ids ...string) string {
		t.Helper()
		var params []string
		for _, id := range ids {
			params = append(params, "id[]", id)
		}
		nick := map[any]string{}
		for _, m := range []*member{alice, bob, carol, dave, erin} {
			nick[m.id] = m.nick
		}
		text := ""
		for _, entry := range alice.get("/api/v1/accounts/familiar_followers", params...).want(200).list() {
			text += nick[entry.id()] + ":"
			var names []string
			for _, a := range entry.at("accounts").([]any) {
				names = append(names, nick[a.(map[string]any)["id"]])
			}
			slices.Sort(names)
			text += fmt.Sprint(names)
		}
		return text
	}
	if got, want := familiar(dave.id, erin.id, bob.id), "dave:[bob carol]erin:[carol]bob:[]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	bob.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_follows": true}).want(200)
	erin.send("PATCH", "/api/v1/accounts/update_credentials", map[string]any{"hide_followers": true}).want(200)
	if got, want := familiar(dave.id, erin.id), "dave:[carol]erin:[]"; got != want {
		t.Errorf("with hidden lists got %s, want %s", got, want)
	}
	if got := familiar(); got != "" {
		t.Errorf("for nobody got %s", got)
	}
	if got := alice.get("/api/v1/accounts/familiar_followers", "id[]", "nobody", "id[]", "").want(200).ids(); len(got) > 0 {
		t.Errorf("for what are no ids got %s", got)
	}
	srv.as(nil).get("/api/v1/accounts/familiar_followers", "id[]", dave.id).want(401)
}

func TestSuggestions(t *testing.T) {
	srv := startAPI(t)
	alice := srv.signUp("alice")
	alice.do("DELETE", "/api/v1/suggestions/"+alice.id, "", nil).want(200)
	srv.as(nil).do("DELETE", "/api/v1/suggestions/"+alice.id, "", nil).want(401)
}
