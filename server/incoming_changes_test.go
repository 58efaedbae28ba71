package server_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"svc/internal/proof"
	"svc/store"
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

// heardLongAgo has what is known of a poll be of some minutes ago.
func (a *api) heardLongAgo(uri any) {
	a.t.Helper()
	err := a.db.Update(a.t.Context(), func(tx *store.Tx) error {
		st, err := tx.StatusByURI(a.t.Context(), uri.(string))
		if err != nil {
			return err
		}
		p, err := tx.PollOf(a.t.Context(), st.ID)
		if err != nil {
			return err
		}
		at := store.At(time.Now().Add(-5 * time.Minute))
		p.FetchedAt = &at
		return tx.SavePoll(a.t.Context(), p)
	})
	if err != nil {
		a.t.Fatal(err)
	}
}

// Cases 49, 108, 109: what is deleted is gone, if who says so has a right to.
func TestIncomingDelete(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, eve := peer.actor("bob"), peer.actor("eve")
	other := startFake(t)
	mallory := other.actor("mallory")
	for _, actor := range []string{bob, eve, mallory} {
		alice.follows(actor)
	}
	for _, tt := range []struct {
		name   string
		by     string
		peer   *fakePeer
		object func(string) any
		serve  int // what the origin answers; 200: the post
		want   bool
	}{
		{"by id", bob, peer, func(id string) any { return id }, 200, true},
		{"as a Tombstone", bob, peer, func(id string) any { return doc{"id": id, "type": "Tombstone"} }, 200, true},
		{"by another on its server", eve, peer, func(id string) any { return id }, 200, false},
		{"by another on its server, and it is gone", eve, peer, func(id string) any { return id }, 410, true},
		{"by another on its server, and it is not found", eve, peer, func(id string) any { return id }, 404, true},
		{"by another on its server, and nobody answers", eve, peer, func(id string) any { return id }, 500, false},
		{"by somebody elsewhere", mallory, other, func(id string) any { return id }, 410, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.note(bob, "to be gone", doc{"to": []any{toPublic, alice.uri()}, "tag": []any{doc{"type": "Mention", "href": alice.uri()}}})
			peer.receive(srv, peer.create(note))
			st := alice.wantPost(note["id"])
			peer.serve(note)
			if tt.serve != 200 {
				peer.remove(note["id"].(string), tt.serve)
			}
			stream := srv.listen(alice.caller, "stream", "user")
			tt.peer.receive(srv, tt.peer.activity("Delete", tt.by, tt.object(note["id"].(string))))
			if gone := alice.postOf(note["id"]) == nil; gone != tt.want {
				t.Errorf("it is gone: %v, want %v", gone, tt.want)
			}
			if !tt.want {
				return
			}
			stream.wantAmong("user: delete " + st.id())
			if slices.Contains(alice.told(), "mention") && len(alice.told()) > 2 {
				t.Errorf("told %v of what is gone", alice.told())
			}
			peer.receive(srv, peer.create(note))
			if alice.postOf(note["id"]) != nil {
				t.Error("it has come back")
			}
		})
	}
	// In the name of this server nobody is shown what is for few: that it is not found says nothing.
	for name, to := range map[string][]any{"for followers": {bob + "/followers"}, "direct": {alice.uri()}} {
		for status, want := range map[int]bool{404: false, 403: false, 410: true} {
			t.Run(fmt.Sprintf("by another on its server, %s, and it answers %d", name, status), func(t *testing.T) {
				note := peer.note(bob, "for few", doc{"to": to, "cc": nil})
				peer.receive(srv, peer.create(note))
				alice.wantPost(note["id"])
				peer.remove(note["id"].(string), status)
				peer.receive(srv, peer.activity("Delete", eve, note["id"]))
				peer.receive(srv, peer.activity("Update", bob, note["id"]))
				if gone := alice.postOf(note["id"]) == nil; gone != want {
					t.Errorf("it is gone: %v, want %v", gone, want)
				}
			})
		}
	}
	// Servers pass on what is said of answers to those who follow who was answered.
	for status, want := range map[int]bool{200: false, 404: true, 410: true, 500: false} {
		t.Run(fmt.Sprintf("passed on by somebody else, and it answers %d", status), func(t *testing.T) {
			note := peer.note(bob, "an answer")
			peer.receive(srv, peer.create(note))
			peer.serve(note)
			if status != 200 {
				peer.remove(note["id"].(string), status)
			}
			a := peer.activity("Delete", bob, doc{"id": note["id"], "type": "Tombstone"})
			other.deliver(srv, "/inbox", mallory, a).want(http.StatusAccepted)
			settle(srv)
			if gone := alice.postOf(note["id"]) == nil; gone != want {
				t.Errorf("it is gone: %v, want %v", gone, want)
			}
			peer.post(srv, a)
			settle(srv)
			if alice.postOf(note["id"]) != nil {
				t.Error("what its author says of it later does not count")
			}
		})
	}
	t.Run("before it came", func(t *testing.T) {
		note := peer.note(bob, "late")
		peer.receive(srv, peer.activity("Delete", bob, note["id"]))
		peer.receive(srv, peer.create(note))
		if alice.postOf(note["id"]) != nil {
			t.Error("it has come")
		}
	})
	t.Run("by another before it came", func(t *testing.T) {
		note := peer.note(bob, "late")
		peer.receive(srv, peer.activity("Delete", eve, note["id"]))
		peer.receive(srv, peer.create(note))
		if alice.postOf(note["id"]) == nil {
			t.Error("somebody else has kept it away")
		}
	})
	t.Run("of a post of here", func(t *testing.T) {
		st := alice.publish("mine")
		peer.receive(srv, peer.activity("Delete", bob, st.str("uri")))
		alice.get("/api/v1/statuses/" + st.id()).want(200)
	})
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

