package pages_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/server/web"
)

// TestShortcuts compares the page of the keyboard shortcuts with the script that has them. A user may turn them off.
func TestShortcuts(t *testing.T) {
	alice := apptest.Start(t).SignUp("alice")
	source, err := os.ReadFile("../web/script/shortcuts.js")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for table, prefix := range map[string]string{`const pages = \{([^}]*)\}`: "g ", `(?s)const keys = \{(.*?)\n\}`: ""} {
		m := regexp.MustCompile(table).FindSubmatch(source)
		if m == nil {
			t.Fatalf("the script has no %s", table)
		}
		for _, key := range regexp.MustCompile(`(?m)(?:^ *|, )'?([a-z./?])'?(?:: |,)`).FindAllSubmatch(m[1], -1) {
			want = append(want, prefix+string(key[1]))
		}
	}
	want = append(want, "x")
	var got []string
	for _, g := range (web.Shortcuts{}).Groups() {
		for _, s := range g.Shortcuts {
			got = append(got, strings.Join(s.Keys, " "))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if got, want := slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("the page has %q, the script %q", got, want)
	}
	browser := alice.SignedIn()
	page := browser.Get("/web/shortcuts").Want(200, "Next post", "g n Notifications")
	if strings.Contains(string(page.Body), "data-keys") {
		t.Error("the shortcuts are off at first")
	}
	browser.Get("/web/settings/reading").Press("Save", "keys", "off").Follow().Want(200, "Saved.")
	if page := browser.Get("/web/shortcuts").Want(200, "The shortcuts are turned off."); !strings.Contains(string(page.Body), `data-keys="off"`) {
		t.Error("the page of the script does not say that the shortcuts are off")
	}
}

// TestReadingSettings checks that the settings for reading are on every page, and that unknown values do nothing.
func TestReadingSettings(t *testing.T) {
	alice := apptest.Start(t).SignUp("alice")
	browser := alice.SignedIn()
	browser.Get("/web/settings/reading").Press("Save", "text_size", "large", "width", "wide", "warnings", "open").Follow().Want(200, "Saved.")
	root := func() string {
		return regexp.MustCompile(`<html[^>]*>`).FindString(string(browser.Get("/web/settings/reading").Want(200).Body))
	}
	for _, want := range []string{`data-size="large"`, `data-width="wide"`} {
		if !strings.Contains(root(), want) {
			t.Errorf("%s has no %s", root(), want)
		}
	}
	alice.SendJSON("PATCH", "/api/v1/svc/settings/web_interface", map[string]any{"warnings": "x", "keys": 3, "width": `"><script>`}).Want(200)
	if got := root(); strings.Contains(got, "data-keys") || strings.Contains(got, "<script") {
		t.Errorf("with unknown values: %s", got)
	}
}

// TestHoverCard shows an account in short, with a button to follow it. It is for users, and only for accounts that this server knows.
func TestHoverCard(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	bob.UpdateProfile(map[string]any{"display_name": "Bob & Co", "note": "Likes tea"})
	bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200)
	browser := alice.SignedIn()
	browser.Part = "card"
	card := browser.Get("/web/hover_card", "acct", "bob").Want(200, "Bob & Co", "@bob", "Likes tea", "follows you", "Follow", "0 posts")
	if strings.Contains(string(card.Body), "<html") {
		t.Error("the card is a whole page")
	}
	alice.Post("/api/v1/accounts/" + bob.ID + "/follow").Want(200)
	browser.Get("/web/hover_card", "acct", "bob").Want(200, "Unfollow")
	for _, acct := range []string{"", "nobody", "a@unknown.example", strings.Repeat("x", 5000)} {
		if a := browser.Get("/web/hover_card", "acct", acct); a.Status != 404 {
			t.Errorf("%.20q: %d", acct, a.Status)
		}
	}
	if a := srv.Browser().Get("/web/hover_card", "acct", "bob"); a.Status != 302 {
		t.Errorf("a visitor gets %d", a.Status)
	}
}

// TestDeepThread checks that a conversation of two stays in one list, that lists are at most six deep, and that a link leads to deeper replies.
func TestDeepThread(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	reply := func(to, text string) string { return alice.Publish(text, "in_reply_to_id", to).ID() }
	root := alice.Publish("root").ID()
	for i, last := 1, root; i <= 12; i++ {
		last = reply(last, fmt.Sprintf("answer %d", i))
	}
	body := string(browser.Get("/@alice/"+root).Want(200, "answer 1", "answer 12").Body)
	if n := strings.Count(body, `class="thread"`); n != 1 {
		t.Errorf("a conversation of two has %d lists", n)
	}
	if strings.Contains(body, "In reply to") {
		t.Error("replies that stand below their parents name the account to which they reply")
	}

	root = alice.Publish("root of branches").ID()
	seventh := ""
	for i, last := 1, root; i <= 12; i++ {
		reply(last, fmt.Sprintf("aside %d", i))
		last = reply(last, fmt.Sprintf("depth %d", i))
		if i == 6 {
			seventh = last
		}
	}
	page := browser.Get("/@alice/"+root).Want(200, "depth 6", "aside 6", "Continue this thread 12 replies")
	if body := string(page.Body); strings.Count(body, `class="thread"`) != 6 || strings.Contains(body, "depth 7") {
		t.Errorf("%d lists", strings.Count(body, `class="thread"`))
	}
	link := regexp.MustCompile(`class="on"><a href="([^"]*)"`).FindStringSubmatch(string(page.Body))
	if link == nil || link[1] != "/web/statuses/"+seventh {
		t.Fatalf("the thread goes on at %v", link)
	}
	browser.Get(link[1]).Follow().Want(200, "depth 6", "depth 7", "aside 12")
}

