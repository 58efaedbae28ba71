package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// list makes a list with members.
func (m *member) list(title string, params map[string]any, members ...*member) string {
	m.api.t.Helper()
	body := map[string]any{"title": title}
	for k, v := range params {
		body[k] = v
	}
	id := m.send("POST", "/api/v1/lists", body).want(200).object().id()
	m.changeList("POST", id, members...)
	return id
}

// changeList adds members to a list (POST) or removes them (DELETE).
func (m *member) changeList(method, id string, members ...*member) {
	m.api.t.Helper()
	var ids []string
	for _, o := range members {
		ids = append(ids, o.id)
	}
	if a := m.send(method, "/api/v1/lists/"+id+"/accounts", map[string]any{"account_ids": ids}).want(200); string(a.body) != "{}" {
		m.api.t.Errorf("%s: got %s, want {}", a.what, a.body)
	}
}

func TestLists(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	var list string
	for _, tt := range []struct {
		name   string
		method string
		path   string
		body   map[string]any
		status int
		want   map[string]any // or "error"
	}{
		{"made", "POST", "", map[string]any{"title": " Friends\n\x00 <3 "}, 200, map[string]any{"title": "Friends <3", "replies_policy": "list", "exclusive": false}},
		{"shown", "GET", "/ID", nil, 200, map[string]any{"title": "Friends <3", "replies_policy": "list", "exclusive": false}},
		{"another policy", "PUT", "/ID", map[string]any{"replies_policy": "none"}, 200, map[string]any{"title": "Friends <3", "replies_policy": "none", "exclusive": false}},
		{"another title", "PUT", "/ID", map[string]any{"title": "Foes", "exclusive": true}, 200, map[string]any{"title": "Foes", "replies_policy": "none", "exclusive": true}},
		{"no title", "PUT", "/ID", map[string]any{"title": " "}, 422, map[string]any{"error": "Validation failed: Title can't be blank"}},
		{"a long title", "PUT", "/ID", map[string]any{"title": strings.Repeat("x", 257)}, 422, map[string]any{"error": "Validation failed: Title is too long (maximum is 256 characters)"}},
		{"a policy there is not", "PUT", "/ID", map[string]any{"replies_policy": "some"}, 422, map[string]any{"error": "Validation failed: Replies policy is not included in the list"}},
		{"still the same", "GET", "/ID", nil, 200, map[string]any{"title": "Foes", "replies_policy": "none", "exclusive": true}},
		{"made without a title", "POST", "", map[string]any{}, 422, map[string]any{"error": "Validation failed: Title can't be blank"}},
		{"one that is not there", "GET", "/0000000000000000AA", nil, 404, map[string]any{"error": "Record not found"}},
		{"one that is not there changed", "PUT", "/0000000000000000AA", map[string]any{"title": "x"}, 404, map[string]any{"error": "Record not found"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := alice.send(tt.method, "/api/v1/lists"+strings.Replace(tt.path, "ID", list, 1), tt.body).want(tt.status).object()
			if list == "" {
				list = o.id()
			}
			for key, want := range tt.want {
				if got := o.at(key); got != want {
					t.Errorf("%s is %v, want %v", key, got, want)
				}
			}
		})
	}
	second := alice.list("Foes", nil)
	if got := alice.get("/api/v1/lists").want(200).ids(); !slices.Equal(got, []string{list, second}) {
		t.Errorf("lists are %v, want %v", got, []string{list, second})
	}
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		bob.send(method, "/api/v1/lists/"+list, map[string]any{"title": "mine"}).wantError(404, "Record not found")
		bob.send(strings.Replace(method, "PUT", "POST", 1), "/api/v1/lists/"+list+"/accounts", map[string]any{"account_ids": []string{bob.id}}).wantError(404, "Record not found")
		srv.as(nil).send(method, "/api/v1/lists/"+list, nil).want(401)
	}
	if a := alice.send("DELETE", "/api/v1/lists/"+list, nil).want(200); string(a.body) != "{}" {
		t.Errorf("got %s, want {}", a.body)
	}
	alice.send("DELETE", "/api/v1/lists/"+list, nil).wantError(404, "Record not found")
	if got := bob.get("/api/v1/lists").want(200); string(got.body) != "[]" {
		t.Errorf("bob's lists are %s", got.body)
	}
	for i := range 99 {
		alice.list(fmt.Sprint(i), nil)
	}
	alice.send("POST", "/api/v1/lists", map[string]any{"title": "one too many"}).want(422)
}

