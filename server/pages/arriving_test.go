package pages_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// discoverable makes accounts that the directory lists.
func discoverable(srv *apptest.Server, names ...string) (list []*apptest.User) {
	for _, name := range names {
		u := srv.SignUp(name)
		u.UpdateProfile(map[string]any{"discoverable": true, "feature_policy": "public", "note": "Gardens of " + name})
		u.Publish("hello from " + name)
		list = append(list, u)
	}
	return list
}

// pack makes a starter pack with accounts and returns its id.
func pack(owner *apptest.User, name string, members ...*apptest.User) string {
	owner.Server.T.Helper()
	ids := []string{}
	for _, m := range members {
		ids = append(ids, m.ID)
	}
	return owner.SendJSON("POST", "/api/v1/collections", map[string]any{"name": name, "account_ids": ids}).Want(200).Object().Str("collection.id")
}

// TestArrival checks that the home page of a new account suggests accounts and starter packs, until it follows some.
func TestArrival(t *testing.T) {
	srv := apptest.Start(t)
	people := discoverable(srv, "ann", "ben", "cat", "dan", "eve", "fay")
	pack(people[0], "Gardeners", people[1], people[2])
	shy := srv.SignUp("shy")
	shy.UpdateProfile(map[string]any{"discoverable": false})
	shy.Publish("hello from shy")
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	home := browser.Get("/web").Want(200, "Accounts to follow", "@ann", "Gardens of ben", "Gardeners", "Find people")
	if strings.Contains(home.Text, "@shy") {
		t.Error("an account that does not want to be found is suggested")
	}
	for range 4 {
		home = home.Press("Follow").Follow().Want(200, "Accounts to follow")
	}
	home = home.Press("Follow").Follow().Want(200)
	if strings.Contains(home.Text, "Accounts to follow") {
		t.Error("the home page still suggests accounts to a user who follows five")
	}
	if n := len(alice.Get("/api/v1/accounts/" + alice.ID + "/following").Want(200).List()); n != 5 {
		t.Errorf("alice follows %d accounts, want 5: one is suggested twice", n)
	}
}

// TestFindPeople finds accounts to follow by suggestions, a list of follows and a starter pack.
func TestFindPeople(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.API.Optional = nil })
	people := discoverable(srv, "ann", "ben", "cat")
	id := pack(people[0], "Gardeners", people[1], people[2])
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	page := browser.Get("/web/find_people").Want(200, "Suggestions", "@ann", "@ben", "Gardeners", "2 accounts")
	list := apptest.FilePart([]byte("ann@" + srv.Settings.Host() + "\n"))
	list.Name = "list"
	page.PressWithFile("Import", list).Follow().Want(200, "The import has begun.")
	apptest.Settle(srv)
	browser.Get("/web/find_people").Want(200, "1 of 1 imported")
	page = browser.Get("/web/find_people").Want(200).Press("Follow everyone in it").Follow().Want(200, "You follow 2 more accounts.", "Unfollow")
	if strings.Contains(page.Text, "left out") {
		t.Errorf("accounts were left out: %s", page.Text)
	}
	if n := len(alice.Get("/api/v1/accounts/" + alice.ID + "/following").Want(200).List()); n != 3 {
		t.Errorf("alice follows %d accounts, want 3", n)
	}
	browser.Get("/web/find_people").Want(200, "There is nobody to suggest at the moment.")
	browser.Get("/collections/" + id + "?followed=x&requested=1&skipped=2").Want(200)
}

