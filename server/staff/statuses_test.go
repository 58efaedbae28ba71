package staff_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

const (
	statusesPath = "/api/v1/svc/admin/statuses"
	statsPath    = "/api/v1/svc/admin/stats"
)

// idNames returns the names of the statuses of a list, in its order.
func idNames(list []*apptest.Object, names map[string]string) string {
	var found []string
	for _, st := range list {
		found = append(found, names[st.ID()])
	}
	return strings.Join(found, " ")
}

// activities returns the statuses of a page of the lists of users and instances.
func activities(o *apptest.Object) []*apptest.Object {
	var list []*apptest.Object
	for _, st := range o.At("activities").([]any) {
		list = append(list, &apptest.Object{T: o.T, Fields: st.(map[string]any)})
	}
	return list
}

// manyStatuses makes local and remote posts of every visibility, and boosts. It returns their names by id.
func manyStatuses(srv *apptest.Server, alice *apptest.User) map[string]string {
	srv.T.Helper()
	names := make(map[string]string)
	for _, v := range []string{"public", "unlisted", "local", "private", "direct"} {
		names[alice.Publish("a post", "visibility", v).ID()] = v
	}
	far := srv.Account(srv.T.(*testing.T), srv.AddRemoteAccount("far", "example.com"))
	for _, v := range []store.Visibility{store.Public, store.Unlisted, store.Private} {
		st := srv.AddRemoteStatus(far, func(st *store.Status) { st.Visibility = v })
		names[st.ID.String()] = "far-" + v.String()
		if v == store.Public {
			names[alice.Post("/api/v1/statuses/"+st.ID.String()+"/reblog").Want(200).Object().ID()] = "boost"
		}
	}
	return names
}

