package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func (m *member) edit(id string, params map[string]any) *answer {
	m.api.t.Helper()
	return m.send("PUT", "/api/v1/statuses/"+id, params)
}

// texts returns the content of each version of a status.
func texts(a *answer) []string {
	a.t.Helper()
	var list []string
	for _, v := range a.want(200).list() {
		list = append(list, strings.NewReplacer("<p>", "", "</p>", "").Replace(v.str("content")))
	}
	return list
}

func TestEdit(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	root := bob.publish("root").id()
	one, two, foreign := srv.letUpload(alice), srv.letUpload(alice), srv.letUpload(bob)
	st := alice.publish("first", "in_reply_to_id", root, "visibility", "unlisted", "language", "en", "media_ids[]", one, "spoiler_text", "cw").id()
	history := "/api/v1/statuses/" + st + "/history"
	if got := alice.get("/api/v1/statuses/" + st).object(); got.at("edited_at") != nil {
		t.Errorf("edited before it was: %v", got.m)
	}
	bob.get("/api/v1/statuses/" + st).want(200) // so that it is rendered before

	edited := alice.edit(st, map[string]any{
		"status": "second", "visibility": "public", "in_reply_to_id": nil, "content_type": "text/markdown", "media_ids": []string{two, foreign, one},
		"media_attributes": []any{map[string]any{"id": two, "description": "a cat", "focus": "0,0"}, map[string]any{"id": foreign, "description": "x"}},
		"sensitive":        true, "poll": nil,
	}).want(200).object()
	for _, o := range []*object{edited, bob.get("/api/v1/statuses/" + st).object()} {
		for path, want := range map[string]any{
			"id": st, "content": "<p>second</p>", "spoiler_text": "", "visibility": "unlisted", "in_reply_to_id": root, "language": "en", "sensitive": true,
		} {
			if got := o.at(path); got != want {
				t.Errorf("%s is %v, want %v", path, got, want)
			}
		}
		o.str("edited_at")
		media := o.at("media_attachments").([]any)
		if len(media) != 2 || media[0].(map[string]any)["id"] != two || media[1].(map[string]any)["id"] != one ||
			media[0].(map[string]any)["description"] != "a cat" {
			t.Errorf("media_attachments: %v", media)
		}
		if m := o.at("mentions").([]any); len(m) != 1 { // the author of what it replies to
			t.Errorf("mentions: %v", m)
		}
	}
	if got, want := texts(srv.as(nil).get(history)), []string{"first", "second"}; !slices.Equal(got, want) {
		t.Errorf("versions %v, want %v", got, want)
	}
	first := srv.as(nil).get(history).list()[0]
	if m := first.at("media_attachments").([]any); len(m) != 1 || m[0].(map[string]any)["id"] != one || first.str("spoiler_text") != "cw" ||
		first.str("account.id") != alice.id || first.str("created_at") != edited.str("created_at") || first.at("poll") != nil {
		t.Errorf("the first version: %v", first.m)
	}
	if last := srv.as(nil).get(history).list()[1]; last.str("created_at") != edited.str("edited_at") {
		t.Errorf("the last version is of %s, want %s", last.str("created_at"), edited.str("edited_at"))
	}

	// Each version keeps the descriptions that it had.
	alice.edit(st, map[string]any{
		"status": "second", "media_ids": []string{two, one}, "sensitive": true,
		"media_attributes": []any{map[string]any{"id": two, "description": "a cat on a mat"}},
	}).want(200)
	var described []any
	for _, v := range srv.as(nil).get(history).list()[1:] {
		described = append(described, v.at("media_attachments").([]any)[0].(map[string]any)["description"])
	}
	if want := []any{"a cat", "a cat on a mat"}; !slices.Equal(described, want) {
		t.Errorf("the first attachment was described as %v, want %v", described, want)
	}

	// Edits by what changes.
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
		alice.edit(st, tt.params).want(200)
		if tt.version {
			versions++
		}
		if got := len(alice.get(history).want(200).list()); got != versions {
			t.Errorf("%s: %d versions, want %d", tt.name, got, versions)
			versions = got
		}
	}

	// What was taken out stays with the versions that showed it: it can be put back, but not be attached elsewhere.
	if m := alice.publish("another", "media_ids[]", one).at("media_attachments").([]any); len(m) != 0 {
		t.Errorf("a picture of an earlier version was attached to another status: %v", m)
	}
	back := alice.edit(st, map[string]any{"status": "third", "media_ids": []string{one}}).want(200).object()
	if m := back.at("media_attachments").([]any); len(m) != 1 || m[0].(map[string]any)["id"] != one {
		t.Errorf("the picture was not put back: %v", m)
	}

	for _, tt := range []struct {
		name   string
		as     *member
		id     string
		params map[string]any
		want   int
		error  string
	}{
		{"nothing left", alice, st, map[string]any{"status": " "}, 422, "Cannot post an empty status without attachments"},
		{"too long", alice, st, map[string]any{"status": strings.Repeat("a", 5001)}, 422, "The status is over the character limit"},
		{"somebody else's", bob, st, map[string]any{"status": "mine"}, 404, "Record not found"},
		{"an unknown one", alice, "000000000000000000", map[string]any{"status": "x"}, 404, "Record not found"},
		{"without a token", nil, st, map[string]any{"status": "x"}, 401, "The access token is invalid"},
		{"a boost", bob, bob.post("/api/v1/statuses/" + st + "/reblog").want(200).object().id(), map[string]any{"status": "x"}, 404, "Record not found"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv.as(tt.as).send("PUT", "/api/v1/statuses/"+tt.id, tt.params).wantError(tt.want, tt.error)
		})
	}
	long := srv.letUpload(alice)
	alice.edit(st, map[string]any{"status": "x", "media_ids": []string{long}, "media_attributes": []any{
		map[string]any{"id": long, "description": strings.Repeat("a", 5001)},
	}}).wantError(422, "The description is over the character limit")
}

