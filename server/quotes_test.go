package server_test

import (
	"slices"
	"strings"
	"testing"
)

func TestQuote(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	first := alice.publish("the first")
	post := map[string]string{}
	for _, v := range []string{"unlisted", "local", "private", "direct"} {
		post[v] = alice.publish("of visibility "+v+" @bob", "visibility", v).id()
	}
	boost := carol.post("/api/v1/statuses/" + first.id() + "/reblog").want(200).object().id()
	gone := alice.publish("gone").id()
	alice.do("DELETE", "/api/v1/statuses/"+gone, "", nil).want(200)
	for _, tt := range []struct {
		name   string
		as     *member
		params []string
		want   string // the error
	}{
		{"a private post", bob, []string{"quote_id", post["private"]}, "Cannot quote private message"},
		{"a direct post", bob, []string{"quote_id", post["direct"]}, "Cannot quote private message"},
		{"one's own direct post", alice, []string{"quote_id", post["direct"]}, "Cannot quote private message"},
		{"what one cannot see", carol, []string{"quote_id", post["private"]}, "Cannot quote a deleted status"},
		{"what is gone", bob, []string{"quote_id", gone}, "Cannot quote a deleted status"},
		{"what is no id", bob, []string{"quote_id", "x"}, "Cannot quote a deleted status"},
		{"a local post in public", bob, []string{"quote_id", post["local"], "visibility", "public"}, "Cannot quote a local post for others"},
		{"a local post for followers, who may be elsewhere", bob, []string{"quote_id", post["local"], "visibility", "private"}, "Cannot quote a local post for others"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.as.post("/api/v1/statuses", append([]string{"status", "see"}, tt.params...)...).wantError(422, tt.want)
		})
	}
	for _, tt := range []struct {
		name   string
		as     *member
		params []string
		quoted string
	}{
		{"a public post", bob, []string{"quote_id", first.id()}, first.id()},
		{"by the reference API's name", carol, []string{"quoted_status_id", first.id()}, first.id()},
		{"a boost", bob, []string{"quote_id", boost}, first.id()},
		{"an unlisted post", bob, []string{"quote_id", post["unlisted"]}, post["unlisted"]},
		{"a local post for this server", bob, []string{"quote_id", post["local"], "visibility", "local"}, post["local"]},
		{"one's own private post", alice, []string{"quote_id", post["private"]}, post["private"]},
		{"nothing", bob, []string{"quote_id", ""}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			made := tt.as.publish("see", tt.params...)
			for _, o := range []*object{made, tt.as.get("/api/v1/statuses/" + made.id()).want(200).object()} {
				if tt.quoted == "" {
					if o.at("svc.quote") != nil || o.at("svc.quote_id") != nil || o.truth("svc.quote_visible") {
						t.Errorf("quotes %v", o.at("svc.quote"))
					}
					continue
				}
				if o.str("svc.quote.id") != tt.quoted || o.str("svc.quote_id") != tt.quoted || !o.truth("svc.quote_visible") {
					t.Errorf("quotes %v", o.at("svc.quote"))
				}
				if link := o.str("svc.quote_url"); !strings.Contains(o.str("content"), `<span class="quote-inline"><br/><br/>RE: <a href="`+link+`">`) {
					t.Errorf("no link to %s in %s", link, o.str("content"))
				}
			}
		})
	}
	if n := alice.get("/api/v1/statuses/" + first.id()).object().num("svc.quotes_count"); n != 3 {
		t.Errorf("quotes_count is %d, want 3", n)
	}
	list := "/api/v1/svc/statuses/" + first.id() + "/quotes"
	ids := srv.as(nil).get(list).want(200).ids()
	if len(ids) != 3 {
		t.Errorf("%d quotes, want 3", len(ids))
	}
	wantPages(t, alice, list, ids)
}

