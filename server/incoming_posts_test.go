package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/internal/httpsig"
	"svc/store"
)

// follows has a member follow an actor of a peer, as if that had accepted.
func (m *member) follows(actor string) {
	m.api.t.Helper()
	target, err := m.api.fed.Actor(m.api.t.Context(), actor)
	if err != nil {
		m.api.t.Fatal(err)
	}
	err = m.api.db.Update(m.api.t.Context(), func(tx *store.Tx) error {
		me, err := tx.AccountByName(m.api.t.Context(), m.nick, "")
		if err != nil {
			return err
		}
		return tx.AddFollow(m.api.t.Context(), &store.Follow{FollowerID: me.ID, TargetID: target.ID, FollowerLocal: true, ShowReblogs: true})
	})
	if err != nil {
		m.api.t.Fatal(err)
	}
}

// post returns the post of an ActivityPub id as a caller sees it, nil if there is none or they do not.
func (c *caller) postOf(uri any) *object {
	c.api.t.Helper()
	st, err := c.api.db.StatusByURI(c.api.t.Context(), uri.(string))
	if err != nil {
		c.api.t.Fatal(err)
	}
	if st == nil {
		return nil
	}
	a := c.get("/api/v1/statuses/" + st.ID.String())
	if a.status == http.StatusNotFound {
		return nil
	}
	return a.want(200).object()
}

// wantPost is postOf for a post that must be there.
func (c *caller) wantPost(uri any) *object {
	c.api.t.Helper()
	o := c.postOf(uri)
	if o == nil {
		c.api.t.Fatalf("%v is not here", uri)
	}
	return o
}

// refusals returns why what has an id was not accepted.
func (a *api) refusals(uri any) string {
	a.t.Helper()
	list, err := a.db.Refusals(a.t.Context(), uri.(string))
	if err != nil {
		a.t.Fatal(err)
	}
	var reasons []string
	for _, r := range list {
		reasons = append(reasons, r.Reason)
	}
	return strings.Join(reasons, "; ")
}

// Case 54: a public post by who is followed is in home and in the timelines of all, with what is counted, and goes to open streams.
func TestIncomingPost(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	alice.follows(bob)
	stream := srv.listen(alice.caller, "stream", "user")
	note := peer.note(bob, "<p>Hello <b>there</b></p>", doc{
		"summary": "careful", "sensitive": true, "contentMap": doc{"en": "<p>Hello <b>there</b></p>"},
		"tag":        []any{doc{"type": "Hashtag", "name": "#Cats", "href": "https://example.org/tags/cats"}},
		"attachment": []any{doc{"type": "Document", "mediaType": "image/png", "url": peer.url + "/cat.png", "name": "a cat"}},
	})
	peer.receive(srv, peer.create(note))
	got := alice.wantPost(note["id"])
	for path, want := range map[string]any{
		"content": "<p>Hello <b>there</b></p>", "visibility": "public", "spoiler_text": "careful", "sensitive": true, "language": "en",
		"uri": note["id"], "url": note["url"], "account.acct": "bob@" + peer.host, "in_reply_to_id": nil, "svc.local": false,
		"created_at": strings.Replace(note["published"].(string), "Z", ".000Z", 1),
	} {
		if got.at(path) != want {
			t.Errorf("%s: got %v, want %v", path, got.at(path), want)
		}
	}
	media := got.at("media_attachments").([]any)[0].(map[string]any)
	if media["type"] != "image" || media["remote_url"] != peer.url+"/cat.png" || media["description"] != "a cat" {
		t.Errorf("got attachment %v", media)
	}
	for _, path := range []string{"/api/v1/timelines/home", "/api/v1/timelines/public", "/api/v1/timelines/public?remote=true", "/api/v1/timelines/tag/cats"} {
		if ids := alice.get(path).want(200).ids(); !slices.Equal(ids, []string{got.id()}) {
			t.Errorf("%s: got %v, want the post", path, ids)
		}
	}
	stream.wantAmong("user: update " + got.id())
	if n := alice.get("/api/v1/accounts/" + got.str("account.id")).object().num("statuses_count"); n != 1 {
		t.Errorf("%d posts are counted, want 1", n)
	}
	if len(alice.told()) != 0 {
		t.Error("somebody was told of a post that mentions nobody")
	}
	peer.receive(srv, peer.create(note)) // once more under another id
	if ids := alice.get("/api/v1/timelines/home").ids(); len(ids) != 1 {
		t.Errorf("got %v, want one post", ids)
	}
}

