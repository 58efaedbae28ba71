package pages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// visit requests a page as a browser does that has the page with a tag, "" for none.
func visit(t *testing.T, srv *apptest.Server, path, language, tag string) *apptest.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Accept-Language", language)
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	return srv.As(nil).DoRequest(req)
}

// TestVisitorPagesAreCurrent changes what pages show, and requests them before and after each change.
func TestVisitorPagesAreCurrent(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Instance.ConfigurableFromDatabase = true })
	root, alice, bob := srv.SignUpAdmin(), srv.SignUp("alice"), srv.SignUp("bob")
	srv.AddEmoji("pets", map[string]string{"cat": "cat.png"})
	id := alice.Publish("the first words :cat: #tea").ID()
	poll := alice.PublishPoll([]string{"green", "black"})
	gone := alice.Publish("soon deleted #tea").ID()
	thread, pollPage := "/@alice/"+id, "/@alice/"+poll.ID()
	edit := func(text string) func() {
		return func() { alice.EditStatus(id, map[string]any{"status": text}).Want(200) }
	}
	setting := func(key string, value any) func() {
		return func() {
			root.SendJSON("POST", "/api/v1/svc/admin/config", map[string]any{"configs": []any{
				map[string]any{"group": ":svc", "key": ":instance", "value": []any{map[string]any{"tuple": []any{key, value}}}},
			}}).Want(200)
		}
	}
	for _, tt := range []struct {
		name   string
		change func()
		paths  []string
		want   string // in the page afterwards
		gone   string // not in it
	}{
		{"edit", edit("the second words :cat: #tea"), []string{"/", "/@alice", thread, "/public", "/tags/tea", "/@alice.rss", "/@alice.atom"}, "second words", "first words"},
		{"favourite", func() { bob.Post("/api/v1/statuses/" + id + "/favourite").Want(200) }, []string{thread, "/@alice"}, "1 favourite", ""},
		{"boost", func() { bob.Post("/api/v1/statuses/" + id + "/reblog").Want(200) }, []string{thread, "/@alice"}, "1 boost", ""},
		{"reaction", func() { bob.React("PUT", id, "🍵").Want(200) }, []string{thread, "/@alice"}, "🍵", ""},
		{"reply", func() { bob.Publish("@alice an answer", "in_reply_to_id", id) }, []string{thread, "/@bob/with_replies"}, "an answer", ""},
		{"vote", func() { bob.Vote(poll, 0).Want(200) }, []string{pollPage, "/@alice"}, "100 %", ""},
		{"pin", func() { alice.Post("/api/v1/statuses/" + id + "/pin").Want(200) }, []string{"/@alice"}, "Pinned", ""},
		{"new post", func() { bob.Publish("another one #tea") }, []string{"/public", "/tags/tea", "/@bob"}, "another one", ""},
		{"deletion", func() { alice.Do("DELETE", "/api/v1/statuses/"+gone, "", nil).Want(200) }, []string{"/@alice", "/public", "/tags/tea"}, "", "soon deleted"},
		{"profile", func() { alice.UpdateProfile(map[string]any{"display_name": "Alice the Second"}) }, []string{"/@alice", thread, "/public", "/@alice.rss"}, "Alice the Second", ""},
		{"follower", func() { bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200) }, []string{"/@alice"}, "<b>1</b> follower", ""},
		{"rule", func() { root.Post("/api/v1/svc/admin/rules", "text", "Be kind to teapots").Want(200) }, []string{"/about"}, "Be kind to teapots", ""},
		{"emoji", func() {
			root.Do("DELETE", "/api/v1/svc/emoji/packs/files?name=pets&shortcode=cat", "", nil).Want(200)
		}, []string{thread, "/@alice", "/public"}, "", "cat.png"},
		{"source", setting(":source_url", "https://code.example/svc"), []string{"/about"}, `href="https://code.example/svc"`, ""},
		{"setting", setting(":name", "The Teapot"), []string{"/", "/@alice", thread, "/about"}, "The Teapot", ""},
		{"end of the poll", func() { srv.Advance(48 * time.Hour) }, []string{pollPage, "/@alice"}, " · closed", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tags := make(map[string]string)
			for _, path := range tt.paths {
				for range 2 {
					a := visit(t, srv, path, "en", "").Want(200)
					tags[path] = a.Header.Get("ETag")
					if tt.want != "" && strings.Contains(string(a.Body), tt.want) || tt.gone != "" && !strings.Contains(string(a.Body), tt.gone) {
						t.Errorf("%s is so before the change", path)
					}
				}
				if a := visit(t, srv, path, "en", tags[path]); a.Status != http.StatusNotModified || len(a.Body) > 0 {
					t.Errorf("%s: %d for a page that has not changed", path, a.Status)
				}
			}
			tt.change()
			for _, path := range tt.paths {
				a := visit(t, srv, path, "en", tags[path]).Want(200)
				if !strings.Contains(string(a.Body), tt.want) || tt.gone != "" && strings.Contains(string(a.Body), tt.gone) {
					t.Errorf("%s: want %q, not %q", path, tt.want, tt.gone)
				}
			}
		})
	}
	for _, path := range []string{"/@alice", thread, "/@alice.rss"} {
		visit(t, srv, path, "en", "").Want(200)
	}
	root.SendJSON("PATCH", "/api/v1/svc/admin/users/deactivate", map[string]any{"nicknames": []string{"alice"}}).Want(200)
	for _, path := range []string{"/@alice", thread, "/@alice.rss"} {
		visit(t, srv, path, "en", "").Want(404)
	}
	visit(t, srv, "/public", "en", "").Want(200)
	setting(":public", false)()
	if a := visit(t, srv, "/public", "en", ""); a.Status == 200 {
		t.Error("a private instance shows its public timeline")
	}
}