// TestQuoteIsFor: what is quoted is shown to those only who may see it, and who want to.
func TestQuoteIsFor(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	first := alice.publish("the first")
	second := bob.publish("the second", "quote_id", first.id())
	third := carol.publish("the third", "quote_id", second.id())
	hidden := alice.publish("for followers", "visibility", "private").id()
	mine := alice.publish("about that", "quote_id", hidden)
	quoted := func(m *member, id string) any {
		t.Helper()
		return srv.as(m).get("/api/v1/statuses/" + id).want(200).object().at("svc.quote_id")
	}
	if got := srv.as(nil).get("/api/v1/statuses/" + third.id()).object(); got.str("svc.quote.id") != second.id() || got.at("svc.quote.svc.quote") != nil {
		t.Error("a quote within a quote is shown")
	}
	if got := quoted(bob, mine.id()); got != nil {
		t.Errorf("bob is shown %v", got)
	}
	srv.letFollow(bob, alice)
	if got := quoted(bob, mine.id()); got != hidden {
		t.Errorf("a follower is shown %v", got)
	}
	carol.post("/api/v1/accounts/" + alice.id + "/mute").want(200)
	if got := quoted(carol, second.id()); got != nil {
		t.Errorf("who mutes the author is shown %v", got)
	}
	alice.post("/api/v1/accounts/" + carol.id + "/block").want(200)
	carol.post("/api/v1/accounts/" + alice.id + "/unmute").want(200)
	if got := quoted(carol, second.id()); got != nil {
		t.Errorf("who is blocked by the author is shown %v", got)
	}
	// Boosts show what the boosted quotes.
	boost := bob.post("/api/v1/statuses/" + second.id() + "/reblog").want(200).object().id()
	if got := srv.as(bob).get("/api/v1/statuses/" + boost).object().str("reblog.svc.quote_id"); got != first.id() {
		t.Errorf("through a boost: %s", got)
	}
	// An edit keeps the quote, a deletion ends it.
	edited := bob.send("PUT", "/api/v1/statuses/"+second.id(), map[string]any{"status": "the second, edited"}).want(200).object()
	if edited.at("svc.quote_id") != first.id() || strings.Count(edited.str("content"), "quote-inline") != 1 {
		t.Errorf("edited: %s", edited.str("content"))
	}
	bob.do("DELETE", "/api/v1/statuses/"+second.id(), "", nil).want(200)
	if got := quoted(bob, third.id()); got != nil {
		t.Errorf("after the deletion: %v", got)
	}
	if n := alice.get("/api/v1/statuses/" + first.id()).object().num("svc.quotes_count"); n != 0 {
		t.Errorf("quotes_count is %d after the only quote is gone", n)
	}
	if ids := bob.get("/api/v1/svc/statuses/" + first.id() + "/quotes").want(200).ids(); slices.Contains(ids, second.id()) {
		t.Error("a deleted quote is listed")
	}
}

// TestQuoteHasNoCard: what is quoted is shown as a quote, and not once more as a page that the post links to.
func TestQuoteHasNoCard(t *testing.T) {
	srv := startAPI(t, onThisMachine)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	quoted := alice.publish("from elsewhere")
	srv.insert(`UPDATE statuses SET url = 'https://elsewhere.example/1', domain = 'elsewhere.example' WHERE text = 'from elsewhere'`)
	for _, tt := range []struct {
		text  string
		cards int
	}{{"see", 0}, {"see https://elsewhere.example/1", 0}, {"see https://third.example/", 1}} {
		made := bob.publish(tt.text, "quote_id", quoted.id())
		if !strings.Contains(made.str("content"), `<a href="https://elsewhere.example/1">`) {
			t.Fatalf("no link to the quoted: %s", made.str("content"))
		}
		if n := srv.count(`SELECT count(*) FROM cards`); n != tt.cards {
			t.Errorf("%s: %d cards, want %d", tt.text, n, tt.cards)
		}
	}
}
