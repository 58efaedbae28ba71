package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
	"svc/store"
)

func TestFollow(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, locked, unavailable := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("locked"), srv.SignUp("unavailable")
	blocked, blocking := srv.SignUp("blocked"), srv.SignUp("blocking")
	dave := srv.AddRemoteAccount("dave", "example.com")
	locked.UpdateProfile(map[string]any{"locked": true})
	alice.AccountAction(blocked.ID, "block")
	blocking.AccountAction(alice.ID, "block")
	srv.MakeUnavailable(unavailable)
	for _, tt := range []struct {
		name   string
		id     string
		params []string
		status int
		error  string
		want   []string
	}{
		{"an account", bob.ID, nil, 200, "", []string{"following"}},
		{"again", bob.ID, nil, 200, "", []string{"following"}},
		{"with notifications of posts", bob.ID, []string{"notify", "true"}, 200, "", []string{"following", "notifying", "subscribing"}},
		{"notify absent", bob.ID, []string{"reblogs", "false"}, 200, "", []string{"following", "notifying", "subscribing"}},
		{"without notifications of posts", bob.ID, []string{"notify", "false"}, 200, "", []string{"following"}},
		{"a locked account", locked.ID, nil, 200, "", []string{"requested"}},
		{"a remote account", dave, nil, 200, "", []string{"requested"}},
		{"the viewer", alice.ID, nil, 403, "You cannot do that to yourself", nil},
		{"a blocked account", blocked.ID, nil, 403, "This action is not allowed", nil},
		{"a blocking account", blocking.ID, nil, 403, "This action is not allowed", nil},
		{"an unavailable account", unavailable.ID, nil, 404, "Record not found", nil},
		{"an unknown account", "0000000000000000AA", nil, 404, "Record not found", nil},
		{"a nickname", "bob", nil, 404, "Record not found", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := alice.Post("/api/v1/accounts/"+tt.id+"/follow", tt.params...)
			if tt.error != "" {
				a.WantError(tt.status, tt.error)
				return
			}
			o := a.Want(tt.status).Object()
			o.WantTrue(apptest.RelationshipFlags, tt.want...)
			if o.ID() != tt.id {
				t.Errorf("id is %q, want %q", o.ID(), tt.id)
			}
		})
	}
	srv.As(nil).Post("/api/v1/accounts/"+bob.ID+"/follow").WantError(401, "The access token is invalid")
	if got := apptest.EntityTypes(bob.Get("/api/v1/notifications")); !slices.Equal(got, []string{"follow"}) {
		t.Errorf("bob has the notifications %v, want one follow", got)
	}
	if got := apptest.EntityTypes(locked.Get("/api/v1/notifications")); !slices.Equal(got, []string{"follow_request"}) {
		t.Errorf("locked has the notifications %v, want one request", got)
	}
	counts := func(m *apptest.User) [2]int {
		o := m.Get("/api/v1/accounts/" + m.Nickname).Object()
		return [2]int{o.Int("followers_count"), o.Int("following_count")}
	}
	if counts(alice) != [2]int{0, 1} || counts(bob) != [2]int{1, 0} || counts(locked) != [2]int{0, 0} {
		t.Errorf("counts are %v, %v, %v", counts(alice), counts(bob), counts(locked))
	}
	alice.AccountAction(bob.ID, "unfollow").WantTrue(apptest.RelationshipFlags)
	alice.AccountAction(bob.ID, "unfollow").WantTrue(apptest.RelationshipFlags)
	alice.AccountAction(locked.ID, "unfollow").WantTrue(apptest.RelationshipFlags)
	if counts(alice) != [2]int{0, 0} || counts(bob) != [2]int{0, 0} {
		t.Errorf("counts are %v, %v after unfollowing", counts(alice), counts(bob))
	}
	for _, m := range []*apptest.User{bob, locked} {
		if got := apptest.EntityTypes(m.Get("/api/v1/notifications")); len(got) != 0 {
			t.Errorf("%s still has the notifications %v", m.Nickname, got)
		}
	}
	alice.Post("/api/v1/accounts/0000000000000000AA/unfollow").WantError(404, "Record not found")
}