// Case 49: what comes to several inboxes is one post, of which people are told once.
func TestIncomingTwice(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	a := peer.create(peer.note(bob, "hey", doc{"to": []any{toPublic, alice.uri()}, "tag": doc{"type": "Mention", "href": alice.uri()}}))
	peer.post(srv, a)
	peer.postTo(srv, alice, a)
	peer.post(srv, with(a, doc{"id": peer.id("activities")}))
	settle(srv)
	if told := alice.told(); !slices.Equal(told, []string{"mention"}) {
		t.Errorf("told %v", told)
	}
	if ids := alice.get("/api/v1/timelines/public").ids(); len(ids) != 1 {
		t.Errorf("got %v, want one post", ids)
	}
}

// Cases 55 to 61: whom a post is for.
func TestIncomingVisibility(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, carol := srv.signUp("alice"), srv.signUp("carol")
	bob := peer.actor("bob")
	carol.follows(bob)
	followers := bob + "/followers"
	mention := []any{doc{"type": "Mention", "href": alice.uri(), "name": "@alice"}}
	for _, tt := range []struct {
		name     string
		note     doc
		activity doc
		personal bool
		want     string // "": it is not kept
		alice    bool   // sees it
		anybody  bool
		told     bool
	}{
		{"unlisted", doc{"to": []any{followers}, "cc": []any{toPublic}}, doc{"cc": []any{}}, false, "unlisted", true, true, false},
		{"for followers", doc{"to": []any{followers}, "cc": nil}, nil, false, "private", false, false, false},
		{"for followers in cc", doc{"to": []any{alice.uri()}, "cc": []any{followers}, "tag": mention}, nil, false, "private", true, false, true},
		{"direct", doc{"to": []any{alice.uri()}, "cc": nil, "tag": mention}, nil, false, "direct", true, false, true},
		{"one value in place of a list", doc{"to": alice.uri(), "cc": nil, "tag": mention[0]}, nil, false, "direct", true, false, true},
		{"named without being addressed", doc{"tag": mention}, nil, false, "public", true, true, false},
		{"named in what is for others", doc{"to": []any{followers}, "cc": nil, "tag": mention}, nil, false, "private", false, false, false},
		{"addressed without being named", doc{"to": []any{alice.uri()}, "cc": nil}, nil, false, "direct", true, false, false},
		{"as:Public", doc{"to": []any{"as:Public"}}, nil, false, "public", true, true, false},
		{"Public", doc{"to": "Public", "cc": nil}, nil, false, "public", true, true, false},
		{"for nobody", doc{"to": nil, "cc": nil}, nil, false, "", false, false, false},
		{"for nobody, to somebody's inbox", doc{"to": nil, "cc": nil}, nil, true, "direct", true, false, false},
		{"for the followers of another", doc{"to": []any{peer.url + "/users/eve/followers"}, "cc": nil}, nil, true, "direct", true, false, false},
		{"for nobody known", doc{"to": []any{peer.url + "/users/eve"}, "cc": nil}, nil, false, "", false, false, false},
		{"our own mark for all", doc{"to": []any{srv.url + "/#Public"}, "cc": []any{followers}}, nil, false, "private", false, false, false},
		{"addresses on the activity only", doc{"to": nil, "cc": nil}, doc{"to": []any{toPublic}}, false, "public", true, true, false},
		{"direct, it says", doc{"to": []any{alice.uri()}, "cc": nil, "directMessage": true}, nil, false, "direct", true, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			alice.post("/api/v1/notifications/clear").want(200)
			note := peer.note(bob, "psst", tt.note)
			a := peer.create(note, tt.activity)
			if tt.personal {
				peer.postTo(srv, alice, a)
			} else {
				peer.post(srv, a)
			}
			settle(srv)
			st, err := srv.db.StatusByURI(t.Context(), note["id"].(string))
			if err != nil {
				t.Fatal(err)
			}
			if st == nil {
				if tt.want != "" {
					t.Fatalf("it is not here: %s", srv.refusals(a["id"]))
				}
				return
			}
			if st.Visibility.String() != tt.want {
				t.Errorf("got visibility %s, want %q", st.Visibility, tt.want)
			}
			if got := alice.postOf(note["id"]) != nil; got != tt.alice {
				t.Errorf("alice sees it: %v, want %v", got, tt.alice)
			}
			if got := srv.as(nil).postOf(note["id"]) != nil; got != tt.anybody {
				t.Errorf("anybody sees it: %v, want %v", got, tt.anybody)
			}
			if told := alice.told(); (len(told) > 0) != tt.told || len(told) > 1 {
				t.Errorf("alice was told %v, want that to be %v", told, tt.told)
			}
			if direct := alice.get("/api/v1/conversations").ids(); tt.want == "direct" && len(direct) == 0 {
				t.Error("alice has no conversation")
			}
		})
	}
}

