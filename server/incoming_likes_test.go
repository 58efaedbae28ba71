package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// shown returns the reactions of a status, as in "🔥 2, cat 1".
func (m *member) shown(id string) string {
	m.api.t.Helper()
	var list []string
	for _, v := range m.get("/api/v1/statuses/" + id).want(200).object().at("svc.emoji_reactions").([]any) {
		r := v.(map[string]any)
		list = append(list, fmt.Sprint(r["name"], " ", r["count"]))
	}
	return strings.Join(list, ", ")
}

// Case 86: a Like counts once, and every form of Undo takes it back.
func TestIncomingLike(t *testing.T) {
	for name, undo := range map[string]func(p *fakePeer, like doc) any{
		"embedded":  func(_ *fakePeer, like doc) any { return like },
		"by its id": func(_ *fakePeer, like doc) any { return like["id"] },
		"by another id": func(p *fakePeer, like doc) any {
			return doc{"id": p.id("likes"), "type": "Like", "actor": like["actor"], "object": like["object"]}
		},
		"as of the post": func(_ *fakePeer, like doc) any {
			return doc{"type": "Like", "actor": like["actor"], "object": doc{"id": like["object"]}}
		},
		"as another type": func(_ *fakePeer, like doc) any { // what is stored counts
			return doc{"id": like["id"], "type": "Dislike", "actor": like["actor"], "object": like["object"]}
		},
	} {
		t.Run("undone "+name, func(t *testing.T) {
			srv, peer := startWithPeer(t)
			alice := srv.signUp("alice")
			bob, mallory := peer.actor("bob"), peer.actor("mallory")
			st := alice.publish("a post")
			count := func() int {
				t.Helper()
				return alice.get("/api/v1/statuses/" + st.id()).want(200).object().num("favourites_count")
			}
			like := peer.activity("Like", bob, st.str("uri"))
			peer.receive(srv, like)
			peer.receive(srv, peer.activity("Like", bob, doc{"id": st.str("uri"), "type": "Note", "content": "forged"}))
			peer.receive(srv, like)
			if n := count(); n != 1 {
				t.Errorf("%d favourites, want 1", n)
			}
			wantList(t, "alice is told", alice.told(), "favourite")
			by := alice.get("/api/v1/statuses/" + st.id() + "/favourited_by").want(200).ids()
			wantList(t, "favourited by", by, srv.known(bob))
			peer.receive(srv, peer.activity("Dislike", bob, st.str("uri")))

			srv.meet(mallory)
			peer.receive(srv, peer.activity("Undo", mallory, like["id"]))
			peer.receive(srv, peer.activity("Undo", mallory, like))
			if n := count(); n != 1 {
				t.Errorf("another has undone it: %d favourites, want 1", n)
			}
			gone := peer.activity("Undo", bob, undo(peer, like))
			peer.receive(srv, gone)
			if n := count(); n != 0 {
				t.Errorf("%d favourites after the Undo, want 0", n)
			}
			wantList(t, "alice is told after the Undo", alice.told())

			// The next Like is not undone by the Undo of the first.
			peer.receive(srv, peer.activity("Like", bob, st.str("uri")))
			peer.receive(srv, gone)
			if n := count(); n != 1 {
				t.Errorf("%d favourites after the second Like, want 1", n)
			}
		})
	}
}

// Some servers have one id for each time that somebody likes or boosts the same: what was taken back can be done again. That the very
// same comes again, as it does when an answer was lost, is nothing new.
func TestDoneAgainByOneID(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	srv.meet(bob)
	st := alice.publish("a post")
	for _, tt := range []struct {
		verb  string
		more  doc
		count func(*object) int
	}{
		{"Like", nil, func(o *object) int { return o.num("favourites_count") }},
		{"EmojiReact", doc{"content": "🔥"}, func(o *object) int { return len(o.at("svc.emoji_reactions").([]any)) }},
		{"Announce", doc{"to": []any{toPublic}}, func(o *object) int { return o.num("reblogs_count") }},
	} {
		t.Run(tt.verb, func(t *testing.T) {
			id := peer.id("deeds")
			for i := range 3 {
				deed := peer.activity(tt.verb, bob, st.str("uri"), tt.more, doc{"id": id, "published": fromNow(time.Duration(i-10) * time.Second)})
				for _, step := range []struct {
					what string
					doc  doc
					want int
				}{
					{"done", deed, 1},
					{"done twice", deed, 1},
					{"taken back", peer.activity("Undo", bob, deed, doc{"id": id + "/undo"}), 0},
					{"done late", deed, 0},
				} {
					peer.receive(srv, step.doc)
					if n := tt.count(alice.get("/api/v1/statuses/" + st.id()).want(200).object()); n != step.want {
						t.Errorf("round %d, %s: %d, want %d", i+1, step.what, n, step.want)
					}
				}
			}
		})
	}
}