// Cases 50 and 51: accounts that delete themselves.
func TestIncomingDeleteActor(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, eve := peer.actor("bob"), peer.actor("eve")
	alice.follows(bob)
	note := peer.note(bob, "hello")
	peer.receive(srv, peer.create(note))

	before := peer.askedAll()
	for i := range 100 {
		stranger := fmt.Sprintf("%s/users/stranger%d", peer.url, i)
		a := peer.activity("Delete", stranger, stranger)
		peer.keys[stranger] = peer.keys[bob]
		peer.post(srv, a)
	}
	settle(srv)
	if n := peer.askedAll() - before; n != 0 {
		t.Errorf("%d requests because of strangers", n)
	}

	t.Run("by another", func(t *testing.T) {
		peer.receive(srv, peer.activity("Delete", eve, bob))
		alice.wantPost(note["id"])
	})
	t.Run("its key is gone", func(t *testing.T) {
		peer.keys[bob+"2"] = peer.keys[bob]
		peer.remove(bob, http.StatusGone)
		a := peer.activity("Delete", bob, bob)
		b, _ := json.Marshal(a)
		peer.rotateSilently(bob) // nobody can find out with what it is signed
		peer.deliverRaw(srv, "/inbox", bob, b).want(202)
		settle(srv)
		if alice.postOf(note["id"]) != nil {
			t.Error("its post is here")
		}
	})
}

// rotateSilently has an actor sign with another key than its document tells.
func (p *fakePeer) rotateSilently(actor string) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.keys[actor] = key
}