// TestVisitorPagesAreSeparate checks that no page is served in place of one for another language, cursor or person.
func TestVisitorPagesAreSeparate(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	for i := range 25 {
		alice.Publish(fmt.Sprintf("post %d", i))
	}
	browser, visitor := alice.SignedIn(), srv.Browser()
	for range 2 {
		english, german := visit(t, srv, "/@alice", "en", ""), visit(t, srv, "/@alice", "de", "")
		if !strings.Contains(string(english.Body), `lang="en"`) || !strings.Contains(string(german.Body), `lang="de"`) {
			t.Error("a page is in the wrong language")
		}
		if a := visit(t, srv, "/@alice", "de", english.Header.Get("ETag")); a.Status != 200 {
			t.Errorf("%d for a page in another language", a.Status)
		}
		browser.Get("/@alice").Want(200, "Sign out", "Edit the profile")
		if page := visitor.Get("/@alice").Want(200, "Sign in", "post 24"); strings.Contains(page.Text, "Sign out") {
			t.Error("a visitor gets the page of a user")
		}
		if page := visitor.Get("/@alice?done=saved").Want(200, "Saved."); strings.Contains(visitor.Get("/@alice").Text, "Saved.") {
			t.Errorf("the page says what another form did: %s", page.Text)
		}
	}
	first := visitor.Get("/@alice?utm_source=x&fbclid=y").Want(200)
	if first.Header.Get("ETag") != visitor.Get("/@alice").Header.Get("ETag") || strings.Contains(string(first.Body), "utm_source") {
		t.Error("parameters of other sites change the page")
	}
	_, link, _ := strings.Cut(string(first.Body), `rel="next" href="`)
	link, _, _ = strings.Cut(link, `"`)
	next, err := url.Parse(strings.ReplaceAll(link, "&amp;", "&"))
	if err != nil || next.Path != "/@alice" {
		t.Fatalf("the link to older posts is %q, %v", link, err)
	}
	for range 2 {
		if page := visitor.Get(next.String()).Want(200, "post 4"); strings.Contains(page.Text, "post 24") {
			t.Error("the second page is the first")
		}
	}
	if a := visitor.Do("HEAD", "/@alice", nil); a.Status != 200 || len(a.Body) > 0 {
		t.Errorf("HEAD: %d, %d bytes", a.Status, len(a.Body))
	}
}