func TestListMembers(t *testing.T) {
	srv := startAPI(t)
	alice, blocked := srv.signUp("alice"), srv.signUp("blocked")
	list, other := alice.list("friends", nil), alice.list("others", nil)
	path := "/api/v1/lists/" + list + "/accounts"
	var people []*member
	var ids []string
	for i := range 6 {
		m := srv.signUp(fmt.Sprintf("m%d", i))
		people, ids = append(people, m), append(ids, m.id)
	}
	alice.to(blocked.id, "block")
	alice.changeList("POST", list, people[0], blocked)
	alice.changeList("POST", list, people...)
	alice.send("POST", path, map[string]any{"account_ids": []string{"nonsense", "0000000000000000AA"}}).want(200)
	alice.post(path+"?account_ids[]="+people[0].id, "account_ids[]", people[1].id).want(200)
	alice.send("POST", path, nil).want(200)
	slices.Reverse(ids)
	for _, limit := range []string{"", "?limit=0", "?limit=1000"} {
		if a := alice.get(path + limit).want(200); !slices.Equal(a.ids(), ids) {
			t.Errorf("%s: members are %v, want %v", limit, a.ids(), ids)
		}
	}
	wantPages(t, alice, path+"?limit=2", ids)
	alice.changeList("POST", other, people[0])
	if got := alice.get("/api/v1/accounts/" + people[0].id + "/lists").want(200).ids(); !slices.Equal(got, []string{list, other}) {
		t.Errorf("lists with an account are %v, want %v", got, []string{list, other})
	}
	if got := people[1].get("/api/v1/accounts/" + people[0].id + "/lists").want(200).ids(); len(got) != 0 {
		t.Errorf("foreign lists are shown: %v", got)
	}
	alice.get("/api/v1/accounts/0000000000000000AA/lists").wantError(404, "Record not found")

	alice.changeList("DELETE", list, people[0], people[1], blocked)
	alice.do("DELETE", path+"?account_ids[]="+people[2].id, "", nil).want(200)
	if got := alice.get(path).ids(); !slices.Equal(got, ids[:3]) {
		t.Errorf("members are %v, want %v", got, ids[:3])
	}
}

func TestListTimeline(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol, dave := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol"), srv.signUp("dave")
	name := map[string]string{}
	post := func(as *member, key string, params ...string) string {
		id := as.publish(key, params...).id()
		name[id] = key
		return id
	}
	check := func(when, path string, want ...string) {
		t.Helper()
		got := []string{}
		for _, id := range alice.get(path).want(200).ids() {
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
	list := alice.list("friends", nil, bob)
	timeline := "/api/v1/timelines/list/" + list
	check("a member who is not followed", timeline, "bob to himself", "bob")
	alice.to(bob.id, "follow")
	check("a member who is followed", timeline, "private", "bob to himself", "bob")
	alice.changeList("POST", list, carol)
	check("another member", timeline, "private", "carol to bob", "bob to himself", "bob")
	post(dave, "dave again")
	post(carol, "carol")
	check("a new post", timeline, "carol", "private", "carol to bob", "bob to himself", "bob")

	alice.send("PUT", "/api/v1/lists/"+list, map[string]any{"replies_policy": "none"}).want(200)
	check("no replies", timeline, "carol", "private", "bob to himself", "bob")
	alice.to(dave.id, "follow")
	alice.send("PUT", "/api/v1/lists/"+list, map[string]any{"replies_policy": "followed"}).want(200)
	check("replies to the followed", timeline, "carol", "private", "carol to bob", "bob to dave", "bob to himself", "bob")
	alice.send("PUT", "/api/v1/lists/"+list, map[string]any{"replies_policy": "list"}).want(200)
	check("replies to members", timeline, "carol", "private", "carol to bob", "bob to himself", "bob")

	home := "/api/v1/timelines/home"
	check("home", home, "dave again", "private", "bob to dave", "dave", "bob to himself", "bob")
	alice.send("PUT", "/api/v1/lists/"+list, map[string]any{"exclusive": true}).want(200)
	check("an exclusive list takes its members out of home", home, "dave again", "dave")
	alice.to(carol.id, "follow")
	check("also those followed later", home, "dave again", "dave")
	second := alice.list("more", map[string]any{"exclusive": true}, dave)
	check("and those of another", home)
	alice.send("DELETE", "/api/v1/lists/"+second, nil).want(200)
	check("which is gone", home, "dave again", "dave")
	alice.changeList("DELETE", list, carol)
	check("who leaves the list comes back", home, "carol", "dave again", "carol to bob", "dave")
	check("and out of the list", timeline, "private", "bob to himself", "bob")
	alice.send("PUT", "/api/v1/lists/"+list, map[string]any{"exclusive": false}).want(200)
	check("not exclusive any more", home, "carol", "dave again", "private", "carol to bob", "bob to dave", "dave", "bob to himself", "bob")
	alice.changeList("DELETE", list, bob)
	check("nobody left", timeline)
}

// A post for a list is for its members.
func TestPostForList(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	list := alice.list("friends", nil, bob)
	id := alice.publish("for friends", "visibility", "list:"+list).id()
	bob.get("/api/v1/statuses/" + id).want(200)
	carol.get("/api/v1/statuses/" + id).want(404)
	alice.changeList("POST", list, carol)
	carol.get("/api/v1/statuses/" + id).want(404)
}
