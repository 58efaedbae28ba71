package pages_test

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestFrontPage checks what the front page shows by the settings, and that it leads users to their home page.
func TestFrontPage(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	alice.Publish("for everybody")
	alice.Publish("for followers", "visibility", "private")
	visitor := srv.Browser()
	page := visitor.Get("/").Want(200, "Everybody can create an account.", "for everybody", "More posts of this server", "Tusky", srv.Settings.Host())
	if strings.Contains(page.Text, "for followers") {
		t.Error("the front page shows a post for followers")
	}
	for name, tt := range map[string]struct {
		change func(*config.Config)
		want   string
		hidden string
	}{
		"approval":           {func(c *config.Config) { c.Instance.AccountApprovalRequired = true }, "The staff of this server approves new accounts.", "Everybody can create"},
		"invitation":         {func(c *config.Config) { c.Instance.RegistrationsOpen, c.Instance.InvitesEnabled = false, true }, "by invitation only", "Create an account"},
		"closed":             {func(c *config.Config) { c.Instance.RegistrationsOpen = false }, "Registration is closed", "Create an account"},
		"no recent posts":    {func(c *config.Config) { c.Web.RecentPosts = 0 }, "Sign in", "for everybody"},
		"no public timeline": {func(c *config.Config) { c.Web.PublicTimeline = false }, "for everybody", "More posts of this server"},
		"private":            {func(c *config.Config) { c.Instance.Public = false }, "Sign in", "for everybody"},
		"switched off":       {func(c *config.Config) { c.Web.Enabled = false }, "for everybody", "Sign in"},
	} {
		t.Run(name, func(t *testing.T) {
			other := apptest.Start(t, tt.change)
			other.SignUp("alice").Publish("for everybody")
			if page := other.Browser().Get("/").Want(200, tt.want); strings.Contains(page.Text, tt.hidden) {
				t.Errorf("%q is in %q", tt.hidden, page.Text)
			}
		})
	}
	if to, _ := alice.SignedIn().Get("/").Location(); to != "/web" {
		t.Errorf("users are led to %s", to)
	}
}

// TestWebSwitchedOff checks that web.enabled closes everything below /web but leaves the public pages.
func TestWebSwitchedOff(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Web.Enabled = false })
	id := srv.SignUp("alice").Publish("hello").ID()
	visitor := srv.Browser()
	for path, status := range map[string]int{"/": 200, "/@alice": 200, "/@alice/" + id: 200, "/about": 200, "/web": 404, "/web/sign_in": 404, "/web/@alice": 404, "/web/assets/1/style.css": 200} {
		if got := visitor.Get(path).Status; got != status {
			t.Errorf("%s: %d, want %d", path, got, status)
		}
	}
}

// TestVisitorPages checks what visitors are shown at each path.
func TestVisitorPages(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	root := alice.Publish("the root #tea").ID()
	bob.Publish("the answer", "in_reply_to_id", root)
	bob.Post("/api/v1/statuses/" + root + "/favourite").Want(200)
	bob.Post("/api/v1/statuses/" + root + "/reblog").Want(200)
	bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200)
	alice.Post("/api/v1/statuses/" + alice.Publish("on top").ID() + "/pin").Want(200)
	edited := alice.Publish("first words").ID()
	alice.SendJSON("PUT", "/api/v1/statuses/"+edited, map[string]any{"status": "second words"}).Want(200)
	alice.Post("/api/v1/featured_tags", "name", "tea").Want(200)
	visitor := srv.Browser()
	for path, want := range map[string][]string{
		"/@alice":                            {"the root", "Pinned", "on top", "#tea", "Follow from another server", "1 follower", "Joined"},
		"/@alice/with_replies":               {"the root"},
		"/@bob/with_replies":                 {"the answer"},
		"/@alice/media":                      {"There are no posts here yet."},
		"/@alice/followers":                  {"bob"},
		"/@bob/following":                    {"alice"},
		"/@alice/" + root:                    {"the root", "the answer", "1 boost", "1 favourite"},
		"/@alice/" + root + "/favourites":    {"Favourited by", "bob"},
		"/@alice/" + root + "/boosts":        {"Boosted by", "bob"},
		"/@alice/" + edited + "/history":     {"first words", "second words"},
		"/public":                            {"the root"},
		"/tags/tea":                          {"#tea", "the root"},
		"/tags/nothing":                      {"There are no posts here yet."},
		"/about":                             {"Numbers", "People"},
		"/terms":                             {"has not published any terms"},
		"/web/@alice":                        {"the root"},
		"/web/tags/tea":                      {"the root"},
		"/web/@alice/" + edited + "/history": {"first words"},
	} {
		if page := visitor.Get(path).Want(200, want...); strings.Count(string(page.Body), "<h1") != 1 {
			t.Errorf("%s: %d headings of the first level", path, strings.Count(string(page.Body), "<h1"))
		}
	}
	for _, path := range []string{"/@nobody", "/@nobody/followers", "/@bob/" + root, "/@alice/none/history", "/tags/!", "/privacy", "/@nobody.rss", "/tags/!.atom"} {
		if got := visitor.Get(path).Status; got != 404 {
			t.Errorf("%s: %d", path, got)
		}
	}
	signedIn := bob.SignedIn()
	signedIn.Get("/@alice").Want(200, "Unfollow").Press("Unfollow").Follow().Want(200)
	signedIn.Get("/tags/tea").Want(200).Press("Follow the hashtag").Follow().Want(200, "Unfollow the hashtag")
}

