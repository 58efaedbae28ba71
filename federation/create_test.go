package federation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/httpsig"
)

// TestIncomingPost checks that a public post of a followed account is in home, public timelines, counters and streams (case 54).
func TestIncomingPost(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	stream := srv.OpenStream(alice.Client, "stream", "user")
	note := peer.Note(bob, "<p>Hello <b>there</b></p>", apptest.Doc{
		"summary": "careful", "sensitive": true, "contentMap": apptest.Doc{"en": "<p>Hello <b>there</b></p>"},
		"tag":        []any{apptest.Doc{"type": "Hashtag", "name": "#Cats", "href": "https://example.org/tags/cats"}},
		"attachment": []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": peer.URL + "/cat.png", "name": "a cat"}},
	})
	peer.PostAndSettle(srv, peer.Create(note))
	got := alice.WantPost(note["id"])
	for path, want := range map[string]any{
		"content": "<p>Hello <b>there</b></p>", "visibility": "public", "spoiler_text": "careful", "sensitive": true, "language": "en",
		"uri": note["id"], "url": note["url"], "account.acct": "bob@" + peer.Host, "in_reply_to_id": nil, "svc.local": false,
		"created_at": strings.Replace(note["published"].(string), "Z", ".000Z", 1),
	} {
		if got.At(path) != want {
			t.Errorf("%s: got %v, want %v", path, got.At(path), want)
		}
	}
	media := got.At("media_attachments").([]any)[0].(map[string]any)
	if media["type"] != "image" || media["remote_url"] != peer.URL+"/cat.png" || media["description"] != "a cat" {
		t.Errorf("got attachment %v", media)
	}
	for _, path := range []string{"/api/v1/timelines/home", "/api/v1/timelines/public", "/api/v1/timelines/public?remote=true", "/api/v1/timelines/tag/cats"} {
		if ids := alice.Get(path).Want(200).IDs(); !slices.Equal(ids, []string{got.ID()}) {
			t.Errorf("%s: got %v, want the post", path, ids)
		}
	}
	stream.WantEvent("user: update " + got.ID())
	if n := alice.Get("/api/v1/accounts/" + got.Str("account.id")).Object().Int("statuses_count"); n != 1 {
		t.Errorf("%d posts are counted, want 1", n)
	}
	if len(alice.NotificationTypes()) != 0 {
		t.Error("a post without mentions notified")
	}
	peer.PostAndSettle(srv, peer.Create(note)) // again under another id
	if ids := alice.Get("/api/v1/timelines/home").IDs(); len(ids) != 1 {
		t.Errorf("got %v, want one post", ids)
	}
}

// TestIncomingTwice checks that a Create sent to several inboxes makes one post and one notification (case 49).
func TestIncomingTwice(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	a := peer.Create(peer.Note(bob, "hey", apptest.Doc{"to": []any{apptest.Public, alice.URI()}, "tag": apptest.Doc{"type": "Mention", "href": alice.URI()}}))
	peer.Post(srv, a)
	peer.PostTo(srv, alice, a)
	peer.Post(srv, apptest.With(a, apptest.Doc{"id": peer.NewID("activities")}))
	apptest.Settle(srv)
	if got := alice.NotificationTypes(); !slices.Equal(got, []string{"mention"}) {
		t.Errorf("notifications: %v", got)
	}
	if ids := alice.Get("/api/v1/timelines/public").IDs(); len(ids) != 1 {
		t.Errorf("got %v, want one post", ids)
	}
}