// Cases 62, 63, 69 to 72, 74 and others: what comes in odd shapes.
func TestIncomingShapes(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	alice.follows(bob)
	long := strings.Repeat("x", 300)
	for _, tt := range []struct {
		name string
		note doc
		want map[string]any // nil: it is refused
	}{
		{"case 62: maps and single values", doc{"to": toPublic, "content": nil, "contentMap": doc{"fr": "<p>Salut</p>"}, "summary": nil,
			"tag": doc{"type": "Hashtag", "name": "Salut"}, "attachment": doc{"type": "Image", "url": peer.url + "/a"}},
			map[string]any{"content": "<p>Salut</p>", "language": "fr", "spoiler_text": "", "tags.0.name": "salut", "media_attachments.0.type": "image"}},
		{"no content", doc{"content": nil}, map[string]any{"content": ""}},
		{"a warning without words", doc{"summary": "\u200b", "sensitive": "true"}, map[string]any{"spoiler_text": "…", "sensitive": true}},
		{"a warning with markup", doc{"summary": "<b>a &amp; b</b>"}, map[string]any{"spoiler_text": "a & b"}},
		{"type in a list", doc{"type": []any{"http://example.org/Thing", "Note"}}, map[string]any{"content": "text"}},
		{"far in the future", doc{"published": "9999-01-01T00:00:00Z"}, map[string]any{"content": "text"}},
		{"a page of another host", doc{"url": "https://elsewhere.example/1"}, map[string]any{"url": "ID"}},
		{"links to pages", doc{"url": []any{doc{"type": "Link", "mediaType": "video/mp4", "href": peer.url + "/v.mp4"}, doc{"type": "Link", "mediaType": "text/html", "href": peer.url + "/page"}}},
			map[string]any{"url": peer.url + "/page"}},
		{"case 69: hostile content", doc{"content": `<p onclick="x()">a<script>alert(1)</script><svg onload=x><a href="javascript:x()">b</a><b>c`},
			map[string]any{"content": `<p>ab<b>c</b></p>`}},
		{"markdown", doc{"content": "**hi**", "mediaType": "text/markdown"}, map[string]any{"content": "<p><strong>hi</strong></p>"}},
		{"case 74: hashtags", doc{"tag": []any{doc{"type": "Hashtag", "name": "#One"}, doc{"type": "Hashtag", "name": "one"}, doc{"type": "Hashtag", "name": "#ONE"}, "two", nil}},
			map[string]any{"tags.0.name": "one", "tags.1": nil}},
		{"case 72: emoji", doc{"content": ":cat: :../x:", "tag": []any{
			doc{"type": "Emoji", "name": ":cat:", "icon": doc{"type": "Image", "url": peer.url + "/cat.png"}},
			doc{"type": "Emoji", "name": ":../x:", "icon": doc{"type": "Image", "url": peer.url + "/x.png"}}}},
			map[string]any{"emojis.0.shortcode": "cat", "emojis.0.url": srv.proxy.URL(peer.url + "/cat.png"), "emojis.1": nil}},
		{"case 71: alt text as name", doc{"attachment": []any{doc{"type": "Document", "mediaType": "image/png", "url": peer.url + "/a.png", "name": "alt", "summary": "x"}}},
			map[string]any{"media_attachments.0.description": "alt"}},
		{"alt text of several lines", doc{"attachment": []any{doc{"type": "Document", "mediaType": "image/png", "url": peer.url + "/a.png", "name": " one\n\n  two "}}},
			map[string]any{"media_attachments.0.description": "one\n\n  two"}},
		{"case 71: alt text as summary", doc{"attachment": []any{doc{"type": "Document", "mediaType": "image/png", "url": peer.url + "/a.png", "summary": "alt"}}},
			map[string]any{"media_attachments.0.description": "alt"}},
		{"case 71: alt text as content", doc{"attachment": []any{doc{"type": "Image", "url": doc{"href": peer.url + "/a.png"}, "content": "alt"}}},
			map[string]any{"media_attachments.0.description": "alt"}},
		{"links as address", doc{"attachment": []any{doc{"type": "Document", "url": []any{doc{"type": "Link", "mediaType": "audio/ogg", "href": peer.url + "/a"}}}}},
			map[string]any{"media_attachments.0.type": "audio", "media_attachments.0.remote_url": peer.url + "/a"}},
		{"attachments from nowhere", doc{"attachment": []any{doc{"type": "Image", "url": "data:image/png;base64,AA"}, doc{"type": "Image", "url": "javascript:x()"}}},
			map[string]any{"media_attachments.0": nil}},
		{"a sensitive attachment", doc{"attachment": []any{doc{"type": "Image", "url": peer.url + "/a.png", "sensitive": true}}}, map[string]any{"sensitive": true}},
		{"case 70: an article", doc{"type": "Article", "name": "On <cats>", "summary": "an abstract", "content": "<p>Long</p>"},
			map[string]any{"spoiler_text": "", "content": `<p><b><a href="PAGE" rel="nofollow noopener noreferrer" target="_blank">On &lt;cats&gt;</a></b></p><p>Long</p>`}},
		{"an event", doc{"type": "Event", "name": "Party", "summary": "<p>bring food</p>", "content": nil, "startTime": "2030-01-02T18:00:00Z", "location": doc{"type": "Place", "name": "The <park>"}},
			map[string]any{"content": `<p><b><a href="PAGE" rel="nofollow noopener noreferrer" target="_blank">Party</a></b></p><p>2030-01-02 18:00 UTC, The &lt;park&gt;</p><p>bring food</p>`}},
		{"case 63: a video", doc{"type": "Video", "name": "Cats", "content": nil, "attributedTo": []any{doc{"type": "Group", "id": peer.url + "/channels/1"}, doc{"type": "Person", "id": bob}},
			"url": []any{doc{"type": "Link", "mediaType": "text/html", "href": peer.url + "/w/1"},
				doc{"type": "Link", "mediaType": "application/x-mpegURL", "href": peer.url + "/m3u8", "tag": []any{doc{"type": "Link", "mediaType": "video/mp4", "href": peer.url + "/1.mp4"}}}}},
			map[string]any{"url": peer.url + "/w/1", "media_attachments.0.type": "video", "media_attachments.0.remote_url": peer.url + "/1.mp4", "account.acct": "bob@" + peer.host}},
		{"case 70: a page about a link", doc{"type": "Page", "name": "News", "content": nil, "attachment": []any{doc{"type": "Link", "href": "https://news.example/1"}}},
			map[string]any{"media_attachments.0": nil, "content": `<p><b><a href="PAGE" rel="nofollow noopener noreferrer" target="_blank">News</a></b></p>`}},
		{"a very long warning", doc{"summary": strings.Repeat("y", 10_000)}, map[string]any{"content": "text"}},
		{"somebody else's", doc{"attributedTo": peer.url + "/users/eve"}, nil},
		{"of another host", doc{"id": "https://elsewhere.example/notes/" + long}, nil},
		{"of this server", doc{"id": srv.url + "/objects/1"}, nil},
		{"without an id", doc{"id": nil}, nil},
		{"with an odd id", doc{"id": []any{"a"}}, nil},
		{"a question that asks nothing", doc{"type": "Question"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.note(bob, "text", tt.note)
			a := peer.create(note, doc{"actor": bob})
			peer.post(srv, a)
			settle(srv)
			if tt.want == nil {
				if srv.refusals(a["id"]) == "" {
					t.Error("it is not noted why it was refused")
				}
				if id, ok := note["id"].(string); ok && alice.postOf(id) != nil {
					t.Error("it is here")
				}
				return
			}
			got := alice.wantPost(note["id"])
			for path, want := range tt.want {
				if text, ok := want.(string); ok {
					want = strings.NewReplacer("PAGE", fmt.Sprint(note["url"]), "ID", fmt.Sprint(note["id"])).Replace(text)
				}
				if v := got.dig(path); v != want {
					t.Errorf("%s: got %v, want %v", path, v, want)
				}
			}
		})
	}
}

