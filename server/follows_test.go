package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc/internal/config"
)

func TestFollow(t *testing.T) {
	srv := startAPI(t)
	alice, bob, locked, gone := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("locked"), srv.signUp("gone")
	blocked, blocking := srv.signUp("blocked"), srv.signUp("blocking")
	dave := srv.remote("dave", "example.com")
	locked.update(map[string]any{"locked": true})
	alice.to(blocked.id, "block")
	blocking.to(alice.id, "block")
	srv.withhold(gone)
	for _, tt := range []struct {
		name   string
		id     string
		params []string
		status int
		error  string
		want   []string
	}{
		{"somebody", bob.id, nil, 200, "", []string{"following"}},
		{"again", bob.id, nil, 200, "", []string{"following"}},
		{"with posts announced", bob.id, []string{"notify", "true"}, 200, "", []string{"following", "notifying", "subscribing"}},
		{"no word of it", bob.id, []string{"reblogs", "false"}, 200, "", []string{"following", "notifying", "subscribing"}},
		{"not announced any more", bob.id, []string{"notify", "false"}, 200, "", []string{"following"}},
		{"a locked account", locked.id, nil, 200, "", []string{"requested"}},
		{"an account elsewhere", dave, nil, 200, "", []string{"requested"}},
		{"oneself", alice.id, nil, 403, "You cannot do that to yourself", nil},
		{"one that is blocked", blocked.id, nil, 403, "This action is not allowed", nil},
		{"one that blocks", blocking.id, nil, 403, "This action is not allowed", nil},
		{"one that is withheld", gone.id, nil, 404, "Record not found", nil},
		{"one that is not there", "0000000000000000AA", nil, 404, "Record not found", nil},
		{"a nickname", "bob", nil, 404, "Record not found", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := alice.post("/api/v1/accounts/"+tt.id+"/follow", tt.params...)
			if tt.error != "" {
				a.wantError(tt.status, tt.error)
				return
			}
			o := a.want(tt.status).object()
			o.wantTruths(relations, tt.want...)
			if o.id() != tt.id {
				t.Errorf("id is %q, want %q", o.id(), tt.id)
			}
		})
	}
	srv.as(nil).post("/api/v1/accounts/"+bob.id+"/follow").wantError(401, "The access token is invalid")
	if got := types(bob.get("/api/v1/notifications")); !slices.Equal(got, []string{"follow"}) {
		t.Errorf("bob is told of %v, want one follow", got)
	}
	if got := types(locked.get("/api/v1/notifications")); !slices.Equal(got, []string{"follow_request"}) {
		t.Errorf("locked is told of %v, want one request", got)
	}
	counts := func(m *member) [2]int {
		o := m.get("/api/v1/accounts/" + m.nick).object()
		return [2]int{o.num("followers_count"), o.num("following_count")}
	}
	if counts(alice) != [2]int{0, 1} || counts(bob) != [2]int{1, 0} || counts(locked) != [2]int{0, 0} {
		t.Errorf("counts are %v, %v, %v", counts(alice), counts(bob), counts(locked))
	}
	alice.to(bob.id, "unfollow").wantTruths(relations)
	alice.to(bob.id, "unfollow").wantTruths(relations)
	alice.to(locked.id, "unfollow").wantTruths(relations)
	if counts(alice) != [2]int{0, 0} || counts(bob) != [2]int{0, 0} {
		t.Errorf("counts are %v, %v after all", counts(alice), counts(bob))
	}
	for _, m := range []*member{bob, locked} {
		if got := types(m.get("/api/v1/notifications")); len(got) != 0 {
			t.Errorf("%s is still told of %v", m.nick, got)
		}
	}
	alice.post("/api/v1/accounts/0000000000000000AA/unfollow").wantError(404, "Record not found")
}

func TestFollowOptions(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	for _, tt := range []struct {
		name      string
		body      map[string]any
		reblogs   bool
		languages []any
	}{
		{"at first", map[string]any{"reblogs": false, "languages": []string{"de", "PT-br", "nonsense", "de"}}, false, []any{"de", "pt-BR"}},
		{"absent stays", map[string]any{}, false, []any{"de", "pt-BR"}},
		{"null stays", map[string]any{"reblogs": nil, "languages": nil}, false, []any{"de", "pt-BR"}},
		{"other", map[string]any{"reblogs": true, "languages": "en"}, true, []any{"en"}},
		{"all languages", map[string]any{"languages": []string{}}, true, []any{}},
	} {
		o := alice.send("POST", "/api/v1/accounts/"+bob.id+"/follow", tt.body).want(200).object()
		if got := o.truth("showing_reblogs"); got != tt.reblogs {
			t.Errorf("%s: showing_reblogs is %v", tt.name, got)
		}
		if got := o.at("languages").([]any); !slices.Equal(got, tt.languages) {
			t.Errorf("%s: languages are %v, want %v", tt.name, got, tt.languages)
		}
	}
	alice.send("POST", "/api/v1/accounts/"+bob.id+"/follow", map[string]any{"reblogs": []int{1}}).want(400)
}