// TestListStatuses checks visibility, filters and paging of the three lists of posts.
func TestListStatuses(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	names := manyStatuses(srv, alice)
	srv.AddBlock(alice, root)
	srv.AddMute(root, alice)
	for _, tt := range []struct {
		name   string
		params list
		want   string
	}{
		{"public and unlisted ones", nil, "far-unlisted far-public unlisted public"},
		{"local ones", list{"local_only", "true"}, "unlisted public"},
		{"with boosts", list{"with_reblogs", "true"}, "far-unlisted boost far-public unlisted public"},
		{"local ones with boosts", list{"local_only", "true", "with_reblogs", "true"}, "boost unlisted public"},
		{"all", list{"godmode", "true"}, "far-private far-unlisted far-public direct private local unlisted public"},
		{"all local ones with boosts", list{"godmode", "true", "local_only", "true", "with_reblogs", "true"}, "boost direct private local unlisted public"},
		{"a page", list{"page_size", "3"}, "far-unlisted far-public unlisted"},
		{"the second page", list{"page_size", "3", "page", "2"}, "public"},
		{"the second page of local ones", list{"page_size", "2", "page", "2", "local_only", "true", "godmode", "true"}, "local unlisted"},
		{"a page past the end", list{"page", "9"}, ""},
		{"a page far past the end", list{"page", "99999999999"}, ""},
		{"a page that is no number", list{"page", "x", "page_size", "-1"}, "far-unlisted far-public unlisted public"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := idNames(root.Get(statusesPath, tt.params...).Want(200).List(), names); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for _, tt := range []struct {
		path   string
		params list
		total  float64
		want   string
	}{
		{usersPath + "/alice/statuses", nil, 2, "unlisted public"},
		{usersPath + "/" + alice.ID + "/statuses", list{"with_reblogs", "true"}, 3, "boost unlisted public"},
		{usersPath + "/alice/statuses", list{"godmode", "true"}, 5, "direct private local unlisted public"},
		{usersPath + "/alice/statuses", list{"godmode", "true", "page_size", "2", "page", "2"}, 5, "local unlisted"},
		{usersPath + "/far@example.com/statuses", nil, 2, "far-unlisted far-public"},
		{"/api/v1/svc/admin/instances/example.com/statuses", nil, 2, "far-unlisted far-public"},
		{"/api/v1/svc/admin/instances/EXAMPLE.com/statuses", list{"godmode", "true", "page_size", "1"}, 3, "far-private"},
		{"/api/v1/svc/admin/instances/example.com.evil/statuses", nil, 0, ""},
		{"/api/svc/admin/instances/" + strings.TrimPrefix(srv.URL, "http://") + "/statuses", list{"with_reblogs", "true"}, 3, "boost unlisted public"},
	} {
		t.Run(tt.path+strings.Join(tt.params, " "), func(t *testing.T) {
			o := root.Get(tt.path, tt.params...).Want(200).Object()
			if got := idNames(activities(o), names); got != tt.want || o.At("total") != tt.total {
				t.Errorf("got %q of %v, want %q of %v", got, o.At("total"), tt.want, tt.total)
			}
		})
	}
	root.Get(usersPath+"/nobody/statuses").WantError(404, "Not found")
	if n := len(root.Get(statusesPath, "page_size", "1000").Want(200).List()); n != 4 {
		t.Errorf("%d posts with a large page_size", n)
	}
	// Restricted posts are not read in secret.
	apptest.WantList(t, "the log", messages(root.Client),
		"@root listed restricted statuses of EXAMPLE.com", "@root listed restricted statuses of @alice", "@root listed restricted statuses")
}

// TestStatusAuthor checks that the author of a post has the fields of the admin user object, and who sees the address.
func TestStatusAuthor(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.ModeratorPrivileges = []string{"messages_read"} })
	root, alice, moderator := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("moderator")
	srv.SetRole(moderator, false, true)
	srv.TagAccount(alice, "a tag")
	srv.ChangeUser("alice", func(u *store.User) { u.RegistrationReason = "because" })
	id := alice.Publish("hello").ID()
	want := apptest.Doc{
		"content": "<p>hello</p>", "account.id": alice.ID, "account.acct": "alice", "account.nickname": "alice", "account.is_active": true,
		"account.deactivated": false, "account.is_confirmed": true, "account.confirmation_pending": false, "account.is_approved": true,
		"account.approval_pending": false, "account.is_suggested": false, "account.local": true, "account.tags.0": "a tag", "account.actor_type": "Person",
		"account.roles.admin": false, "account.roles.moderator": false, "account.svc.deactivated": false,
		"account.email": "alice@example.org", "account.registration_reason": "because",
	}
	wantFields(t, "the post", root.Get(statusesPath+"/"+id).Want(200).Object(), want)
	wantFields(t, "a post in the list", root.Get(statusesPath).Want(200).List()[0], want)
	want["account.email"], want["account.registration_reason"] = nil, nil
	wantFields(t, "the post for staff who may not read the list of users",
		srv.NewToken(moderator, "admin:read").Get(statusesPath+"/"+id).Want(200).Object(), want)
}

// TestShowStatus checks GET statuses/:id.
func TestShowStatus(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	secret := alice.Publish("secret", "visibility", "direct").ID()
	for range 2 {
		wantFields(t, "a direct post", root.Get(statusesPath+"/"+secret).Want(200).Object(), apptest.Doc{"id": secret, "visibility": "direct", "content": "<p>secret</p>"})
	}
	apptest.WantList(t, "the log", messages(root.Client), "@root read status #"+secret)
	srv.Advance(3_700_000_000_000)
	root.Get(statusesPath + "/" + secret).Want(200)
	if n := len(messages(root.Client)); n != 2 {
		t.Errorf("%d entries after another hour, want 2", n)
	}
	for _, id := range []string{"0", "nonsense", "1", alice.ID} {
		root.Get(statusesPath+"/"+id).WantError(404, "Not found")
	}
}

