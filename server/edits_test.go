package server_test

import (
	"fmt"
	"slices"
	"strings"
	"svc/app/apptest"
	"testing"
)

// texts returns the content of each version of a status.
func texts(a *apptest.Response) []string {
	a.T.Helper()
	var list []string
	for _, v := range a.Want(200).List() {
		list = append(list, strings.NewReplacer("<p>", "", "</p>", "").Replace(v.Str("content")))
	}
	return list
}

func TestEdit(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	root := bob.Publish("root").ID()
	one, two, others := srv.AddMedia(alice), srv.AddMedia(alice), srv.AddMedia(bob)
	st := alice.Publish("first", "in_reply_to_id", root, "visibility", "unlisted", "language", "en", "media_ids[]", one, "spoiler_text", "cw").ID()
	history := "/api/v1/statuses/" + st + "/history"
	if got := alice.Get("/api/v1/statuses/" + st).Object(); got.At("edited_at") != nil {
		t.Errorf("edited_at before the first edit: %v", got.Fields)
	}
	bob.Get("/api/v1/statuses/" + st).Want(200) // so that a rendered copy is cached

	edited := alice.EditStatus(st, map[string]any{
		"status": "second", "visibility": "public", "in_reply_to_id": nil, "content_type": "text/markdown", "media_ids": []string{two, one},
		"media_attributes": []any{map[string]any{"id": two, "description": "a cat", "focus": "0,0"}, map[string]any{"id": others, "description": "x"}},
		"sensitive":        true, "poll": nil,
	}).Want(200).Object()
	for _, o := range []*apptest.Object{edited, bob.Get("/api/v1/statuses/" + st).Object()} {
		for path, want := range map[string]any{
			"id": st, "content": "<p>second</p>", "spoiler_text": "", "visibility": "unlisted", "in_reply_to_id": root, "language": "en", "sensitive": true,
		} {
			if got := o.At(path); got != want {
				t.Errorf("%s is %v, want %v", path, got, want)
			}
		}
		o.Str("edited_at")
		media := o.At("media_attachments").([]any)
		if len(media) != 2 || media[0].(map[string]any)["id"] != two || media[1].(map[string]any)["id"] != one ||
			media[0].(map[string]any)["description"] != "a cat" {
			t.Errorf("media_attachments: %v", media)
		}
		if m := o.At("mentions").([]any); len(m) != 1 { // the author of the parent status
			t.Errorf("mentions: %v", m)
		}
	}
	if got, want := texts(srv.As(nil).Get(history)), []string{"first", "second"}; !slices.Equal(got, want) {
		t.Errorf("versions %v, want %v", got, want)
	}
	first := srv.As(nil).Get(history).List()[0]
	if m := first.At("media_attachments").([]any); len(m) != 1 || m[0].(map[string]any)["id"] != one || first.Str("spoiler_text") != "cw" ||
		first.Str("account.id") != alice.ID || first.Str("created_at") != edited.Str("created_at") || first.At("poll") != nil {
		t.Errorf("the first version: %v", first.Fields)
	}
	if last := srv.As(nil).Get(history).List()[1]; last.Str("created_at") != edited.Str("edited_at") {
		t.Errorf("the last version is of %s, want %s", last.Str("created_at"), edited.Str("edited_at"))
	}

	// Each version keeps the descriptions that it had.
	alice.EditStatus(st, map[string]any{
		"status": "second", "media_ids": []string{two, one}, "sensitive": true,
		"media_attributes": []any{map[string]any{"id": two, "description": "a cat on a mat"}},
	}).Want(200)
	var described []any
	for _, v := range srv.As(nil).Get(history).List()[1:] {
		described = append(described, v.At("media_attachments").([]any)[0].(map[string]any)["description"])
	}
	if want := []any{"a cat", "a cat on a mat"}; !slices.Equal(described, want) {
		t.Errorf("the first attachment was described as %v, want %v", described, want)
	}

	// An edit creates a version only if it changes something.
	same := map[string]any{"status": "second", "media_ids": []string{two, one}, "sensitive": true}
	with := func(key string, value any) map[string]any {
		m := map[string]any{}
		for k, v := range same {
			m[k] = v
		}
		m[key] = value
		return m
	}
	versions := 3
	for _, tt := range []struct {
		name    string
		params  map[string]any
		version bool
	}{
		{"nothing", same, false},
		{"white space", with("status", " second\n"), false},
		{"the same language", with("language", "en"), false},
		{"the same content type", with("content_type", "text/markdown"), false},
		{"the same description", with("media_attributes", []any{map[string]any{"id": two, "description": "a cat on a mat"}}), false},
		{"white space around the description", with("media_attributes", []any{map[string]any{"id": two, "description": " a cat on a mat\n"}}), false},
		{"visibility", with("visibility", "direct"), false},
		{"language", with("language", "de"), true},
		{"description", with("media_attributes", []any{map[string]any{"id": two, "description": "a dog"}}), true},
		{"order of media", with("media_ids", []string{one, two}), true},
		{"content type", with("content_type", "text/plain"), true},
		{"sensitive", with("sensitive", false), true},
		{"subject", with("spoiler_text", "new"), true},
		{"media", with("media_ids", []string{}), true},
		{"all but the text", map[string]any{"status": "third"}, true},
	} {
		alice.EditStatus(st, tt.params).Want(200)
		if tt.version {
			versions++
		}
		if got := len(alice.Get(history).Want(200).List()); got != versions {
			t.Errorf("%s: %d versions, want %d", tt.name, got, versions)
			versions = got
		}
	}

	// A removed attachment belongs to earlier versions: it can be added to the status again, but not to another status.
	alice.Post("/api/v1/statuses", "status", "another", "media_ids[]", one).WantError(422, "Media not found or already attached to another post")
	restored := alice.EditStatus(st, map[string]any{"status": "third", "media_ids": []string{one}}).Want(200).Object()
	if m := restored.At("media_attachments").([]any); len(m) != 1 || m[0].(map[string]any)["id"] != one {
		t.Errorf("the picture was not added again: %v", m)
	}

	used := srv.AddMedia(alice)
	alice.Publish("a post of its own", "media_ids[]", used)
	for _, tt := range []struct {
		name   string
		as     *apptest.User
		id     string
		params map[string]any
		want   int
		error  string
	}{
		{"media of another account", alice, st, map[string]any{"status": "x", "media_ids": []string{one, others}}, 422, "Media not found or already attached to another post"},
		{"media of another post", alice, st, map[string]any{"status": "x", "media_ids": []string{one, used}}, 422, "Media not found or already attached to another post"},
		{"unknown media", alice, st, map[string]any{"status": "x", "media_ids": []string{one, "0000000000000000AA"}}, 422, "Media not found or already attached to another post"},
		{"repeated media", alice, st, map[string]any{"status": "x", "media_ids": []string{one, one}}, 422, "Media attached more than once"},
		{"empty", alice, st, map[string]any{"status": " "}, 422, "Cannot post an empty status without attachments"},
		{"too long", alice, st, map[string]any{"status": strings.Repeat("a", 5001)}, 422, "The status is over the character limit"},
		{"of another user", bob, st, map[string]any{"status": "mine"}, 404, "Record not found"},
		{"an unknown one", alice, "000000000000000000", map[string]any{"status": "x"}, 404, "Record not found"},
		{"without a token", nil, st, map[string]any{"status": "x"}, 401, "The access token is invalid"},
		{"a boost", bob, bob.Post("/api/v1/statuses/" + st + "/reblog").Want(200).Object().ID(), map[string]any{"status": "x"}, 404, "Record not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv.As(tt.as).SendJSON("PUT", "/api/v1/statuses/"+tt.id, tt.params).WantError(tt.want, tt.error)
		})
	}
	long := srv.AddMedia(alice)
	alice.EditStatus(st, map[string]any{"status": "x", "media_ids": []string{long}, "media_attributes": []any{
		map[string]any{"id": long, "description": strings.Repeat("a", 5001)},
	}}).WantError(422, "The description is over the character limit")
}