// TestIncomingVisibility covers addressing and the visibility that follows from it (cases 55 to 61).
func TestIncomingVisibility(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	bob := peer.AddActor("bob")
	carol.FollowRemote(bob)
	followers := bob + "/followers"
	mention := []any{apptest.Doc{"type": "Mention", "href": alice.URI(), "name": "@alice"}}
	for _, tt := range []struct {
		name     string
		note     apptest.Doc
		activity apptest.Doc
		personal bool
		want     string // "": it is not stored
		alice    bool   // sees it
		anybody  bool
		notifies bool
	}{
		{"unlisted", apptest.Doc{"to": []any{followers}, "cc": []any{apptest.Public}}, apptest.Doc{"cc": []any{}}, false, "unlisted", true, true, false},
		{"for followers", apptest.Doc{"to": []any{followers}, "cc": nil}, nil, false, "private", false, false, false},
		{"for followers in cc", apptest.Doc{"to": []any{alice.URI()}, "cc": []any{followers}, "tag": mention}, nil, false, "private", true, false, true},
		{"direct", apptest.Doc{"to": []any{alice.URI()}, "cc": nil, "tag": mention}, nil, false, "direct", true, false, true},
		{"one value in place of a list", apptest.Doc{"to": alice.URI(), "cc": nil, "tag": mention[0]}, nil, false, "direct", true, false, true},
		{"named without being addressed", apptest.Doc{"tag": mention}, nil, false, "public", true, true, false},
		{"mentioned in a post to followers", apptest.Doc{"to": []any{followers}, "cc": nil, "tag": mention}, nil, false, "private", false, false, false},
		{"addressed without being named", apptest.Doc{"to": []any{alice.URI()}, "cc": nil}, nil, false, "direct", true, false, true},
		{"a copy without being named", apptest.Doc{"to": []any{bob}, "cc": []any{alice.URI()}}, nil, false, "direct", true, false, false},
		{"as:Public", apptest.Doc{"to": []any{"as:Public"}}, nil, false, "public", true, true, false},
		{"unlisted as:Public", apptest.Doc{"to": []any{bob + "/followers"}, "cc": "as:Public"}, nil, false, "unlisted", true, true, false},
		{"Public", apptest.Doc{"to": "Public", "cc": nil}, nil, false, "public", true, true, false},
		{"for no account", apptest.Doc{"to": nil, "cc": nil}, nil, false, "", false, false, false},
		{"for no account, sent to a personal inbox", apptest.Doc{"to": nil, "cc": nil}, nil, true, "direct", true, false, false},
		{"for the followers of another", apptest.Doc{"to": []any{peer.URL + "/users/eve/followers"}, "cc": nil}, nil, true, "direct", true, false, false},
		{"for an unknown account", apptest.Doc{"to": []any{peer.URL + "/users/eve"}, "cc": nil}, nil, false, "", false, false, false},
		{"a Public id of this server", apptest.Doc{"to": []any{srv.URL + "/#Public"}, "cc": []any{followers}}, nil, false, "private", false, false, false},
		{"addresses on the activity only", apptest.Doc{"to": nil, "cc": nil}, apptest.Doc{"to": []any{apptest.Public}}, false, "public", true, true, false},
		{"direct, it says", apptest.Doc{"to": []any{alice.URI()}, "cc": nil, "directMessage": true}, nil, false, "direct", true, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			alice.Post("/api/v1/notifications/clear").Want(200)
			note := peer.Note(bob, "psst", tt.note)
			a := peer.Create(note, tt.activity)
			if tt.personal {
				peer.PostTo(srv, alice, a)
			} else {
				peer.Post(srv, a)
			}
			apptest.Settle(srv)
			st, err := srv.DB.StatusByURI(t.Context(), note["id"].(string))
			if err != nil {
				t.Fatal(err)
			}
			if st == nil {
				if tt.want != "" {
					t.Fatalf("it is not stored: %s", srv.Refusals(a["id"]))
				}
				return
			}
			if st.Visibility.String() != tt.want {
				t.Errorf("got visibility %s, want %q", st.Visibility, tt.want)
			}
			if got := alice.FindPost(note["id"]) != nil; got != tt.alice {
				t.Errorf("alice sees it: %v, want %v", got, tt.alice)
			}
			if got := srv.As(nil).FindPost(note["id"]) != nil; got != tt.anybody {
				t.Errorf("anonymous viewers see it: %v, want %v", got, tt.anybody)
			}
			if got := alice.NotificationTypes(); (len(got) > 0) != tt.notifies || len(got) > 1 {
				t.Errorf("notifications of alice: %v, want any: %v", got, tt.notifies)
			}
			if direct := alice.Get("/api/v1/conversations").IDs(); tt.want == "direct" && len(direct) == 0 {
				t.Error("alice has no conversation")
			}
		})
	}
}