// TestUpdateStatus checks PUT statuses/:id: the changed members, the audience, and the moderation log.
func TestUpdateStatus(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	st := alice.Publish("hello #cats")
	path := statusesPath + "/" + st.ID()
	profile := func() int { return alice.Get("/api/v1/accounts/" + alice.ID).Want(200).Object().Int("statuses_count") }
	for _, tt := range []struct {
		body       apptest.Doc
		sensitive  bool
		visibility string
		count      int
		log        string
	}{
		{apptest.Doc{"sensitive": true}, true, "public", 1, "set sensitive: 'true'"},
		{apptest.Doc{"sensitive": "false"}, false, "public", 1, "set sensitive: 'false'"},
		{apptest.Doc{"visibility": "unlisted"}, false, "unlisted", 1, "set visibility: 'unlisted'"},
		{apptest.Doc{"visibility": "private", "sensitive": true}, true, "private", 0, "set sensitive: 'true', visibility: 'private'"},
		{apptest.Doc{"visibility": "public", "sensitive": nil}, true, "public", 1, "set visibility: 'public'"},
	} {
		o := root.SendJSON("PUT", path, tt.body).Want(200).Object()
		wantFields(t, "the answer", o, apptest.Doc{"id": st.ID(), "sensitive": tt.sensitive, "visibility": tt.visibility})
		wantFields(t, "the post", alice.Get("/api/v1/statuses/"+st.ID()).Want(200).Object(), apptest.Doc{"sensitive": tt.sensitive, "visibility": tt.visibility})
		wantLog(t, root.Client, "@root updated status #"+st.ID()+", "+tt.log)
		if n := profile(); n != tt.count {
			t.Errorf("%v: statuses_count is %d, want %d", tt.body, n, tt.count)
		}
		want := 200
		if tt.visibility == "private" {
			want = 404
		}
		srv.As(nil).Get("/api/v1/statuses/" + st.ID()).Want(want)
		public := len(srv.As(nil).Get("/api/v1/timelines/public").Want(200).List())
		if (public == 1) != (tt.visibility == "public") {
			t.Errorf("%v: %d posts in the public timeline", tt.body, public)
		}
	}
	n := len(messages(root.Client))
	for _, same := range []apptest.Doc{{}, {"visibility": "public", "sensitive": true}, {"visibility": ""}} {
		root.SendJSON("PUT", path, same).Want(200)
	}
	if len(messages(root.Client)) != n {
		t.Error("what changes nothing was logged")
	}
	direct, local := alice.Publish("psst", "visibility", "direct").ID(), alice.Publish("here", "visibility", "local").ID()
	boost := root.Post("/api/v1/statuses/" + st.ID() + "/reblog").Want(200).Object().ID()
	for _, tt := range []struct {
		id    string
		body  apptest.Doc
		code  int
		error string
	}{
		{st.ID(), apptest.Doc{"visibility": "direct"}, 400, "Unsupported visibility"},
		{st.ID(), apptest.Doc{"visibility": "local"}, 400, "Unsupported visibility"},
		{st.ID(), apptest.Doc{"visibility": "list", "sensitive": false}, 400, "Unsupported visibility"},
		{st.ID(), apptest.Doc{"visibility": "everyone"}, 400, "Unsupported visibility"},
		{direct, apptest.Doc{"visibility": "public"}, 400, "Unsupported visibility"},
		{local, apptest.Doc{"visibility": "unlisted"}, 400, "Unsupported visibility"},
		{boost, apptest.Doc{"sensitive": true}, 400, "A boost cannot be changed: change the boosted post"},
		{st.ID(), apptest.Doc{"sensitive": list{"x"}, "visibility": apptest.Doc{"a": 1}}, 400, ""},
		{"nonsense", apptest.Doc{"sensitive": true}, 404, "Not found"},
		{alice.ID, apptest.Doc{}, 404, "Not found"},
	} {
		a := root.SendJSON("PUT", statusesPath+"/"+tt.id, tt.body).Want(tt.code)
		if got := a.Object().Str("error"); tt.error != "" && got != tt.error {
			t.Errorf("%v: error %q, want %q", tt.body, got, tt.error)
		}
	}
	wantFields(t, "after the refusals", alice.Get("/api/v1/statuses/"+st.ID()).Want(200).Object(), apptest.Doc{"sensitive": true, "visibility": "public"})
	root.SendJSON("PUT", statusesPath+"/"+direct, apptest.Doc{"visibility": "direct", "sensitive": true}).Want(200) // as front ends send it
	if history := alice.Get("/api/v1/statuses/" + st.ID() + "/history").Want(200).List(); len(history) != 4 {
		t.Errorf("%d versions, want 4: sensitive changed three times", len(history))
	}
}