// dig returns a member, also of lists by place; nil if there is none.
func (o *object) dig(path string) any {
	var v any = o.m
	for _, key := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			v = nil
			var i int
			if _, err := fmt.Sscan(key, &i); err == nil && i < len(x) {
				v = x[i]
			}
		default:
			return nil
		}
	}
	return v
}

// Cases 64 to 66: nobody makes posts of others, nor has one that is known go to somebody else.
func TestIncomingForgery(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, carol := srv.signUp("alice"), srv.signUp("carol")
	bob, eve := peer.actor("bob"), peer.actor("eve")
	alice.follows(bob)
	alice.follows(eve)
	note := peer.note(bob, "mine", doc{"to": []any{bob + "/followers"}, "cc": nil})
	peer.receive(srv, peer.create(note))
	forged := peer.note(eve, "hers", doc{"id": note["id"], "to": []any{carol.uri()}})
	a := peer.create(forged)
	peer.receive(srv, a)
	if !strings.Contains(srv.refusals(a["id"]), "somebody else") {
		t.Errorf("refused for %q", srv.refusals(a["id"]))
	}
	wider := peer.note(bob, "mine", doc{"id": note["id"], "to": []any{toPublic, carol.uri()}})
	peer.receive(srv, peer.create(wider))
	if carol.postOf(note["id"]) != nil {
		t.Error("a second Create has brought the post to somebody else")
	}
	if got := alice.wantPost(note["id"]); got.str("visibility") != "private" || got.str("content") != "mine" {
		t.Errorf("got %v", got.m)
	}
	for name, forged := range map[string]doc{
		"by another on the same host":  peer.create(peer.note(bob, "forged"), doc{"actor": eve}),
		"for another on the same host": peer.create(peer.note(eve, "forged", doc{"attributedTo": []any{bob}}), doc{"actor": eve}),
	} {
		t.Run(name, func(t *testing.T) {
			peer.receive(srv, forged)
			if alice.postOf(forged["object"].(doc)["id"]) != nil {
				t.Error("it is here")
			}
		})
	}
	t.Run("signed by another", func(t *testing.T) {
		a := peer.create(peer.note(bob, "forged"))
		peer.deliver(srv, "/inbox", eve, a)
		settle(srv)
		if alice.postOf(a["object"].(doc)["id"]) != nil {
			t.Error("it is here")
		}
	})
	t.Run("of here", func(t *testing.T) {
		a := peer.create(peer.note(alice.uri(), "forged"), doc{"actor": alice.uri()})
		if got := peer.deliver(srv, "/inbox", bob, a).status; got < 400 {
			t.Errorf("answered with %d", got)
		}
	})
}

