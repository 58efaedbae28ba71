package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"svc/app/apptest"
)

// sendPart sends a form with the header by which the script of the pages asks for a part.
func sendPart(t *testing.T, browser *apptest.Browser, part string, values url.Values) (status int, body string) {
	t.Helper()
	browser.Part = part
	defer func() { browser.Part = "" }()
	page := browser.Post("/web/compose", values)
	return page.Status, string(page.Body)
}

// TestComposePart requests the parts that the script of the form needs: the form alone, the new post, and the errors.
func TestComposePart(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := bob.Publish("hello @alice").ID()
	browser := alice.SignedIn()
	token := browser.Get("/web").Want(200).Forms[0].Fields.Get("form_token")

	browser.Part = "compose"
	form := string(browser.Get("/web/compose", "reply", post).Want(200).Body)
	browser.Part = ""
	if !strings.Contains(form, ">@bob </textarea>") || strings.Contains(form, "<header class=\"bar\">") || strings.Contains(form, "hello") {
		t.Errorf("the part is %s", form)
	}
	values := func(pairs ...string) url.Values {
		v := url.Values{"form_token": {token}}
		for i := 0; i+1 < len(pairs); i += 2 {
			v.Add(pairs[i], pairs[i+1])
		}
		return v
	}
	for name, tt := range map[string]struct {
		part   string
		values url.Values
		status int
		want   []string
		lacks  string
	}{
		"a post":           {"compose", values("status", "one", "once", "k1"), 200, []string{`href="/web?done=posted"`, `class="permalink"`, `<article class="post"`, "one"}, "<nav"},
		"a reply below":    {"compose below", values("status", "@bob two", "in_reply_to_id", post, "back", "/@bob/"+post, "once", "k2"), 200, []string{`class="post below"`, "/@bob/" + post + "?done=posted#p"}, "In reply to"},
		"a reply deeper":   {"compose", values("status", "@bob three", "in_reply_to_id", post, "once", "k3"), 200, []string{`class="post"`, "In reply to"}, ""},
		"a direct one":     {"compose", values("status", "@bob four", "visibility", "direct", "once", "k4"), 200, []string{"?done=posted#p"}, ""},
		"a scheduled one":  {"compose", values("status", "five", "scheduled_at", "2099-01-02T03:04", "once", "k5"), 200, []string{"/web/scheduled?done=scheduled"}, "<article"},
		"an empty one":     {"compose", values("status", " ", "whole", "true"), 422, []string{`class="fault"`, `name="once"`}, "<nav"},
		"an unknown reply": {"compose", values("in_reply_to_id", "none", "status", "kept"), 422, []string{"Cannot reply to a deleted status", "kept"}, "<nav"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := sendPart(t, browser, tt.part, tt.values)
			if status != tt.status || tt.lacks != "" && strings.Contains(body, tt.lacks) {
				t.Errorf("%d %s", status, body)
			}
			for _, want := range tt.want {
				if !strings.Contains(body, want) {
					t.Errorf("there is no %s in %s", want, body)
				}
			}
		})
	}
	before := len(alice.Get("/api/v1/accounts/" + alice.ID + "/statuses").List())
	sendPart(t, browser, "compose", values("status", "one", "once", "k1"))
	if after := len(alice.Get("/api/v1/accounts/" + alice.ID + "/statuses").List()); after != before {
		t.Errorf("sent twice, the form made %d posts", after-before+1)
	}
}

// TestSeveralFiles attaches several files at once, also without scripts, and is reminded of descriptions that are missing.
func TestSeveralFiles(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	page := browser.Get("/web/compose").Want(200)
	files := []apptest.FormPart{apptest.FilePart(apptest.PNG(20, 20)), apptest.FilePart(apptest.PNG(21, 21)), apptest.FilePart(apptest.PNG(22, 22))}
	page = page.PressWithFiles("Add", files, "status", "three").Want(200, "Description of file 3")
	page = page.Press("Post").Want(422, "Some files have no description yet.")
	page.Press("Post").Follow().Want(200, "Your post is published.")
	if post := latest(t, alice); len(post.At("media_attachments").([]any)) != 3 {
		t.Errorf("posted %v", post.Fields)
	}

	// Files above the limit are refused, and the others stay.
	page = browser.Get("/web/compose").PressWithFiles("Add", files, "status", "many").Want(200)
	for range 4 {
		page = page.PressWithFiles("Add", files).Want(200)
	}
	page.PressWithFiles("Add", files).Want(422, "A post has at most 16 files.", "Description of file 16", "many")

	// A file that is refused keeps those before it.
	broken := apptest.FilePart([]byte("no picture"))
	browser.Get("/web/compose").PressWithFiles("Add", []apptest.FormPart{files[0], broken}, "status", "half").Want(http.StatusUnprocessableEntity, "Description of file 1", "half")

	// The reminder is a setting.
	browser.Get("/web/settings/appearance").Press("Save", "describe", "no").Follow().Want(200)
	browser.Get("/web/compose").PressWithFiles("Add", files[:1], "status", "bare").Press("Post").Follow().Want(200, "Your post is published.")
}

// TestCommonReactions reacts with an emoji of the page, without scripts.
func TestCommonReactions(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	post := alice.Publish("hello").ID()
	browser := alice.SignedIn()
	page := browser.Get("/web").Want(200)
	if !strings.Contains(string(page.Body), `href="/web/statuses/`+post+`/react"`) {
		t.Error("the post has no link to reactions")
	}
	browser.Get("/web/statuses/"+post+"/react").Want(200, "Often used").Press("🎉").Follow().Want(200)
	if got := alice.Get("/api/v1/statuses/" + post).Want(200).Object().Find("svc.emoji_reactions.0.name"); got != "🎉" {
		t.Errorf("the reaction is %v", got)
	}
}