// TestFollowCollection checks the outcome of following all accounts of a starter pack.
func TestFollowCollection(t *testing.T) {
	srv := apptest.Start(t)
	people := discoverable(srv, "ann", "ben", "cat", "dan", "eve")
	people[1].UpdateProfile(map[string]any{"locked": true})
	alice := srv.SignUp("alice")
	alice.UpdateProfile(map[string]any{"feature_policy": "public"})
	id := pack(people[0], "Gardeners", people[1], people[2], people[3], people[4], alice)
	alice.Post("/api/v1/accounts/" + people[2].ID + "/follow").Want(200)
	alice.Post("/api/v1/accounts/" + people[3].ID + "/block").Want(200)
	browser := alice.SignedIn()
	page := browser.Get("/collections/"+id).Want(200, "Follow 2 more accounts")
	page = page.Press("Follow 2 more accounts").Follow().Want(200, "You follow 1 more account.", "1 request waits for an answer.", "1 account was left out")
	token := page.Forms[0].Fields.Get("form_token") // of the frame
	again := browser.Post("/web/collections/"+id+"/follow", url.Values{"form_token": {token}}).Follow().Want(200, "You follow 0 more accounts.", "3 accounts were left out")
	if strings.Contains(again.Text, "Follow 2 more") || strings.Contains(again.Text, "waits for an answer") {
		t.Errorf("the second press did something: %s", again.Text)
	}
	for path, status := range map[string]int{"/web/collections/none/follow": 404, "/web/collections/" + id + "/follow": 403} {
		form := url.Values{"form_token": {token}}
		if status == 403 {
			form = nil
		}
		if got := browser.Post(path, form).Status; got != status {
			t.Errorf("%s: %d, want %d", path, got, status)
		}
	}
	if got := srv.Browser().Get("/collections/" + id + "?followed=5&requested=0&skipped=0").Want(200); strings.Contains(got.Text, "You follow") {
		t.Error("a visitor sees the suggestions of a user")
	}
}

// TestFollowCollectionIsLimited checks that the rate limit of follows ends a press and that the page says so.
func TestFollowCollectionIsLimited(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) {
		c.RateLimit.Enabled = true
		c.RateLimit.Follows = config.Rate{Count: 1, Window: time.Hour}
	})
	people := discoverable(srv, "ann", "ben", "cat")
	id := pack(people[0], "Gardeners", people[1], people[2])
	browser := srv.SignUp("alice").SignedIn()
	browser.Get("/collections/"+id).Want(200).Press("Follow 2 more accounts").Follow().Want(200, "You follow 1 more account.", "press again later")
}

// TestExplore shows trends and suggestions without the optional endpoints of the API.
func TestExplore(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.API.Optional = nil })
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	browser.Get("/web/explore").Want(200, "No post was favourited or boosted twice this week.")
	browser.Get("/web/explore", "show", "links").Want(200, "No page is linked")
	browser.Get("/web/explore", "show", "packs").Want(200, "Nobody has published a starter pack yet.")
	if got := browser.Get("/web/explore", "show", "nothing").Status; got != 404 {
		t.Errorf("an unknown tab: %d", got)
	}
	other, site := apptest.Start(t, apptest.AllowLoopback, func(c *config.Config) { c.API.Optional = nil }), apptest.StartSite(t)
	people := discoverable(other, "ann", "ben", "cat")
	post := people[0].Publish("loved #herons").ID()
	people[1].Publish("seen #herons")
	for _, p := range people[1:] {
		p.Post("/api/v1/statuses/" + post + "/favourite").Want(200)
	}
	for _, p := range people {
		p.Publish("read " + site.URL + "/page")
	}
	other.RunJobs()
	pack(people[0], "Gardeners", people[1])
	people[0].SendJSON("POST", "/api/v1/collections", map[string]any{"name": "Hidden", "discoverable": false, "account_ids": []string{people[1].ID}}).Want(200)
	browser = other.SignUp("alice").SignedIn()
	for show, want := range map[string][]string{"": {"loved #herons"}, "tags": {"#herons", "2 posts this week"}, "people": {"@ann"}, "links": {"What it is about"}, "packs": {"Gardeners", "1 account"}} {
		page := browser.Get("/web/explore", "show", show).Want(200, want...)
		if strings.Contains(page.Text, "Hidden") {
			t.Error("a starter pack that is not discoverable is listed")
		}
	}
	browser.Get("/web/explore?show=tags").Press("Follow #herons").Follow().Want(200)
	if got := other.As(nil).Get("/api/v1/trends/tags").Want(200).List(); len(got) != 0 {
		t.Errorf("other programs get trends that are switched off: %v", got)
	}
}