// Cases 90 to 92: boosts.
func TestIncomingAnnounce(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, carol := srv.signUp("alice"), srv.signUp("carol")
	other := startFake(t)
	bob, eve, group := peer.actor("bob"), peer.actor("eve"), peer.actor("group", doc{"type": "Group"})
	dan := other.actor("dan")
	alice.follows(bob)
	alice.follows(group)
	announce := func(by string, object any, changes ...doc) doc {
		return peer.activity("Announce", by, object, append([]doc{{"to": []any{toPublic}, "cc": []any{by + "/followers"}, "published": fromNow(0)}}, changes...)...)
	}
	boosts := func(m *member, of any) int {
		n := 0
		for _, st := range m.get("/api/v1/timelines/home", "limit", "40").list() {
			if st.dig("reblog.uri") == of {
				n++
			}
		}
		return n
	}
	t.Run("of what is fetched", func(t *testing.T) {
		note := other.note(dan, "far away")
		other.serve(note)
		peer.receive(srv, announce(bob, note["id"]))
		peer.receive(srv, announce(bob, note["id"]))
		if n := boosts(alice, note["id"]); n != 1 {
			t.Errorf("%d boosts in home, want 1", n)
		}
		if st := alice.wantPost(note["id"]); st.str("account.acct") != "dan@"+other.host || st.num("reblogs_count") != 1 {
			t.Errorf("got %v", st.m)
		}
		if n := other.asked(note["id"].(string)); n != 1 {
			t.Errorf("it was asked for %d times", n)
		}
	})
	t.Run("of a post of here", func(t *testing.T) {
		st := carol.publish("mine")
		peer.receive(srv, announce(eve, st.str("uri")))
		if told := carol.told(); !slices.Equal(told, []string{"reblog"}) {
			t.Errorf("the author was told %v", told)
		}
		peer.receive(srv, announce(bob, doc{"id": st.str("uri"), "type": "Note", "content": "forged"}))
		if n, content := boosts(alice, st.str("uri")), alice.wantPost(st.str("uri")).str("content"); n != 1 || content != st.str("content") {
			t.Errorf("%d boosts in home, of %q", n, content)
		}
		carol.post("/api/v1/notifications/clear").want(200)
	})
	t.Run("by a stranger, of a stranger", func(t *testing.T) {
		note := other.note(dan, "of no interest")
		other.serve(note)
		peer.receive(srv, announce(eve, note["id"]))
		if alice.postOf(note["id"]) != nil || other.asked(note["id"].(string)) != 0 {
			t.Error("it was fetched")
		}
	})
	t.Run("of what is not for all", func(t *testing.T) {
		secret := carol.publish("secret", "visibility", "private")
		note := peer.note(eve, "for followers", doc{"to": []any{eve + "/followers"}, "cc": nil})
		peer.serve(note)
		for _, uri := range []any{secret.str("uri"), note["id"]} {
			peer.receive(srv, announce(bob, uri))
			if boosts(alice, uri) != 0 {
				t.Errorf("a boost of %v is in home", uri)
			}
		}
		if len(carol.told()) != 0 {
			t.Errorf("told %v", carol.told())
		}
	})
	t.Run("of one's own for followers, sent along", func(t *testing.T) {
		note := peer.note(bob, "for followers", doc{"to": []any{bob + "/followers"}, "cc": nil})
		peer.receive(srv, announce(bob, note))
		if n := boosts(alice, note["id"]); n != 1 {
			t.Errorf("%d boosts in the home of a follower, want 1", n)
		}
		if carol.postOf(note["id"]) != nil {
			t.Error("who does not follow sees it")
		}
		if boost := alice.get("/api/v1/timelines/home", "limit", "1").list()[0]; boost.str("visibility") != "private" {
			t.Errorf("the boost is %s", boost.str("visibility"))
		}
	})
	t.Run("by a group, of what somebody did", func(t *testing.T) {
		page := other.note(dan, "<p>real</p>", doc{"type": "Page", "name": "Title"})
		other.serve(page)
		forged := with(page, doc{"content": "forged"})
		peer.receive(srv, announce(group, doc{"id": other.id("activities"), "type": "Create", "actor": dan, "object": forged}))
		if boosts(alice, page["id"]) != 1 {
			t.Error("there is no boost by the group")
		}
		if got := alice.wantPost(page["id"]).str("content"); !strings.Contains(got, "real") || strings.Contains(got, "forged") {
			t.Errorf("got %q", got)
		}
		peer.receive(srv, announce(group, doc{"id": other.id("activities"), "type": "Like", "actor": dan, "object": page["id"]}))
		peer.receive(srv, announce(group, doc{"id": other.id("activities"), "type": "Delete", "actor": dan, "object": page["id"]}))
		if got := alice.wantPost(page["id"]); got.num("favourites_count") != 0 {
			t.Error("what a group says of favourites counts")
		}
		other.remove(page["id"].(string), http.StatusGone)
		peer.receive(srv, announce(group, doc{"id": other.id("activities"), "type": "Delete", "actor": dan, "object": page["id"]}))
		if alice.postOf(page["id"]) != nil {
			t.Error("what is gone is here")
		}
	})
	t.Run("of an activity", func(t *testing.T) {
		note := other.note(dan, "behind its Create")
		other.serve(note)
		created := other.create(note)
		other.serve(created)
		peer.receive(srv, announce(bob, created["id"]))
		if boosts(alice, note["id"]) != 1 {
			t.Error("there is no boost")
		}
	})
	t.Run("of several", func(t *testing.T) {
		var ids []any
		for range 3 {
			note := other.note(dan, "one of several")
			other.serve(note)
			ids = append(ids, note["id"])
		}
		peer.receive(srv, announce(bob, ids))
		for _, id := range ids {
			if boosts(alice, id) != 1 {
				t.Errorf("there is no boost of %v", id)
			}
		}
	})
	t.Run("of an account", func(t *testing.T) {
		a := announce(bob, dan)
		peer.receive(srv, a)
		if srv.refusals(a["id"]) == "" {
			t.Error("it is not noted that it was refused")
		}
	})
	t.Run("case 93: taken back by another", func(t *testing.T) {
		st := carol.publish("mine yet")
		a := announce(bob, st.str("uri"))
		peer.receive(srv, a)
		anonymous := with(a, nil)
		delete(anonymous, "actor")
		for _, undone := range []any{a["id"], a, with(a, doc{"actor": eve}), anonymous} {
			peer.receive(srv, peer.activity("Undo", eve, undone))
			if boosts(alice, st.str("uri")) != 1 {
				t.Errorf("another has taken it back by %v", undone)
			}
		}
		peer.receive(srv, peer.activity("Undo", bob, a))
		if boosts(alice, st.str("uri")) != 0 {
			t.Error("the boost is here")
		}
	})
	t.Run("taken back by a deletion", func(t *testing.T) {
		st := carol.publish("again")
		a := announce(bob, st.str("uri"))
		peer.receive(srv, a)
		peer.receive(srv, peer.activity("Delete", bob, a["id"]))
		if boosts(alice, st.str("uri")) != 0 || alice.wantPost(st.str("uri")).num("reblogs_count") != 0 {
			t.Error("the boost is here")
		}
		late := announce(bob, st.str("uri"))
		peer.receive(srv, peer.activity("Delete", bob, late["id"]))
		peer.receive(srv, late)
		if alice.wantPost(st.str("uri")).num("reblogs_count") != 0 {
			t.Error("a boost that was deleted before it came is here")
		}
	})
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

// FEP-8b32 and case 31: who sends what another did needs a proof by that other.
func TestIncomingProof(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob", peer.edKey("bob"))
	alice.follows(bob)
	other := startFake(t)
	carrier := other.actor("carrier")
	alice.follows(carrier)
	signAt := func(a doc, at time.Time) doc {
		t.Helper()
		var plain map[string]any
		b, _ := json.Marshal(a)
		json.Unmarshal(b, &plain)
		key := peer.keys[bob+"#ed25519-key"].(ed25519.PrivateKey)
		if err := proof.Sign(plain, key, bob+"#ed25519-key", at); err != nil {
			t.Fatal(err)
		}
		return plain
	}
	sign := func(a doc) doc { return signAt(a, time.Now()) }
	for _, tt := range []struct {
		name   string
		change func(doc) doc
		want   bool
	}{
		{"proven", sign, true},
		{"not proven", func(d doc) doc { return d }, false},
		{"proven a day ago", func(d doc) doc { return signAt(d, time.Now().Add(-24*time.Hour)) }, true},
		{"proven long ago", func(d doc) doc { return signAt(d, time.Now().Add(-8*24*time.Hour)) }, false},
		{"proven tomorrow", func(d doc) doc { return signAt(d, time.Now().Add(24*time.Hour)) }, false},
		{"changed since", func(d doc) doc {
			d = sign(d)
			d["object"].(map[string]any)["content"] = "forged"
			return d
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.note(bob, "carried")
			other.deliver(srv, "/inbox", carrier, tt.change(peer.create(note)))
			settle(srv)
			if got := alice.postOf(note["id"]) != nil; got != tt.want {
				t.Errorf("it is here: %v, want %v", got, tt.want)
			}
		})
	}
}

// Cases 113 and 118: documents that are not what they say, or that somebody means to confuse us with.
func TestIncomingFetched(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	other := startFake(t)
	bob, eve := peer.actor("bob"), other.actor("eve")
	alice.follows(bob)
	boost := func(uri string) {
		peer.receive(srv, peer.activity("Announce", bob, uri, doc{"to": []any{toPublic}}))
	}
	t.Run("of another host", func(t *testing.T) {
		note := peer.note(bob, "real")
		peer.serve(note)
		forged := with(note, doc{"content": "forged"})
		other.serveAt(other.url+"/forged", forged)
		boost(other.url + "/forged")
		if alice.postOf(note["id"]) != nil {
			t.Error("it is here")
		}
	})
	t.Run("of another address of the same host", func(t *testing.T) {
		note := other.note(eve, "real")
		other.serve(note)
		other.serveAt(other.url+"/also", with(note, doc{"content": "elsewhere"}))
		boost(other.url + "/also")
		if got := alice.wantPost(note["id"]).str("content"); got != "real" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("by an author elsewhere", func(t *testing.T) {
		note := other.note(bob, "forged")
		other.serve(note)
		boost(note["id"].(string))
		if alice.postOf(note["id"]) != nil {
			t.Error("it is here")
		}
	})
	for name, body := range map[string]string{
		"actor twice":   `{"id":"%[1]s/1","type":"Create","actor":"%[2]s","actor":"%[2]s","object":"x"}`,
		"a graph":       `{"id":"%[1]s/2","type":"Create","actor":"%[2]s","@graph":[]}`,
		"reversed":      `{"id":"%[1]s/3","type":"Create","actor":"%[2]s","object":{"@reverse":{}}}`,
		"no object":     `{"id":"%[1]s/4","type":"Create","actor":"%[2]s"}`,
		"id as object":  `{"id":{"a":1},"type":"Create","actor":"%[2]s","object":{"id":{}, "type":"Note"}}`,
		"type as map":   `{"id":"%[1]s/6","type":{"a":1},"actor":"%[2]s","object":[]}`,
		"odd addresses": `{"id":"%[1]s/7","type":"Create","actor":"%[2]s","object":{"id":"%[1]s/8","type":"Note","to":[null,1,{}],"cc":{"a":[]},"tag":[[],1,null],"attachment":[null,[{}]],"attributedTo":"%[2]s"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			peer.deliverRaw(srv, "/inbox", bob, fmt.Appendf(nil, body, peer.url, bob))
			settle(srv)
			if alice.postOf(peer.url+"/8") != nil {
				t.Error("it is here")
			}
		})
	}
}

// Federation 3.9: who opens a thread has the replies to the post read.
func TestFetchReplies(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	other := startFake(t)
	bob, eve := peer.actor("bob"), other.actor("eve")
	alice.follows(bob)
	root := peer.note(bob, "root")
	root["replies"] = doc{"id": root["id"].(string) + "/replies", "type": "Collection", "first": doc{"type": "CollectionPage", "partOf": root["id"].(string) + "/replies"}}
	var items []any
	reply := func(p *fakePeer, actor string, to any) doc {
		n := p.note(actor, "reply", doc{"inReplyTo": to})
		p.serve(n)
		items = append(items, n["id"])
		return n
	}
	first := reply(peer, bob, root["id"])
	stray := reply(peer, bob, nil)
	for range 8 {
		reply(other, eve, root["id"])
	}
	last := peer.note(bob, "on the next page", doc{"inReplyTo": root["id"]})
	peer.serve(last)
	replies := root["id"].(string) + "/replies"
	peer.serve(doc{"id": replies, "type": "Collection", "first": doc{"type": "CollectionPage", "items": items, "next": replies + "/2"}})
	peer.serve(doc{"id": replies + "/2", "type": "CollectionPage", "items": last["id"], "next": replies + "/2"})
	peer.receive(srv, peer.create(root))
	st := alice.wantPost(root["id"])
	below := func() int {
		o := alice.get("/api/v1/statuses/" + st.id() + "/context").want(200).object()
		settle(srv)
		return len(o.at("descendants").([]any))
	}
	srv.as(nil).get("/api/v1/statuses/" + st.id() + "/context").want(200)
	settle(srv)
	if peer.asked(replies) != 0 {
		t.Error("somebody who is not signed in has had it read")
	}
	below()
	if n := below(); n != 7 { // 2 of its own host, 5 of the other
		t.Errorf("%d replies are here, want 7", n)
	}
	alice.wantPost(first["id"])
	alice.wantPost(last["id"])
	if alice.postOf(stray["id"]) != nil {
		t.Error("what replies to something else was taken in")
	}
	if n := peer.asked(replies); n != 1 {
		t.Errorf("the replies were read %d times", n)
	}
}

// Who is mentioned and not known is asked for, so that answers reach them.
func TestIncomingStrangers(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	other := startFake(t)
	bob, eve := peer.actor("bob"), other.actor("eve")
	alice.follows(bob)
	tag := []any{doc{"type": "Mention", "href": eve}, doc{"type": "Mention", "href": other.url + "/users/nobody"}}
	note := peer.note(bob, "hey", doc{"tag": tag})
	peer.receive(srv, peer.create(note))
	if got := alice.wantPost(note["id"]).dig("mentions.0.acct"); got != "eve@"+other.host {
		t.Errorf("mentions %v", got)
	}
	frank := other.actor("frank")
	direct := peer.note(bob, "psst", doc{"to": []any{alice.uri(), frank}, "cc": nil, "tag": []any{doc{"type": "Mention", "href": alice.uri()}, doc{"type": "Mention", "href": frank}}})
	peer.receive(srv, peer.create(direct))
	got := alice.wantPost(direct["id"])
	if n := len(got.at("mentions").([]any)); n != 2 {
		t.Errorf("%d are mentioned, want 2", n)
	}
}
