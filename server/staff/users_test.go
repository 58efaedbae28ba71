package staff_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

const usersPath = "/api/v1/svc/admin/users"

type list = []string

// wantFields checks members of an object by path, where numbers index lists.
func wantFields(t *testing.T, what string, o *apptest.Object, want apptest.Doc) {
	t.Helper()
	for path, value := range want {
		if got := o.Find(path); !reflect.DeepEqual(got, value) {
			t.Errorf("%s: %s is %v, want %v", what, path, got, value)
		}
	}
}

// newestLog returns the message of the newest entry of the moderation log.
func newestLog(c *apptest.Client) string {
	c.Server.T.Helper()
	return slices.Concat(messages(c, "page_size", "1"), list{""})[0]
}

// wantLog checks the newest entry of the moderation log.
func wantLog(t *testing.T, c *apptest.Client, want string) {
	t.Helper()
	if got := newestLog(c); got != want {
		t.Errorf("the log has %q, want %q", got, want)
	}
}

// TestAdminUserObject checks every field of spec 2.15, and the names that other servers have for them.
func TestAdminUserObject(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	remote := srv.AddRemoteAccount("far", "example.com")
	srv.TagAccount(alice, "a tag")
	srv.ChangeUser("alice", func(u *store.User) {
		u.RegistrationReason, u.ApprovedAt, u.ConfirmedAt, u.IsModerator = "because", nil, nil, true
	})
	alice.Server.ChangeAccount(alice, func(a *store.Account) { a.DisplayName = "Alice A." })
	want := apptest.Doc{
		"id": float64(alice.AccountID()), "nickname": "alice", "display_name": "Alice A.", "local": true, "deactivated": false, "is_active": true,
		"confirmation_pending": true, "is_confirmed": false, "approval_pending": true, "is_approved": false, "registration_reason": "because",
		"roles.admin": false, "roles.moderator": true, "tags.0": "a tag", "email": "alice@example.org", "actor_type": "Person",
		"url": srv.URL + "/@alice", "avatar": srv.URL + "/images/avi.png", "is_suggested": false,
	}
	for _, id := range []string{"alice", "ALICE", "@alice", alice.ID, fmt.Sprint(int64(alice.AccountID()))} {
		u := root.Get(usersPath + "/" + id).Want(200).Object()
		wantFields(t, id, u, want)
		if _, err := time.Parse("2006-01-02T15:04:05.000Z", u.Str("created_at")); err != nil {
			t.Error(err)
		}
	}
	for _, id := range []string{"far@example.com", remote} {
		wantFields(t, id, root.Get(usersPath+"/"+id).Want(200).Object(), apptest.Doc{
			"nickname": "far@example.com", "local": false, "email": nil, "registration_reason": nil, "is_active": true, "is_confirmed": true, "is_approved": true,
		})
	}
	for _, id := range []string{"nobody", "far", "0", "9999999999999999"} {
		root.Get(usersPath+"/"+id).WantError(404, "Not found")
	}
}

