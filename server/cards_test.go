package server_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

func TestCard(t *testing.T) {
	srv, site := apptest.Start(t, apptest.AllowLoopback), apptest.StartSite(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	link := site.URL + "/page"
	st := alice.Publish("look at " + link)
	show := func() *apptest.Object {
		t.Helper()
		a := bob.Get("/api/v1/statuses/" + st.ID())
		WantEntity(t, "bob", a, "Status")
		return a.Object()
	}
	boost := bob.Post("/api/v1/statuses/" + st.ID() + "/reblog").Want(200).Object().ID()
	if apptest.CardTitle(st) != "" || apptest.CardTitle(show()) != "" {
		t.Error("there is a card before the page was fetched")
	}
	if got := string(bob.Get("/api/v1/statuses/" + st.ID() + "/card").Want(200).Body); got != "{}" {
		t.Errorf("got %s, want {}", got)
	}
	srv.RunJobs()
	site.WantRequests(t, "a post", 1)
	want := map[string]any{
		"url": link, "title": "Café <b>ä", "description": "What it is about", "type": "link", "html": "", "image": srv.Proxy.URL("https://cdn.example/a.png"),
		"image_description": "A cat", "width": 640.0, "height": 480.0, "author_name": "", "author_url": "", "embed_url": "",
		"provider_name": "127.0.0.1", "provider_url": site.URL,
	}
	check := func(where string, card map[string]any) {
		t.Helper()
		for k, v := range want {
			if card[k] != v {
				t.Errorf("%s: got %s %q, want %q", where, k, card[k], v)
			}
		}
	}
	shown := show()
	check("status", shown.At("card").(map[string]any))
	if got := shown.Str("card.svc.opengraph.url"); got != "https://bank.example/" {
		t.Errorf("the OpenGraph property is %q", got)
	}
	if shown.At("edited_at") != nil {
		t.Error("the card marks the status as edited")
	}
	check("timeline", bob.Get("/api/v1/timelines/public").Want(200).List()[0].At("card").(map[string]any))
	wrapper := bob.Get("/api/v1/statuses/" + boost).Want(200).Object()
	check("boost", wrapper.At("card").(map[string]any))
	check("boosted", wrapper.At("reblog.card").(map[string]any))
	check("card", bob.Get("/api/v1/statuses/"+st.ID()+"/card").Want(200).Object().Fields)
	check("card of the boost", bob.Get("/api/v1/statuses/"+boost+"/card").Want(200).Object().Fields)
	WantEntity(t, "bob", bob.Get("/api/v1/statuses/"+st.ID()+"/card"), "Card")

	check("another post", bob.Publish("me too: "+link).At("card").(map[string]any))
	check("preview", bob.Publish("and "+link, "preview", "true").At("card").(map[string]any))
	for range 3 {
		bob.Publish("again " + link)
	}
	srv.RunJobs()
	site.WantRequests(t, "known pages", 0)
}

func TestCardOfHiddenPost(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	srv.As(nil).Get("/api/v1/statuses/"+alice.Publish("x", "visibility", "private").ID()+"/card").WantError(404, "Record not found")
	srv.As(nil).Get("/api/v1/statuses/nothing/card").WantError(404, "Record not found")
}

// TestCardOfRedirect checks that a card has the final URL if a link redirects to another host, and the posted URL otherwise.
func TestCardOfRedirect(t *testing.T) {
	srv, site := apptest.Start(t, apptest.AllowLoopback), apptest.StartSite(t)
	alice := srv.SignUp("alice")
	otherHost := strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
	for path, want := range map[string]string{"/moved": site.URL + "/moved", "/away": otherHost + "/other"} {
		id := alice.Publish(site.URL + path).ID()
		srv.RunJobs()
		st := alice.Get("/api/v1/statuses/" + id).Want(200).Object()
		if got := st.Str("card.url"); got != want || !strings.HasPrefix(want, st.Str("card.provider_url")) {
			t.Errorf("%s: the card of %s has the URL %s, want %s", path, st.Str("card.provider_url"), got, want)
		}
	}
}

// TestCardOfManyPosts checks that the page of a link in several posts is fetched once, and that all posts get the card.
func TestCardOfManyPosts(t *testing.T) {
	srv, site := apptest.Start(t, apptest.AllowLoopback), apptest.StartSite(t)
	alice := srv.SignUp("alice")
	var ids []string
	for i := range 5 {
		ids = append(ids, alice.Publish(fmt.Sprint(i, " ", site.URL, "/page")).ID())
	}
	deleted := alice.Publish("deleted " + site.URL + "/other").ID()
	alice.Do("DELETE", "/api/v1/statuses/"+deleted, "", nil).Want(200)
	srv.RunJobs()
	site.WantRequests(t, "five posts and one that was deleted", 1)
	for _, id := range ids {
		if apptest.CardTitle(alice.Get("/api/v1/statuses/"+id).Want(200).Object()) == "" {
			t.Errorf("%s has no card", id)
		}
	}
}

// TestWhichCard checks which links are fetched, for which visibilities.
func TestWhichCard(t *testing.T) {
	srv, site := apptest.Start(t, apptest.AllowLoopback, func(c *config.Config) { c.Cards.IgnoredHosts = []string{"localhost"} }), apptest.StartSite(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	list := srv.AddList(alice, bob)
	ignored := strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
	own := alice.Publish("own").Str("url")
	for _, tt := range []struct {
		name, text, visibility string
		want                   string
		asked                  int32
	}{
		{"public", "URL/page", "public", "Café <b>ä", 1},
		{"unlisted", "URL/page?unlisted", "unlisted", "Café <b>ä", 1},
		{"local", "URL/page?local", "local", "", 0},
		{"private", "URL/page?private", "private", "", 0},
		{"direct", "@bob URL/page?direct", "direct", "", 0},
		{"list", "URL/page?list", "list:" + list, "", 0},
		{"private, of a known page", "URL/page", "private", "", 0},
		{"after others", "@bob #tag " + own + " " + srv.URL + " mailto:a@example.org " + ignored + "/page URL/other", "public", "Other", 1},
		{"ignored host", ignored + "/page " + ignored + "/page", "public", "", 0},
		{"ignored subdomain", strings.Replace(ignored, "//", "//a.", 1), "public", "", 0},
		{"this server", srv.URL + "/about " + own, "public", "", 0},
		{"only the first", "URL/silent URL/page?second", "public", "", 1},
		{"not found", "URL/missing", "public", "", 1},
		{"not HTML", "URL/data", "public", "", 1},
		{"a large page", "URL/large", "public", "Large", 1},
		{"moved", "URL/moved", "public", "Other", 2},
		{"redirected to a private address", "URL/inside", "public", "", 1},
		{"too long", "URL/page?" + strings.Repeat("x", 2048), "public", "", 0},
		{"with credentials", "https://user:secret@127.0.0.1/page", "public", "", 0},
		{"no link", "just words", "public", "", 0},
	} {
		st := alice.Publish(strings.ReplaceAll(tt.text, "URL", site.URL), "visibility", tt.visibility)
		srv.RunJobs()
		site.WantRequests(t, tt.name, tt.asked)
		got := alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object()
		if apptest.CardTitle(got) != tt.want {
			t.Errorf("%s: got card %q, want %q", tt.name, apptest.CardTitle(got), tt.want)
		}
		alice.Publish(strings.ReplaceAll(tt.text, "URL", site.URL), "visibility", tt.visibility)
		srv.RunJobs()
		site.WantRequests(t, tt.name+", again", 0)
	}
}

func TestNoCards(t *testing.T) {
	site := apptest.StartSite(t)
	for name, change := range map[string]func(*config.Config){
		"switched off": func(c *config.Config) { c.Federation.AllowLoopback, c.Cards.Enabled = true, false },
		"guarded":      func(*config.Config) {},
	} {
		srv := apptest.Start(t, change)
		alice := srv.SignUp("alice")
		st := alice.Publish("look at " + site.URL + "/page")
		srv.RunJobs()
		if got := alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object(); apptest.CardTitle(got) != "" {
			t.Errorf("%s: there is a card", name)
		}
		site.WantRequests(t, name, 0)
	}
}

// TestCardOfEdit checks that an edit that changes the link changes the card.
func TestCardOfEdit(t *testing.T) {
	srv, site := apptest.Start(t, apptest.AllowLoopback), apptest.StartSite(t)
	alice := srv.SignUp("alice")
	id := alice.Publish("look at " + site.URL + "/page").ID()
	srv.RunJobs()
	site.WantRequests(t, "before", 1)
	for _, tt := range []struct {
		text, want string
		asked      int32
	}{
		{"see " + site.URL + "/page", "Café <b>ä", 0},
		{"see " + site.URL + "/other", "Other", 1},
		{"see " + site.URL + "/other and more", "Other", 0},
		{"nothing", "", 0},
		{"back to " + site.URL + "/page", "Café <b>ä", 0},
	} {
		alice.SendJSON("PUT", "/api/v1/statuses/"+id, map[string]string{"status": tt.text}).Want(200)
		srv.RunJobs()
		site.WantRequests(t, tt.text, tt.asked)
		if got := apptest.CardTitle(alice.Get("/api/v1/statuses/" + id).Want(200).Object()); got != tt.want {
			t.Errorf("%s: got card %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestCardOfAnotherName checks that the OpenGraph properties are under the configured API name.
func TestCardOfAnotherName(t *testing.T) {
	srv, site := apptest.Start(t, apptest.AllowLoopback, func(c *config.Config) { c.API.Name = "other" }), apptest.StartSite(t)
	alice := srv.SignUp("alice")
	id := alice.Publish(site.URL + "/page").ID()
	srv.RunJobs()
	st := alice.Get("/api/v1/statuses/" + id).Want(200).Object()
	if got := st.Str("card.other.opengraph.site_name"); got != "Site" {
		t.Errorf("got %q", got)
	}
}
