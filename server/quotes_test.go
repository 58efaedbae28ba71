package server_test

import (
	"slices"
	"strings"
	"svc/app/apptest"
	"testing"
)

func TestQuote(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	first := alice.Publish("the first")
	post := map[string]string{}
	for _, v := range []string{"unlisted", "local", "private", "direct"} {
		post[v] = alice.Publish("of visibility "+v+" @bob", "visibility", v).ID()
	}
	boost := carol.Post("/api/v1/statuses/" + first.ID() + "/reblog").Want(200).Object().ID()
	deleted := alice.Publish("to be deleted").ID()
	alice.Do("DELETE", "/api/v1/statuses/"+deleted, "", nil).Want(200)
	for _, tt := range []struct {
		name   string
		as     *apptest.User
		params []string
		want   string // the error
	}{
		{"a private post", bob, []string{"quote_id", post["private"]}, "Cannot quote private message"},
		{"a direct post", bob, []string{"quote_id", post["direct"]}, "Cannot quote private message"},
		{"the viewer's direct post", alice, []string{"quote_id", post["direct"]}, "Cannot quote private message"},
		{"an invisible post", carol, []string{"quote_id", post["private"]}, "Cannot quote a deleted status"},
		{"a deleted post", bob, []string{"quote_id", deleted}, "Cannot quote a deleted status"},
		{"an invalid id", bob, []string{"quote_id", "x"}, "Cannot quote a deleted status"},
		{"a local post in public", bob, []string{"quote_id", post["local"], "visibility", "public"}, "Cannot quote a local post for others"},
		{"a local post for followers, who may be remote", bob, []string{"quote_id", post["local"], "visibility", "private"}, "Cannot quote a local post for others"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.as.Post("/api/v1/statuses", append([]string{"status", "see"}, tt.params...)...).WantError(422, tt.want)
		})
	}
	for _, tt := range []struct {
		name   string
		as     *apptest.User
		params []string
		quoted string
	}{
		{"a public post", bob, []string{"quote_id", first.ID()}, first.ID()},
		{"by the reference API's name", carol, []string{"quoted_status_id", first.ID()}, first.ID()},
		{"a boost", bob, []string{"quote_id", boost}, first.ID()},
		{"an unlisted post", bob, []string{"quote_id", post["unlisted"]}, post["unlisted"]},
		{"a local post for this server", bob, []string{"quote_id", post["local"], "visibility", "local"}, post["local"]},
		{"the viewer's private post", alice, []string{"quote_id", post["private"]}, post["private"]},
		{"no id", bob, []string{"quote_id", ""}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			made := tt.as.Publish("see", tt.params...)
			for _, o := range []*apptest.Object{made, tt.as.Get("/api/v1/statuses/" + made.ID()).Want(200).Object()} {
				if tt.quoted == "" {
					if o.At("svc.quote") != nil || o.At("svc.quote_id") != nil || o.Bool("svc.quote_visible") {
						t.Errorf("quotes %v", o.At("svc.quote"))
					}
					continue
				}
				if o.Str("svc.quote.id") != tt.quoted || o.Str("svc.quote_id") != tt.quoted || !o.Bool("svc.quote_visible") {
					t.Errorf("quotes %v", o.At("svc.quote"))
				}
				if link := o.Str("svc.quote_url"); !strings.Contains(o.Str("content"), `<span class="quote-inline"><br/><br/>RE: <a href="`+link+`">`) {
					t.Errorf("no link to %s in %s", link, o.Str("content"))
				}
			}
		})
	}
	t.Run("within the last paragraph", func(t *testing.T) {
		made := bob.Publish("see", "quote_id", post["unlisted"], "content_type", "text/markdown")
		if content := made.Str("content"); !strings.HasPrefix(content, `<p>see<span class="quote-inline">`) || !strings.HasSuffix(content, "</a></span></p>") {
			t.Errorf("the link stands in %s", content)
		}
		alice.Post("/api/v1/statuses/" + post["unlisted"] + "/quotes/" + made.ID() + "/revoke").Want(200)
		if content := bob.Get("/api/v1/statuses/" + made.ID()).Want(200).Object().Str("content"); content != "<p>see</p>" {
			t.Errorf("without the quote the text is %s", content)
		}
	})
	if n := alice.Get("/api/v1/statuses/" + first.ID()).Object().Int("svc.quotes_count"); n != 3 {
		t.Errorf("quotes_count is %d, want 3", n)
	}
	list := "/api/v1/svc/statuses/" + first.ID() + "/quotes"
	ids := srv.As(nil).Get(list).Want(200).IDs()
	if len(ids) != 3 {
		t.Errorf("%d quotes, want 3", len(ids))
	}
	apptest.WantPages(t, alice, list, ids)
}