// TestListUsers checks the filters and the paging of GET users.
func TestListUsers(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	for _, nick := range []string{"alice", "bob", "carol", "dave", "erin"} {
		m := srv.SignUp(nick)
		srv.ChangeUser(nick, func(u *store.User) {
			switch now := store.At(time.Now()); nick {
			case "alice":
				u.IsModerator = true
			case "bob":
				u.ApprovedAt = nil
			case "carol":
				u.ConfirmedAt = nil
			case "dave":
				u.DeactivatedAt = &now
			}
		})
		srv.ChangeAccount(m, func(a *store.Account) {
			a.DisplayName = map[string]string{"alice": "100% Wonder_land", "bob": "The Builder"}[nick]
			if nick == "erin" {
				a.ActorType = "Service"
			}
		})
		if nick != "alice" && nick != "erin" {
			srv.MakeUnavailable(m)
		}
	}
	srv.AddRemoteAccount("far", "example.com")
	srv.AddRemoteAccount("alice", "peer.example")
	root.SendJSON("PUT", usersPath+"/tag", apptest.Doc{"nicknames": list{"alice", "far@example.com"}, "tags": list{"Seen"}}).Want(204)
	for _, tt := range []struct {
		name   string
		params list
		want   string
	}{
		{"all", nil, "alice@peer.example far@example.com erin dave carol bob alice root"},
		{"local", list{"filters", "local"}, "erin dave carol bob alice root"},
		{"external", list{"filters", "external"}, "alice@peer.example far@example.com"},
		{"active", list{"filters", "active"}, "alice@peer.example far@example.com erin alice root"},
		{"local and active", list{"filters", "local,active"}, "erin alice root"},
		{"need_approval", list{"filters", "need_approval"}, "bob"},
		{"unconfirmed", list{"filters", "unconfirmed"}, "carol"},
		{"deactivated", list{"filters", "deactivated"}, "dave"},
		{"is_admin", list{"filters", "is_admin"}, "root"},
		{"is_moderator", list{"filters", "is_moderator"}, "alice"},
		{"all hold", list{"filters", "is_admin,is_moderator"}, ""},
		{"an unknown filter", list{"filters", "nice,is_admin"}, "root"},
		{"part of a nickname", list{"query", "LIC"}, "alice@peer.example alice"},
		{"a domain", list{"query", "peer.exa"}, "alice@peer.example"},
		{"a handle", list{"query", "@far@example.com"}, "far@example.com"},
		{"a local handle", list{"query", "alice@" + strings.TrimPrefix(srv.URL, "http://")}, "alice"},
		{"a wildcard", list{"query", "%"}, ""},
		{"part of a name", list{"name", "wonder_"}, "alice"},
		{"a wildcard in a name", list{"name", "_onder"}, ""},
		{"an address", list{"email", "BOB@example.org"}, "bob"},
		{"an unknown address", list{"email", "x@example.org"}, ""},
		{"an address and a filter", list{"email", "bob@example.org", "filters", "is_admin"}, ""},
		{"a tag", list{"tags[]", "seen", "tags[]", "other"}, "far@example.com alice"},
		{"a tag that nobody has", list{"tags[]", "other"}, ""},
		{"an actor type", list{"actor_types[]", "Service"}, "erin"},
		{"actor types", list{"actor_types[]", "Service", "actor_types[]", "Person", "filters", "local,active"}, "erin alice root"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := root.Get(usersPath, tt.params...).Want(200).Object()
			if got := strings.Join(apptest.ListField(o, "users", "nickname"), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			wantFields(t, "the page", o, apptest.Doc{"page_size": 50.0, "count": float64(len(strings.Fields(tt.want)))})
		})
	}
	for _, tt := range []struct {
		params list
		size   float64
		want   string
	}{
		{list{"page_size", "2"}, 2, "erin dave"},
		{list{"page_size", "2", "page", "3"}, 2, "alice root"},
		{list{"page_size", "2", "page", "4"}, 2, ""},
		{list{"page_size", "x", "page", "-1"}, 50, "erin dave carol bob alice root"},
		{list{"page_size", "100000"}, 500, "erin dave carol bob alice root"},
		{list{"page", "999999999999"}, 50, ""},
	} {
		o := root.Get(usersPath, append(tt.params, "filters", "local")...).Want(200).Object()
		if got := strings.Join(apptest.ListField(o, "users", "nickname"), " "); got != tt.want || o.At("page_size") != tt.size || o.At("count") != 6.0 {
			t.Errorf("%v: got %q, page_size %v, count %v", tt.params, got, o.At("page_size"), o.At("count"))
		}
	}
}

// TestCreateUsers checks that several accounts are created, all or none.
func TestCreateUsers(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.AccountApprovalRequired = true })
	root := srv.SignUpAdmin()
	srv.SignUp("taken")
	user := func(nick, email, password string) apptest.Doc {
		return apptest.Doc{"nickname": nick, "email": email, "password": password}
	}
	const good = "a good password"
	for _, tt := range []struct {
		name  string
		users []apptest.Doc
		want  list
	}{
		{"nickname taken", []apptest.Doc{user("x", "x@example.org", good), user("Taken", "y@example.org", good)}, list{"", "nickname has already been taken"}},
		{"address taken", []apptest.Doc{user("x", "Taken@example.org", good)}, list{"email has already been taken"}},
		{"twice in the list", []apptest.Doc{user("x", "x@example.org", good), user("X", "y@example.org", good)}, list{"", "nickname has already been taken"}},
		{"bad nickname", []apptest.Doc{user("a b", "x@example.org", good)}, list{"nickname has invalid format"}},
		{"reserved nickname", []apptest.Doc{user("about", "x@example.org", good)}, list{"nickname Invalid nickname"}},
		{"bad address", []apptest.Doc{user("x", "x", good)}, list{"email has invalid format"}},
		{"no password", []apptest.Doc{user("x", "x@example.org", "")}, list{"password can't be blank"}},
		{"short password", []apptest.Doc{user("x", "x@example.org", "short")}, list{"password should be at least 8 characters"}},
		{"address as password", []apptest.Doc{user("x", "x@example.org", "x@example.org")}, list{"password can't be the nickname or the e-mail address"}},
		{"all bad", []apptest.Doc{user("", "x", ""), user("x", "x@example.org", "")}, list{"nickname can't be blank", "password can't be blank"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			results := root.SendJSON("POST", usersPath, apptest.Doc{"users": tt.users}).Want(409).List()
			for i, r := range results {
				wantFields(t, "result", r, apptest.Doc{
					"type": "error", "code": 409.0, "error": tt.want[i], "data.nickname": tt.users[i]["nickname"], "data.email": tt.users[i]["email"],
				})
			}
			if len(results) != len(tt.want) || srv.Count("SELECT count(*) FROM users") != 2 {
				t.Errorf("%d results, %d users", len(results), srv.Count("SELECT count(*) FROM users"))
			}
		})
	}
	for _, tt := range []struct {
		body  any
		error string
	}{
		{apptest.Doc{}, "Missing field: users."},
		{apptest.Doc{"users": list{}}, "Missing field: users."},
		{apptest.Doc{"users": []apptest.Doc{{"nickname": "x", "password": good}}}, "Missing field: email."},
		{apptest.Doc{"users": slices.Repeat([]apptest.Doc{user("x", "x@example.org", good)}, 51)}, "At most 50 accounts can be created at once"},
	} {
		root.SendJSON("POST", usersPath, tt.body).WantError(400, tt.error)
	}
	apptest.WantList(t, "the log", messages(root.Client))

	results := root.SendJSON("POST", usersPath, apptest.Doc{"users": []apptest.Doc{user("alice", "alice@example.org", good), user("bob", "bob@example.org", good)}}).Want(200).List()
	if len(results) != 2 || results[0].Str("type") != "success" || results[1].At("code") != 200.0 || results[1].Str("data.nickname") != "bob" {
		t.Errorf("got %v", results)
	}
	wantLog(t, root.Client, "@root created users: @alice, @bob")
	srv.Grant(srv.RegisterApp(), "password", "username", "alice", "password", good).Want(200)
}