// TestIncomingShapes covers unusual forms of posts (cases 62, 63, 69 to 72, 74 and others).
func TestIncomingShapes(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	long := strings.Repeat("x", 300)
	for _, tt := range []struct {
		name string
		note apptest.Doc
		want map[string]any // nil: it is refused
	}{
		{"case 62: maps and single values", apptest.Doc{"to": apptest.Public, "content": nil, "contentMap": apptest.Doc{"fr": "<p>Salut</p>"}, "summary": nil,
			"tag": apptest.Doc{"type": "Hashtag", "name": "Salut"}, "attachment": apptest.Doc{"type": "Image", "url": peer.URL + "/a"}},
			map[string]any{"content": "<p>Salut</p>", "language": "fr", "spoiler_text": "", "tags.0.name": "salut", "media_attachments.0.type": "image"}},
		{"no content", apptest.Doc{"content": nil}, map[string]any{"content": ""}},
		{"a warning without words", apptest.Doc{"summary": "\u200b", "sensitive": "true"}, map[string]any{"spoiler_text": "…", "sensitive": true}},
		{"a warning with markup", apptest.Doc{"summary": "<b>a &amp; b</b>"}, map[string]any{"spoiler_text": "a & b"}},
		{"type in a list", apptest.Doc{"type": []any{"http://example.org/Thing", "Note"}}, map[string]any{"content": "text"}},
		{"far in the future", apptest.Doc{"published": "9999-01-01T00:00:00Z"}, map[string]any{"content": "text"}},
		{"a page of another host", apptest.Doc{"url": "https://other.example/1"}, map[string]any{"url": "ID"}},
		{"links to pages", apptest.Doc{"url": []any{apptest.Doc{"type": "Link", "mediaType": "video/mp4", "href": peer.URL + "/v.mp4"}, apptest.Doc{"type": "Link", "mediaType": "text/html", "href": peer.URL + "/page"}}},
			map[string]any{"url": peer.URL + "/page"}},
		{"case 69: hostile content", apptest.Doc{"content": `<p onclick="x()">a<script>alert(1)</script><svg onload=x><a href="javascript:x()">b</a><b>c`},
			map[string]any{"content": `<p>ab<b>c</b></p>`}},
		{"a link that passes for a mention", apptest.Doc{"content": `<p><a class="u-url mention" href="https://evil.example/@bob">@bob</a> <a class="u-url mention" href="` + peer.URL + `/@bob">@bob</a><span class="quote-inline">x</span></p>`,
			"tag": []any{apptest.Doc{"type": "Mention", "href": bob, "name": "@bob@" + peer.Host}}},
			map[string]any{"content": `<p><a href="https://evil.example/@bob" rel="nofollow noopener noreferrer" target="_blank">@bob</a> <a class="u-url mention" href="` + peer.URL + `/@bob">@bob</a><span>x</span></p>`}},
		{"markdown", apptest.Doc{"content": "**hi**", "mediaType": "text/markdown"}, map[string]any{"content": "<p><strong>hi</strong></p>"}},
		{"case 74: hashtags", apptest.Doc{"tag": []any{apptest.Doc{"type": "Hashtag", "name": "#One"}, apptest.Doc{"type": "Hashtag", "name": "one"}, apptest.Doc{"type": "Hashtag", "name": "#ONE"}, "two", nil}},
			map[string]any{"tags.0.name": "one", "tags.1": nil}},
		{"case 72: emoji", apptest.Doc{"content": ":cat: :../x:", "tag": []any{
			apptest.Doc{"type": "Emoji", "name": ":cat:", "icon": apptest.Doc{"type": "Image", "url": peer.URL + "/cat.png"}},
			apptest.Doc{"type": "Emoji", "name": ":../x:", "icon": apptest.Doc{"type": "Image", "url": peer.URL + "/x.png"}}}},
			map[string]any{"emojis.0.shortcode": "cat", "emojis.0.url": srv.Proxy.URL(peer.URL + "/cat.png"), "emojis.1": nil}},
		{"case 71: alt text as name", apptest.Doc{"attachment": []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": peer.URL + "/a.png", "name": "alt", "content": "x"}}},
			map[string]any{"media_attachments.0.description": "alt"}},
		{"alt text of several lines", apptest.Doc{"attachment": []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": peer.URL + "/a.png", "name": " one\n\n  two "}}},
			map[string]any{"media_attachments.0.description": "one\n\n  two"}},
		{"alt text as summary beside a title", apptest.Doc{"attachment": []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": peer.URL + "/a.png", "name": "title", "summary": "<p>alt</p>"}}},
			map[string]any{"media_attachments.0.description": "alt"}},
		{"a file name and alt text as content", apptest.Doc{"attachment": []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": peer.URL + "/a.png", "name": "IMG_1234.JPG", "content": "alt"}}},
			map[string]any{"media_attachments.0.description": "alt"}},
		{"a file name", apptest.Doc{"attachment": []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": peer.URL + "/a", "name": "IMG_1234.jpg"}}},
			map[string]any{"media_attachments.0.description": nil}},
		{"a file name with spaces", apptest.Doc{"attachment": []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": peer.URL + "/a", "name": "Screenshot of 1 May.png"}}},
			map[string]any{"media_attachments.0.description": nil}},
		{"a word and a dot", apptest.Doc{"attachment": []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": peer.URL + "/a", "name": "A cat. Asleep."}}},
			map[string]any{"media_attachments.0.description": "A cat. Asleep."}},
		{"case 71: alt text as summary", apptest.Doc{"attachment": []any{apptest.Doc{"type": "Document", "mediaType": "image/png", "url": peer.URL + "/a.png", "summary": "alt"}}},
			map[string]any{"media_attachments.0.description": "alt"}},
		{"case 71: alt text as content", apptest.Doc{"attachment": []any{apptest.Doc{"type": "Image", "url": apptest.Doc{"href": peer.URL + "/a.png"}, "content": "alt"}}},
			map[string]any{"media_attachments.0.description": "alt"}},
		{"links as address", apptest.Doc{"attachment": []any{apptest.Doc{"type": "Document", "url": []any{apptest.Doc{"type": "Link", "mediaType": "audio/ogg", "href": peer.URL + "/a"}}}}},
			map[string]any{"media_attachments.0.type": "audio", "media_attachments.0.remote_url": peer.URL + "/a"}},
		{"attachments from nowhere", apptest.Doc{"attachment": []any{apptest.Doc{"type": "Image", "url": "data:image/png;base64,AA"}, apptest.Doc{"type": "Image", "url": "javascript:x()"}}},
			map[string]any{"media_attachments.0": nil}},
		{"a sensitive attachment", apptest.Doc{"attachment": []any{apptest.Doc{"type": "Image", "url": peer.URL + "/a.png", "sensitive": true}}}, map[string]any{"sensitive": true}},
		{"case 70: an article", apptest.Doc{"type": "Article", "name": "On <cats>", "summary": "an abstract", "content": "<p>Long</p>"},
			map[string]any{"spoiler_text": "", "content": `<p><b><a href="PAGE" rel="nofollow noopener noreferrer" target="_blank">On &lt;cats&gt;</a></b></p><p>Long</p>`}},
		{"an event", apptest.Doc{"type": "Event", "name": "Party", "summary": "<p>bring food</p>", "content": nil, "startTime": "2030-01-02T18:00:00Z", "location": apptest.Doc{"type": "Place", "name": "The <park>"}},
			map[string]any{"content": `<p><b><a href="PAGE" rel="nofollow noopener noreferrer" target="_blank">Party</a></b></p><p>2030-01-02 18:00 UTC, The &lt;park&gt;</p><p>bring food</p>`}},
		{"case 63: a video", apptest.Doc{"type": "Video", "name": "Cats", "content": nil, "attributedTo": []any{apptest.Doc{"type": "Group", "id": peer.URL + "/channels/1"}, apptest.Doc{"type": "Person", "id": bob}},
			"url": []any{apptest.Doc{"type": "Link", "mediaType": "text/html", "href": peer.URL + "/w/1"},
				apptest.Doc{"type": "Link", "mediaType": "application/x-mpegURL", "href": peer.URL + "/m3u8", "tag": []any{apptest.Doc{"type": "Link", "mediaType": "video/mp4", "href": peer.URL + "/1.mp4"}}}}},
			map[string]any{"url": peer.URL + "/w/1", "media_attachments.0.type": "video", "media_attachments.0.remote_url": peer.URL + "/1.mp4", "account.acct": "bob@" + peer.Host}},
		{"case 70: a page about a link", apptest.Doc{"type": "Page", "name": "News", "content": nil, "attachment": []any{apptest.Doc{"type": "Link", "href": "https://news.example/1"}}},
			map[string]any{"media_attachments.0": nil, "content": `<p><b><a href="PAGE" rel="nofollow noopener noreferrer" target="_blank">News</a></b></p><p><a href="https://news.example/1" rel="nofollow noopener noreferrer" target="_blank">news.example/1</a></p>`}},
		{"a page whose text has its link", apptest.Doc{"type": "Page", "name": nil, "content": `<p><a href="https://news.example/1?a=1&amp;b=2">there</a></p>`, "attachment": []any{apptest.Doc{"type": "Link", "href": "https://news.example/1?a=1&b=2"}}},
			map[string]any{"content": `<p><a href="https://news.example/1?a=1&amp;b=2" rel="nofollow noopener noreferrer" target="_blank">there</a></p>`}},
		{"a page whose text has its link with a slash", apptest.Doc{"type": "Page", "name": nil, "content": `<p><a href="https://news.example">there</a></p>`, "attachment": []any{apptest.Doc{"type": "Link", "href": "https://news.example/"}}},
			map[string]any{"content": `<p><a href="https://news.example" rel="nofollow noopener noreferrer" target="_blank">there</a></p>`}},
		{"a page with another link", apptest.Doc{"type": "Page", "name": nil, "content": `<p><a href="https://news.example/2">there</a></p>`, "attachment": []any{apptest.Doc{"type": "Link", "href": "https://news.example/1?a=<b>&c"}}},
			map[string]any{"content": `<p><a href="https://news.example/2" rel="nofollow noopener noreferrer" target="_blank">there</a></p><p><a href="https://news.example/1?a=&lt;b&gt;&amp;c" rel="nofollow noopener noreferrer" target="_blank">news.example/1?a=&lt;b&gt;&amp;c</a></p>`}},
		{"a page with a long link", apptest.Doc{"type": "Page", "name": nil, "content": nil, "attachment": []any{apptest.Doc{"type": "Link", "href": "https://news.example/" + long}}},
			map[string]any{"content": `<p><a href="https://news.example/` + long + `" rel="nofollow noopener noreferrer" target="_blank">news.example/` + long[:86] + `…</a></p>`}},
		{"a page about itself", apptest.Doc{"type": "Page", "name": nil, "content": "x", "url": peer.URL + "/p/1", "attachment": []any{apptest.Doc{"type": "Link", "href": peer.URL + "/p/1"}}}, map[string]any{"content": "x"}},
		{"a note with a link", apptest.Doc{"content": "<p>x</p>", "attachment": []any{apptest.Doc{"type": "Page", "url": "https://news.example/1"}}},
			map[string]any{"content": `<p>x</p><p><a href="https://news.example/1" rel="nofollow noopener noreferrer" target="_blank">news.example/1</a></p>`}},
		{"a very long warning", apptest.Doc{"summary": strings.Repeat("y", 10_000)}, map[string]any{"content": "text"}},
		{"of another account", apptest.Doc{"attributedTo": peer.URL + "/users/eve"}, nil},
		{"of another host", apptest.Doc{"id": "https://other.example/notes/" + long}, nil},
		{"of this server", apptest.Doc{"id": srv.URL + "/objects/1"}, nil},
		{"without an id", apptest.Doc{"id": nil}, nil},
		{"with an odd id", apptest.Doc{"id": []any{"a"}}, nil},
		{"a question that asks nothing", apptest.Doc{"type": "Question"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.Note(bob, "text", tt.note)
			a := peer.Create(note, apptest.Doc{"actor": bob})
			peer.Post(srv, a)
			apptest.Settle(srv)
			if tt.want == nil {
				if srv.Refusals(a["id"]) == "" {
					t.Error("it is not noted why it was refused")
				}
				if id, ok := note["id"].(string); ok && alice.FindPost(id) != nil {
					t.Error("it is stored")
				}
				return
			}
			got := alice.WantPost(note["id"])
			for path, want := range tt.want {
				if text, ok := want.(string); ok {
					want = strings.NewReplacer("PAGE", fmt.Sprint(note["url"]), "ID", fmt.Sprint(note["id"])).Replace(text)
				}
				if v := got.Find(path); v != want {
					t.Errorf("%s: got %v, want %v", path, v, want)
				}
			}
		})
	}
}

// TestIncomingForgery checks that no account creates or changes posts of another (cases 64 to 66).
func TestIncomingForgery(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	bob, eve := peer.AddActor("bob"), peer.AddActor("eve")
	alice.FollowRemote(bob)
	alice.FollowRemote(eve)
	note := peer.Note(bob, "mine", apptest.Doc{"to": []any{bob + "/followers"}, "cc": nil})
	peer.PostAndSettle(srv, peer.Create(note))
	forged := peer.Note(eve, "hers", apptest.Doc{"id": note["id"], "to": []any{carol.URI()}})
	a := peer.Create(forged)
	peer.PostAndSettle(srv, a)
	if !strings.Contains(srv.Refusals(a["id"]), "another account") {
		t.Errorf("refused for %q", srv.Refusals(a["id"]))
	}
	wider := peer.Note(bob, "mine", apptest.Doc{"id": note["id"], "to": []any{apptest.Public, carol.URI()}})
	peer.PostAndSettle(srv, peer.Create(wider))
	if carol.FindPost(note["id"]) != nil {
		t.Error("a second Create added a recipient")
	}
	if got := alice.WantPost(note["id"]); got.Str("visibility") != "private" || got.Str("content") != "mine" {
		t.Errorf("got %v", got.Fields)
	}
	for name, forged := range map[string]apptest.Doc{
		"by another on the same host":  peer.Create(peer.Note(bob, "forged"), apptest.Doc{"actor": eve}),
		"for another on the same host": peer.Create(peer.Note(eve, "forged", apptest.Doc{"attributedTo": []any{bob}}), apptest.Doc{"actor": eve}),
	} {
		t.Run(name, func(t *testing.T) {
			peer.PostAndSettle(srv, forged)
			if alice.FindPost(forged["object"].(apptest.Doc)["id"]) != nil {
				t.Error("it is stored")
			}
		})
	}
	t.Run("signed by another", func(t *testing.T) {
		a := peer.Create(peer.Note(bob, "forged"))
		peer.Deliver(srv, "/inbox", eve, a)
		apptest.Settle(srv)
		if alice.FindPost(a["object"].(apptest.Doc)["id"]) != nil {
			t.Error("it is stored")
		}
	})
	t.Run("of a local post", func(t *testing.T) {
		a := peer.Create(peer.Note(alice.URI(), "forged"), apptest.Doc{"actor": alice.URI()})
		if got := peer.Deliver(srv, "/inbox", bob, a).Status; got < 400 {
			t.Errorf("answered with %d", got)
		}
	})
}

// TestRelevance checks that posts that concern no local account are not stored (federation 3.7).
func TestRelevance(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, dan := peer.AddActor("bob"), peer.AddActor("dan")
	alice.FollowRemote(dan)
	hers := alice.Publish("hello")
	his := peer.Note(dan, "known")
	peer.PostAndSettle(srv, peer.Create(his))
	alice.Post("/api/v1/tags/cats/follow").Want(200)
	for _, tt := range []struct {
		name string
		note apptest.Doc
		want bool
	}{
		{"unrelated to local accounts", apptest.Doc{}, false},
		{"a reply to a local post", apptest.Doc{"inReplyTo": hers.Str("uri")}, true},
		{"a reply to a post that is known", apptest.Doc{"inReplyTo": his["id"]}, true},
		{"a reply to an unknown post", apptest.Doc{"inReplyTo": peer.URL + "/notes/unknown"}, false},
		{"mentions a local account", apptest.Doc{"tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI(), "name": "@alice"}}}, true},
		{"addressed to a local account", apptest.Doc{"cc": []any{alice.URI()}}, true},
		{"a hashtag that is followed", apptest.Doc{"tag": []any{apptest.Doc{"type": "Hashtag", "name": "#Cats"}}}, true},
		{"another hashtag", apptest.Doc{"tag": []any{apptest.Doc{"type": "Hashtag", "name": "#Dogs"}}}, false},
		{"for followers, none of which is local", apptest.Doc{"to": []any{bob + "/followers"}, "cc": nil}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.Note(bob, "text", tt.note)
			peer.PostAndSettle(srv, peer.Create(note))
			if got := alice.FindPost(note["id"]) != nil; got != tt.want {
				t.Errorf("stored: %v, want %v", got, tt.want)
			}
		})
	}
}

// TestIncomingThread checks that parents are fetched up to a limit, and that a reply joins the thread of its parent (cases 67 and 76).
func TestIncomingThread(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)

	root := peer.Note(bob, "root", apptest.Doc{"context": peer.URL + "/contexts/1"})
	middle := peer.Note(bob, "middle", apptest.Doc{"inReplyTo": root["id"], "context": peer.URL + "/contexts/2"})
	leaf := peer.Note(bob, "leaf", apptest.Doc{"inReplyTo": middle["id"], "context": peer.URL + "/contexts/3"})
	peer.Serve(root)
	peer.Serve(middle)
	peer.PostAndSettle(srv, peer.Create(leaf))
	got := alice.WantPost(leaf["id"])
	above := alice.Get("/api/v1/statuses/" + got.ID() + "/context").Want(200).Object()
	if n := len(above.At("ancestors").([]any)); n != 2 {
		t.Fatalf("%d posts are above, want 2", n)
	}
	if got.At("svc.conversation_id") != alice.WantPost(root["id"]).At("svc.conversation_id") {
		t.Error("the posts are of several conversations")
	}
	if got.Str("svc.in_reply_to_account_acct") != "bob@"+peer.Host || !got.Bool("svc.parent_visible") {
		t.Errorf("got %v", got.At("svc"))
	}
	if n := alice.WantPost(middle["id"]).Int("replies_count"); n != 1 {
		t.Errorf("%d replies are counted, want 1", n)
	}

	t.Run("a very long one", func(t *testing.T) {
		parent := ""
		for range 150 {
			n := peer.Note(bob, "link")
			if parent != "" {
				n["inReplyTo"] = parent
			}
			peer.Serve(n)
			parent = n["id"].(string)
		}
		apptest.Settle(srv) // the threads that were viewed
		before := peer.AllFetches()
		peer.PostAndSettle(srv, peer.Create(peer.Note(bob, "end", apptest.Doc{"inReplyTo": parent})))
		if n := peer.AllFetches() - before; n != 100 {
			t.Errorf("%d posts were fetched, want 100", n)
		}
	})
	t.Run("one that branches", func(t *testing.T) {
		var grow func(depth int) apptest.Doc
		grow = func(depth int) apptest.Doc { // each answers one and quotes another
			n := peer.Note(bob, "branch")
			if depth > 0 {
				n["inReplyTo"], n["quoteUrl"] = grow(depth - 1)["id"], grow(depth - 1)["id"]
			}
			peer.Serve(n)
			return n
		}
		top := grow(7)
		before := peer.AllFetches()
		peer.PostAndSettle(srv, peer.Create(top))
		if n := peer.AllFetches() - before; n < 7 || n > 100 {
			t.Errorf("%d posts were fetched, want some, but no more than 100", n)
		}
		st := alice.WantPost(top["id"])
		if n := len(alice.Get("/api/v1/statuses/" + st.ID() + "/context").Object().At("ancestors").([]any)); n != 7 {
			t.Errorf("%d posts are above, want 7", n)
		}
		if !st.Bool("svc.quote_visible") {
			t.Error("it quotes nothing")
		}
	})
	t.Run("one with many mentions", func(t *testing.T) {
		named := 0
		mentioning := func() []any {
			var tags []any
			for range 20 {
				named++
				tags = append(tags, apptest.Doc{"type": "Mention", "href": fmt.Sprintf("%s/users/nobody%d", peer.URL, named)})
			}
			return tags
		}
		parent := peer.URL + "/none"
		for range 50 {
			n := peer.Note(bob, "link", apptest.Doc{"inReplyTo": parent, "tag": mentioning()})
			peer.Serve(n)
			parent = n["id"].(string)
		}
		before := peer.AllFetches()
		peer.PostAndSettle(srv, peer.Create(peer.Note(bob, "end", apptest.Doc{"inReplyTo": parent, "tag": mentioning()})))
		if n := peer.AllFetches() - before; n < 60 || n > 130 {
			t.Errorf("%d requests because of one post", n)
		}
	})
	t.Run("several in one activity", func(t *testing.T) {
		var notes []any
		for i := range 10 {
			notes = append(notes, peer.Note(bob, "one of many", apptest.Doc{"inReplyTo": fmt.Sprintf("%s/unknown%d", peer.URL, i)}))
		}
		before := peer.AllFetches()
		peer.PostAndSettle(srv, peer.Activity("Create", bob, notes))
		alice.WantPost(notes[9].(apptest.Doc)["id"])
		if n := peer.AllFetches() - before; n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
	t.Run("a circle", func(t *testing.T) {
		a := peer.Note(bob, "a")
		b := peer.Note(bob, "b", apptest.Doc{"inReplyTo": a["id"]})
		a["inReplyTo"] = b["id"]
		peer.Serve(a)
		peer.Serve(b)
		peer.PostAndSettle(srv, peer.Create(a))
		st := alice.WantPost(a["id"])
		alice.Get("/api/v1/statuses/" + st.ID() + "/context").Want(200)
	})
	t.Run("a parent that arrives later", func(t *testing.T) {
		parent := peer.Note(bob, "parent")
		child := peer.Note(bob, "child", apptest.Doc{"inReplyTo": parent["id"]})
		grandchild := peer.Note(bob, "grandchild", apptest.Doc{"inReplyTo": child["id"]})
		peer.PostAndSettle(srv, peer.Create(child))
		peer.PostAndSettle(srv, peer.Create(grandchild))
		if alice.WantPost(child["id"]).At("in_reply_to_id") != nil {
			t.Error("it replies to something")
		}
		peer.PostAndSettle(srv, peer.Create(parent))
		want := alice.WantPost(parent["id"])
		for _, n := range []apptest.Doc{child, grandchild} {
			if got := alice.WantPost(n["id"]); got.At("svc.conversation_id") != want.At("svc.conversation_id") || got.At("in_reply_to_id") == nil {
				t.Errorf("got %v", got.Fields)
			}
		}
		if want.Int("replies_count") != 1 {
			t.Errorf("%d replies are counted, want 1", want.Int("replies_count"))
		}
	})
	t.Run("a reply to an invisible post", func(t *testing.T) {
		secret := alice.Publish("secret", "visibility", "private")
		n := peer.Note(bob, "reply", apptest.Doc{"inReplyTo": secret.Str("uri")})
		peer.PostAndSettle(srv, peer.Create(n))
		if got := alice.WantPost(n["id"]); got.At("in_reply_to_id") != nil {
			t.Error("it is linked with a post that its author cannot see")
		}
	})
	t.Run("a parent of another making", func(t *testing.T) {
		n := peer.Note(bob, "parent")
		forged := peer.Note(bob, "forged", apptest.Doc{"id": peer.URL + "/other"})
		peer.ServeAt(n["id"].(string), forged)
		peer.PostAndSettle(srv, peer.Create(peer.Note(bob, "child", apptest.Doc{"inReplyTo": n["id"]})))
		if alice.FindPost(n["id"]) != nil || alice.FindPost(forged["id"]) != nil {
			t.Error("a post is stored that is not at its id")
		}
	})
}

// TestIncomingPostOrder checks that posts sort by arrival, and fetched posts by their publication time (case 68).
func TestIncomingPostOrder(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	day := func(n int) string { return time.Now().AddDate(0, 0, n).UTC().Format(time.RFC3339) }
	old := peer.Note(bob, "old", apptest.Doc{"published": day(-3), "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}}, "to": []any{apptest.Public, alice.URI()}})
	peer.Serve(old)
	first := peer.Note(bob, "first", apptest.Doc{"published": day(3650 * 200)})
	second := peer.Note(bob, "second", apptest.Doc{"published": day(-1), "inReplyTo": old["id"]})
	for _, n := range []apptest.Doc{first, second} {
		peer.PostAndSettle(srv, peer.Create(n))
	}
	var got []string
	for _, st := range alice.Get("/api/v1/timelines/public").List() {
		got = append(got, st.Str("content"))
	}
	if want := []string{"second", "first", "old"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if at := alice.WantPost(first["id"]).Str("created_at"); at > time.Now().UTC().Format(time.RFC3339) {
		t.Errorf("it was made at %s", at)
	}
	if got := alice.NotificationTypes(); len(got) != 0 {
		t.Errorf("notifications of an old post: %v", got)
	}
}

// TestIncomingPoll covers the options and expiry of polls (case 75).
func TestIncomingPoll(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	option := func(name string, votes any) apptest.Doc {
		return apptest.Doc{"type": "Note", "name": name, "replies": apptest.Doc{"type": "Collection", "totalItems": votes}}
	}
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	for _, tt := range []struct {
		name string
		note apptest.Doc
		want map[string]any
	}{
		{"one choice", apptest.Doc{"oneOf": []any{option("yes", 2), option("no", 0)}, "endTime": end.Format(time.RFC3339), "votersCount": 2},
			map[string]any{"multiple": false, "expired": false, "votes_count": 2.0, "voters_count": 2.0, "options.0.title": "yes", "options.0.votes_count": 2.0, "expires_at": end.Format("2006-01-02T15:04:05.000Z")}},
		{"several, without an end", apptest.Doc{"anyOf": []any{option("a", 1), option("b", -5), option("a", 1)}, "oneOf": []any{}, "endTime": nil},
			map[string]any{"multiple": true, "expired": false, "expires_at": nil, "votes_count": 2.0, "voters_count": nil, "options.0.votes_count": 2.0, "options.2": nil}},
		{"closed", apptest.Doc{"oneOf": []any{option("a", 1e30)}, "closed": true}, map[string]any{"expired": true}},
		{"closed at a time", apptest.Doc{"oneOf": option("a", "many"), "closed": "2024-01-01T00:00:00Z"}, map[string]any{"expired": true, "votes_count": 0.0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.Note(bob, "<p>tea?</p>", apptest.Doc{"type": "Question"}, tt.note)
			peer.PostAndSettle(srv, peer.Create(note))
			got := alice.WantPost(note["id"])
			poll := &apptest.Object{T: t, Fields: got.At("poll").(map[string]any)}
			for path, want := range tt.want {
				if v := poll.Find(path); v != want {
					t.Errorf("%s: got %v, want %v", path, v, want)
				}
			}
		})
	}
}

// TestIncomingPostRFC9421 checks that an RFC 9421 signature is accepted like the older scheme.
func TestIncomingPostRFC9421(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	peer.Scheme = httpsig.RFC9421
	bob := peer.AddActor("bob", peer.AddEd25519Key("bob"))
	alice.FollowRemote(bob)
	note := peer.Note(bob, "signed")
	peer.PostAndSettle(srv, peer.Create(note))
	alice.WantPost(note["id"])
}