// TestAnnouncementPages reacts to an announcement above the home timeline and dismisses it.
func TestAnnouncementPages(t *testing.T) {
	srv := apptest.Start(t)
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	browser := alice.SignedIn()
	if home := browser.Get("/web").Want(200); strings.Contains(home.Text, "Dismiss") {
		t.Error("there is an announcement")
	}
	browser.Get("/web/announcements").Want(200, "There are no announcements.")
	root.SendJSON("POST", "/api/v1/svc/admin/announcements", map[string]any{"content": "The server moves <tonight>"}).Want(200)
	home := browser.Get("/web").Want(200, "Announcement", "The server moves <tonight>", "Announcements 1")
	home = home.Press("🎉").Follow().Want(200, "🎉 1")
	home.Press("🎉 1").Follow().Want(200).Press("👍").Follow().Want(200, "👍 1")
	home = browser.Get("/web").Want(200).Press("Dismiss").Follow().Want(200)
	if strings.Contains(home.Text, "The server moves") {
		t.Error("the announcement is shown after it was dismissed")
	}
	browser.Get("/web/announcements").Want(200, "The server moves <tonight>", "👍 1")
	srv.SignUp("bob").SignedIn().Get("/web").Want(200, "The server moves <tonight>", "👍 1")
}

// TestMarks checks the marks of what waits in the navigation, and that they go.
func TestMarks(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	alice.UpdateProfile(map[string]any{"locked": true})
	browser := alice.SignedIn()
	mark := func(page *apptest.Page, link string) bool {
		_, after, _ := strings.Cut(string(page.Body), `href="`+link+`"`)
		item, _, _ := strings.Cut(after, "</li>")
		return strings.Contains(item, "count") && !strings.Contains(item, " hidden>")
	}
	for _, link := range []string{"/web/requests", "/web/chats", "/web/conversations"} {
		if mark(browser.Get("/web/lists").Want(200), link) {
			t.Errorf("%s has a mark", link)
		}
	}
	bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200)
	bob.Publish("@alice psst", "visibility", "direct")
	bob.SignedIn().Get("/web/chats").Press("Start a chat", "acct", "alice").Follow().Press("Send", "content", "hello").Follow().Want(200)
	for _, link := range []string{"/web/requests", "/web/chats", "/web/conversations"} {
		if !mark(browser.Get("/web/lists").Want(200), link) {
			t.Errorf("%s has no mark", link)
		}
	}
	alice.Post("/api/v1/accounts/" + bob.ID + "/mute").Want(200)
	if mark(browser.Get("/web/lists").Want(200), "/web/chats") {
		t.Error("a chat that is not listed has a mark")
	}
	alice.Post("/api/v1/accounts/" + bob.ID + "/unmute").Want(200)
	chat := alice.Get("/api/v2/svc/chats").Want(200).List()[0].ID()
	if mark(browser.Get("/web/chats/"+chat).Want(200, "hello"), "/web/chats") || mark(browser.Get("/web/lists"), "/web/chats") {
		t.Error("the chat has a mark after it was read")
	}
	browser.Get("/web/requests").Want(200).Press("Accept").Follow().Want(200)
	browser.Get("/web/conversations").Want(200).Press("Open").Follow().Want(200)
	for _, link := range []string{"/web/requests", "/web/conversations"} {
		if mark(browser.Get("/web/lists").Want(200), link) {
			t.Errorf("%s has a mark after it was seen", link)
		}
	}
}

// TestNavigation checks that every page for users is reached by the links beside the content.
func TestNavigation(t *testing.T) {
	srv := apptest.Start(t)
	browser := srv.SignUp("alice").SignedIn()
	page := string(browser.Get("/web/lists").Want(200).Body)
	for _, path := range []string{"/web/find_people", "/web/requests", "/web/announcements", "/web/scheduled", "/web/filters", "/web/collections", "/web/bookmark_folders", "/web/explore", "/web/settings"} {
		if !strings.Contains(page, `href="`+path+`"`) {
			t.Errorf("no link to %s", path)
		}
		browser.Get(path).Want(200)
	}
}

