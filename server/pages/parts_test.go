package pages_test

import (
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestParts acts as the script of the pages does: the answer is the changed part, not the page.
func TestParts(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := bob.Publish("hello")
	reply := bob.Publish("an answer", "in_reply_to_id", post.ID())
	poll := bob.Post("/api/v1/statuses", "status", "which?", "poll[options][]", "one", "poll[options][]", "two", "poll[expires_in]", "600").Want(200).Object()
	browser := alice.SignedIn()
	forms := browser.Get("/web").Want(200).Forms
	form := forms[slices.IndexFunc(forms, func(f *apptest.Form) bool { return f.ID == "act" })].Fields
	for _, tt := range []struct {
		name, path, part string
		status           int
		want, never      string
	}{
		{"a like", "/web/do/api/v1/statuses/" + post.ID() + "/favourite", "p" + post.ID(), 200, `aria-pressed="true" title="Favourite"`, "<main"},
		{"a boost on the page of a post", "/web/do/api/v1/statuses/" + post.ID() + "/reblog", "p" + post.ID() + " main", 200, `class="post main"`, "<main"},
		{"a bookmark of a reply", "/web/do/api/v1/statuses/" + reply.ID() + "/bookmark", "p" + reply.ID() + " below", 200, `class="post below"`, "<main"},
		{"a reaction", "/web/do/api/v1/svc/statuses/" + post.ID() + "/reactions/🍵?_method=PUT", "p" + post.ID(), 200, `class="reactions"`, "<main"},
		{"a vote", "/web/do/api/v1/polls/" + poll.At("poll").(map[string]any)["id"].(string) + "/votes?choices[]=0", "p" + poll.ID(), 200, `class="share"`, "<form"},
		{"a follow", "/web/do/api/v1/accounts/" + bob.ID + "/follow", "f" + bob.ID, 200, "/unfollow", "<main"},
		{"a dismissal", "/web/do/api/v1/notifications/dismiss?id=1", "n1", 404, "<main", "<header"},
		{"anything else", "/web/do/api/v1/accounts/" + bob.ID + "/note?comment=tea", "main", 302, "", "<html"},
		{"an unknown post", "/web/do/api/v1/statuses/none/favourite", "p" + post.ID(), 404, "<main", "<header"},
		{"a second vote", "/web/do/api/v1/polls/" + poll.At("poll").(map[string]any)["id"].(string) + "/votes?choices[]=0", "p" + poll.ID(), 422, "<main", "<header"},
		{"a pin of another author", "/web/do/api/v1/statuses/" + post.ID() + "/pin", "p" + post.ID(), 422, "<main", "<header"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			browser.Part = tt.part
			a := browser.Post(tt.path, form)
			body := string(a.Body)
			if a.Status != tt.status || !strings.Contains(body, tt.want) || tt.never != "" && strings.Contains(body, tt.never) {
				t.Errorf("%d, want %d with %s without %s:\n%s", a.Status, tt.status, tt.want, tt.never, body)
			}
			if len(a.Body) > 12_000 {
				t.Errorf("%d bytes", len(a.Body))
			}
		})
	}
	bob.Do("DELETE", "/api/v1/statuses/"+reply.ID(), "", nil).Want(200)
	browser.Part = "p" + reply.ID()
	if a := browser.Get("/web/statuses/" + reply.ID()); a.Status != 204 {
		t.Errorf("a deleted post: %d", a.Status)
	}
	browser.Part = "main"
	if a := browser.Get("/web"); !strings.Contains(string(a.Body), "<title>") || strings.Contains(string(a.Body), "<html") {
		t.Errorf("the content of a page: %.300s", a.Body)
	}
	visitor := srv.Browser()
	visitor.Part = "main"
	if a := visitor.Get("/@bob"); !strings.Contains(string(a.Body), "<html") {
		t.Error("a visitor is shown a part, which is not kept")
	}
}
