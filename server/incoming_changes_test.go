package server_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// with returns a document with other members.
func with(d doc, changes doc) doc {
	d = maps.Clone(d)
	maps.Copy(d, changes)
	return d
}

// fromNow is a time from now, as documents have it.
func fromNow(d time.Duration) string {
	return time.Now().Add(d).UTC().Format("2006-01-02T15:04:05.000Z")
}

// Case 106: a newer version by the author replaces what was, which is kept; neither the audience nor anything else that is said once.
func TestIncomingUpdate(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, carol := srv.signUp("alice"), srv.signUp("carol")
	bob, eve := peer.actor("bob"), peer.actor("eve")
	alice.follows(bob)
	alice.follows(eve)
	mention := func(m *member) doc { return doc{"type": "Mention", "href": m.uri(), "name": "@" + m.nick} }
	note := peer.note(bob, "one", doc{
		"published": fromNow(-time.Hour), "tag": []any{doc{"type": "Hashtag", "name": "#one"}},
		"attachment": []any{doc{"type": "Image", "url": peer.url + "/1.png", "name": "a"}},
	})
	peer.receive(srv, peer.create(note))
	st := alice.wantPost(note["id"])
	alice.post("/api/v1/statuses/" + st.id() + "/reblog").want(200)
	stream := srv.listen(alice.caller, "stream", "user")
	updated := fromNow(-30 * time.Minute)

	t.Run("by another", func(t *testing.T) {
		a := peer.activity("Update", eve, with(note, doc{"content": "forged", "updated": fromNow(-time.Minute)}))
		peer.receive(srv, a)
		if got := alice.wantPost(note["id"]).str("content"); got != "one" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("not newer", func(t *testing.T) {
		for _, updated := range []any{nil, note["published"], fromNow(-2 * time.Hour), "soon"} {
			peer.receive(srv, peer.activity("Update", bob, with(note, doc{"content": "older", "updated": updated})))
		}
		if got := alice.wantPost(note["id"]).str("content"); got != "one" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("newer", func(t *testing.T) {
		changed := with(note, doc{
			"content": "two", "summary": "cw", "updated": updated, "published": fromNow(-time.Minute), "inReplyTo": st.str("uri"),
			"to": []any{carol.uri(), toPublic}, "cc": []any{}, "sensitive": true,
			"tag":        []any{doc{"type": "Hashtag", "name": "#two"}, mention(carol)},
			"attachment": []any{doc{"type": "Image", "url": peer.url + "/1.png", "name": "b"}, doc{"type": "Image", "url": peer.url + "/2.png"}},
		})
		peer.receive(srv, peer.activity("Update", bob, changed))
		got := alice.wantPost(note["id"])
		for path, want := range map[string]any{
			"content": "two", "spoiler_text": "cw", "sensitive": true, "created_at": note["published"], "in_reply_to_id": nil, "visibility": "public",
			"tags.0.name": "two", "tags.1": nil, "media_attachments.0.description": "b", "media_attachments.1.remote_url": peer.url + "/2.png",
			"mentions.0.acct": "carol", "media_attachments.0.id": st.dig("media_attachments.0.id"),
		} {
			if v := got.dig(path); v != want {
				t.Errorf("%s: got %v, want %v", path, v, want)
			}
		}
		if got.at("edited_at") == nil {
			t.Error("it does not say that it was edited")
		}
		history := alice.get("/api/v1/statuses/" + st.id() + "/history").want(200).list()
		if len(history) != 2 || history[0].str("content") != "one" || history[1].str("content") != "two" {
			t.Errorf("got history %v", history)
		}
		stream.wantAmong("user: status.update " + st.id())
		if told := alice.told(); !slices.Equal(told, []string{"update"}) {
			t.Errorf("who boosted it was told %v", told)
		}
		if told := carol.told(); !slices.Equal(told, []string{"mention"}) {
			t.Errorf("who is mentioned newly was told %v", told)
		}
		if ids := alice.get("/api/v1/timelines/tag/one").ids(); len(ids) != 0 {
			t.Error("it has the old hashtag still")
		}
	})
	t.Run("the same again", func(t *testing.T) {
		peer.receive(srv, peer.activity("Update", bob, with(note, doc{"content": "another", "updated": updated})))
		if n := len(alice.get("/api/v1/statuses/" + st.id() + "/history").list()); n != 2 {
			t.Errorf("%d versions, want 2", n)
		}
	})
	t.Run("cannot widen", func(t *testing.T) {
		secret := peer.note(bob, "secret", doc{"to": []any{bob + "/followers"}, "cc": nil, "published": fromNow(-time.Hour)})
		peer.receive(srv, peer.create(secret))
		peer.receive(srv, peer.activity("Update", bob, with(secret, doc{
			"content": "open", "updated": fromNow(-time.Minute), "to": []any{toPublic, carol.uri()}, "tag": []any{mention(carol)}})))
		if carol.postOf(secret["id"]) != nil {
			t.Error("an edit has brought a post to more people")
		}
		if got := alice.wantPost(secret["id"]); got.str("content") != "open" || got.str("visibility") != "private" {
			t.Errorf("got %v", got.m)
		}
	})
	t.Run("by name only", func(t *testing.T) {
		peer.serve(with(note, doc{"content": "three", "updated": fromNow(-10 * time.Minute)}))
		peer.receive(srv, peer.activity("Update", bob, note["id"]))
		if got := alice.wantPost(note["id"]).str("content"); got != "three" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("of what is not here", func(t *testing.T) {
		for published, want := range map[string]bool{fromNow(-time.Hour): true, fromNow(-72 * time.Hour): false} {
			n := peer.note(bob, "late", doc{"published": published, "updated": fromNow(-time.Minute)})
			peer.receive(srv, peer.activity("Update", bob, n))
			if got := alice.postOf(n["id"]) != nil; got != want {
				t.Errorf("published %s: it is here: %v, want %v", published, got, want)
			}
		}
	})
}

// Case 81: how a poll stands is what its author's server says, of the same options.
func TestIncomingTally(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, eve := peer.actor("bob"), peer.actor("eve")
	alice.follows(bob)
	alice.follows(eve)
	question := func(yes, no int, titles ...string) doc {
		if titles == nil {
			titles = []string{"yes", "no"}
		}
		var options []any
		for i, n := range []int{yes, no} {
			options = append(options, doc{"type": "Note", "name": titles[i], "replies": doc{"type": "Collection", "totalItems": n}})
		}
		return doc{"type": "Question", "oneOf": options, "endTime": fromNow(time.Hour), "published": fromNow(-time.Hour)}
	}
	note := peer.note(bob, "tea?", question(0, 0))
	peer.receive(srv, peer.create(note))
	votes := func() string {
		o := alice.wantPost(note["id"])
		return fmt.Sprint(o.dig("poll.options.0.title"), o.dig("poll.options.0.votes_count"), o.dig("poll.options.1.votes_count"))
	}
	for _, tt := range []struct {
		name, by string
		question doc
		want     string
	}{
		{"by another", eve, question(9, 9), "yes0 0"},
		{"by the author", bob, question(3, 1), "yes3 1"},
		{"other options", bob, question(5, 5, "maybe", "no"), "yes3 1"},
		{"other options, as an edit", bob, with(question(5, 6, "maybe", "no"), doc{"updated": fromNow(-time.Minute)}), "maybe5 6"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			peer.receive(srv, peer.activity("Update", tt.by, with(note, tt.question)))
			if got := votes(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("who looks has it asked for", func(t *testing.T) {
		note := peer.note(bob, "coffee?", question(1, 1))
		peer.receive(srv, peer.create(note))
		peer.serve(with(note, question(7, 8)))
		srv.heardLongAgo(note["id"])
		for range 2 {
			alice.wantPost(note["id"])
			settle(srv)
		}
		st := alice.wantPost(note["id"])
		if got := st.dig("poll.options.1.votes_count"); got != 8.0 {
			t.Errorf("got %v", got)
		}
		alice.get("/api/v1/polls/" + st.dig("poll.id").(string)).want(200)
		settle(srv)
		if n := peer.asked(note["id"].(string)); n != 1 {
			t.Errorf("it was asked for %d times", n)
		}
	})
	t.Run("what is not found is not gone", func(t *testing.T) {
		for status, want := range map[int]bool{404: true, 500: true, 410: false} {
			note := peer.note(bob, "wine?", question(1, 1), doc{"to": []any{bob + "/followers"}, "cc": nil})
			peer.receive(srv, peer.create(note))
			peer.remove(note["id"].(string), status)
			srv.heardLongAgo(note["id"])
			alice.get("/api/v1/polls/" + srv.pollOf(note["id"])).want(200)
			settle(srv)
			if peer.asked(note["id"].(string)) == 0 {
				t.Error("nobody has asked")
			}
			open := peer.note(bob, "water?", question(1, 1))
			peer.receive(srv, peer.create(open))
			peer.remove(open["id"].(string), status)
			peer.receive(srv, peer.activity("Update", bob, open["id"]))
			if got := alice.postOf(open["id"]) != nil; got != want {
				t.Errorf("after %d what is for all is here: %v, want %v", status, got, want)
			}
			if got := alice.postOf(note["id"]) != nil; got != want {
				t.Errorf("after %d it is here: %v, want %v", status, got, want)
			}
		}
	})
	t.Run("those who voted hear of the end", func(t *testing.T) {
		st := alice.wantPost(note["id"])
		alice.post("/api/v1/polls/"+st.dig("poll.id").(string)+"/votes", "choices[]", "0").want(200)
		peer.receive(srv, peer.activity("Update", bob, with(note, with(question(8, 8, "maybe", "no"), doc{"closed": fromNow(-time.Second)}))))
		settle(srv)
		if told := alice.told(); !slices.Equal(told, []string{"poll"}) {
			t.Errorf("told %v", told)
		}
	})
}

// pollOf returns the id of the poll of a post.
func (a *api) pollOf(uri any) string {
	a.t.Helper()
	st, err := a.db.StatusByURI(a.t.Context(), uri.(string))
	if err != nil || st == nil {
		a.t.Fatalf("%v: %v, %v", uri, st, err)
	}
	p, err := a.db.PollOf(a.t.Context(), st.ID)
	if err != nil || p == nil {
		a.t.Fatalf("%v has the poll %v, %v", uri, p, err)
	}
	return p.ID.String()
}

// Some servers give activities the id of the post that they are about: an edit and a deletion are not known already because the post is.
func TestIncomingChangesOfOneID(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	alice.follows(bob)
	note := peer.note(bob, "one", doc{"type": "Article", "published": fromNow(-time.Hour)})
	same := doc{"id": note["id"]}
	want := func(content string) {
		t.Helper()
		if got := alice.wantPost(note["id"]).str("content"); !strings.Contains(got, content) {
			t.Errorf("got %q, want %q", got, content)
		}
	}
	peer.receive(srv, peer.create(note, same))
	want("one")
	for i, content := range []string{"two", "three"} {
		edited := with(note, doc{"content": content, "updated": fromNow(time.Duration(i-5) * time.Minute)})
		for range 2 {
			peer.receive(srv, peer.activity("Update", bob, edited, same))
			want(content)
		}
	}
	st := alice.wantPost(note["id"])
	if n := len(alice.get("/api/v1/statuses/" + st.id() + "/history").want(200).list()); n != 3 {
		t.Errorf("%d versions, want 3", n)
	}
	peer.receive(srv, peer.activity("Delete", bob, note, same))
	if alice.postOf(note["id"]) != nil {
		t.Error("what was deleted is here")
	}
	peer.receive(srv, peer.create(note, same))
	if alice.postOf(note["id"]) != nil {
		t.Error("it has come back")
	}
}

// Case 111: quotes, under all the names that they have.
func TestIncomingQuote(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, eve := peer.actor("bob"), peer.actor("eve")
	alice.follows(bob)
	quoted := alice.publish("quote me")
	secret := alice.publish("do not", "visibility", "private")
	uri := quoted.str("uri")
	const re = `<p class="quote-inline">RE: <a href="https://example.org">x</a></p>`
	for name, changes := range map[string]doc{
		"quote":                 {"quote": uri},
		"quote as a map":        {"quote": doc{"id": uri}},
		"quoteUrl":              {"quoteUrl": uri},
		"quoteUri":              {"quoteUri": uri},
		"_misskey_quote":        {"_misskey_quote": uri},
		"a tag":                 {"tag": []any{doc{"type": "Link", "mediaType": `application/ld+json; profile="https://www.w3.org/ns/activitystreams"`, "href": uri, "name": "RE: " + uri}}},
		"a tag with a relation": {"tag": []any{doc{"type": "Link", "mediaType": "application/activity+json", "href": uri, "rel": "https://misskey-hub.net/ns#_misskey_quote"}}},
		"above":                 {"quote": uri, "content": `<p class="quote-inline">RE: <a href="https://example.org"><span class="invisible">https://</span>x</a></p><p>look</p>`},
		"a span":                {"quoteUrl": uri, "content": `<p>look</p><span class="quote-inline"><br><br>RE: <a href="https://example.org">x</a></span>`},
	} {
		t.Run(name, func(t *testing.T) {
			note := peer.note(bob, "<p>look</p>"+re, changes)
			peer.receive(srv, peer.create(note))
			got := alice.wantPost(note["id"])
			if got.at("svc.quote_id") != quoted.id() || got.at("svc.quote_visible") != true {
				t.Errorf("got %v", got.at("svc"))
			}
			if got.str("content") != "<p>look</p>" {
				t.Errorf("got content %q", got.str("content"))
			}
		})
	}
	t.Run("what is not for all", func(t *testing.T) {
		note := peer.note(bob, "look", doc{"quoteUrl": secret.str("uri")})
		peer.receive(srv, peer.create(note))
		if got := alice.wantPost(note["id"]); got.at("svc.quote_id") != nil {
			t.Errorf("got %v", got.at("svc"))
		}
	})
	t.Run("what is not here", func(t *testing.T) {
		later := peer.note(eve, "later")
		note := peer.note(bob, "<p>look</p>"+re, doc{"quoteUrl": later["id"]})
		peer.receive(srv, peer.create(note))
		if got := alice.wantPost(note["id"]); got.at("svc.quote_id") != nil || !strings.Contains(got.str("content"), "RE: ") {
			t.Errorf("got %v", got.m)
		}
		peer.receive(srv, peer.create(with(later, doc{"inReplyTo": uri})))
		if got := alice.wantPost(note["id"]); got.at("svc.quote_id") != alice.wantPost(later["id"]).id() || got.str("content") != "<p>look</p>" {
			t.Errorf("got %v", got.m)
		}
		if n := alice.wantPost(later["id"]).dig("svc.quotes_count"); n != 1.0 {
			t.Errorf("%v quotes are counted", n)
		}
	})
}