// TestVisitorCache checks that a page which visitors are shown is sent once, and changes with what it shows.
func TestVisitorCache(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	id := alice.Publish("before").ID()
	get := func(path, tag string) *apptest.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "text/html")
		req.Header.Set("If-None-Match", tag)
		return srv.As(nil).DoRequest(req)
	}
	paths := []string{"/", "/@alice", "/@alice/" + id, "/public", "/@alice.rss", "/@alice.atom"}
	tags := make(map[string]string)
	for _, path := range paths {
		tags[path] = get(path, "").Want(200).Header.Get("ETag")
		if a := get(path, tags[path]); a.Status != 304 || len(a.Body) > 0 {
			t.Errorf("%s: %d for a page that has not changed", path, a.Status)
		}
	}
	alice.SendJSON("PUT", "/api/v1/statuses/"+id, map[string]any{"status": "after"}).Want(200)
	for _, path := range paths {
		if a := get(path, tags[path]); a.Status != 200 || !strings.Contains(string(a.Body), "after") {
			t.Errorf("%s: %d after an edit", path, a.Status)
		}
	}
}

// TestFeeds checks that feeds are well-formed, have absolute addresses and only what anyone may see.
func TestFeeds(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.Publish("one <b> & two #tea", "spoiler_text", "a \"warning\" & more")
	alice.Publish("secret #tea", "visibility", "private")
	alice.Post("/api/v1/statuses/" + bob.Publish("of bob").ID() + "/reblog").Want(200)
	for range 25 {
		bob.Publish("many")
	}
	for path, items := range map[string]int{"/@alice.rss": 1, "/@alice.atom": 1, "/tags/tea.rss": 1, "/tags/tea.atom": 1, "/@bob.rss": 20, "/@bob.atom": 20} {
		a := alice.SignedIn().Get(path).Want(200)
		var feed struct {
			Items []struct {
				Link string `xml:"link"`
			} `xml:"channel>item"`
			Entries []struct {
				ID string `xml:"id"`
			} `xml:"entry"`
		}
		if err := xml.Unmarshal(a.Body, &feed); err != nil {
			t.Fatalf("%s: %v: %s", path, err, a.Body)
		}
		if got := len(feed.Items) + len(feed.Entries); got != items {
			t.Errorf("%s: %d posts, want %d", path, got, items)
		}
		for _, item := range feed.Items {
			if !strings.HasPrefix(item.Link, srv.URL) {
				t.Errorf("%s: the link %q", path, item.Link)
			}
		}
		if strings.Contains(string(a.Body), "secret") || strings.Contains(string(a.Body), "of bob") && strings.HasPrefix(path, "/@alice") {
			t.Errorf("%s: %s", path, a.Body)
		}
	}
	page := string(srv.Browser().Get("/@alice").Want(200).Body)
	for _, link := range []string{"/@alice.rss", "/@alice.atom"} {
		if !strings.Contains(page, `href="`+srv.URL+link+`"`) {
			t.Errorf("the profile does not link %s", link)
		}
	}
}

// BenchmarkVisitors measures the pages that visitors load most.
func BenchmarkVisitors(b *testing.B) {
	srv := apptest.Start(b, func(c *config.Config) { c.RateLimit.Enabled = false })
	alice := srv.SignUp("alice")
	root := alice.Publish("the root of a conversation").ID()
	for range 20 {
		alice.Publish("a post about tea and biscuits, and what to do with a lot of them", "in_reply_to_id", root)
	}
	for range 20 {
		alice.Publish("a post about tea and biscuits, and what to do with a lot of them #tea")
	}
	for name, path := range map[string]string{"profile": "/@alice", "post": "/@alice/" + root} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				req := httptest.NewRequest("GET", path, nil)
				req.Header.Set("Accept", "text/html")
				w := httptest.NewRecorder()
				srv.HTTP.ServeHTTP(w, req)
				if w.Code != 200 {
					b.Fatalf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
}