// TestShareTarget shares a text and files from another program: they are in the form, and nothing is published.
func TestShareTarget(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	browser.Origin = "null" // as browsers send for what no page caused
	send := func(site string, parts ...apptest.FormPart) *apptest.Page {
		browser.Site = site
		return browser.PostParts("/web/share", parts...)
	}
	parts := []apptest.FormPart{
		apptest.ValuePart("title", "Herons"), apptest.ValuePart("text", "Herons https://example.org/h"), apptest.ValuePart("url", "https://example.org/h"),
		apptest.FilePart(apptest.PNG(20, 20)), apptest.FilePart(apptest.PNG(30, 20)), apptest.FilePart([]byte("no picture at all")),
	}
	page := send("none", parts...).Want(200, "New post", "Some files could not be taken along")
	if n := strings.Count(string(page.Body), "Herons"); n != 1 {
		t.Errorf("the text has the title %d times: %s", n, page.Body)
	}
	browser.Origin = srv.URL
	page.Press("Post").Want(422, "description").Press("Post").Follow().Want(200) // the form reminds of descriptions
	posts := alice.Get("/api/v1/timelines/home").Want(200).List()
	if len(posts) != 1 || len(posts[0].At("media_attachments").([]any)) != 2 {
		t.Fatalf("posts: %v", posts)
	}
	for _, site := range []string{"cross-site", "same-site"} {
		send(site, parts...).Want(403)
	}
	browser.Site = ""
	browser.Get("/web/share", "text", "by a link").Want(200, "by a link")
	if got := len(alice.Get("/api/v1/timelines/home").Want(200).List()); got != 1 {
		t.Errorf("sharing has published %d posts", got-1)
	}

	// A visitor has to sign in first, and gets the text afterwards.
	visitor := srv.Browser()
	visitor.Origin = "null"
	visitor.Site = "none"
	signIn := visitor.PostParts("/web/share", parts...).Want(302)
	visitor.Origin, visitor.Site = srv.URL, ""
	form := signIn.Follow().Want(200, "Sign in").Press("Sign in", "name", "alice", "password", apptest.Password).Want(302).Follow()
	form.Want(200, "New post", "Herons https://example.org/h")
	long := srv.Browser().Post("/web/share", url.Values{"text": {strings.Repeat("x", 5000)}}).Want(302).Header.Get("Location")
	if long != "/web/sign_in?back=%2Fweb%2Fshare" {
		t.Errorf("a long text leads to %.200s", long)
	}
}

// TestOfflinePage checks that the page which browsers keep has nothing of its user, and that signing out leaves nothing behind.
func TestOfflinePage(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	page := browser.Get("/web/offline").Want(200, "No connection")
	for _, secret := range []string{"alice", "form_token", "avatar"} {
		if strings.Contains(string(page.Body), secret) {
			t.Errorf("the page has %s: %s", secret, page.Body)
		}
	}
	if got := srv.Browser().Get("/web/offline").Want(200, "No connection"); string(got.Body) != string(page.Body) {
		t.Error("the page depends on the session")
	}
	worker := browser.Get("/web/sw.js").Want(200)
	if worker.Header.Get("Service-Worker-Allowed") != "/web" || strings.Contains(string(worker.Body), "VERSION") {
		t.Errorf("the service worker is %v %s", worker.Header, worker.Body)
	}
	if got := browser.Get("/web").Press("Sign out").Want(302).Header.Get("Clear-Site-Data"); got != `"cache", "storage"` {
		t.Errorf("Clear-Site-Data is %s", got)
	}
}

// TestFrontPageForVisitors checks that the front page shows posts that stand for themselves, and rules in short.
func TestFrontPageForVisitors(t *testing.T) {
	srv := apptest.Start(t, func(c *config.Config) { c.Web.RecentPosts = 3 })
	root, alice := srv.SignUpAdmin(), srv.SignUp("alice")
	for i := range 7 {
		root.SendJSON("POST", "/api/v1/svc/admin/rules", map[string]any{"text": fmt.Sprintf("Rule number %d", i), "hint": "for example"}).Want(200)
	}
	first := alice.Publish("top 1").ID()
	for i := range 3 {
		alice.Publish(fmt.Sprintf("answer %d", i), "in_reply_to_id", first)
	}
	alice.Publish("top 2")
	page := srv.Browser().Get("/").Want(200, "top 1", "top 2", "Rule number 4", "2 people · 5 posts", "All rules and more")
	for _, hidden := range []string{"answer", "Rule number 5", "for example"} {
		if strings.Contains(page.Text, hidden) {
			t.Errorf("the front page has %q", hidden)
		}
	}
	srv.Browser().Get("/@alice").Want(200, "Share", "Address")
	srv.Browser().Get("/@alice/"+first).Want(200, "Share", "Address")
}
