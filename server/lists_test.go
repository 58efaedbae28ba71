package server_test

import (
	"fmt"
	"slices"
	"strings"
	"svc/app/apptest"
	"testing"
)

func TestLists(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	var list string
	for _, tt := range []struct {
		name   string
		method string
		path   string
		body   map[string]any
		status int
		want   map[string]any // or "error"
	}{
		{"created", "POST", "", map[string]any{"title": " Friends\n\x00 <3 "}, 200, map[string]any{"title": "Friends <3", "replies_policy": "list", "exclusive": false}},
		{"shown", "GET", "/ID", nil, 200, map[string]any{"title": "Friends <3", "replies_policy": "list", "exclusive": false}},
		{"another policy", "PUT", "/ID", map[string]any{"replies_policy": "none"}, 200, map[string]any{"title": "Friends <3", "replies_policy": "none", "exclusive": false}},
		{"another title", "PUT", "/ID", map[string]any{"title": "Foes", "exclusive": true}, 200, map[string]any{"title": "Foes", "replies_policy": "none", "exclusive": true}},
		{"no title", "PUT", "/ID", map[string]any{"title": " "}, 422, map[string]any{"error": "Validation failed: Title can't be blank"}},
		{"a long title", "PUT", "/ID", map[string]any{"title": strings.Repeat("x", 257)}, 422, map[string]any{"error": "Validation failed: Title is too long (maximum is 256 characters)"}},
		{"an unknown policy", "PUT", "/ID", map[string]any{"replies_policy": "some"}, 422, map[string]any{"error": `replies_policy - Invalid value "some": must be followed, list or none.`}},
		{"still the same", "GET", "/ID", nil, 200, map[string]any{"title": "Foes", "replies_policy": "none", "exclusive": true}},
		{"created without a title", "POST", "", map[string]any{}, 422, map[string]any{"error": "Validation failed: Title can't be blank"}},
		{"an unknown one", "GET", "/0000000000000000AA", nil, 404, map[string]any{"error": "Record not found"}},
		{"an unknown one changed", "PUT", "/0000000000000000AA", map[string]any{"title": "x"}, 404, map[string]any{"error": "Record not found"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := alice.SendJSON(tt.method, "/api/v1/lists"+strings.Replace(tt.path, "ID", list, 1), tt.body).Want(tt.status).Object()
			if list == "" {
				list = o.ID()
			}
			for key, want := range tt.want {
				if got := o.At(key); got != want {
					t.Errorf("%s is %v, want %v", key, got, want)
				}
			}
		})
	}
	second := alice.AddList("Foes", nil)
	if got := alice.Get("/api/v1/lists").Want(200).IDs(); !slices.Equal(got, []string{list, second}) {
		t.Errorf("lists are %v, want %v", got, []string{list, second})
	}
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		bob.SendJSON(method, "/api/v1/lists/"+list, map[string]any{"title": "mine"}).WantError(404, "Record not found")
		bob.SendJSON(strings.Replace(method, "PUT", "POST", 1), "/api/v1/lists/"+list+"/accounts", map[string]any{"account_ids": []string{bob.ID}}).WantError(404, "Record not found")
		srv.As(nil).SendJSON(method, "/api/v1/lists/"+list, nil).Want(401)
	}
	if a := alice.SendJSON("DELETE", "/api/v1/lists/"+list, nil).Want(200); string(a.Body) != "{}" {
		t.Errorf("got %s, want {}", a.Body)
	}
	alice.SendJSON("DELETE", "/api/v1/lists/"+list, nil).WantError(404, "Record not found")
	if got := bob.Get("/api/v1/lists").Want(200); string(got.Body) != "[]" {
		t.Errorf("bob's lists are %s", got.Body)
	}
	for i := range 99 {
		alice.AddList(fmt.Sprint(i), nil)
	}
	alice.SendJSON("POST", "/api/v1/lists", map[string]any{"title": "one too many"}).Want(422)
}