func TestFollowOptions(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	for _, tt := range []struct {
		name      string
		body      map[string]any
		reblogs   bool
		languages []any
	}{
		{"at first", map[string]any{"reblogs": false, "languages": []string{"de", "PT-br", "nonsense", "de"}}, false, []any{"de", "pt-BR"}},
		{"absent", map[string]any{}, false, []any{"de", "pt-BR"}},
		{"null", map[string]any{"reblogs": nil, "languages": nil}, false, []any{"de", "pt-BR"}},
		{"changed", map[string]any{"reblogs": true, "languages": "en"}, true, []any{"en"}},
		{"all languages", map[string]any{"languages": []string{}}, true, []any{}},
	} {
		o := alice.SendJSON("POST", "/api/v1/accounts/"+bob.ID+"/follow", tt.body).Want(200).Object()
		if got := o.Bool("showing_reblogs"); got != tt.reblogs {
			t.Errorf("%s: showing_reblogs is %v", tt.name, got)
		}
		if got := o.At("languages").([]any); !slices.Equal(got, tt.languages) {
			t.Errorf("%s: languages are %v, want %v", tt.name, got, tt.languages)
		}
	}
	alice.SendJSON("POST", "/api/v1/accounts/"+bob.ID+"/follow", map[string]any{"reblogs": []int{1}}).Want(400)
}

func TestFollowFillsHome(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	home := func() []string { return alice.Get("/api/v1/timelines/home").Want(200).IDs() }
	name := map[string]string{}
	post := func(as *apptest.User, key string, params ...string) string {
		id := as.Publish(key, params...).ID()
		name[id] = key
		return id
	}
	post(bob, "public")
	private := post(bob, "private", "visibility", "private")
	post(carol, "carol's")
	post(bob, "direct", "visibility", "direct")
	post(bob, "local", "visibility", "local")
	post(alice, "own")
	check := func(when string, want ...string) {
		t.Helper()
		got := []string{}
		for _, id := range home() {
			got = append(got, name[id])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: home has %v, want %v", when, got, want)
		}
	}
	check("before", "own")
	alice.AccountAction(bob.ID, "follow")
	check("following bob", "own", "local", "private", "public")
	post(bob, "new")
	post(bob, "for @alice", "visibility", "direct")
	check("later", "for @alice", "new", "own", "local", "private", "public")
	alice.AccountAction(bob.ID, "unfollow")
	check("after", "for @alice", "own")
	alice.Get("/api/v1/statuses/" + private).Want(404)

	bob.UpdateProfile(map[string]any{"locked": true})
	alice.AccountAction(bob.ID, "follow")
	check("requested", "for @alice", "own")
	bob.Post("/api/v1/follow_requests/" + alice.ID + "/authorize").Want(200)
	check("accepted", "for @alice", "new", "own", "local", "private", "public")
	bob.AccountAction(alice.ID, "remove_from_followers")
	check("removed", "for @alice", "own")
}

func TestFollowLanguages(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	name := map[string]string{}
	post := func(language string) {
		t.Helper()
		name[bob.Publish("in "+language, "language", language).ID()] = language
	}
	check := func(when string, want ...string) {
		t.Helper()
		got := []string{}
		for _, id := range alice.Get("/api/v1/timelines/home").Want(200).IDs() {
			got = append(got, name[id])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: home has %v, want %v", when, got, want)
		}
	}
	post("de")
	post("pt-BR")
	post("")
	alice.AccountAction(bob.ID, "follow", "languages[]", "pt", "languages[]", "en")
	check("following in some languages", "", "pt-BR")
	post("de")
	post("en")
	check("new posts", "en", "", "pt-BR")
	alice.AccountAction(bob.ID, "follow", "languages[]", "")
	check("in all languages", "en", "de", "", "pt-BR", "de")
}