// TestDeleteUsers checks both forms, remote accounts, and that nothing happens if one name is unknown.
func TestDeleteUsers(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	carol, dave := srv.SignUp("carol"), srv.SignUp("dave")
	srv.AddRemoteAccount("far", "example.com")
	root.Do("DELETE", usersPath, "", nil).WantError(400, "Missing field: nicknames.")
	root.SendJSON("DELETE", usersPath, apptest.Doc{"nicknames": list{"alice", "nobody"}}).WantError(404, "Not found")
	root.SendJSON("DELETE", usersPath, apptest.Doc{"nicknames": slices.Repeat(list{"alice"}, 101)}).WantError(400, "At most 100 accounts can be changed at once")
	root.SendJSON("DELETE", usersPath, apptest.Doc{"nicknames": list{"root"}}).WantError(409, "This is the last admin: make another account an admin first")
	alice.Get("/api/v1/accounts/verify_credentials").Want(200)

	if got := string(root.Do("DELETE", usersPath+"?nickname=alice", "", nil).Want(200).Body); got != `"alice"` {
		t.Errorf("got %s", got)
	}
	wantLog(t, root.Client, "@root deleted users: @alice")
	if got := string(root.SendJSON("DELETE", usersPath, apptest.Doc{"nicknames": list{"bob", carol.ID, "far@example.com"}}).Want(200).Body); got != `["bob","`+carol.ID+`","far@example.com"]` {
		t.Errorf("got %s", got)
	}
	wantLog(t, root.Client, "@root deleted users: @bob, @carol, @far@example.com")
	for _, m := range []*apptest.User{alice, bob, carol} {
		m.Get("/api/v1/accounts/verify_credentials").Want(401)
		root.Get(usersPath+"/"+m.ID).WantError(404, "Not found")
	}
	dave.Get("/api/v1/accounts/verify_credentials").Want(200)
	root.Do("DELETE", usersPath+"?nickname=alice", "", nil).WantError(404, "Not found")
	apptest.Settle(srv) // the jobs that purge them
	if n := srv.Count("SELECT count(*) FROM jobs WHERE kind = 'purge_account'"); n != 0 {
		t.Errorf("%d purges are left", n)
	}
}

