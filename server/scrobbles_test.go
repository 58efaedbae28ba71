package server_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

func TestScrobble(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	full := alice.SendJSON("POST", "/api/v1/svc/scrobble", map[string]any{
		"title": " Some <Title> ", "artist": "Some Artist", "album": "Some Album", "length": 180000, "externalLink": "https://example.org/song",
	})
	WantEntity(t, "alice", full, "Scrobble")
	for path, want := range map[string]any{
		"title": "Some <Title>", "artist": "Some Artist", "album": "Some Album", "length": float64(180000), "account.id": alice.ID, "externalLink": "https://example.org/song",
	} {
		if got := full.Object().At(path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	WantEntity(t, "alice", alice.Post("/api/v1/svc/scrobble", "title", "bare"), "Scrobble")
	for _, tt := range []struct {
		name   string
		as     *apptest.User
		params []string
		status int
	}{
		{"without a title", alice, []string{"artist", "x"}, 400},
		{"with an empty title", alice, []string{"title", "  "}, 400},
		{"with a title that is too long", alice, []string{"title", strings.Repeat("x", 501)}, 400},
		{"with an artist that is too long", alice, []string{"title", "x", "artist", strings.Repeat("x", 501)}, 400},
		{"of a negative length", alice, []string{"title", "x", "length", "-1"}, 400},
		{"of a length in words", alice, []string{"title", "x", "length", "long"}, 400},
		{"for a list", alice, []string{"title", "x", "visibility", "list"}, 400},
		{"of an unknown visibility", alice, []string{"title", "x", "visibility", "unknown"}, 400},
		{"with a link that is not a web page", alice, []string{"title", "x", "externalLink", "javascript:alert(1)"}, 400},
		{"without a token", nil, []string{"title", "x"}, 403},
	} {
		if got := srv.As(tt.as).Post("/api/v1/svc/scrobble", tt.params...); got.Status != tt.status {
			t.Errorf("a scrobble %s: got %d %s, want %d", tt.name, got.Status, got.Body, tt.status)
		}
	}
	apptest.WantList(t, "by nickname", bob.Scrobbles("alice"), "bare", "Some <Title>")
	apptest.WantList(t, "bob's", alice.Scrobbles(bob.ID))
	bob.Get("/api/v1/svc/accounts/nobody/scrobbles").Want(404)
	for _, path := range []string{"/api/v1/timelines/home", "/api/v1/timelines/public", "/api/v1/accounts/" + alice.ID + "/statuses"} {
		if list := alice.Get(path).Want(200).List(); len(list) > 0 {
			t.Errorf("%s has %v", path, list)
		}
	}
	srv.MakeUnavailable(alice)
	bob.Get("/api/v1/svc/accounts/" + alice.ID + "/scrobbles").Want(404)
}

func TestScrobbleVisibility(t *testing.T) {
	apptest.SkipIfShort(t)
	srv := apptest.Start(t)
	alice, follower, unrelated, blocked := srv.SignUp("alice"), srv.SignUp("follower"), srv.SignUp("unrelated"), srv.SignUp("blocked")
	srv.AddFollow(follower, alice)
	srv.AddBlock(alice, blocked)
	for _, v := range []string{"public", "unlisted", "local", "private", "direct"} {
		alice.Post("/api/v1/svc/scrobble", "title", v, "visibility", v).Want(200)
	}
	for _, tt := range []struct {
		as   *apptest.User
		want string
	}{
		{alice, "direct private local unlisted public"},
		{follower, "private local unlisted public"},
		{unrelated, "local unlisted public"},
		{nil, "unlisted public"},
		{blocked, ""},
	} {
		apptest.WantList(t, "seen", srv.As(tt.as).Scrobbles(alice.ID), strings.Fields(tt.want)...)
	}
	for i := range 25 {
		alice.Post("/api/v1/svc/scrobble", "title", fmt.Sprint(i)).Want(200)
	}
	if n := len(alice.Scrobbles(alice.ID)); n != 20 {
		t.Errorf("a page of %d, want 20", n)
	}
	last := alice.Get("/api/v1/svc/accounts/"+alice.ID+"/scrobbles", "limit", "28").Want(200)
	ids := last.IDs()
	apptest.WantList(t, "older", alice.Scrobbles(alice.ID, "max_id", ids[27]), "unlisted", "public")
	apptest.WantList(t, "newer", alice.Scrobbles(alice.ID, "min_id", ids[2], "limit", "1"), "23")
	if link := last.Header.Get("Link"); !strings.Contains(link, "max_id="+ids[27]) || !strings.Contains(link, "min_id="+ids[0]) {
		t.Errorf("Link: %s", link)
	}
}

// TestListen checks that received Listen activities become scrobbles, and that own scrobbles are delivered to remote followers if the
// setting federation.send_listens is true. A server that refuses them does not count as failing (case 85).
func TestListen(t *testing.T) {
	srv, peer := apptest.StartWithFake(t, func(c *config.Config) { c.Federation.SendListens = true })
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	id := srv.FetchActor(bob)
	listen := func(track apptest.Doc, more ...apptest.Doc) apptest.Doc {
		track["type"], track["attributedTo"] = "Audio", bob
		return peer.Activity("Listen", bob, track, append([]apptest.Doc{{"to": []any{apptest.Public}, "cc": []any{bob + "/followers"}}}, more...)...)
	}
	first := listen(apptest.Doc{"title": "Song", "artist": "Band", "album": "Record", "length": 180000})
	peer.PostAndSettle(srv, first)
	peer.PostAndSettle(srv, first)
	peer.PostAndSettle(srv, listen(apptest.Doc{"title": "Text", "length": "2000", "to": []any{bob + "/followers"}, "cc": []any{}}))
	peer.PostAndSettle(srv, listen(apptest.Doc{"artist": "without a title"}))
	peer.PostAndSettle(srv, listen(apptest.Doc{"title": strings.Repeat("x", 600), "externalLink": "javascript:1"}))
	peer.PostAndSettle(srv, peer.Activity("Listen", bob, peer.URL+"/tracks/1"))
	forged := listen(apptest.Doc{"title": "forged"})
	forged["object"].(apptest.Doc)["attributedTo"] = peer.URL + "/users/carol"
	peer.PostAndSettle(srv, forged)
	list := alice.Get("/api/v1/svc/accounts/" + id + "/scrobbles").Want(200).List()
	if len(list) != 2 || list[1].Str("title") != "Song" || list[1].Str("artist") != "Band" || list[1].Int("length") != 180000 || !strings.HasSuffix(list[0].Str("title"), "x…") {
		t.Errorf("scrobbles: %v", list)
	}
	if n := srv.Count(`SELECT length FROM scrobbles WHERE title = 'Text' AND visibility = 3`); n != 2000 {
		t.Errorf("a length in text: %d, want 2000", n)
	}
	apptest.WantList(t, "alice's notifications", alice.NotificationTypes())

	alice.Post("/api/v1/svc/scrobble", "title", "before", "length", "5").Want(200)
	peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI()))
	peer.ClearDelivered()
	peer.RefuseDeliveries(400)
	for _, v := range []string{"public", "local", "direct"} {
		alice.Post("/api/v1/svc/scrobble", "title", v, "visibility", v, "length", "5").Want(200)
	}
	apptest.Settle(srv)
	sent := peer.Delivered("Listen")
	if len(sent) == 0 {
		t.Fatal("nothing was delivered")
	}
	for _, d := range sent { // twice, with both signature formats
		apptest.WantField(t, d, "public", "object", "title")
		apptest.WantField(t, d, float64(5), "object", "length")
		apptest.WantField(t, d, alice.URI(), "object", "attributedTo")
	}
	if n := srv.Count(`SELECT count(*) FROM hosts WHERE failures > 0 OR unreachable_since IS NOT NULL OR backoff_until > 0`); n != 0 {
		t.Errorf("the host counts as failing")
	}
	if n := srv.Count(`SELECT count(*) FROM deliveries`); n != 0 {
		t.Errorf("%d deliveries are retried", n)
	}
}

// TestListensAreNotSent checks that without the setting no Listen is delivered.
func TestListensAreNotSent(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	peer.PostAndSettle(srv, peer.Activity("Follow", peer.AddActor("bob"), alice.URI()))
	alice.Post("/api/v1/svc/scrobble", "title", "song").Want(200)
	apptest.Settle(srv)
	if got := peer.Delivered("Listen"); len(got) > 0 {
		t.Errorf("delivered: %v", got)
	}
}