// TestLongPosts checks which posts are folded in lists. On their own page they are whole.
func TestLongPosts(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"one line", "hello", false},
		{"19 lines", strings.Repeat("a\n", 18) + "a", false},
		{"30 lines", strings.Repeat("a\n", 29) + "a", true},
		{"1400 characters", strings.Repeat("words and ", 140), false},
		{"2000 characters", strings.Repeat("words and ", 200), true},
	} {
		post := alice.Publish(tt.text)
		list, own := string(browser.Get("/web").Want(200).Body), string(browser.Get("/@alice/"+post.ID()).Want(200).Body)
		if got := strings.Contains(list, `class="unfold"`); got != tt.want {
			t.Errorf("%s: folded %t", tt.name, got)
		}
		if strings.Contains(own, `class="unfold"`) {
			t.Errorf("%s: folded on its own page", tt.name)
		}
		alice.SendForm("DELETE", "/api/v1/statuses/"+post.ID()).Want(200)
	}
}

// TestShortNotifications checks that the viewer's own post is a line in notifications, and that the post of another is whole.
func TestShortNotifications(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := alice.Publish("first line\n\nsecond <b>line</b> " + strings.Repeat("and more ", 40))
	warned := alice.Publish("secret", "spoiler_text", "a warning")
	for _, p := range []*apptest.Object{post, warned} {
		bob.Post("/api/v1/statuses/" + p.ID() + "/favourite").Want(200)
	}
	browser := alice.SignedIn()
	page := browser.Get("/web/notifications").Want(200, "first line second <b>line</b>", "a warning", "favourited your post")
	body := string(page.Body)
	if strings.Contains(body, `<article class="post`) || strings.Contains(body, "secret") || strings.Contains(body, strings.Repeat("and more ", 30)) {
		t.Error("the own post is not an excerpt")
	}
	if !strings.Contains(body, `href="/@alice/`+post.ID()+`"`) {
		t.Error("the excerpt does not lead to the post")
	}
	bob.Publish("@alice an answer", "in_reply_to_id", post.ID())
	if body := string(browser.Get("/web/notifications").Want(200, "an answer").Body); strings.Count(body, `<article class="post`) != 1 {
		t.Error("the answer is not a post")
	}
}

// TestPollBars checks that the bars of a poll stand in their options, and that the options with most votes are marked.
func TestPollBars(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	poll := alice.PublishPoll([]string{"Herons", "Storks"})
	bob.Post("/api/v1/polls/"+poll.Find("poll.id").(string)+"/votes", "choices[]", "1").Want(200)
	body := string(bob.SignedIn().Get("/@alice/"+poll.ID()).Want(200, "Herons 0 %", "Storks your vote 100 %").Body)
	if !regexp.MustCompile(`<li class="first"><svg class="share" aria-hidden="true"><rect width="100%" height="100%"/></svg> <bdi>Storks`).MatchString(body) || strings.Count(body, `class="first"`) != 1 {
		t.Error("the bar of Storks is missing, or another option is the first, too")
	}
}

// TestEmptyLists checks that empty lists say what to do, and lead there.
func TestEmptyLists(t *testing.T) {
	alice := apptest.Start(t).SignUp("alice")
	list := alice.Post("/api/v1/lists", "title", "friends").Want(200).Object()
	browser := alice.SignedIn()
	for path, link := range map[string]string{
		"/web": "/web/local", "/web/local": "/web/compose", "/web/known": "/web/search", "/web/bookmarks": "/web", "/web/favourites": "/web",
		"/web/lists/" + list.ID(): "/web/lists", "/web/notifications": "/web", "/web/conversations": "/web/compose?direct=", "/web/chats": "/web/search",
		"/web/scheduled": "/web/compose", "/web/tags": "/web/search", "/web/filters": "/web/filters/new",
	} {
		body := string(browser.Get(path).Want(200).Body)
		if !regexp.MustCompile(`<div class="empty"><p>[^<]{20,}</p><a class="button second" href="` + regexp.QuoteMeta(link) + `">`).MatchString(body) {
			t.Errorf("%s: no sentence with a link to %s", path, link)
		}
	}
}
