package pages_test

import (
	"slices"
	"strings"
	"testing"

	"svc/app/apptest"
)

// latest returns the newest post of the viewer's home timeline.
func latest(t *testing.T, u *apptest.User) *apptest.Object {
	t.Helper()
	list := u.Get("/api/v1/timelines/home").Want(200).List()
	if len(list) == 0 {
		t.Fatal("there are no posts")
	}
	return list[0]
}

// TestComposeFields posts with every field of the form.
func TestComposeFields(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	list := alice.AddList("Friends", nil)
	browser := alice.SignedIn()
	tests := map[string]struct {
		typed []string
		want  map[string]any
	}{
		"warning":    {[]string{"spoiler_text", "Careful"}, map[string]any{"spoiler_text": "Careful"}},
		"visibility": {[]string{"visibility", "private"}, map[string]any{"visibility": "private"}},
		"local":      {[]string{"visibility", "local"}, map[string]any{"visibility": "local"}},
		"list":       {[]string{"visibility", "list:" + list}, map[string]any{"visibility": "list"}},
		"language":   {[]string{"language", "de"}, map[string]any{"language": "de"}},
		"format":     {[]string{"content_type", "text/markdown"}, map[string]any{"content": "<p>some <strong>text</strong></p>"}},
		"quotes":     {[]string{"quote_approval_policy", "followers"}, map[string]any{"quote_approval.automatic.0": "followers"}},
		"expiry":     {[]string{"expires_in", "86400"}, nil},
		"poll": {[]string{"poll_options[]", "yes", "poll_options[]", "no", "poll_multiple", "true", "poll_expires_in", "3600"},
			map[string]any{"poll.options.0.title": "yes", "poll.options.1.title": "no", "poll.multiple": true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			browser.Get("/web/compose").Want(200).Press("Post", append([]string{"status", "some **text**"}, test.typed...)...).Follow().Want(200, "Your post is published.")
			post := latest(t, alice)
			for path, want := range test.want {
				if got := post.Find(path); got != want {
					t.Errorf("%s is %v, want %v", path, got, want)
				}
			}
			if name == "expiry" && post.Find("svc.expires_at") == nil {
				t.Error("the post does not expire")
			}
		})
	}
}

// TestComposeRefused checks that a refused form keeps everything that was entered.
func TestComposeRefused(t *testing.T) {
	srv := apptest.Start(t)
	browser := srv.SignUp("alice").SignedIn()
	page := browser.Get("/web/compose").Press("Post", "status", "my text", "spoiler_text", "my warning", "visibility", "direct", "poll_options[]", "only one",
		"language", "fr", "expires_in", "604800", "content_type", "text/markdown").Want(422, "Poll must contain at least 2 options")
	for _, want := range []string{
		">my text<", `value="my warning"`, `value="direct" selected`, `value="only one"`, `value="fr"`, `value="604800" selected`, `value="text/markdown" selected`,
	} {
		if !strings.Contains(string(page.Body), want) {
			t.Errorf("%s is lost", want)
		}
	}
	page.Press("Post", "poll_options[]", "one", "poll_options[]", "two").Follow().Want(200, "Your post is published.")
	browser.Get("/web/compose").Press("Post", "status", "").Want(422, "Cannot post an empty status")
	browser.Get("/web/compose").Press("Post", "status", "x", "scheduled_at", "soon").Want(400)
	browser.Get("/web/compose", "reply", "none").Want(404)
	browser.Get("/web/compose", "quote", "none").Want(404)
	browser.Get("/web/compose", "edit", "none").Want(404)
}