func TestEditMentions(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol, dave := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol"), srv.signUp("dave")
	st := alice.publish("hi @bob", "visibility", "direct").id()
	path := "/api/v1/statuses/" + st
	carol.get(path).want(404)
	mentions := func(a *answer) string {
		var names []string
		for _, m := range a.want(200).object().at("mentions").([]any) {
			names = append(names, m.(map[string]any)["username"].(string))
		}
		return strings.Join(names, " ")
	}
	if got := mentions(alice.edit(st, map[string]any{"status": "hi @carol and @bob"})); got != "carol bob" {
		t.Errorf("mentions %s", got)
	}
	carol.get(path).want(200)
	wantIDs(t, "carol's home", carol.get("/api/v1/timelines/home"), st)
	wantIDs(t, "carol's direct timeline", carol.get("/api/v1/timelines/direct"), st)
	if got := mentions(alice.edit(st, map[string]any{"status": "hi @carol"})); got != "carol" {
		t.Errorf("mentions %s", got)
	}
	bob.get(path).want(200) // who was addressed stays so
	alice.edit(st, map[string]any{"status": "hi @carol and @bob again"}).want(200)
	for _, m := range []*member{bob, carol} {
		if got := m.notified(); !slices.Equal(got, []string{"mention alice"}) {
			t.Errorf("%s is told %v", m.nick, got)
		}
	}

	// Who is named but not addressed is not addressed by an edit of something else.
	to := alice.publish("about @dave", "visibility", "direct", "to[]", "bob").id()
	for _, text := range []string{"about @dave, again", "about @carol and @dave, @bob", "about @carol"} {
		if got := mentions(alice.edit(to, map[string]any{"status": text})); got != "bob" {
			t.Errorf("%s: mentions %s", text, got)
		}
	}
	carol.get("/api/v1/statuses/" + to).want(404)
	dave.get("/api/v1/statuses/" + to).want(404)
	if got := dave.notified(); len(got) != 0 {
		t.Errorf("dave is told %v", got)
	}
}

func TestEditIsToldToBoosters(t *testing.T) {
	srv := startAPI(t)
	alice, bob, carol := srv.signUp("alice"), srv.signUp("bob"), srv.signUp("carol")
	st := alice.publish("one").id()
	bob.post("/api/v1/statuses/" + st + "/reblog").want(200)
	alice.post("/api/v1/statuses/" + st + "/reblog").want(200)
	carol.post("/api/v1/statuses/" + st + "/favourite").want(200)
	var last string
	for i := range 2 {
		alice.edit(st, map[string]any{"status": fmt.Sprint("edit ", i)}).want(200)
		list := bob.get("/api/v1/notifications").want(200).list()
		if len(list) != 1 || list[0].str("type") != "update" || list[0].str("status.id") != st || list[0].id() == last {
			t.Fatalf("bob is told %v", list)
		}
		last = list[0].id()
	}
	if got := carol.notified(); len(got) != 0 {
		t.Errorf("carol is told %v", got)
	}
	if got := alice.notified(); !slices.Equal(got, []string{"favourite carol", "reblog bob"}) {
		t.Errorf("alice is told %v", got)
	}
}

func TestSource(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	st := alice.publish("**hi** @bob", "content_type", "text/markdown", "spoiler_text", "cw").id()
	boost := bob.post("/api/v1/statuses/" + st + "/reblog").want(200).object().id()
	for _, id := range []string{st, boost} {
		o := bob.get("/api/v1/statuses/" + id + "/source").want(200).object()
		if o.id() != st || o.str("text") != "**hi** @bob" || o.str("spoiler_text") != "cw" || o.str("content_type") != "text/markdown" {
			t.Errorf("source: %v", o.m)
		}
		if got := texts(bob.get("/api/v1/statuses/" + id + "/history")); len(got) != 1 {
			t.Errorf("versions: %v", got)
		}
	}
	srv.as(nil).get("/api/v1/statuses/"+st+"/source").wantError(401, "The access token is invalid")
}

// Who wants no rich text gets none of earlier versions either.
func TestVersionsWithoutRichText(t *testing.T) {
	srv := startAPI(t)
	alice, bob := srv.signUp("alice"), srv.signUp("bob")
	st := alice.publish("**one**", "content_type", "text/markdown").id()
	alice.edit(st, map[string]any{"status": "**two**"}).want(200)
	path := "/api/v1/statuses/" + st + "/history"
	if got, want := texts(bob.get(path)), []string{"<strong>one</strong>", "<strong>two</strong>"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	srv.insert(`UPDATE users SET no_rich_text = 1 WHERE account_id = ?`, bob.accountID())
	if got, want := texts(bob.get(path)), []string{"one", "two"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
