package server_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/internal/config"
)

// scrobbles returns the titles of what somebody listened to.
func (c *caller) scrobbles(of string, params ...string) []string {
	c.api.t.Helper()
	titles := []string{}
	for _, o := range c.get("/api/v1/svc/accounts/"+of+"/scrobbles", params...).want(200).list() {
		titles = append(titles, o.str("title"))
	}
	return titles
}

func TestScrobble(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	full := alice.send("POST", "/api/v1/svc/scrobble", map[string]any{
		"title": " Some <Title> ", "artist": "Some Artist", "album": "Some Album", "length": 180000, "externalLink": "https://example.org/song",
	})
	wantEntity(t, "alice", full, "Scrobble")
	for path, want := range map[string]any{
		"title": "Some <Title>", "artist": "Some Artist", "album": "Some Album", "length": float64(180000), "account.id": alice.id, "externalLink": "https://example.org/song",
	} {
		if got := full.object().at(path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	wantEntity(t, "alice", alice.post("/api/v1/svc/scrobble", "title", "bare"), "Scrobble")
	for _, tt := range []struct {
		name   string
		as     *member
		params []string
		status int
	}{
		{"without a title", alice, []string{"artist", "x"}, 400},
		{"with an empty title", alice, []string{"title", "  "}, 400},
		{"with a title that is too long", alice, []string{"title", strings.Repeat("x", 501)}, 400},
		{"with an artist that is too long", alice, []string{"title", "x", "artist", strings.Repeat("x", 501)}, 400},
		{"of no length", alice, []string{"title", "x", "length", "-1"}, 400},
		{"of a length in words", alice, []string{"title", "x", "length", "long"}, 400},
		{"for a list", alice, []string{"title", "x", "visibility", "list"}, 400},
		{"for whom", alice, []string{"title", "x", "visibility", "who"}, 400},
		{"with a link to no page", alice, []string{"title", "x", "externalLink", "javascript:alert(1)"}, 400},
		{"without a token", nil, []string{"title", "x"}, 403},
	} {
		if got := srv.as(tt.as).post("/api/v1/svc/scrobble", tt.params...); got.status != tt.status {
			t.Errorf("a scrobble %s: got %d %s, want %d", tt.name, got.status, got.body, tt.status)
		}
	}
	wantList(t, "by nickname", bob.scrobbles("alice"), "bare", "Some <Title>")
	wantList(t, "bob's", alice.scrobbles(bob.id))
	bob.get("/api/v1/svc/accounts/nobody/scrobbles").want(404)
	for _, path := range []string{"/api/v1/timelines/home", "/api/v1/timelines/public", "/api/v1/accounts/" + alice.id + "/statuses"} {
		if list := alice.get(path).want(200).list(); len(list) > 0 {
			t.Errorf("%s has %v", path, list)
		}
	}
	srv.withhold(alice)
	bob.get("/api/v1/svc/accounts/" + alice.id + "/scrobbles").want(404)
}

func TestScrobbleVisibility(t *testing.T) {
	srv := startAPI(t)
	alice, follower, stranger, blocked := srv.signUp("alice"), srv.signUp("follower"), srv.signUp("stranger"), srv.signUp("blocked")
	srv.letFollow(follower, alice)
	srv.letBlock(alice, blocked)
	for _, v := range []string{"public", "unlisted", "local", "private", "direct"} {
		alice.post("/api/v1/svc/scrobble", "title", v, "visibility", v).want(200)
	}
	for _, tt := range []struct {
		as   *member
		want string
	}{
		{alice, "direct private local unlisted public"},
		{follower, "private local unlisted public"},
		{stranger, "local unlisted public"},
		{nil, "unlisted public"},
		{blocked, ""},
	} {
		wantList(t, "seen", srv.as(tt.as).scrobbles(alice.id), strings.Fields(tt.want)...)
	}
	for i := range 25 {
		alice.post("/api/v1/svc/scrobble", "title", fmt.Sprint(i)).want(200)
	}
	if n := len(alice.scrobbles(alice.id)); n != 20 {
		t.Errorf("a page of %d, want 20", n)
	}
	last := alice.get("/api/v1/svc/accounts/"+alice.id+"/scrobbles", "limit", "28").want(200)
	ids := last.ids()
	wantList(t, "older", alice.scrobbles(alice.id, "max_id", ids[27]), "unlisted", "public")
	wantList(t, "newer", alice.scrobbles(alice.id, "min_id", ids[2], "limit", "1"), "23")
	if link := last.header.Get("Link"); !strings.Contains(link, "max_id="+ids[27]) || !strings.Contains(link, "min_id="+ids[0]) {
		t.Errorf("Link: %s", link)
	}
}

// Case 85: what somebody elsewhere listens to is listed. Followers elsewhere hear of what people here listen to if the settings want it,
// and a server that refuses it is no worse for that.
func TestListen(t *testing.T) {
	srv, peer := startWithPeer(t, func(c *config.Config) { c.Federation.SendListens = true })
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	id := srv.meet(bob)
	listen := func(track doc, more ...doc) doc {
		track["type"], track["attributedTo"] = "Audio", bob
		return peer.activity("Listen", bob, track, append([]doc{{"to": []any{toPublic}, "cc": []any{bob + "/followers"}}}, more...)...)
	}
	first := listen(doc{"title": "Song", "artist": "Band", "album": "Record", "length": 180000})
	peer.receive(srv, first)
	peer.receive(srv, first)
	peer.receive(srv, listen(doc{"title": "Text", "length": "2000", "to": []any{bob + "/followers"}, "cc": []any{}}))
	peer.receive(srv, listen(doc{"artist": "who has no title"}))
	peer.receive(srv, listen(doc{"title": strings.Repeat("x", 600), "externalLink": "javascript:1"}))
	peer.receive(srv, peer.activity("Listen", bob, peer.url+"/tracks/1"))
	forged := listen(doc{"title": "forged"})
	forged["object"].(doc)["attributedTo"] = peer.url + "/users/carol"
	peer.receive(srv, forged)
	list := alice.get("/api/v1/svc/accounts/" + id + "/scrobbles").want(200).list()
	if len(list) != 2 || list[1].str("title") != "Song" || list[1].str("artist") != "Band" || list[1].num("length") != 180000 || !strings.HasSuffix(list[0].str("title"), "x…") {
		t.Errorf("scrobbles: %v", list)
	}
	if n := srv.count(`SELECT length FROM scrobbles WHERE title = 'Text' AND visibility = 3`); n != 2000 {
		t.Errorf("a length in text: %d, want 2000", n)
	}
	wantList(t, "alice is told", alice.told())

	alice.post("/api/v1/svc/scrobble", "title", "before", "length", "5").want(200)
	peer.receive(srv, peer.activity("Follow", bob, alice.uri()))
	peer.forget()
	peer.refuse(400)
	for _, v := range []string{"public", "local", "direct"} {
		alice.post("/api/v1/svc/scrobble", "title", v, "visibility", v, "length", "5").want(200)
	}
	settle(srv)
	sent := peer.delivered("Listen")
	if len(sent) == 0 {
		t.Fatal("nothing was delivered")
	}
	for _, d := range sent { // again, signed in another way
		wantMember(t, d, "public", "object", "title")
		wantMember(t, d, float64(5), "object", "length")
		wantMember(t, d, alice.uri(), "object", "attributedTo")
	}
	if n := srv.count(`SELECT count(*) FROM hosts WHERE failures > 0 OR unreachable_since IS NOT NULL OR rest_until > 0`); n != 0 {
		t.Errorf("the host counts as bad")
	}
	if n := srv.count(`SELECT count(*) FROM deliveries`); n != 0 {
		t.Errorf("%d deliveries are tried again", n)
	}
}

// Without the setting nobody elsewhere hears of it.
func TestListensAreNotSent(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	peer.receive(srv, peer.activity("Follow", peer.actor("bob"), alice.uri()))
	alice.post("/api/v1/svc/scrobble", "title", "song").want(200)
	settle(srv)
	if got := peer.delivered("Listen"); len(got) > 0 {
		t.Errorf("delivered: %v", got)
	}
}