// TestModeratorsWidenNothing checks that staff who may not read restricted posts cannot show them to more people.
func TestModeratorsWidenNothing(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.ModeratorPrivileges = list{"messages_delete"} })
	moderator, alice := srv.SignUp("moderator"), srv.SignUp("alice")
	srv.SetRole(moderator, false, true)
	client := srv.NewToken(moderator, "admin")
	for visibility, change := range map[string]map[string]int{
		"private":  {"public": 403, "unlisted": 403, "private": 200},
		"unlisted": {"public": 200, "private": 200},
		"public":   {"private": 200},
	} {
		for wanted, code := range change {
			path := statusesPath + "/" + alice.Publish("hello", "visibility", visibility).ID()
			if a := client.SendJSON("PUT", path, apptest.Doc{"visibility": wanted}); a.Status != code {
				t.Errorf("%s to %s: got %d %s, want %d", visibility, wanted, a.Status, a.Body, code)
			}
		}
	}
}

// TestDeleteStatus checks DELETE statuses/:id, and the same by the client API for staff with the privilege.
func TestDeleteStatus(t *testing.T) {
	srv := apptest.Start(t)
	root, alice, moderator := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("moderator")
	srv.SetRole(moderator, false, true)
	file := srv.AddMedia(alice)
	st := alice.Publish("with a picture", "media_ids[]", file)
	root.Post("/api/v1/statuses/" + st.ID() + "/reblog").Want(200)
	if got := string(root.Do("DELETE", statusesPath+"/"+st.ID(), "", nil).Want(200).Body); got != "{}" {
		t.Errorf("the answer is %s", got)
	}
	wantLog(t, root.Client, "@root deleted status #"+st.ID())
	alice.Get("/api/v1/statuses/" + st.ID()).Want(404)
	if n := srv.Count("SELECT (SELECT count(*) FROM statuses) + (SELECT count(*) FROM media)"); n != 0 {
		t.Errorf("%d rows of posts and media are left", n)
	}
	if n := srv.Count("SELECT count(*) FROM tombstones"); n != 1 {
		t.Errorf("%d tombstones", n)
	}
	for _, id := range []string{st.ID(), "nonsense", "0"} {
		root.Do("DELETE", statusesPath+"/"+id, "", nil).WantError(404, "Not found")
	}
	own := root.Publish("my own")
	root.Do("DELETE", statusesPath+"/"+own.ID(), "", nil).Want(200)
	wantLog(t, root.Client, "@root deleted status #"+st.ID())

	shown, hidden := alice.Publish("rude"), alice.Publish("private", "visibility", "private")
	alice.Do("DELETE", "/api/v1/statuses/"+root.Publish("mine").ID(), "", nil).Want(404)
	moderator.Do("DELETE", "/api/v1/statuses/"+hidden.ID(), "", nil).Want(404)
	if o := moderator.Do("DELETE", "/api/v1/statuses/"+shown.ID(), "", nil).Want(200).Object(); o.Has("text") || o.ID() != shown.ID() {
		t.Errorf("the source is for the author only: %v", o.Fields)
	}
	wantLog(t, root.Client, "@moderator deleted status #"+shown.ID())
}