func TestEditMentions(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol, dave := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol"), srv.SignUp("dave")
	st := alice.Publish("hi @bob", "visibility", "direct").ID()
	path := "/api/v1/statuses/" + st
	carol.Get(path).Want(404)
	mentions := func(a *apptest.Response) string {
		var names []string
		for _, m := range a.Want(200).Object().At("mentions").([]any) {
			names = append(names, m.(map[string]any)["username"].(string))
		}
		return strings.Join(names, " ")
	}
	if got := mentions(alice.EditStatus(st, map[string]any{"status": "hi @carol and @bob"})); got != "carol bob" {
		t.Errorf("mentions %s", got)
	}
	carol.Get(path).Want(200)
	apptest.WantIDs(t, "carol's home", carol.Get("/api/v1/timelines/home"), st)
	apptest.WantIDs(t, "carol's direct timeline", carol.Get("/api/v1/timelines/direct"), st)
	if got := mentions(alice.EditStatus(st, map[string]any{"status": "hi @carol"})); got != "carol" {
		t.Errorf("mentions %s", got)
	}
	bob.Get(path).Want(200) // a former recipient can still see the status
	alice.EditStatus(st, map[string]any{"status": "hi @carol and @bob again"}).Want(200)
	for _, m := range []*apptest.User{bob, carol} {
		if got := m.Notifications(); !slices.Equal(got, []string{"mention alice"}) {
			t.Errorf("%s has the notifications %v", m.Nickname, got)
		}
	}

	// An edit does not address accounts that are named in the text but not among the recipients.
	to := alice.Publish("about @dave", "visibility", "direct", "to[]", "bob").ID()
	for _, text := range []string{"about @dave, again", "about @carol and @dave, @bob", "about @carol"} {
		if got := mentions(alice.EditStatus(to, map[string]any{"status": text})); got != "bob" {
			t.Errorf("%s: mentions %s", text, got)
		}
	}
	carol.Get("/api/v1/statuses/" + to).Want(404)
	dave.Get("/api/v1/statuses/" + to).Want(404)
	if got := dave.Notifications(); len(got) != 0 {
		t.Errorf("dave has the notifications %v", got)
	}
}