// Federation 3.7: what concerns nobody here is not kept.
func TestRelevance(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, dan := peer.actor("bob"), peer.actor("dan")
	alice.follows(dan)
	hers := alice.publish("hello")
	his := peer.note(dan, "known")
	peer.receive(srv, peer.create(his))
	alice.post("/api/v1/tags/cats/follow").want(200)
	for _, tt := range []struct {
		name string
		note doc
		want bool
	}{
		{"nothing to do with anybody", doc{}, false},
		{"a reply to somebody here", doc{"inReplyTo": hers.str("uri")}, true},
		{"a reply to a post that is known", doc{"inReplyTo": his["id"]}, true},
		{"a reply to what is not", doc{"inReplyTo": peer.url + "/notes/unknown"}, false},
		{"mentions somebody", doc{"tag": []any{doc{"type": "Mention", "href": alice.uri(), "name": "@alice"}}}, true},
		{"addressed to somebody", doc{"cc": []any{alice.uri()}}, true},
		{"a hashtag that is followed", doc{"tag": []any{doc{"type": "Hashtag", "name": "#Cats"}}}, true},
		{"another hashtag", doc{"tag": []any{doc{"type": "Hashtag", "name": "#Dogs"}}}, false},
		{"for followers, of which there are none here", doc{"to": []any{bob + "/followers"}, "cc": nil}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.note(bob, "text", tt.note)
			peer.receive(srv, peer.create(note))
			if got := alice.postOf(note["id"]) != nil; got != tt.want {
				t.Errorf("it is here: %v, want %v", got, tt.want)
			}
		})
	}
}