// Case 94: what is undone before it comes does not come. Nobody can do that to what others do.
func TestUndoFirst(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob, mallory := peer.actor("bob"), peer.actor("mallory")
	srv.meet(bob)
	srv.meet(mallory)
	st := alice.publish("a post")
	for _, tt := range []struct {
		verb   string
		object string
		more   doc
		there  func() bool
	}{
		{"Like", st.str("uri"), nil, func() bool { return alice.get("/api/v1/statuses/"+st.id()).object().num("favourites_count") > 0 }},
		{"EmojiReact", st.str("uri"), doc{"content": "🔥"}, func() bool { return alice.shown(st.id()) != "" }},
		{"Announce", st.str("uri"), doc{"to": []any{toPublic}}, func() bool { return alice.get("/api/v1/statuses/"+st.id()).object().num("reblogs_count") > 0 }},
		{"Follow", alice.uri(), nil, func() bool { return alice.relationship(srv.known(bob)).truth("followed_by") }},
		{"Block", alice.uri(), nil, func() bool { return alice.relationship(srv.known(bob)).truth("blocked_by") }},
	} {
		for _, embedded := range []bool{true, false} {
			deed := peer.activity(tt.verb, bob, tt.object, tt.more)
			var undone any = deed["id"]
			if embedded {
				undone = deed
			}
			peer.receive(srv, peer.activity("Undo", bob, undone))
			peer.receive(srv, deed)
			if tt.there() {
				t.Errorf("a %s was undone first (embedded: %v), and is done", tt.verb, embedded)
			}
		}
		deed := peer.activity(tt.verb, bob, tt.object, tt.more)
		peer.receive(srv, peer.activity("Undo", mallory, deed["id"]))
		peer.receive(srv, deed)
		if !tt.there() {
			t.Errorf("a %s was undone by another, and is not done", tt.verb)
		}
	}
}

// Cases 87, 88, 89 and what else reactions come as (federation 4.7).
func TestIncomingReactions(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	tag := func(name string) doc {
		return doc{"type": "Emoji", "id": nil, "name": name, "icon": doc{"type": "Image", "url": peer.url + "/cat.png"}}
	}
	host := peer.host
	for _, tt := range []struct {
		name, verb string
		more       doc
		reactions  string
		favourites int
	}{
		{"a unicode emoji", "EmojiReact", doc{"content": "🔥"}, "🔥 1", 0},
		{"without its variation selector", "EmojiReact", doc{"content": "❤"}, "❤️ 1", 0},
		{"a Like with content", "Like", doc{"content": "🔥", "_misskey_reaction": "🔥"}, "🔥 1", 0},
		{"a Like with a reaction only", "Like", doc{"_misskey_reaction": "🎉"}, "🎉 1", 0},
		{"a word", "Like", doc{"_misskey_reaction": "love"}, "❤️ 1", 0},
		{"another word", "Like", doc{"content": "pudding"}, "🍮 1", 0},
		{"an old name of the type", "EmojiReaction", doc{"content": "🔥"}, "🔥 1", 0},
		{"a custom one", "EmojiReact", doc{"content": ":cat:", "tag": []any{tag(":cat:")}}, "cat@" + host + " 1", 0},
		{"a custom one, its tag alone and without colons", "Like", doc{"content": ":cat:", "tag": tag("cat")}, "cat@" + host + " 1", 0},
		{"a custom one of a third server", "Like", doc{"content": ":cat@third.example:", "tag": tag(":cat@third.example:")}, "cat@" + host + " 1", 0},
		{"a custom one without a tag", "Like", doc{"content": ":cat:"}, "", 1},
		{"a custom one with the tag of another", "Like", doc{"content": ":cat:", "tag": tag(":dog:")}, "", 1},
		{"a custom one with a picture at no address", "Like", doc{"content": ":cat:", "tag": doc{"type": "Emoji", "name": ":cat:", "icon": doc{"url": "javascript:1"}}}, "", 1},
		{"a custom one with a path for a name", "Like", doc{"content": ":../x:", "tag": tag(":../x:")}, "", 1},
		{"text", "EmojiReact", doc{"content": "hi"}, "", 0},
		{"text with a Like", "Like", doc{"content": "hi"}, "", 1},
		{"two emoji", "EmojiReact", doc{"content": "🔥🔥"}, "", 0},
		{"a custom one without a tag, and no Like", "EmojiReact", doc{"content": ":cat:"}, "", 0},
		{"nothing", "EmojiReact", nil, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := alice.publish("a post")
			react := peer.activity(tt.verb, bob, st.str("uri"), tt.more)
			peer.receive(srv, react)
			peer.receive(srv, peer.activity(tt.verb, bob, st.str("uri"), tt.more))
			if got := alice.shown(st.id()); got != tt.reactions {
				t.Errorf("reactions: got %q, want %q", got, tt.reactions)
			}
			if n := alice.get("/api/v1/statuses/" + st.id()).object().num("favourites_count"); n != tt.favourites {
				t.Errorf("%d favourites, want %d", n, tt.favourites)
			}
			told := []string{}
			if tt.reactions != "" {
				told = []string{"svc:emoji_reaction"}
			} else if tt.favourites > 0 {
				told = []string{"favourite"}
			}
			wantList(t, "alice is told", alice.told(), told...)
			// by the pair: the second had another id
			peer.receive(srv, peer.activity("Undo", bob, peer.activity(tt.verb, bob, st.str("uri"), tt.more)))
			if got := alice.shown(st.id()); got != "" {
				t.Errorf("reactions after the Undo: %q", got)
			}
			if n := alice.get("/api/v1/statuses/" + st.id()).object().num("favourites_count"); n != 0 {
				t.Errorf("%d favourites after the Undo", n)
			}
			wantList(t, "alice is told after the Undo", alice.told())
		})
	}

	// Three count as three, in the order of first use; the Undo of one emoji leaves the other.
	st := alice.publish("a post")
	var first doc
	for _, nick := range []string{"one", "two", "three"} {
		actor := peer.actor(nick)
		first = peer.activity("EmojiReact", actor, st.str("uri"), doc{"content": "🔥"})
		peer.receive(srv, first)
		peer.receive(srv, peer.activity("EmojiReact", actor, st.str("uri"), doc{"content": "❤️"}))
	}
	if got := alice.shown(st.id()); got != "🔥 3, ❤️ 3" {
		t.Errorf("reactions of three: %q", got)
	}
	peer.receive(srv, peer.activity("Undo", first["actor"].(string), first["id"]))
	if got := alice.shown(st.id()); got != "🔥 2, ❤️ 3" {
		t.Errorf("reactions after an Undo: %q", got)
	}
	alice.get("/api/v1/svc/statuses/" + st.id() + "/reactions/" + url.PathEscape("🔥")).want(200)
}