func TestEditNotifiesBoosters(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, carol := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUp("carol")
	st := alice.Publish("one").ID()
	bob.Post("/api/v1/statuses/" + st + "/reblog").Want(200)
	alice.Post("/api/v1/statuses/" + st + "/reblog").Want(200)
	carol.Post("/api/v1/statuses/" + st + "/favourite").Want(200)
	var last string
	for i := range 2 {
		alice.EditStatus(st, map[string]any{"status": fmt.Sprint("edit ", i)}).Want(200)
		list := bob.Get("/api/v1/notifications").Want(200).List()
		if len(list) != 1 || list[0].Str("type") != "update" || list[0].Str("status.id") != st || list[0].ID() == last {
			t.Fatalf("bob has the notifications %v", list)
		}
		last = list[0].ID()
	}
	if got := carol.Notifications(); len(got) != 0 {
		t.Errorf("carol has the notifications %v", got)
	}
	if got := alice.Notifications(); !slices.Equal(got, []string{"favourite carol", "reblog bob"}) {
		t.Errorf("alice has the notifications %v", got)
	}
}

func TestSource(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st := alice.Publish("**hi** @bob", "content_type", "text/markdown", "spoiler_text", "cw").ID()
	boost := bob.Post("/api/v1/statuses/" + st + "/reblog").Want(200).Object().ID()
	for _, id := range []string{st, boost} {
		o := bob.Get("/api/v1/statuses/" + id + "/source").Want(200).Object()
		if o.ID() != st || o.Str("text") != "**hi** @bob" || o.Str("spoiler_text") != "cw" || o.Str("content_type") != "text/markdown" {
			t.Errorf("source: %v", o.Fields)
		}
		if got := texts(bob.Get("/api/v1/statuses/" + id + "/history")); len(got) != 1 {
			t.Errorf("versions: %v", got)
		}
	}
	srv.As(nil).Get("/api/v1/statuses/"+st+"/source").WantError(401, "The access token is invalid")
}

// TestVersionsWithoutRichText checks that no_rich_text of the author also applies to earlier versions.
func TestVersionsWithoutRichText(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	st := alice.Publish("**one**", "content_type", "text/markdown").ID()
	alice.EditStatus(st, map[string]any{"status": "**two**"}).Want(200)
	path := "/api/v1/statuses/" + st + "/history"
	if got, want := texts(bob.Get(path)), []string{"<strong>one</strong>", "<strong>two</strong>"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	srv.Exec(`UPDATE users SET no_rich_text = 1 WHERE account_id = ?`, bob.AccountID())
	if got, want := texts(bob.Get(path)), []string{"one", "two"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