func TestListMembers(t *testing.T) {
	srv := apptest.Start(t)
	alice, blocked := srv.SignUp("alice"), srv.SignUp("blocked")
	list, other := alice.AddList("friends", nil), alice.AddList("others", nil)
	path := "/api/v1/lists/" + list + "/accounts"
	var people []*apptest.User
	var ids []string
	for i := range 6 {
		m := srv.SignUp(fmt.Sprintf("m%d", i))
		people, ids = append(people, m), append(ids, m.ID)
	}
	alice.AccountAction(blocked.ID, "block")
	alice.ChangeList("POST", list, people[0], blocked)
	alice.ChangeList("POST", list, people...)
	alice.SendJSON("POST", path, map[string]any{"account_ids": []string{"nonsense", "0000000000000000AA"}}).Want(200)
	alice.Post(path+"?account_ids[]="+people[0].ID, "account_ids[]", people[1].ID).Want(200)
	alice.SendJSON("POST", path, nil).Want(200)
	slices.Reverse(ids)
	for _, limit := range []string{"", "?limit=0", "?limit=1000"} {
		if a := alice.Get(path + limit).Want(200); !slices.Equal(a.IDs(), ids) {
			t.Errorf("%s: members are %v, want %v", limit, a.IDs(), ids)
		}
	}
	apptest.WantPages(t, alice, path+"?limit=2", ids)
	alice.ChangeList("POST", other, people[0])
	if got := alice.Get("/api/v1/accounts/" + people[0].ID + "/lists").Want(200).IDs(); !slices.Equal(got, []string{list, other}) {
		t.Errorf("lists with an account are %v, want %v", got, []string{list, other})
	}
	if got := people[1].Get("/api/v1/accounts/" + people[0].ID + "/lists").Want(200).IDs(); len(got) != 0 {
		t.Errorf("bob gets alice's lists: %v", got)
	}
	alice.Get("/api/v1/accounts/0000000000000000AA/lists").WantError(404, "Record not found")

	alice.ChangeList("DELETE", list, people[0], people[1], blocked)
	alice.Do("DELETE", path+"?account_ids[]="+people[2].ID, "", nil).Want(200)
	if got := alice.Get(path).IDs(); !slices.Equal(got, ids[:3]) {
		t.Errorf("members are %v, want %v", got, ids[:3])
	}
}

func TestListTimeline(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, dave := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("dave")
	name := map[string]string{}
	post := func(as *apptest.User, key string, params ...string) string {
		id := as.Publish(key, params...).ID()
		name[id] = key
		return id
	}
	check := func(when, path string, want ...string) {
		t.Helper()
		got := []string{}
		for _, id := range alice.Get(path).Want(200).IDs() {
			got = append(got, name[id])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", when, got, want)
		}
	}
	root := post(bob, "bob")
	post(bob, "bob to himself", "in_reply_to_id", root)
	toDave := post(dave, "dave")
	post(bob, "bob to dave", "in_reply_to_id", toDave)
	post(carol, "carol to bob", "in_reply_to_id", root)
	post(bob, "private", "visibility", "private")
	list := alice.AddList("friends", nil, bob)
	timeline := "/api/v1/timelines/list/" + list
	check("an unfollowed member", timeline, "bob to himself", "bob")
	alice.AccountAction(bob.ID, "follow")
	check("a followed member", timeline, "private", "bob to himself", "bob")
	alice.ChangeList("POST", list, carol)
	check("another member", timeline, "private", "carol to bob", "bob to himself", "bob")
	post(dave, "dave again")
	post(carol, "carol")
	check("a new post", timeline, "carol", "private", "carol to bob", "bob to himself", "bob")

	alice.SendJSON("PUT", "/api/v1/lists/"+list, map[string]any{"replies_policy": "none"}).Want(200)
	check("no replies", timeline, "carol", "private", "bob to himself", "bob")
	alice.AccountAction(dave.ID, "follow")
	alice.SendJSON("PUT", "/api/v1/lists/"+list, map[string]any{"replies_policy": "followed"}).Want(200)
	check("replies to followed accounts", timeline, "carol", "private", "carol to bob", "bob to dave", "bob to himself", "bob")
	alice.SendJSON("PUT", "/api/v1/lists/"+list, map[string]any{"replies_policy": "list"}).Want(200)
	check("replies to members", timeline, "carol", "private", "carol to bob", "bob to himself", "bob")

	home := "/api/v1/timelines/home"
	check("home", home, "dave again", "private", "bob to dave", "dave", "bob to himself", "bob")
	alice.SendJSON("PUT", "/api/v1/lists/"+list, map[string]any{"exclusive": true}).Want(200)
	check("home without members of an exclusive list", home, "dave again", "dave")
	alice.AccountAction(carol.ID, "follow")
	check("home without a member that is followed later", home, "dave again", "dave")
	second := alice.AddList("more", map[string]any{"exclusive": true}, dave)
	check("home with a second exclusive list", home)
	alice.SendJSON("DELETE", "/api/v1/lists/"+second, nil).Want(200)
	check("home after the second list is deleted", home, "dave again", "dave")
	alice.ChangeList("DELETE", list, carol)
	check("home after a member is removed", home, "carol", "dave again", "carol to bob", "dave")
	check("the list after a member is removed", timeline, "private", "bob to himself", "bob")
	alice.SendJSON("PUT", "/api/v1/lists/"+list, map[string]any{"exclusive": false}).Want(200)
	check("not exclusive any more", home, "carol", "dave again", "private", "carol to bob", "bob to dave", "dave", "bob to himself", "bob")
	alice.ChangeList("DELETE", list, bob)
	check("no members", timeline)
}

// TestPostForList checks that a post for a list is visible to the members only.
func TestPostForList(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	list := alice.AddList("friends", nil, bob)
	id := alice.Publish("for friends", "visibility", "list:"+list).ID()
	bob.Get("/api/v1/statuses/" + id).Want(200)
	carol.Get("/api/v1/statuses/" + id).Want(404)
	alice.ChangeList("POST", list, carol)
	carol.Get("/api/v1/statuses/" + id).Want(404)
}