// Case 95: what somebody does not see, or whose author blocks them, they cannot like. What is unknown is not asked for.
func TestLikeOfTheUnseen(t *testing.T) {
	srv, peer := startWithPeer(t)
	alice, wary, barred := srv.signUp("alice"), srv.signUp("wary"), srv.signUp("barred")
	bob := peer.actor("bob")
	id := srv.meet(bob)
	wary.post("/api/v1/domain_blocks", "domain", peer.host).want(200)
	barred.to(id, "block")
	for name, st := range map[string]*object{
		"private":                    alice.publish("secret", "visibility", "private"),
		"direct":                     alice.publish("secret", "visibility", "direct"),
		"local":                      alice.publish("here only", "visibility", "local"),
		"of who blocks bob":          barred.publish("a post"),
		"of who blocks bob's domain": wary.publish("a post"),
	} {
		for _, d := range []doc{{"type": "Like"}, {"type": "EmojiReact", "content": "🔥"}, {"type": "Like", "content": "🔥"}} {
			peer.receive(srv, peer.activity("", bob, st.str("uri"), d))
		}
		for _, m := range []*member{alice, wary, barred} {
			if got := m.told(); len(got) > 0 {
				t.Errorf("%s: %s is told %q", name, m.nick, got)
			}
		}
	}
	poll := wary.ask([]string{"yes", "no"})
	for _, d := range []doc{peer.activity("Announce", bob, poll.str("uri"), doc{"to": []any{toPublic}}), peer.vote(bob, poll, wary, "yes")} {
		peer.receive(srv, d)
	}
	if got := wary.get("/api/v1/statuses/" + poll.id()).object(); got.num("reblogs_count") != 0 || got.num("poll.votes_count") != 0 {
		t.Errorf("whose domain is blocked has made %d boosts and %d votes", got.num("reblogs_count"), got.num("poll.votes_count"))
	}
	for _, table := range []string{"favourites", "reactions"} {
		if got, err := srv.has(`SELECT 1 FROM ` + table); got || err != nil {
			t.Errorf("there are %s: %v", table, err)
		}
	}
	asked := peer.askedAll()
	peer.receive(srv, peer.activity("Like", bob, peer.url+"/notes/unheard-of"))
	peer.receive(srv, peer.activity("Like", bob, srv.url+"/objects/unheard-of"))
	if n := peer.askedAll() - asked; n > 0 {
		t.Errorf("%d requests because of a Like", n)
	}

	// Whom alice lets follow her sees what is for her followers.
	secret := alice.publish("for followers", "visibility", "private")
	peer.receive(srv, peer.activity("Follow", bob, alice.uri()))
	peer.receive(srv, peer.activity("Like", bob, secret.str("uri")))
	wantList(t, "alice is told", alice.told(), "favourite", "follow")
}