// TestQuoteVisibility checks that a quoted status is rendered only if it is visible to the viewer and its author is not muted.
func TestQuoteVisibility(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	first := alice.Publish("the first")
	second := bob.Publish("the second", "quote_id", first.ID())
	third := carol.Publish("the third", "quote_id", second.ID())
	hidden := alice.Publish("for followers", "visibility", "private").ID()
	mine := alice.Publish("about that", "quote_id", hidden)
	quoted := func(m *apptest.User, id string) any {
		t.Helper()
		return srv.As(m).Get("/api/v1/statuses/" + id).Want(200).Object().At("svc.quote_id")
	}
	if got := srv.As(nil).Get("/api/v1/statuses/" + third.ID()).Object(); got.Str("svc.quote.id") != second.ID() || got.At("svc.quote.svc.quote") != nil {
		t.Error("a quote within a quote is shown")
	}
	if got := quoted(bob, mine.ID()); got != nil {
		t.Errorf("bob sees %v", got)
	}
	srv.AddFollow(bob, alice)
	if got := quoted(bob, mine.ID()); got != hidden {
		t.Errorf("a follower sees %v", got)
	}
	carol.Post("/api/v1/accounts/" + alice.ID + "/mute").Want(200)
	if got := quoted(carol, second.ID()); got != nil {
		t.Errorf("a viewer who mutes the author sees %v", got)
	}
	alice.Post("/api/v1/accounts/" + carol.ID + "/block").Want(200)
	carol.Post("/api/v1/accounts/" + alice.ID + "/unmute").Want(200)
	if got := quoted(carol, second.ID()); got != nil {
		t.Errorf("a viewer blocked by the author sees %v", got)
	}
	// A boost contains the quote of the boosted status.
	boost := bob.Post("/api/v1/statuses/" + second.ID() + "/reblog").Want(200).Object().ID()
	if got := srv.As(bob).Get("/api/v1/statuses/" + boost).Object().Str("reblog.svc.quote_id"); got != first.ID() {
		t.Errorf("through a boost: %s", got)
	}
	// An edit keeps the quote, a deletion removes it.
	edited := bob.SendJSON("PUT", "/api/v1/statuses/"+second.ID(), map[string]any{"status": "the second, edited"}).Want(200).Object()
	if edited.At("svc.quote_id") != first.ID() || strings.Count(edited.Str("content"), "quote-inline") != 1 {
		t.Errorf("edited: %s", edited.Str("content"))
	}
	for i, v := range srv.As(nil).Get("/api/v1/statuses/" + second.ID() + "/history").Want(200).List() {
		if v.Str("quote.state") != "accepted" || v.Str("quote.quoted_status.id") != first.ID() {
			t.Errorf("version %d quotes %v", i, v.At("quote"))
		}
	}
	for _, v := range carol.Get("/api/v1/statuses/" + second.ID() + "/history").Want(200).List() {
		if v.Str("quote.state") != "unauthorized" || v.At("quote.quoted_status") != nil {
			t.Errorf("a viewer blocked by the quoted author sees %v", v.At("quote"))
		}
	}
	if v := srv.As(nil).Get("/api/v1/statuses/" + first.ID() + "/history").Want(200).List()[0]; v.At("quote") != nil {
		t.Errorf("a status without a quote quotes %v", v.At("quote"))
	}
	bob.Do("DELETE", "/api/v1/statuses/"+second.ID(), "", nil).Want(200)
	if got := quoted(bob, third.ID()); got != nil {
		t.Errorf("after the deletion: %v", got)
	}
	if n := alice.Get("/api/v1/statuses/" + first.ID()).Object().Int("svc.quotes_count"); n != 0 {
		t.Errorf("quotes_count is %d after the only quote was deleted", n)
	}
	if ids := bob.Get("/api/v1/svc/statuses/" + first.ID() + "/quotes").Want(200).IDs(); slices.Contains(ids, second.ID()) {
		t.Error("a deleted quote is listed")
	}
}

// TestQuoteHasNoCard checks that the link to a quoted status gets no preview card.
func TestQuoteHasNoCard(t *testing.T) {
	srv := apptest.Start(t, apptest.AllowLoopback)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	quoted := alice.Publish("a remote post")
	srv.Exec(`UPDATE statuses SET url = 'https://other.example/1', domain = 'other.example' WHERE text = 'a remote post'`)
	for _, tt := range []struct {
		text  string
		cards int
	}{{"see", 0}, {"see https://other.example/1", 0}, {"see https://third.example/", 1}} {
		made := bob.Publish(tt.text, "quote_id", quoted.ID())
		if !strings.Contains(made.Str("content"), `<a href="https://other.example/1">`) {
			t.Fatalf("no link to the quoted status: %s", made.Str("content"))
		}
		if n := srv.Count(`SELECT count(*) FROM cards`); n != tt.cards {
			t.Errorf("%s: %d cards, want %d", tt.text, n, tt.cards)
		}
	}
}