// TestModerationFederates checks that other servers receive changes and deletions of local posts, and none of remote ones.
func TestModerationFederates(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	bob := peer.AddActor("bob")
	peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI()))
	st := alice.Publish("hello")
	apptest.Settle(srv)
	kinds := func() string {
		apptest.Settle(srv)
		var kinds []string
		for _, a := range peer.Delivered() {
			kinds = append(kinds, a["type"].(string))
		}
		return strings.Join(kinds, " ")
	}
	before := kinds()
	root.SendJSON("PUT", statusesPath+"/"+st.ID(), apptest.Doc{"sensitive": true}).Want(200)
	if got := strings.TrimPrefix(kinds(), before); got != " Update" {
		t.Errorf("delivered %q after a change", got)
	}
	root.Do("DELETE", statusesPath+"/"+st.ID(), "", nil).Want(200)
	if got := strings.TrimPrefix(kinds(), before); got != " Update Delete" {
		t.Errorf("delivered %q after the deletion", got)
	}
	account := srv.Account(t, srv.KnownID(bob))
	theirs := srv.AddRemoteStatus(account)
	root.SendJSON("PUT", statusesPath+"/"+theirs.ID.String(), apptest.Doc{"sensitive": true, "visibility": "private"}).Want(200)
	root.Do("DELETE", statusesPath+"/"+theirs.ID.String(), "", nil).Want(200)
	if got := strings.TrimPrefix(kinds(), before); got != " Update Delete" {
		t.Errorf("delivered %q after changes of a remote post", got)
	}
}

// TestModerationStreams checks that open streams learn of a smaller audience, a change and a deletion.
func TestModerationStreams(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	st := alice.Publish("hello")
	stream := srv.OpenStream(alice.Client, "stream", "user")
	public := srv.OpenStream(root.Client, "stream", "public")
	path := statusesPath + "/" + st.ID()
	root.SendJSON("PUT", path, apptest.Doc{"sensitive": true}).Want(200)
	public.WantEvent("public: status.update " + st.ID())
	root.SendJSON("PUT", path, apptest.Doc{"visibility": "private"}).Want(200)
	public.WantEvent("public: delete " + st.ID())
	root.Do("DELETE", path, "", nil).Want(200)
	stream.WaitFor(func(e apptest.StreamEvent) bool { return e.String() == "user: delete "+st.ID() })
}

// TestStats checks GET stats after posts are added, changed and deleted.
func TestStats(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	want := func(what string, params list, public, unlisted, private, direct float64) {
		t.Helper()
		wantFields(t, what, root.Get(statsPath, params...).Want(200).Object(), apptest.Doc{
			"status_visibility.public": public, "status_visibility.unlisted": unlisted, "status_visibility.private": private, "status_visibility.direct": direct,
		})
	}
	want("nothing", nil, 0, 0, 0, 0)
	names := manyStatuses(srv, alice)
	here := strings.TrimPrefix(srv.URL, "http://")
	want("all", nil, 2, 2, 2, 1)
	want("this server", list{"instance", here}, 1, 1, 1, 1)
	want("another", list{"instance", "Example.COM"}, 1, 1, 1, 0)
	want("an unknown one", list{"instance", "example.net"}, 0, 0, 0, 0)
	want("not the row of the sums", list{"instance", "*"}, 0, 0, 0, 0)
	for id, name := range names {
		switch name {
		case "public":
			root.SendJSON("PUT", statusesPath+"/"+id, apptest.Doc{"visibility": "private"}).Want(200)
		case "far-public", "direct":
			root.Do("DELETE", statusesPath+"/"+id, "", nil).Want(200)
		}
	}
	want("all after changes", nil, 0, 2, 3, 0)
	want("this server after changes", list{"instance", here}, 0, 1, 2, 0)
	want("another after changes", list{"instance", "example.com"}, 0, 1, 1, 0)
	if n := srv.Count("SELECT count(*) FROM status_counts WHERE count <= 0"); n > 0 {
		t.Errorf("%d empty counters are left", n)
	}
}