// Cases 67 and 76: what a post replies to is fetched, but not without end, and its thread is that of what it replies to.
func TestIncomingThread(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	alice.follows(bob)

	root := peer.note(bob, "root", doc{"context": peer.url + "/contexts/1"})
	middle := peer.note(bob, "middle", doc{"inReplyTo": root["id"], "context": peer.url + "/contexts/2"})
	leaf := peer.note(bob, "leaf", doc{"inReplyTo": middle["id"], "context": peer.url + "/contexts/3"})
	peer.serve(root)
	peer.serve(middle)
	peer.receive(srv, peer.create(leaf))
	got := alice.wantPost(leaf["id"])
	above := alice.get("/api/v1/statuses/" + got.id() + "/context").want(200).object()
	if n := len(above.at("ancestors").([]any)); n != 2 {
		t.Fatalf("%d posts are above, want 2", n)
	}
	if got.at("svc.conversation_id") != alice.wantPost(root["id"]).at("svc.conversation_id") {
		t.Error("the posts are of several conversations")
	}
	if got.str("svc.in_reply_to_account_acct") != "bob@"+peer.host || !got.truth("svc.parent_visible") {
		t.Errorf("got %v", got.at("svc"))
	}
	if n := alice.wantPost(middle["id"]).num("replies_count"); n != 1 {
		t.Errorf("%d replies are counted, want 1", n)
	}

	t.Run("a very long one", func(t *testing.T) {
		parent := ""
		for range 150 {
			n := peer.note(bob, "link")
			if parent != "" {
				n["inReplyTo"] = parent
			}
			peer.serve(n)
			parent = n["id"].(string)
		}
		before := peer.askedAll()
		peer.receive(srv, peer.create(peer.note(bob, "end", doc{"inReplyTo": parent})))
		if n := peer.askedAll() - before; n != 100 {
			t.Errorf("%d posts were asked for, want 100", n)
		}
	})
	t.Run("one that branches", func(t *testing.T) {
		var grow func(depth int) doc
		grow = func(depth int) doc { // each answers one and quotes another
			n := peer.note(bob, "branch")
			if depth > 0 {
				n["inReplyTo"], n["quoteUrl"] = grow(depth - 1)["id"], grow(depth - 1)["id"]
			}
			peer.serve(n)
			return n
		}
		top := grow(7)
		before := peer.askedAll()
		peer.receive(srv, peer.create(top))
		if n := peer.askedAll() - before; n < 7 || n > 100 {
			t.Errorf("%d posts were asked for, want some, but no more than 100", n)
		}
		st := alice.wantPost(top["id"])
		if n := len(alice.get("/api/v1/statuses/" + st.id() + "/context").object().at("ancestors").([]any)); n != 7 {
			t.Errorf("%d posts are above, want 7", n)
		}
		if !st.truth("svc.quote_visible") {
			t.Error("it quotes nothing")
		}
	})
	t.Run("one that names many", func(t *testing.T) {
		named := 0
		mentioning := func() []any {
			var tags []any
			for range 20 {
				named++
				tags = append(tags, doc{"type": "Mention", "href": fmt.Sprintf("%s/users/nobody%d", peer.url, named)})
			}
			return tags
		}
		parent := peer.url + "/none"
		for range 50 {
			n := peer.note(bob, "link", doc{"inReplyTo": parent, "tag": mentioning()})
			peer.serve(n)
			parent = n["id"].(string)
		}
		before := peer.askedAll()
		peer.receive(srv, peer.create(peer.note(bob, "end", doc{"inReplyTo": parent, "tag": mentioning()})))
		if n := peer.askedAll() - before; n < 60 || n > 130 {
			t.Errorf("%d requests because of one post", n)
		}
	})
	t.Run("several in one activity", func(t *testing.T) {
		var notes []any
		for i := range 10 {
			notes = append(notes, peer.note(bob, "one of many", doc{"inReplyTo": fmt.Sprintf("%s/unknown%d", peer.url, i)}))
		}
		before := peer.askedAll()
		peer.receive(srv, peer.activity("Create", bob, notes))
		alice.wantPost(notes[9].(doc)["id"])
		if n := peer.askedAll() - before; n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
	t.Run("a circle", func(t *testing.T) {
		a := peer.note(bob, "a")
		b := peer.note(bob, "b", doc{"inReplyTo": a["id"]})
		a["inReplyTo"] = b["id"]
		peer.serve(a)
		peer.serve(b)
		peer.receive(srv, peer.create(a))
		st := alice.wantPost(a["id"])
		alice.get("/api/v1/statuses/" + st.id() + "/context").want(200)
	})
	t.Run("a parent that comes later", func(t *testing.T) {
		parent := peer.note(bob, "parent")
		child := peer.note(bob, "child", doc{"inReplyTo": parent["id"]})
		grandchild := peer.note(bob, "grandchild", doc{"inReplyTo": child["id"]})
		peer.receive(srv, peer.create(child))
		peer.receive(srv, peer.create(grandchild))
		if alice.wantPost(child["id"]).at("in_reply_to_id") != nil {
			t.Error("it replies to something")
		}
		peer.receive(srv, peer.create(parent))
		want := alice.wantPost(parent["id"])
		for _, n := range []doc{child, grandchild} {
			if got := alice.wantPost(n["id"]); got.at("svc.conversation_id") != want.at("svc.conversation_id") || got.at("in_reply_to_id") == nil {
				t.Errorf("got %v", got.m)
			}
		}
		if want.num("replies_count") != 1 {
			t.Errorf("%d replies are counted, want 1", want.num("replies_count"))
		}
	})
	t.Run("a reply to what it cannot see", func(t *testing.T) {
		secret := alice.publish("secret", "visibility", "private")
		n := peer.note(bob, "reply", doc{"inReplyTo": secret.str("uri")})
		peer.receive(srv, peer.create(n))
		if got := alice.wantPost(n["id"]); got.at("in_reply_to_id") != nil {
			t.Error("it is linked with a post that its author cannot see")
		}
	})
	t.Run("a parent of another making", func(t *testing.T) {
		n := peer.note(bob, "parent")
		forged := peer.note(bob, "forged", doc{"id": peer.url + "/other"})
		peer.serveAt(n["id"].(string), forged)
		peer.receive(srv, peer.create(peer.note(bob, "child", doc{"inReplyTo": n["id"]})))
		if alice.postOf(n["id"]) != nil || alice.postOf(forged["id"]) != nil {
			t.Error("a post is here that is not where it says")
		}
	})
}

// Case 68: order is by arrival, or for what is fetched by when it was published.
func TestIncomingOrder(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	alice.follows(bob)
	day := func(n int) string { return time.Now().AddDate(0, 0, n).UTC().Format(time.RFC3339) }
	old := peer.note(bob, "old", doc{"published": day(-3), "tag": []any{doc{"type": "Mention", "href": alice.uri()}}, "to": []any{toPublic, alice.uri()}})
	peer.serve(old)
	first := peer.note(bob, "first", doc{"published": day(3650 * 200)})
	second := peer.note(bob, "second", doc{"published": day(-1), "inReplyTo": old["id"]})
	for _, n := range []doc{first, second} {
		peer.receive(srv, peer.create(n))
	}
	var got []string
	for _, st := range alice.get("/api/v1/timelines/public").list() {
		got = append(got, st.str("content"))
	}
	if want := []string{"second", "first", "old"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if at := alice.wantPost(first["id"]).str("created_at"); at > time.Now().UTC().Format(time.RFC3339) {
		t.Errorf("it was made at %s", at)
	}
	if told := alice.told(); len(told) != 0 {
		t.Errorf("told %v of an old post", told)
	}
}

// Case 75: what polls ask, and until when.
func TestIncomingPoll(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	alice.follows(bob)
	option := func(name string, votes any) doc {
		return doc{"type": "Note", "name": name, "replies": doc{"type": "Collection", "totalItems": votes}}
	}
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	for _, tt := range []struct {
		name string
		note doc
		want map[string]any
	}{
		{"one choice", doc{"oneOf": []any{option("yes", 2), option("no", 0)}, "endTime": end.Format(time.RFC3339), "votersCount": 2},
			map[string]any{"multiple": false, "expired": false, "votes_count": 2.0, "voters_count": 2.0, "options.0.title": "yes", "options.0.votes_count": 2.0, "expires_at": end.Format("2006-01-02T15:04:05.000Z")}},
		{"several, without an end", doc{"anyOf": []any{option("a", 1), option("b", -5), option("a", 1)}, "oneOf": []any{}, "endTime": nil},
			map[string]any{"multiple": true, "expired": false, "expires_at": nil, "votes_count": 2.0, "voters_count": nil, "options.0.votes_count": 2.0, "options.2": nil}},
		{"closed", doc{"oneOf": []any{option("a", 1e30)}, "closed": true}, map[string]any{"expired": true}},
		{"closed at a time", doc{"oneOf": option("a", "many"), "closed": "2024-01-01T00:00:00Z"}, map[string]any{"expired": true, "votes_count": 0.0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.note(bob, "<p>tea?</p>", doc{"type": "Question"}, tt.note)
			peer.receive(srv, peer.create(note))
			got := alice.wantPost(note["id"])
			poll := &object{t, got.at("poll").(map[string]any)}
			for path, want := range tt.want {
				if v := poll.dig(path); v != want {
					t.Errorf("%s: got %v, want %v", path, v, want)
				}
			}
		})
	}
}

// RFC 9421 does as well as the older scheme.
func TestIncomingPostSigned(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	peer.scheme = httpsig.RFC9421
	bob := peer.actor("bob", peer.edKey("bob"))
	alice.follows(bob)
	note := peer.note(bob, "signed")
	peer.receive(srv, peer.create(note))
	alice.wantPost(note["id"])
}
