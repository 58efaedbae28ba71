package federation_test

import (
	"fmt"
	"slices"
	"strings"
	"svc/app/apptest"
	"testing"
	"time"
)

// TestIncomingUpdate checks that a newer version by the author replaces the post and keeps the old one; audience and other fixed
// members stay (case 106).
func TestIncomingUpdate(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice, carol := srv.SignUp("alice"), srv.SignUp("carol")
	bob, eve := peer.AddActor("bob"), peer.AddActor("eve")
	alice.FollowRemote(bob)
	alice.FollowRemote(eve)
	mention := func(m *apptest.User) apptest.Doc {
		return apptest.Doc{"type": "Mention", "href": m.URI(), "name": "@" + m.Nickname}
	}
	note := peer.Note(bob, "one", apptest.Doc{
		"published": apptest.FromNow(-time.Hour), "tag": []any{apptest.Doc{"type": "Hashtag", "name": "#one"}},
		"attachment": []any{apptest.Doc{"type": "Image", "url": peer.URL + "/1.png", "name": "a"}},
	})
	peer.PostAndSettle(srv, peer.Create(note))
	st := alice.WantPost(note["id"])
	alice.Post("/api/v1/statuses/" + st.ID() + "/reblog").Want(200)
	stream := srv.OpenStream(alice.Client, "stream", "user")
	updated := apptest.FromNow(-30 * time.Minute)

	t.Run("by another", func(t *testing.T) {
		a := peer.Activity("Update", eve, apptest.With(note, apptest.Doc{"content": "forged", "updated": apptest.FromNow(-time.Minute)}))
		peer.PostAndSettle(srv, a)
		if got := alice.WantPost(note["id"]).Str("content"); got != "one" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("not newer", func(t *testing.T) {
		for _, updated := range []any{nil, note["published"], apptest.FromNow(-2 * time.Hour), "soon"} {
			peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.With(note, apptest.Doc{"content": "older", "updated": updated})))
		}
		if got := alice.WantPost(note["id"]).Str("content"); got != "one" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("newer", func(t *testing.T) {
		changed := apptest.With(note, apptest.Doc{
			"content": "two", "summary": "cw", "updated": updated, "published": apptest.FromNow(-time.Minute), "inReplyTo": st.Str("uri"),
			"to": []any{carol.URI(), apptest.Public}, "cc": []any{}, "sensitive": true,
			"tag":        []any{apptest.Doc{"type": "Hashtag", "name": "#two"}, mention(carol)},
			"attachment": []any{apptest.Doc{"type": "Image", "url": peer.URL + "/1.png", "name": "b"}, apptest.Doc{"type": "Image", "url": peer.URL + "/2.png"}},
		})
		peer.PostAndSettle(srv, peer.Activity("Update", bob, changed))
		got := alice.WantPost(note["id"])
		for path, want := range map[string]any{
			"content": "two", "spoiler_text": "cw", "sensitive": true, "created_at": note["published"], "in_reply_to_id": nil, "visibility": "public",
			"tags.0.name": "two", "tags.1": nil, "media_attachments.0.description": "b", "media_attachments.1.remote_url": peer.URL + "/2.png",
			"mentions.0.acct": "carol", "media_attachments.0.id": st.Find("media_attachments.0.id"),
		} {
			if v := got.Find(path); v != want {
				t.Errorf("%s: got %v, want %v", path, v, want)
			}
		}
		if got.At("edited_at") == nil {
			t.Error("it does not say that it was edited")
		}
		history := alice.Get("/api/v1/statuses/" + st.ID() + "/history").Want(200).List()
		if len(history) != 2 || history[0].Str("content") != "one" || history[1].Str("content") != "two" {
			t.Errorf("got history %v", history)
		}
		stream.WantEvent("user: status.update " + st.ID())
		if got := alice.NotificationTypes(); !slices.Equal(got, []string{"update"}) {
			t.Errorf("notifications of the account that boosted it: %v", got)
		}
		if got := carol.NotificationTypes(); !slices.Equal(got, []string{"mention"}) {
			t.Errorf("notifications of the newly mentioned account: %v", got)
		}
		if ids := alice.Get("/api/v1/timelines/tag/one").IDs(); len(ids) != 0 {
			t.Error("it has the old hashtag still")
		}
	})
	t.Run("the same again", func(t *testing.T) {
		peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.With(note, apptest.Doc{"content": "another", "updated": updated})))
		if n := len(alice.Get("/api/v1/statuses/" + st.ID() + "/history").List()); n != 2 {
			t.Errorf("%d versions, want 2", n)
		}
	})
	t.Run("cannot widen", func(t *testing.T) {
		secret := peer.Note(bob, "secret", apptest.Doc{"to": []any{bob + "/followers"}, "cc": nil, "published": apptest.FromNow(-time.Hour)})
		peer.PostAndSettle(srv, peer.Create(secret))
		peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.With(secret, apptest.Doc{
			"content": "open", "updated": apptest.FromNow(-time.Minute), "to": []any{apptest.Public, carol.URI()}, "tag": []any{mention(carol)}})))
		if carol.FindPost(secret["id"]) != nil {
			t.Error("an edit extended the audience")
		}
		if got := alice.WantPost(secret["id"]); got.Str("content") != "open" || got.Str("visibility") != "private" {
			t.Errorf("got %v", got.Fields)
		}
	})
	t.Run("by name only", func(t *testing.T) {
		peer.Serve(apptest.With(note, apptest.Doc{"content": "three", "updated": apptest.FromNow(-10 * time.Minute)}))
		peer.PostAndSettle(srv, peer.Activity("Update", bob, note["id"]))
		if got := alice.WantPost(note["id"]).Str("content"); got != "three" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("of an unknown post", func(t *testing.T) {
		for published, want := range map[string]bool{apptest.FromNow(-time.Hour): true, apptest.FromNow(-72 * time.Hour): false} {
			n := peer.Note(bob, "late", apptest.Doc{"published": published, "updated": apptest.FromNow(-time.Minute)})
			peer.PostAndSettle(srv, peer.Activity("Update", bob, n))
			if got := alice.FindPost(n["id"]) != nil; got != want {
				t.Errorf("published %s: it is here: %v, want %v", published, got, want)
			}
		}
	})
}

// TestIncomingTally checks that the tally of a remote poll is its server's, for the same options only (case 81).
func TestIncomingTally(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, eve := peer.AddActor("bob"), peer.AddActor("eve")
	alice.FollowRemote(bob)
	alice.FollowRemote(eve)
	question := func(yes, no int, titles ...string) apptest.Doc {
		if titles == nil {
			titles = []string{"yes", "no"}
		}
		var options []any
		for i, n := range []int{yes, no} {
			options = append(options, apptest.Doc{"type": "Note", "name": titles[i], "replies": apptest.Doc{"type": "Collection", "totalItems": n}})
		}
		return apptest.Doc{"type": "Question", "oneOf": options, "endTime": apptest.FromNow(time.Hour), "published": apptest.FromNow(-time.Hour)}
	}
	note := peer.Note(bob, "tea?", question(0, 0))
	peer.PostAndSettle(srv, peer.Create(note))
	votes := func() string {
		o := alice.WantPost(note["id"])
		return fmt.Sprint(o.Find("poll.options.0.title"), o.Find("poll.options.0.votes_count"), o.Find("poll.options.1.votes_count"))
	}
	for _, tt := range []struct {
		name, by string
		question apptest.Doc
		want     string
	}{
		{"by another", eve, question(9, 9), "yes0 0"},
		{"by the author", bob, question(3, 1), "yes3 1"},
		{"other options", bob, question(5, 5, "maybe", "no"), "yes3 1"},
		{"other options, as an edit", bob, apptest.With(question(5, 6, "maybe", "no"), apptest.Doc{"updated": apptest.FromNow(-time.Minute)}), "maybe5 6"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			peer.PostAndSettle(srv, peer.Activity("Update", tt.by, apptest.With(note, tt.question)))
			if got := votes(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("a viewer causes a fetch", func(t *testing.T) {
		note := peer.Note(bob, "coffee?", question(1, 1))
		peer.PostAndSettle(srv, peer.Create(note))
		peer.Serve(apptest.With(note, question(7, 8)))
		ageSeenActivity(srv, note["id"])
		for range 2 {
			alice.WantPost(note["id"])
			apptest.Settle(srv)
		}
		st := alice.WantPost(note["id"])
		if got := st.Find("poll.options.1.votes_count"); got != 8.0 {
			t.Errorf("got %v", got)
		}
		alice.Get("/api/v1/polls/" + st.Find("poll.id").(string)).Want(200)
		apptest.Settle(srv)
		if n := peer.Fetches(note["id"].(string)); n != 1 {
			t.Errorf("it was fetched %d times", n)
		}
	})
	t.Run("a 404 is not a deletion", func(t *testing.T) {
		for status, want := range map[int]bool{404: true, 500: true, 410: false} {
			note := peer.Note(bob, "wine?", question(1, 1), apptest.Doc{"to": []any{bob + "/followers"}, "cc": nil})
			peer.PostAndSettle(srv, peer.Create(note))
			peer.Remove(note["id"].(string), status)
			ageSeenActivity(srv, note["id"])
			alice.Get("/api/v1/polls/" + pollIDByURI(srv, note["id"])).Want(200)
			apptest.Settle(srv)
			if peer.Fetches(note["id"].(string)) == 0 {
				t.Error("it was not fetched")
			}
			open := peer.Note(bob, "water?", question(1, 1))
			peer.PostAndSettle(srv, peer.Create(open))
			peer.Remove(open["id"].(string), status)
			peer.PostAndSettle(srv, peer.Activity("Update", bob, open["id"]))
			if got := alice.FindPost(open["id"]) != nil; got != want {
				t.Errorf("after %d the public post is stored: %v, want %v", status, got, want)
			}
			if got := alice.FindPost(note["id"]) != nil; got != want {
				t.Errorf("after %d it is stored: %v, want %v", status, got, want)
			}
		}
	})
	t.Run("voters are notified of the end", func(t *testing.T) {
		st := alice.WantPost(note["id"])
		alice.Post("/api/v1/polls/"+st.Find("poll.id").(string)+"/votes", "choices[]", "0").Want(200)
		peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.With(note, apptest.With(question(8, 8, "maybe", "no"), apptest.Doc{"closed": apptest.FromNow(-time.Second)}))))
		apptest.Settle(srv)
		if got := alice.NotificationTypes(); !slices.Equal(got, []string{"poll"}) {
			t.Errorf("notifications: %v", got)
		}
	})
}

// pollIDByURI returns the id of the poll of a post.
func pollIDByURI(a *apptest.Server, uri any) string {
	a.T.Helper()
	st, err := a.DB.StatusByURI(a.T.Context(), uri.(string))
	if err != nil || st == nil {
		a.T.Fatalf("%v: %v, %v", uri, st, err)
	}
	p, err := a.DB.PollOf(a.T.Context(), st.ID)
	if err != nil || p == nil {
		a.T.Fatalf("%v has the poll %v, %v", uri, p, err)
	}
	return p.ID.String()
}

// TestUpdateAndDeleteWithObjectID checks servers whose activities have the id of their post: an Update and a Delete are not duplicates
// of the Create.
func TestUpdateAndDeleteWithObjectID(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	note := peer.Note(bob, "one", apptest.Doc{"type": "Article", "published": apptest.FromNow(-time.Hour)})
	same := apptest.Doc{"id": note["id"]}
	want := func(content string) {
		t.Helper()
		if got := alice.WantPost(note["id"]).Str("content"); !strings.Contains(got, content) {
			t.Errorf("got %q, want %q", got, content)
		}
	}
	peer.PostAndSettle(srv, peer.Create(note, same))
	want("one")
	for i, content := range []string{"two", "three"} {
		edited := apptest.With(note, apptest.Doc{"content": content, "updated": apptest.FromNow(time.Duration(i-5) * time.Minute)})
		for range 2 {
			peer.PostAndSettle(srv, peer.Activity("Update", bob, edited, same))
			want(content)
		}
	}
	st := alice.WantPost(note["id"])
	if n := len(alice.Get("/api/v1/statuses/" + st.ID() + "/history").Want(200).List()); n != 3 {
		t.Errorf("%d versions, want 3", n)
	}
	peer.PostAndSettle(srv, peer.Activity("Delete", bob, note, same))
	if alice.FindPost(note["id"]) != nil {
		t.Error("the deleted post is stored")
	}
	peer.PostAndSettle(srv, peer.Create(note, same))
	if alice.FindPost(note["id"]) != nil {
		t.Error("it is stored again")
	}
}

// TestIncomingQuote covers the names of the quote property (case 111).
func TestIncomingQuote(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, eve := peer.AddActor("bob"), peer.AddActor("eve")
	alice.FollowRemote(bob)
	quoted := alice.Publish("quote me")
	secret := alice.Publish("do not", "visibility", "private")
	uri := quoted.Str("uri")
	const re = `<p class="quote-inline">RE: <a href="https://example.org">x</a></p>`
	for name, changes := range map[string]apptest.Doc{
		"quote":                 {"quote": uri},
		"quote as a map":        {"quote": apptest.Doc{"id": uri}},
		"quoteUrl":              {"quoteUrl": uri},
		"quoteUri":              {"quoteUri": uri},
		"_misskey_quote":        {"_misskey_quote": uri},
		"a tag":                 {"tag": []any{apptest.Doc{"type": "Link", "mediaType": `application/ld+json; profile="https://www.w3.org/ns/activitystreams"`, "href": uri, "name": "RE: " + uri}}},
		"a tag with a relation": {"tag": []any{apptest.Doc{"type": "Link", "mediaType": "application/activity+json", "href": uri, "rel": "https://misskey-hub.net/ns#_misskey_quote"}}},
		"above":                 {"quote": uri, "content": `<p class="quote-inline">RE: <a href="https://example.org"><span class="invisible">https://</span>x</a></p><p>look</p>`},
		"a span":                {"quoteUrl": uri, "content": `<p>look</p><span class="quote-inline"><br><br>RE: <a href="https://example.org">x</a></span>`},
	} {
		t.Run(name, func(t *testing.T) {
			note := peer.Note(bob, "<p>look</p>"+re, changes)
			peer.PostAndSettle(srv, peer.Create(note))
			got := alice.WantPost(note["id"])
			if got.At("svc.quote_id") != quoted.ID() || got.At("svc.quote_visible") != true {
				t.Errorf("got %v", got.At("svc"))
			}
			if got.Str("content") != "<p>look</p>" {
				t.Errorf("got content %q", got.Str("content"))
			}
		})
	}
	t.Run("a private post", func(t *testing.T) {
		note := peer.Note(bob, "look", apptest.Doc{"quoteUrl": secret.Str("uri")})
		peer.PostAndSettle(srv, peer.Create(note))
		if got := alice.WantPost(note["id"]); got.At("svc.quote_id") != nil {
			t.Errorf("got %v", got.At("svc"))
		}
	})
	t.Run("an unknown object", func(t *testing.T) {
		later := peer.Note(eve, "later")
		note := peer.Note(bob, "<p>look</p>"+re, apptest.Doc{"quoteUrl": later["id"]})
		peer.PostAndSettle(srv, peer.Create(note))
		if got := alice.WantPost(note["id"]); got.At("svc.quote_id") != nil || !strings.Contains(got.Str("content"), "RE: ") {
			t.Errorf("got %v", got.Fields)
		}
		peer.PostAndSettle(srv, peer.Create(apptest.With(later, apptest.Doc{"inReplyTo": uri})))
		if got := alice.WantPost(note["id"]); got.At("svc.quote_id") != alice.WantPost(later["id"]).ID() || got.Str("content") != "<p>look</p>" {
			t.Errorf("got %v", got.Fields)
		}
		if n := alice.WantPost(later["id"]).Find("svc.quotes_count"); n != 1.0 {
			t.Errorf("%v quotes are counted", n)
		}
	})
}
