package pages_test

import (
	"cmp"
	"net/url"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestPostActions does everything that the page of a post's actions offers its author.
func TestPostActions(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	post := alice.Publish("my post").Str("id")
	alice.Post("/api/v1/svc/bookmark_folders", "name", "Recipes").Want(200)
	browser := alice.SignedIn()
	more := "/web/statuses/" + post + "/more"
	state := func() *apptest.Object { return alice.Get("/api/v1/statuses/" + post).Want(200).Object() }
	page := browser.Get(more).Want(200, "my post", "Edit", "Delete the post")
	if !strings.Contains(string(page.Body), `readonly value="`+state().Str("url")+`"`) {
		t.Error("there is no field with the address")
	}
	page.Press("React", "emoji", "🎉").Follow().Want(200)
	if got := state().Find("svc.emoji_reactions.0.name"); got != "🎉" {
		t.Errorf("the reaction is %v", got)
	}
	browser.Get(more).Press("React", "emoji", " ").Want(422, "Enter an emoji.")
	browser.Get(more).Press("Pin to my profile").Follow().Press("Mute the conversation").Follow().Want(200, "Unpin from my profile", "Unmute the conversation")
	browser.Get(more).Press("Unpin from my profile").Follow().Press("Unmute the conversation").Follow().Want(200, "Pin to my profile")
	forms := browser.Get(more)
	for i, f := range forms.Forms {
		if f.Fields.Has("folder_id") || f.Options.Has("folder_id") {
			folder := alice.Get("/api/v1/svc/bookmark_folders").List()[0].ID()
			f.Fields.Set("folder_id", folder)
			browser.Post(f.Action, forms.Forms[i].Fields).Follow().Want(200, "Saved.")
			if got := state().Find("svc.bookmark_folder"); got != folder {
				t.Errorf("the folder is %v", got)
			}
		}
		if f.Fields.Has("quote_approval_policy") {
			f.Fields.Set("quote_approval_policy", "nobody")
			browser.Post(f.Action, f.Fields).Follow().Want(200, "Saved.")
			if got := state().Find("quote_approval.automatic.0"); got == "public" {
				t.Errorf("everyone may quote it: %v", got)
			}
		}
	}
	browser.Get("/web/statuses/"+post+"/delete").Want(200, "my post").Press("Delete the post").Follow().Want(200, "Deleted.")
	browser.Get(more).Want(404)
	alice.Get("/api/v1/statuses/" + post).Want(404)
}

// TestOthersActions checks the actions of others than the author, and that those of the author are refused to them.
func TestOthersActions(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := alice.Publish("her post").Str("id")
	secret := alice.Publish("secret", "visibility", "direct").Str("id")
	browser := bob.SignedIn()
	page := browser.Get("/web/statuses/"+post+"/more").Want(200, "Mute, block and more", "Report", "Quote")
	for _, text := range []string{"Delete the post", "Edit", "Pin to my profile"} {
		if strings.Contains(page.Text, text) {
			t.Errorf("others are offered %q", text)
		}
	}
	for _, path := range []string{"/delete", "/redraft"} {
		browser.Get("/web/statuses/" + post + path).Want(404)
	}
	token := page.Forms[0].Fields["form_token"]
	if a := browser.Post("/web/statuses/"+post+"/redraft", map[string][]string{"form_token": token}); a.Status != 403 && a.Status != 404 {
		t.Errorf("others can delete a post: %d", a.Status)
	}
	for _, path := range []string{"/more", "/react", "/delete"} {
		browser.Get("/web/statuses/" + secret + path).Want(404)
	}
	quote := bob.Publish("quoting", "quote_id", post).Str("id")
	alice.SignedIn().Get("/web/statuses/" + quote + "/more").Want(200).Press("Withdraw my post from this quote").Follow().Want(200)
	if got := bob.Get("/api/v1/statuses/" + quote).Want(200).Object().Find("quote.state"); got != "revoked" {
		t.Errorf("the quote is %v", got)
	}
}

// TestCustomReactions reacts with a custom emoji that a search finds.
func TestCustomReactions(t *testing.T) {
	srv := apptest.Start(t)
	srv.AddEmoji("animals", map[string]string{"blobcat": "blobcat.png", "dog": "dog.png"})
	alice := srv.SignUp("alice")
	post := alice.Publish("my post").Str("id")
	browser := alice.SignedIn()
	path := "/web/statuses/" + post + "/react"
	browser.Get(path, "q", "horse").Want(200, "no such emojis")
	page := browser.Get(path, "q", "blob").Want(200)
	if strings.Contains(string(page.Body), ":dog:") {
		t.Error("the search finds other emojis")
	}
	page.Press(":blobcat:").Follow().Want(200)
	if got := alice.Get("/api/v1/statuses/" + post).Object().Find("svc.emoji_reactions.0.name"); got != "blobcat" {
		t.Errorf("the reaction is %v", got)
	}
}

// TestRedraft deletes a post and gets a form with what it had.
func TestRedraft(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	media := alice.Upload(apptest.PNG(20, 20), apptest.ValuePart("description", "a picture")).ID()
	post := alice.Publish("with a mistake", "media_ids[]", media, "spoiler_text", "Careful", "visibility", "private").Str("id")
	browser := alice.SignedIn()
	page := browser.Get("/web/statuses/"+post+"/redraft").Want(200).Press("Delete and write anew").Want(200, "with a mistake", "a picture")
	alice.Get("/api/v1/statuses/" + post).Want(404)
	page.Press("Post", "status", "without one").Follow().Want(200, "without one")
	got := latest(t, alice)
	for path, want := range map[string]any{"media_attachments.0.description": "a picture", "spoiler_text": "Careful", "visibility": "private"} {
		if got.Find(path) != want {
			t.Errorf("%s is %v", path, got.Find(path))
		}
	}
}

// TestAccountActions does everything that the page of an account's actions offers.
func TestAccountActions(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	bob.Post("/api/v1/accounts/" + alice.ID + "/follow").Want(200)
	alice.AddList("Friends", nil)
	browser := alice.SignedIn()
	more := "/web/accounts/" + bob.ID + "/more"
	relationship := func() *apptest.Object {
		return alice.Get("/api/v1/accounts/relationships", "id[]", bob.ID).Want(200).List()[0]
	}
	steps := []struct {
		press string
		typed []string
		field string
		want  any
	}{
		{"Follow", []string{"notify", "true", "languages", "en, de"}, "notifying", true},
		{"Save", []string{"comment", "met at the fair"}, "note", "met at the fair"},
		{"Show on my profile", nil, "endorsed", true},
		{"No longer show on my profile", nil, "endorsed", false},
		{"Mute", []string{"duration", "3600", "notifications", "false"}, "muting", true},
		{"Unmute", nil, "muting", false},
		{"Remove from my followers", nil, "followed_by", false},
		{"Unfollow", nil, "following", false},
		{"Block", nil, "blocking", true},
		{"Unblock", nil, "blocking", false},
	}
	for _, step := range steps {
		page := browser.Get(more).Want(200)
		if step.press == "Save" { // the form for following has the same button
			for _, f := range page.Forms {
				if f.Fields.Has("comment") {
					f.Fields.Set("comment", step.typed[1])
					browser.Post(f.Action, f.Fields).Follow().Want(200, "Saved.")
				}
			}
		} else {
			page.Press(step.press, step.typed...).Follow().Want(200)
		}
		if got := relationship().Find(step.field); got != step.want {
			t.Errorf("%s: %s is %v", step.press, step.field, got)
		}
		if step.press == "Mute" && relationship().Find("muting_expires_at") == nil {
			t.Error("the mute has no end")
		}
	}
	browser.Get(more).Press("Add to the list “Friends”").Follow().Press("Remove from the list “Friends”").Follow().Want(200)
	browser.Get("/web/accounts/none/more").Want(404)
	browser.Get("/web/accounts/" + alice.ID + "/more").Want(302)
	if got, _ := browser.Get("/web/accounts/" + bob.ID).Location(); got != "/@bob" {
		t.Errorf("the account is at %s", got)
	}
}

// TestReport reports posts of an account.
func TestReport(t *testing.T) {
	srv := apptest.Start(t)
	admin := srv.SignUp("admin")
	srv.SetRole(admin, true, false)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	first, second := bob.Publish("a rude post").Str("id"), bob.Publish("another post").Str("id")
	browser := alice.SignedIn()
	page := browser.Get("/web/accounts/"+bob.ID+"/report", "status", first).Want(200, "Report @bob", "a rude post", "another post")
	page.Press("Send the report", "category", "spam", "comment", strings.Repeat("long ", 5000)).Want(422, "a rude post")
	page.Press("Send the report", "category", "spam", "comment", "he is rude").Follow().Want(200, "Sent.")
	report := srv.NewToken(admin, "admin").Get("/api/v1/svc/admin/reports").Want(200).Object()
	if got := report.Find("reports.0.content"); got != "he is rude" {
		t.Errorf("the report is %v", got)
	}
	if got := report.Find("reports.0.statuses.0.id"); got != first || report.Find("reports.0.statuses.1") != nil {
		t.Errorf("the report names %v, want %s but not %s", got, first, second)
	}
	browser.Get("/web/accounts/none/report").Want(404)
}

// TestPlaceAfterActions checks that a vote and a reaction lead back to their page, at the post, with a message.
func TestPlaceAfterActions(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	browser := alice.SignedIn()
	for _, tt := range []struct {
		from string // the page, as the browser says
		want string // "": the post's own page
	}{
		{srv.URL + "/web/local", "/web/local"},
		{srv.URL + "/web/local?max_id=zzz&done=saved", "/web/local?max_id=zzz"},
		{"", ""},
		{"https://other.example/web/local", ""},
		{"::", ""},
	} {
		t.Run(tt.from, func(t *testing.T) {
			post := bob.Publish("a question", "poll[options][]", "yes", "poll[options][]", "no", "poll[expires_in]", "3600").ID()
			voting := browser.Get("/web/local").Want(200, "a question")
			check := func(what, own, done string, page *apptest.Page) {
				t.Helper()
				want, _ := url.Parse(cmp.Or(tt.want, own))
				got, err := url.Parse(page.Want(302).Header.Get("Location"))
				if err != nil {
					t.Fatal(err)
				}
				query := got.Query()
				query.Del("done")
				if got.Path != want.Path || query.Encode() != want.RawQuery || got.Query().Get("done") != done || got.Fragment != "p"+post {
					t.Errorf("%s leads to %s, want %s", what, got, want)
				}
				browser.Referrer = ""
				page.Follow()
			}
			browser.Referrer = tt.from
			check("a vote", "/web/statuses/"+post, "voted", voting.Press("Vote", "choices[]", "0"))
			own := strings.TrimPrefix(alice.Get("/api/v1/statuses/"+post).Want(200).Object().Str("url"), srv.URL)
			browser.Referrer = tt.from
			choice := browser.Get("/web/statuses/"+post+"/react").Want(200, "Often used")
			browser.Referrer = srv.URL + "/web/statuses/" + post + "/react"
			check("a reaction", own, "reacted", choice.Press("🎉"))
			browser.Referrer = tt.from
			more := browser.Get("/web/statuses/" + post + "/more").Want(200)
			browser.Referrer = srv.URL + "/web/statuses/" + post + "/more"
			check("an entered reaction", own, "reacted", more.Press("React", "emoji", "🍵"))
		})
	}
}
