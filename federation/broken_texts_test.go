package federation_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"svc/app/apptest"
)

// brokenTexts are texts as other servers send them, as bytes within a JSON string.
var brokenTexts = map[string]string{
	"half an emoji":              `before\ud83dafter`,
	"the other half":             `before\udc00after`,
	"invalid UTF-8":              "before\xff\xfeafter",
	"a cut character":            "before\xe6\x97after",
	"a control character":        "before\x01after",
	"a NUL":                      "before\x00after",
	"an escaped control":         `before\u0007after`,
	"an escaped NUL":             `before\u0000after`,
	"a line break":               "before\nafter",
	"a tab":                      "before\tafter",
	"a backslash before a break": "before\\\nafter",
	"a byte order mark":          "before\ufeffafter",
	"a delete":                   "before\x7fafter",
}

// raw returns a document with a text in place of BROKEN, as bytes.
func raw(t *testing.T, d apptest.Doc, text string) []byte {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(b, []byte("BROKEN"), []byte(text))
}

// wantText checks that a text is whole but for what was broken in it.
func wantText(t *testing.T, what, got string) {
	t.Helper()
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if !strings.Contains(got, "before") || !strings.Contains(got, "after") || !utf8.ValidString(got) || strings.ContainsFunc(got, control) {
		t.Errorf("%s is %q", what, got)
	}
}

// found returns a text by its path, where numbers index lists.
func found(t *testing.T, o *apptest.Object, path string) string {
	t.Helper()
	s, ok := o.Find(path).(string)
	if !ok {
		t.Fatalf("%s is %v in %v", path, o.Find(path), o.Fields)
	}
	return s
}

// TestBrokenTexts checks that a text that breaks the rules of JSON or of Unicode does not hide a post or an account.
func TestBrokenTexts(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	for name, text := range brokenTexts {
		t.Run(name, func(t *testing.T) {
			nick := "bob" + path.Base(peer.NewID("users"))
			bob := peer.AddActor(nick, apptest.Doc{
				"name": "BROKEN", "summary": "<p>BROKEN</p>", "attachment": []any{apptest.Doc{"type": "PropertyValue", "name": "BROKEN", "value": "BROKEN"}},
			})
			peer.Replace(bob, "BROKEN", text)
			peer.Replace(bob, `{"@context`, "\ufeff"+`{"@context`)
			follow := raw(t, peer.Activity("Follow", bob, srv.URL+"/users/"+alice.ID, apptest.Doc{"summary": "BROKEN"}), text)
			peer.DeliverRaw(srv, "/inbox", bob, follow).Want(http.StatusAccepted)
			apptest.Settle(srv)
			account := alice.Get("/api/v1/accounts/lookup?acct=" + nick + "@" + peer.Host).Want(200).Object()
			wantText(t, "display name", account.Str("display_name"))
			wantText(t, "bio", account.Str("note"))
			wantText(t, "name of a field", found(t, account, "fields.0.name"))
			wantText(t, "field", found(t, account, "fields.0.value"))
			relation := alice.Get("/api/v1/accounts/relationships?id=" + account.Str("id")).Want(200).List()
			if len(relation) != 1 || !relation[0].Bool("followed_by") {
				t.Errorf("the Follow was lost: %v", relation)
			}

			alice.FollowRemote(bob)
			note := peer.Note(bob, "<p>BROKEN</p>", apptest.Doc{
				"summary": "BROKEN", "attachment": []any{apptest.Doc{"type": "Image", "mediaType": "image/png", "url": peer.URL + "/a.png", "name": "BROKEN"}},
			})
			peer.DeliverRaw(srv, "/inbox", bob, raw(t, peer.Create(note), text)).Want(http.StatusAccepted)
			apptest.Settle(srv)
			posts := alice.Get("/api/v1/accounts/" + account.Str("id") + "/statuses").Want(200).List()
			if len(posts) != 1 {
				t.Fatalf("%d posts", len(posts))
			}
			wantText(t, "content", posts[0].Str("content"))
			wantText(t, "content warning", posts[0].Str("spoiler_text"))
			wantText(t, "description", found(t, posts[0], "media_attachments.0.description"))
		})
	}
}

// TestBrokenIDs checks that an id, a URL, a type or a name with broken text is refused or dropped, never repaired: it could be that of
// another object.
func TestBrokenIDs(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	for name, text := range brokenTexts {
		if name == "a byte order mark" {
			continue // not broken
		}
		text := strings.NewReplacer("before", "", "after", "").Replace(text)
		t.Run(name, func(t *testing.T) {
			note := peer.Note(bob, "hello")
			send := func(status int, d apptest.Doc) {
				t.Helper()
				peer.DeliverRaw(srv, "/inbox", bob, raw(t, d, text)).Want(status)
				apptest.Settle(srv)
			}
			send(http.StatusBadRequest, peer.Create(note, apptest.Doc{"id": peer.NewID("activities") + "BROKEN"}))
			send(http.StatusBadRequest, peer.Create(note, apptest.Doc{"actor": bob + "BROKEN"}))
			send(http.StatusAccepted, peer.Create(apptest.With(note, apptest.Doc{"id": peer.NewID("notes") + "BROKEN"})))
			send(http.StatusAccepted, peer.Create(apptest.With(note, apptest.Doc{"attributedTo": bob + "BROKEN"}), apptest.Doc{"actor": bob}))
			send(http.StatusAccepted, peer.Create(apptest.With(note, apptest.Doc{"type": "NoteBROKEN"})))
			send(http.StatusAccepted, peer.Activity("CreateBROKEN", bob, note))
			send(http.StatusAccepted, peer.Activity("Like", bob, alice.Publish("like me").Str("uri")+"BROKEN"))
			if got := alice.Get("/api/v1/timelines/home?exclude_visibilities[]=direct").Want(200).List(); len(got) > 0 && got[0].Str("account.acct") != "alice" {
				t.Errorf("home begins with %v", got[0])
			}
			for _, n := range alice.NotificationTypes() {
				if n == "favourite" {
					t.Error("a Like of a broken id counts")
				}
			}
			nick := "carl" + path.Base(peer.NewID("users"))
			carl := peer.AddActor(nick, apptest.Doc{"preferredUsername": nick + "BROKEN"})
			peer.Replace(carl, "BROKEN", text)
			got := peer.DeliverRaw(srv, "/inbox", carl, apptest.MustJSON(peer.Activity("Follow", carl, srv.URL+"/users/"+alice.ID)))
			if want := "cannot be read: actor has no valid preferredUsername"; got.Status != http.StatusBadRequest || !strings.Contains(string(got.Body), want) {
				t.Errorf("Follow: %d %s, want 400 … %s", got.Status, got.Body, want)
			}
		})
	}
}