func TestFollowFillsHome(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	home := func() []string { return alice.get("/api/v1/timelines/home").want(200).ids() }
	name := map[string]string{}
	post := func(as *member, key string, params ...string) string {
		id := as.publish(key, params...).id()
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
	alice.to(bob.id, "follow")
	check("following bob", "own", "local", "private", "public")
	post(bob, "new")
	post(bob, "for @alice", "visibility", "direct")
	check("later", "for @alice", "new", "own", "local", "private", "public")
	alice.to(bob.id, "unfollow")
	check("after", "for @alice", "own")
	alice.get("/api/v1/statuses/" + private).want(404)

	bob.update(map[string]any{"locked": true})
	alice.to(bob.id, "follow")
	check("asking", "for @alice", "own")
	bob.post("/api/v1/follow_requests/" + alice.id + "/authorize").want(200)
	check("accepted", "for @alice", "new", "own", "local", "private", "public")
	bob.to(alice.id, "remove_from_followers")
	check("removed", "for @alice", "own")
}

func TestFollowLanguages(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	name := map[string]string{}
	post := func(language string) {
		t.Helper()
		name[bob.publish("in "+language, "language", language).id()] = language
	}
	check := func(when string, want ...string) {
		t.Helper()
		got := []string{}
		for _, id := range alice.get("/api/v1/timelines/home").want(200).ids() {
			got = append(got, name[id])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: home has %v, want %v", when, got, want)
		}
	}
	post("de")
	post("pt-BR")
	post("")
	alice.to(bob.id, "follow", "languages[]", "pt", "languages[]", "en")
	check("following in some languages", "", "pt-BR")
	post("de")
	post("en")
	check("new posts", "en", "", "pt-BR")
	alice.to(bob.id, "follow", "languages[]", "")
	check("in all languages", "en", "de", "", "pt-BR", "de")
}

func TestFollowFillsHomeUpToTheSetting(t *testing.T) {
	srv := startAPI(t)
	srv.social.BackfillOnFollow = 3
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	for i := range 5 {
		bob.publish(fmt.Sprint(i))
	}
	alice.to(bob.id, "follow")
	if got, want := alice.get("/api/v1/timelines/home").ids(), bob.get("/api/v1/timelines/home").ids()[:3]; !slices.Equal(got, want) {
		t.Errorf("home is %v, want %v", got, want)
	}
}

func TestFollowRequests(t *testing.T) {
	srv := startAPI(t)
	star := srv.signUp("star")
	star.update(map[string]any{"locked": true})
	var fans []*member
	var ids []string
	for i := range 6 {
		fan := srv.signUp(fmt.Sprintf("fan%d", i))
		fan.to(star.id, "follow").wantTruths(relations, "requested")
		fans, ids = append(fans, fan), append(ids, fan.id)
	}
	slices.Reverse(ids)
	wantPages(t, star, "/api/v1/follow_requests?limit=2", ids)
	star.relationship(fans[0].id).wantTruths(relations, "requested_by")
	if got := star.get("/api/v1/follow_requests", "limit", "1", "with_relationships", "true").list()[0]; !got.truth("svc.relationship.requested_by") {
		t.Errorf("the relationship is not filled in: %v", got.m)
	}
	note := star.get("/api/v1/notifications").list()[5]

	request := func(as *member, fan *member, verb string) *answer {
		return as.post("/api/v1/follow_requests/" + fan.id + "/" + verb)
	}
	request(star, fans[0], "authorize").want(200).object().wantTruths(relations, "followed_by")
	request(star, fans[0], "authorize").wantError(404, "Record not found")
	request(star, fans[0], "reject").wantError(404, "Record not found")
	request(star, fans[1], "reject").want(200).object().wantTruths(relations)
	request(star, fans[1], "authorize").wantError(404, "Record not found")
	request(fans[3], fans[2], "authorize").wantError(404, "Record not found")
	star.post("/api/v1/follow_requests/nonsense/authorize").wantError(404, "Record not found")
	srv.as(nil).post("/api/v1/follow_requests/" + fans[2].id + "/authorize").want(401)
	if got := star.get("/api/v1/follow_requests").ids(); !slices.Equal(got, ids[:4]) {
		t.Errorf("left are %v, want %v", got, ids[:4])
	}
	fans[0].relationship(star.id).wantTruths(relations, "following")
	fans[1].relationship(star.id).wantTruths(relations)
	if got := types(star.get("/api/v1/notifications")); !slices.Equal(got, []string{"follow_request", "follow_request", "follow_request", "follow_request", "follow"}) {
		t.Errorf("star is told of %v", got)
	}
	if got := star.get("/api/v1/notifications/" + note.id()).want(200).object().str("type"); got != "follow" {
		t.Errorf("what told of the request tells of %q, want of the follow", got)
	}
	if got := star.get("/api/v1/accounts/verify_credentials").object(); got.num("follow_requests_count") != 4 || got.num("followers_count") != 1 {
		t.Errorf("counts are %d and %d", got.num("follow_requests_count"), got.num("followers_count"))
	}

	// Who is unlocked does not accept what was asked before; but whoever asks again is in.
	star.update(map[string]any{"locked": false})
	fans[2].relationship(star.id).wantTruths(relations, "requested")
	fans[2].to(star.id, "follow").wantTruths(relations, "following")
	if got := star.get("/api/v1/accounts/star").object().num("followers_count"); got != 2 {
		t.Errorf("%d followers, want 2", got)
	}
}

func TestRemoveFollower(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	bob.to(alice.id, "follow")
	alice.to(bob.id, "follow")
	alice.to(bob.id, "remove_from_followers").wantTruths(relations, "following")
	alice.to(bob.id, "remove_from_followers").wantTruths(relations, "following")
	bob.relationship(alice.id).wantTruths(relations, "followed_by")
	if got := alice.get("/api/v1/accounts/alice").object().num("followers_count"); got != 0 {
		t.Errorf("%d followers, want none", got)
	}
	alice.post("/api/v1/accounts/"+alice.id+"/remove_from_followers").wantError(403, "You cannot do that to yourself")
	alice.post("/api/v1/accounts/0000000000000000AA/remove_from_followers").wantError(404, "Record not found")
}

func TestFollowByHandle(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	host := strings.TrimPrefix(srv.url, "http://")
	for _, uri := range []string{"bob", "@bob", "Bob@" + host} {
		o := alice.post("/api/v1/follows", "uri", uri).want(200).object()
		if o.id() != bob.id || !o.truth("svc.relationship.following") {
			t.Errorf("%s: got %v", uri, o.m)
		}
	}
	alice.post("/api/v1/follows", "uri", "nobody").wantError(404, "Record not found")
	alice.post("/api/v1/follows", "uri", "alice").wantError(403, "You cannot do that to yourself")
	alice.post("/api/v1/follows").wantError(400, "Missing field: uri.")
}

func TestSubscribe(t *testing.T) {
	srv := startAPI(t)
	alice, bob, blocking := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("blocking")
	blocking.to(alice.id, "block")
	subscribe := func(id, verb string) *answer { return alice.post("/api/v1/svc/accounts/" + id + "/" + verb) }
	subscribe(bob.id, "subscribe").want(200).object().wantTruths(relations, "subscribing", "notifying")
	subscribe(bob.id, "subscribe").want(200).object().wantTruths(relations, "subscribing", "notifying")
	subscribe(bob.id, "unsubscribe").want(200).object().wantTruths(relations)
	subscribe(bob.id, "unsubscribe").want(200).object().wantTruths(relations)
	subscribe(blocking.id, "subscribe").wantError(403, "Could not subscribe: blocking is blocking you")
	subscribe("0000000000000000AA", "subscribe").wantError(404, "Record not found")
	subscribe(alice.id, "subscribe").wantError(403, "You cannot do that to yourself")
	srv.as(nil).post("/api/svc/accounts/"+bob.id+"/subscribe").wantError(403, "Invalid credentials.")

	subscribe(bob.id, "subscribe").want(200)
	alice.to(bob.id, "follow").wantTruths(relations, "following", "subscribing", "notifying")
	alice.to(bob.id, "unfollow").wantTruths(relations)
	subscribe(bob.id, "subscribe").want(200)
	bob.to(alice.id, "block")
	alice.relationship(bob.id).wantTruths(relations, "blocked_by")
}

func TestAccountNote(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	note := func(body any) *answer { return alice.send("POST", "/api/v1/accounts/"+bob.id+"/note", body) }
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
		if got := note(tt.body).want(200).object().str("note"); got != tt.want {
			t.Errorf("%v: note is %q, want %q", tt.body, got, tt.want)
		}
		if got := alice.relationship(bob.id).str("note"); got != tt.want {
			t.Errorf("%v: note is %q later, want %q", tt.body, got, tt.want)
		}
	}
	note(map[string]any{"comment": strings.Repeat("x", 2001)}).want(422)
	alice.post("/api/v1/accounts/0000000000000000AA/note", "comment", "x").wantError(404, "Record not found")
	if got := bob.relationship(alice.id).str("note"); got != "" {
		t.Errorf("bob sees %q", got)
	}
}

func TestFollowLimits(t *testing.T) {
	srv := startAPI(t, func(c *config.Config) { c.RateLimit.Enabled = true })
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	alice.to(bob.id, "follow")
	alice.to(bob.id, "unfollow")
	alice.post("/api/v1/accounts/"+bob.id+"/follow").wantError(429, "Throttled")
	alice.to(carol.id, "follow")
}
