package server_test

import (
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
)

// TestTypedText checks that a text is read in the same way wherever a user can type it.
func TestTypedText(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	link := func(href string) string { return `<a href="` + href + `" rel="` }
	const typed = "README.md call.me @bob:matrix.org #one/#two ＃three https://example.org/?q=ü “https://example.com/a“ H~2~O"
	contents := map[string]func() string{
		"a post":          func() string { return alice.Publish(typed).Str("content") },
		"a Markdown post": func() string { return alice.Publish(typed, "content_type", "text/markdown").Str("content") },
		"an edit": func() string {
			return alice.EditStatus(alice.Publish("before").ID(), map[string]any{"status": typed}).Want(200).Object().Str("content")
		},
		"a direct post": func() string { return alice.Publish("@bob "+typed, "visibility", "direct").Str("content") },
		"a scheduled post": func() string {
			alice.Schedule(typed + " later")
			srv.Advance(2 * time.Hour)
			srv.RunJobs()
			return alice.Get("/api/v1/accounts/" + alice.ID + "/statuses").Want(200).List()[0].Str("content")
		},
		"a chat message": func() string {
			chat := alice.Post("/api/v1/svc/chats/by-account-id/" + bob.ID).Want(200).Object().ID()
			return alice.SendChat(chat, typed).Str("content")
		},
		"a bio": func() string { return alice.UpdateProfile(map[string]any{"note": typed}).Str("note") },
		"a profile field": func() string {
			fields := []map[string]any{{"name": "links", "value": typed}}
			return apptest.ListField(alice.UpdateProfile(map[string]any{"fields_attributes": fields}), "fields", "value")[0]
		},
	}
	for name, content := range contents {
		t.Run(name, func(t *testing.T) {
			got := content()
			for _, want := range []string{
				"README.md call.me @bob:matrix.org ", ">#one</a>/<a ", ">#two</a> <a ", ">＃three</a> ", "H~2~O",
				link("https://example.org/?q=%C3%BC"), ">https://example.org/?q=ü</a> “", link("https://example.com/a"), ">https://example.com/a</a>“",
			} {
				if !strings.Contains(got, want) {
					t.Errorf("%s lacks %s", got, want)
				}
			}
		})
	}
	// These are plain text, in which nothing becomes a link.
	if got := alice.UpdateProfile(map[string]any{"display_name": "README.md #one"}).Str("display_name"); got != "README.md #one" {
		t.Errorf("the display name is %s", got)
	}
	poll := alice.PublishPoll([]string{"#one/#two https://example.org/?q=ü", "README.md"})
	if got := apptest.PollOptions(apptest.PollOf(poll)); got != "#one/#two https://example.org/?q=ü 0, README.md 0" {
		t.Errorf("the option is %s", got)
	}
}