// TestFollowFillsHomeUpToALimit checks that the 100 newest posts of a newly followed account are in the home timeline.
func TestFollowFillsHomeUpToALimit(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	var posts []string
	err := srv.DB.Update(t.Context(), func(tx *store.Tx) error {
		for range 103 {
			id := tx.NewStatusID()
			st := &store.Status{ID: id, AccountID: store.ParseID[store.AccountID](bob.ID), URI: srv.URL + "/objects/" + id.String(), ConversationID: store.ConversationID(id)}
			if err := tx.AddStatus(t.Context(), st); err != nil {
				return err
			}
			posts = append(posts, id.String())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	alice.AccountAction(bob.ID, "follow")
	slices.Reverse(posts)
	apptest.WantPages(t, alice, "/api/v1/timelines/home?limit=40", posts[:100])
}

func TestFollowRequests(t *testing.T) {
	srv := apptest.Start(t)
	locked := srv.SignUp("locked")
	locked.UpdateProfile(map[string]any{"locked": true})
	var fans []*apptest.User
	var ids []string
	for i := range 6 {
		fan := srv.SignUp(fmt.Sprintf("fan%d", i))
		fan.AccountAction(locked.ID, "follow").WantTrue(apptest.RelationshipFlags, "requested")
		fans, ids = append(fans, fan), append(ids, fan.ID)
	}
	slices.Reverse(ids)
	apptest.WantPages(t, locked, "/api/v1/follow_requests?limit=2", ids)
	locked.Relationship(fans[0].ID).WantTrue(apptest.RelationshipFlags, "requested_by")
	if got := locked.Get("/api/v1/follow_requests", "limit", "1", "with_relationships", "true").List()[0]; !got.Bool("svc.relationship.requested_by") {
		t.Errorf("the relationship is not filled in: %v", got.Fields)
	}
	note := locked.Get("/api/v1/notifications").List()[5]

	request := func(as *apptest.User, fan *apptest.User, verb string) *apptest.Response {
		return as.Post("/api/v1/follow_requests/" + fan.ID + "/" + verb)
	}
	request(locked, fans[0], "authorize").Want(200).Object().WantTrue(apptest.RelationshipFlags, "followed_by")
	request(locked, fans[0], "authorize").WantError(404, "Record not found")
	request(locked, fans[0], "reject").WantError(404, "Record not found")
	request(locked, fans[1], "reject").Want(200).Object().WantTrue(apptest.RelationshipFlags)
	request(locked, fans[1], "authorize").WantError(404, "Record not found")
	request(fans[3], fans[2], "authorize").WantError(404, "Record not found")
	locked.Post("/api/v1/follow_requests/nonsense/authorize").WantError(404, "Record not found")
	srv.As(nil).Post("/api/v1/follow_requests/" + fans[2].ID + "/authorize").Want(401)
	if got := locked.Get("/api/v1/follow_requests").IDs(); !slices.Equal(got, ids[:4]) {
		t.Errorf("remaining are %v, want %v", got, ids[:4])
	}
	fans[0].Relationship(locked.ID).WantTrue(apptest.RelationshipFlags, "following")
	fans[1].Relationship(locked.ID).WantTrue(apptest.RelationshipFlags)
	if got := apptest.EntityTypes(locked.Get("/api/v1/notifications")); !slices.Equal(got, []string{"follow_request", "follow_request", "follow_request", "follow_request", "follow"}) {
		t.Errorf("locked has the notifications %v", got)
	}
	if got := locked.Get("/api/v1/notifications/" + note.ID()).Want(200).Object().Str("type"); got != "follow" {
		t.Errorf("the type of the request's notification is %q, want follow", got)
	}
	if got := locked.Get("/api/v1/accounts/verify_credentials").Object(); got.Int("follow_requests_count") != 4 || got.Int("followers_count") != 1 {
		t.Errorf("counts are %d and %d", got.Int("follow_requests_count"), got.Int("followers_count"))
	}

	// Unlocking an account does not accept pending requests, but a repeated request is accepted.
	locked.UpdateProfile(map[string]any{"locked": false})
	fans[2].Relationship(locked.ID).WantTrue(apptest.RelationshipFlags, "requested")
	fans[2].AccountAction(locked.ID, "follow").WantTrue(apptest.RelationshipFlags, "following")
	if got := locked.Get("/api/v1/accounts/locked").Object().Int("followers_count"); got != 2 {
		t.Errorf("%d followers, want 2", got)
	}
}

// TestOutgoingFollowRequests lists whom an account requests to follow, and withdraws a request.
func TestOutgoingFollowRequests(t *testing.T) {
	srv := apptest.Start(t)
	fan, other := srv.SignUp("fan"), srv.SignUp("other")
	other.AccountAction(fan.ID, "follow") // neither an answered nor an incoming request is listed
	fan.AccountAction(other.ID, "follow")
	var ids []string
	for i := range 5 {
		locked := srv.SignUp(fmt.Sprintf("locked%d", i))
		locked.Lock()
		fan.AccountAction(locked.ID, "follow").WantTrue(apptest.RelationshipFlags, "requested")
		ids = append([]string{locked.ID}, ids...)
	}
	for path, status := range map[string]int{"/api/v1/follow_requests/outgoing": 401, "/api/v1/svc/outgoing_follow_requests": 403} {
		apptest.WantPages(t, fan, path+"?limit=2", ids)
		srv.As(nil).Get(path).Want(status)
		if got := other.Get(path).Want(200).List(); len(got) > 0 {
			t.Errorf("%s: another account is shown %v", path, got)
		}
	}
	fan.AccountAction(ids[1], "unfollow").WantTrue(apptest.RelationshipFlags)
	if got := fan.Get("/api/v1/follow_requests/outgoing").IDs(); !slices.Equal(got, slices.Delete(slices.Clone(ids), 1, 2)) {
		t.Errorf("after one was withdrawn, the list is %v", got)
	}
}

func TestRemoveFollower(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	bob.AccountAction(alice.ID, "follow")
	alice.AccountAction(bob.ID, "follow")
	alice.AccountAction(bob.ID, "remove_from_followers").WantTrue(apptest.RelationshipFlags, "following")
	alice.AccountAction(bob.ID, "remove_from_followers").WantTrue(apptest.RelationshipFlags, "following")
	bob.Relationship(alice.ID).WantTrue(apptest.RelationshipFlags, "followed_by")
	if got := alice.Get("/api/v1/accounts/alice").Object().Int("followers_count"); got != 0 {
		t.Errorf("%d followers, want none", got)
	}
	alice.Post("/api/v1/accounts/"+alice.ID+"/remove_from_followers").WantError(403, "You cannot do that to yourself")
	alice.Post("/api/v1/accounts/0000000000000000AA/remove_from_followers").WantError(404, "Record not found")
}

func TestFollowByHandle(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	host := strings.TrimPrefix(srv.URL, "http://")
	for _, uri := range []string{"bob", "@bob", "Bob@" + host} {
		o := alice.Post("/api/v1/follows", "uri", uri).Want(200).Object()
		if o.ID() != bob.ID || !o.Bool("svc.relationship.following") {
			t.Errorf("%s: got %v", uri, o.Fields)
		}
	}
	alice.Post("/api/v1/follows", "uri", "nobody").WantError(404, "Record not found")
	alice.Post("/api/v1/follows", "uri", "alice").WantError(403, "You cannot do that to yourself")
	alice.Post("/api/v1/follows").WantError(400, "Missing field: uri.")
}

func TestSubscribe(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, blocking := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("blocking")
	blocking.AccountAction(alice.ID, "block")
	subscribe := func(id, verb string) *apptest.Response { return alice.Post("/api/v1/svc/accounts/" + id + "/" + verb) }
	subscribe(bob.ID, "subscribe").Want(200).Object().WantTrue(apptest.RelationshipFlags, "subscribing", "notifying")
	subscribe(bob.ID, "subscribe").Want(200).Object().WantTrue(apptest.RelationshipFlags, "subscribing", "notifying")
	subscribe(bob.ID, "unsubscribe").Want(200).Object().WantTrue(apptest.RelationshipFlags)
	subscribe(bob.ID, "unsubscribe").Want(200).Object().WantTrue(apptest.RelationshipFlags)
	subscribe(blocking.ID, "subscribe").WantError(403, "Could not subscribe: blocking is blocking you")
	subscribe("0000000000000000AA", "subscribe").WantError(404, "Record not found")
	subscribe(alice.ID, "subscribe").WantError(403, "You cannot do that to yourself")
	srv.As(nil).Post("/api/svc/accounts/"+bob.ID+"/subscribe").WantError(403, "Invalid credentials.")

	subscribe(bob.ID, "subscribe").Want(200)
	alice.AccountAction(bob.ID, "follow").WantTrue(apptest.RelationshipFlags, "following", "subscribing", "notifying")
	alice.AccountAction(bob.ID, "unfollow").WantTrue(apptest.RelationshipFlags)
	subscribe(bob.ID, "subscribe").Want(200)
	bob.AccountAction(alice.ID, "block")
	alice.Relationship(bob.ID).WantTrue(apptest.RelationshipFlags, "blocked_by")
}

func TestAccountNote(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	note := func(body any) *apptest.Response {
		return alice.SendJSON("POST", "/api/v1/accounts/"+bob.ID+"/note", body)
	}
	for _, tt := range []struct {
		body any
		want string
	}{
		{map[string]any{"comment": " a good <friend> "}, "a good <friend>"},
		{map[string]any{"comment": "other"}, "other"},
		{map[string]any{"comment": ""}, ""},
		{map[string]any{"comment": "back"}, "back"},
		{nil, ""},
	} {
		if got := note(tt.body).Want(200).Object().Str("note"); got != tt.want {
			t.Errorf("%v: note is %q, want %q", tt.body, got, tt.want)
		}
		if got := alice.Relationship(bob.ID).Str("note"); got != tt.want {
			t.Errorf("%v: note is %q later, want %q", tt.body, got, tt.want)
		}
	}
	note(map[string]any{"comment": strings.Repeat("x", 2001)}).Want(422)
	alice.Post("/api/v1/accounts/0000000000000000AA/note", "comment", "x").WantError(404, "Record not found")
	if got := bob.Relationship(alice.ID).Str("note"); got != "" {
		t.Errorf("bob sees %q", got)
	}
}

func TestFollowLimits(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.RateLimit.Enabled = true })
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	alice.AccountAction(bob.ID, "follow")
	alice.AccountAction(bob.ID, "unfollow")
	alice.Post("/api/v1/accounts/"+bob.ID+"/follow").WantError(429, "Throttled")
	alice.AccountAction(carol.ID, "follow")
}