// TestVisitorPagesAreKept checks that a second visitor costs no query, and that pages which do not exist are not kept.
func TestVisitorPagesAreKept(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	id := alice.Publish("hello #tea").ID()
	for _, path := range []string{"/", "/@alice", "/@alice/" + id, "/public", "/tags/tea", "/about", "/@alice.rss"} {
		visit(t, srv, path, "en", "").Want(200)
		before := srv.DB.QueryCount()
		visit(t, srv, path, "en", "").Want(200)
		if n := srv.DB.QueryCount() - before; n != 0 {
			t.Errorf("%s: %d queries for the second visitor", path, n)
		}
	}
	kept := func() int { return srv.HTTP.CacheStats()["visits"].Entries }
	before := kept()
	for i := range 20 {
		visit(t, srv, fmt.Sprintf("/@nobody%d", i), "en", "").Want(404)
		visit(t, srv, fmt.Sprintf("/@alice?x=%d", i), "en", "").Want(200)
		visit(t, srv, "/@alice?max_id="+strings.Repeat("z", 600+i), "en", "")
	}
	if after := kept(); after != before {
		t.Errorf("%d more pages are kept", after-before)
	}
}

// TestVisitorLimits checks that requests for a page that is kept are counted by the rate limit.
func TestVisitorLimits(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.AllAnonymous.Count = 5
	})
	srv.SignUp("alice")
	statuses := make(map[int]int)
	for range 10 {
		statuses[visit(t, srv, "/@alice", "en", "").Status]++
	}
	if statuses[429] == 0 || statuses[200] == 0 {
		t.Errorf("answers by status: %v", statuses)
	}
}

// TestPageQueries bounds the queries of a page: the home page needs one more than the endpoint.
func TestPageQueries(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	root := publishFeed(srv, alice)
	browser := alice.SignedIn()
	count := func(request func()) int64 {
		request() // moves the marker and fills the caches
		before := srv.DB.QueryCount()
		request()
		return srv.DB.QueryCount() - before
	}
	api := count(func() { alice.Get("/api/v1/timelines/home").Want(200) })
	for path, more := range map[string]int64{"/web": api + 1, "/web/local": api + 1, "/web/notifications": 4, "/@p0/" + root: 4, "/@p0": 12} {
		var page *apptest.Page
		if n := count(func() { page = browser.Get(path).Want(200) }); n > more {
			t.Errorf("%s: %d queries, want %d at most", path, n, more)
		}
		if n := compressed(t, page.Body); n > 40_000 {
			t.Errorf("%s: %d bytes compressed", path, n)
		}
	}
}

// TestVisitorPagesByFrontend checks that visitors with a front end get other links than those without, whoever comes first. The links of the
// first stay below /web.
func TestVisitorPagesByFrontend(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Frontends.Pickable = []string{"other/1"} })
	apptest.WriteDataFile(srv, "frontends/other/1/index.html", "<title>other</title>")
	id := srv.SignUp("alice").Publish("hello #tea").ID()
	plain, chosen := srv.Browser(), srv.Browser()
	chosen.Cookies["preferred_frontend"] = &http.Cookie{Name: "preferred_frontend", Value: "other%2F1"}
	for range 2 {
		for path, link := range map[string]string{"/web/@alice": "/@alice/" + id, "/web/@alice/" + id: "/tags/tea"} {
			if page := string(plain.Get(path).Want(200).Body); !strings.Contains(page, `href="`+link+`"`) || strings.Contains(page, `href="/web`+link+`"`) {
				t.Errorf("%s: the links of a visitor without a front end", path)
			}
			if page := string(chosen.Get(path).Want(200).Body); !strings.Contains(page, `href="/web`+link+`"`) || strings.Contains(page, `href="`+link+`"`) {
				t.Errorf("%s: the links of a visitor with a front end", path)
			}
		}
	}
}