// TestComposeMedia uploads files, describes them, changes their order, removes one and posts.
func TestComposeMedia(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	browser := alice.SignedIn()
	picture := func(size int) apptest.FormPart { return apptest.FilePart(apptest.PNG(size, size)) }
	page := browser.Get("/web/compose").PressWithFile("Add", picture(20), "status", "with pictures").Want(200, "with pictures", "Description of file 1")
	page = page.PressWithFile("Add", picture(21), "media_descriptions[]", "the first").Want(200, "Description of file 2", "the first")
	page = page.PressWithFile("Add", picture(22), "media_descriptions[]", "the first", "media_descriptions[]", "the second").Want(200, "Description of file 3")
	page = page.Press("Move file 2 up", "media_descriptions[]", "the first", "media_descriptions[]", "the second", "media_descriptions[]", "the third").Want(200)
	page = page.Press("Remove file 3").Want(200)
	page = page.Press("Move file 1 down").Want(200)
	page.Press("Move file 2 up").Want(200).Press("Post").Follow().Want(200, "Your post is published.")
	post := latest(t, alice)
	for path, want := range map[string]any{"media_attachments.0.description": "the second", "media_attachments.1.description": "the first", "media_attachments.2": nil} {
		if got := post.Find(path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	foreign := bob.Upload(apptest.PNG(10, 10)).ID()
	token := browser.Get("/web").Forms[0].Fields.Get("form_token")
	browser.Post("/web/compose", map[string][]string{"form_token": {token}, "status": {"x"}, "media_ids[]": {foreign}, "media_descriptions[]": {""}}).Want(404)
}

// TestPreview shows a post without publishing it.
func TestPreview(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	page := alice.SignedIn().Get("/web/compose").Press("Preview", "status", "*soon*", "content_type", "text/markdown").Want(200)
	if !strings.Contains(string(page.Body), "<em>soon</em>") {
		t.Errorf("no preview: %s", page.Text)
	}
	if got := alice.Get("/api/v1/timelines/home").Want(200).List(); len(got) != 0 {
		t.Errorf("%d posts", len(got))
	}
	page.Press("Post").Follow().Want(200, "soon")
}

// TestReplyQuoteMention checks what the form has for replies, quotes and messages.
func TestReplyQuoteMention(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	srv.SignUp("carol")
	post := bob.Publish("hello @alice and @carol", "visibility", "unlisted", "spoiler_text", "Greetings").Str("id")
	browser := alice.SignedIn()
	page := browser.Get("/web/compose", "reply", post).Want(200, "Reply", "hello")
	for _, want := range []string{"autofocus>@bob @carol </textarea>", `value="Greetings"`, `value="unlisted" selected`} {
		if !strings.Contains(string(page.Body), want) {
			t.Errorf("the reply has no %s", want)
		}
	}
	page.Press("Post", "status", "@bob thanks").Follow().Want(200, "Your post is published.", "@bob thanks")
	if got := latest(t, alice).Str("in_reply_to_id"); got != post {
		t.Errorf("the reply is to %s", got)
	}
	browser.Get("/web/compose", "quote", post).Want(200, "Quote", "hello").Press("Post", "status", "look at this").Follow().Want(200)
	if got := latest(t, alice).Find("svc.quote_id"); got != post {
		t.Errorf("the quote is of %v", got)
	}
	for path, want := range map[string]string{"?to=bob": ">@bob <", "?direct=bob": `value="direct" selected`, "?direct=": `value="direct" selected`} {
		if page := browser.Get("/web/compose" + path).Want(200); !strings.Contains(string(page.Body), want) {
			t.Errorf("%s has no %s", path, want)
		}
	}
	direct := bob.Publish("@alice secret", "visibility", "direct").Str("id")
	if page := browser.Get("/web/compose", "reply", direct).Want(200); !strings.Contains(string(page.Body), `value="direct" selected`) {
		t.Error("the reply to a direct message is wider")
	}
	hidden := bob.Publish("not for you", "visibility", "direct").Str("id")
	browser.Get("/web/compose", "reply", hidden).Want(404)
}

// TestTypedBeforeMentions checks that mentions which the form begins with survive text that is typed right before them: without JavaScript, a field that is
// entered by the keyboard has its caret at the start.
func TestTypedBeforeMentions(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	srv.SignUp("carol")
	post := bob.Publish("hello @alice and @carol").ID()
	browser := alice.SignedIn()
	for _, tt := range []struct{ form, typed, text, mentions string }{
		{"?reply=" + post, "my text@bob @carol ", "my text @bob @carol", "bob carol"},
		{"?reply=" + post, "@bob @carol my text", "@bob @carol my text", "bob carol"},
		{"?reply=" + post, "my text @bob @carol ", "my text @bob @carol", "bob carol"},
		{"?reply=" + post, "a line\n@bob @carol ", "a line\n@bob @carol", "bob carol"},
		{"?reply=" + post, "to @bob alone", "to @bob alone", "bob"},
		{"?direct=bob", "a secret@bob ", "a secret @bob", "bob"},
		{"?to=bob", "mail@bob ", "mail @bob", "bob"},
		{"", "mail@bob ", "mail@bob", ""},
	} {
		browser.Get("/web/compose"+tt.form).Want(200).Press("Post", "status", tt.typed).Follow().Want(200)
		made := latest(t, alice)
		var names []string
		for _, m := range made.At("mentions").([]any) {
			names = append(names, m.(map[string]any)["username"].(string))
		}
		slices.Sort(names)
		text := alice.Get("/api/v1/statuses/" + made.ID() + "/source").Want(200).Object().Str("text")
		if got := strings.Join(names, " "); got != tt.mentions || text != tt.text {
			t.Errorf("%q in %q became %q with the mentions %q", tt.typed, tt.form, text, got)
		}
	}
}

// TestPlaceAfterPosting checks where the form leads: to the place of the new post.
func TestPlaceAfterPosting(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	post := bob.Publish("hello @alice").ID()
	browser := alice.SignedIn()
	var reply string
	for _, tt := range []struct{ form, want string }{
		{"", "/web?done=posted"},
		{"?quote=" + post, "/web?done=posted"},
		{"?to=bob", "/web?done=posted"},
		{"?reply=" + post, "/@bob/" + post + "?done=posted#pNEW"},
		{"?direct=bob", "/@alice/NEW?done=posted#pNEW"},
	} {
		page := browser.Get("/web/compose"+tt.form).Want(200).Press("Post", "status", "@bob here I am").Want(302)
		made := latest(t, alice).ID()
		if got := strings.ReplaceAll(page.Header.Get("Location"), made, "NEW"); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%q leads to %s, want %s", tt.form, got, tt.want)
		}
		page.Follow().Want(200, "here I am")
		if strings.HasPrefix(tt.form, "?reply") {
			reply = made
		}
	}
	// Links to a reply open at it.
	page := browser.Get("/web").Want(200)
	if link := `href="/@alice/` + reply + `#p` + reply + `"`; !strings.Contains(string(page.Body), link) {
		t.Errorf("there is no %s", link)
	}
	if got := browser.Get("/web/statuses/" + reply).Header.Get("Location"); !strings.HasSuffix(got, "/@alice/"+reply+"#p"+reply) {
		t.Errorf("the reply opens at %s", got)
	}
}

// TestShortForm checks that the form with all fields begins with the text of the short form.
func TestShortForm(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	page := alice.SignedIn().Get("/web").Want(200).Press("More options", "status", "just begun", "visibility", "private").Want(200, "just begun")
	if !strings.Contains(string(page.Body), `value="private" selected`) {
		t.Error("the visibility is lost")
	}
	page.Press("Post").Follow().Want(200, "just begun")
	if got := latest(t, alice); got.Str("visibility") != "private" {
		t.Errorf("posted %v", got.Fields)
	}
}

// TestEditPost edits the text, the files and the poll of a post.
func TestEditPost(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	media := alice.Upload(apptest.PNG(20, 20), apptest.ValuePart("description", "before")).ID()
	post := alice.Publish("first version", "media_ids[]", media).Str("id")
	browser := alice.SignedIn()
	browser.Get("/web/compose", "edit", post).Want(200, "Edit the post", "first version", "before").
		Press("Save", "status", "second version", "media_descriptions[]", "after").Follow().Want(200, "Saved.", "second version")
	got := alice.Get("/api/v1/statuses/" + post).Want(200).Object()
	if got.Find("media_attachments.0.description") != "after" || got.Find("edited_at") == nil {
		t.Errorf("the post is %v", got.Fields)
	}
	poll := alice.PublishPoll([]string{"red", "green"}, "status", "which").Str("id")
	before := alice.Get("/api/v1/statuses/" + poll).Object()
	browser.Get("/web/compose", "edit", poll).Press("Save", "status", "which one").Follow().Want(200, "which one")
	after := alice.Get("/api/v1/statuses/" + poll).Object()
	if before.Find("poll.id") != after.Find("poll.id") || after.Find("poll.options.1.title") != "green" || before.Find("poll.expires_at") != after.Find("poll.expires_at") {
		t.Errorf("the poll is %v, before %v", after.Find("poll"), before.Find("poll"))
	}
	bob.SignedIn().Get("/web/compose", "edit", post).Want(404)
}

// TestSchedule schedules a post, changes its time and deletes it.
func TestSchedule(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	browser := alice.SignedIn()
	page := browser.Get("/web/compose").Press("Post", "status", "for later", "scheduled_at", "2099-01-02T03:04").Follow().
		Want(200, "Your post is scheduled.", "for later", "2099-01-02 03:04 UTC")
	page.Press("Save", "scheduled_at", "2001-01-01T00:00").Want(422)
	page = page.Press("Save", "scheduled_at", "2098-05-06T07:08").Follow().Want(200, "Saved.", "2098-05-06 07:08 UTC")
	id := alice.Get("/api/v1/scheduled_statuses").Want(200).List()[0].ID()
	other := srv.SignUp("bob").SignedIn()
	token := other.Get("/web").Forms[0].Fields.Get("form_token")
	other.Post("/web/scheduled/"+id, map[string][]string{"form_token": {token}, "scheduled_at": {"2098-05-06T07:08"}}).Want(404)
	page.Press("Delete").Follow().Want(200, "No posts are scheduled.")
}