// TestFollowUsers checks POST users/follow and unfollow.
func TestFollowUsers(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob, carol := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	srv.AddRemoteAccount("far", "example.com")
	srv.ChangeAccount(bob, func(a *store.Account) { a.Locked = true })
	srv.AddBlock(carol, alice)
	ok := func(path string, body apptest.Doc) {
		t.Helper()
		if got := string(root.SendJSON("POST", usersPath+path, body).Want(200).Body); got != `"ok"` {
			t.Errorf("%s %v: got %s", path, body, got)
		}
	}
	follow := apptest.Doc{"follower": "alice", "followed": "bob"}
	ok("/follow", follow)
	wantLog(t, root.Client, "@root made @alice follow @bob")
	if o := alice.Get("/api/v1/accounts/relationships", "id[]", bob.ID).Want(200).List()[0]; !o.Bool("following") || o.Bool("requested") {
		t.Errorf("not following: %v", o.Fields)
	}
	ok("/follow", follow)
	if n := len(messages(root.Client)); n != 1 {
		t.Errorf("the log has %d entries: following twice is not a change", n)
	}
	ok("/unfollow", follow)
	wantLog(t, root.Client, "@root made @alice unfollow @bob")
	ok("/unfollow", follow)
	if o := alice.Get("/api/v1/accounts/relationships", "id[]", bob.ID).Want(200).List()[0]; o.Bool("following") {
		t.Error("still following")
	}
	for _, tt := range []struct {
		body  apptest.Doc
		code  int
		error string
	}{
		{apptest.Doc{"follower": "alice"}, 400, "Missing field: followed."},
		{apptest.Doc{"followed": "alice"}, 400, "Missing field: follower."},
		{apptest.Doc{"follower": "nobody", "followed": "alice"}, 404, "Not found"},
		{apptest.Doc{"follower": "alice", "followed": "nobody"}, 404, "Not found"},
		{apptest.Doc{"follower": "far@example.com", "followed": "alice"}, 404, "Not found"},
	} {
		root.SendJSON("POST", usersPath+"/follow", tt.body).WantError(tt.code, tt.error)
	}
	if a := root.SendJSON("POST", usersPath+"/follow", apptest.Doc{"follower": "alice", "followed": "carol"}); a.Status < 400 {
		t.Errorf("following an account that blocks: %d", a.Status)
	}
}

// TestUserTags checks PUT and DELETE users/tag, and that each policy tag acts on a local account.
func TestUserTags(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	tag := func(method string, tags ...string) {
		t.Helper()
		if a := root.SendJSON(method, usersPath+"/tag", apptest.Doc{"nicknames": list{"alice", "bob"}, "tags": tags}).Want(204); len(a.Body) > 0 {
			t.Errorf("the body is %s", a.Body)
		}
	}
	tag("PUT", "Foo", "bar", "foo")
	wantLog(t, root.Client, "@root added tags: foo, bar to users: @alice, @bob")
	tag("PUT", "baz")
	tag("DELETE", "BAR")
	wantLog(t, root.Client, "@root removed tags: bar from users: @alice, @bob")
	for _, nick := range []string{"alice", "bob"} {
		if got := fmt.Sprint(root.Get(usersPath + "/" + nick).Want(200).Object().At("tags")); got != "[foo baz]" {
			t.Errorf("%s has the tags %s", nick, got)
		}
	}
	n := len(messages(root.Client))
	tag("DELETE", "bar")
	if len(messages(root.Client)) != n {
		t.Error("removing a tag that no account has was logged")
	}
	tag("DELETE", "foo", "baz")
	for _, tt := range []struct {
		body  apptest.Doc
		code  int
		error string
	}{
		{apptest.Doc{"tags": list{"x"}}, 400, "Missing field: nicknames."},
		{apptest.Doc{"nicknames": list{"alice"}}, 400, "Missing field: tags."},
		{apptest.Doc{"nicknames": list{"alice"}, "tags": list{" "}}, 400, "Missing field: tags."},
		{apptest.Doc{"nicknames": list{"alice"}, "tags": list{strings.Repeat("x", 101)}}, 400, "A tag has at most 100 characters"},
		{apptest.Doc{"nicknames": list{"alice", "nobody"}, "tags": list{"x"}}, 404, "Not found"},
	} {
		for _, method := range []string{"PUT", "DELETE"} {
			root.SendJSON(method, usersPath+"/tag", tt.body).WantError(tt.code, tt.error)
		}
	}

	post := func() *apptest.Object {
		t.Helper()
		return alice.Post("/api/v1/statuses", "status", "hello", "media_ids[]", srv.AddMedia(alice)).Want(200).Object()
	}
	for _, tt := range []struct {
		tag  string
		want apptest.Doc
	}{
		{"mrf_tag:media-force-nsfw", apptest.Doc{"sensitive": true, "visibility": "public"}},
		{"mrf_tag:media-strip", apptest.Doc{"media_attachments": []any{}}},
		{"mrf_tag:force-unlisted", apptest.Doc{"visibility": "unlisted"}},
		{"mrf_tag:sandbox", apptest.Doc{"visibility": "private"}},
		{"mrf_tag:disable-remote-subscription", apptest.Doc{"visibility": "public", "sensitive": false}},
	} {
		tag("PUT", tt.tag)
		wantFields(t, tt.tag, post(), tt.want)
		tag("DELETE", tt.tag)
	}
	tag("PUT", "mrf_tag:disable-any-subscription")
	bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(422)
	tag("DELETE", "mrf_tag:disable-any-subscription")
	bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200)
}
