package federation_test

import (
	"fmt"
	"net/url"
	"strings"
	"svc/app/apptest"
	"testing"
	"time"
)

// reactionSummary returns the reactions of a status, as in "🔥 2, cat 1".
func reactionSummary(m *apptest.User, id string) string {
	m.Server.T.Helper()
	var list []string
	for _, v := range m.Get("/api/v1/statuses/" + id).Want(200).Object().At("svc.emoji_reactions").([]any) {
		r := v.(map[string]any)
		list = append(list, fmt.Sprint(r["name"], " ", r["count"]))
	}
	return strings.Join(list, ", ")
}

// TestIncomingLike checks that a Like counts once, and that every form of Undo removes it (case 86).
func TestIncomingLike(t *testing.T) {
	apptest.SkipIfShort(t)
	for name, undo := range map[string]func(p *apptest.FakeServer, like apptest.Doc) any{
		"embedded":  func(_ *apptest.FakeServer, like apptest.Doc) any { return like },
		"by its id": func(_ *apptest.FakeServer, like apptest.Doc) any { return like["id"] },
		"by another id": func(p *apptest.FakeServer, like apptest.Doc) any {
			return apptest.Doc{"id": p.NewID("likes"), "type": "Like", "actor": like["actor"], "object": like["object"]}
		},
		"as of the post": func(_ *apptest.FakeServer, like apptest.Doc) any {
			return apptest.Doc{"type": "Like", "actor": like["actor"], "object": apptest.Doc{"id": like["object"]}}
		},
		"as another type": func(_ *apptest.FakeServer, like apptest.Doc) any { // the stored type counts
			return apptest.Doc{"id": like["id"], "type": "Dislike", "actor": like["actor"], "object": like["object"]}
		},
	} {
		t.Run("undone "+name, func(t *testing.T) {
			srv, peer := apptest.StartWithFake(t)
			alice := srv.SignUp("alice")
			bob, mallory := peer.AddActor("bob"), peer.AddActor("mallory")
			st := alice.Publish("a post")
			count := func() int {
				t.Helper()
				return alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object().Int("favourites_count")
			}
			like := peer.Activity("Like", bob, st.Str("uri"))
			peer.PostAndSettle(srv, like)
			peer.PostAndSettle(srv, peer.Activity("Like", bob, apptest.Doc{"id": st.Str("uri"), "type": "Note", "content": "forged"}))
			peer.PostAndSettle(srv, like)
			if n := count(); n != 1 {
				t.Errorf("%d favourites, want 1", n)
			}
			apptest.WantList(t, "notifications of alice", alice.NotificationTypes(), "favourite")
			by := alice.Get("/api/v1/statuses/" + st.ID() + "/favourited_by").Want(200).IDs()
			apptest.WantList(t, "favourited by", by, srv.KnownID(bob))
			peer.PostAndSettle(srv, peer.Activity("Dislike", bob, st.Str("uri")))

			srv.FetchActor(mallory)
			peer.PostAndSettle(srv, peer.Activity("Undo", mallory, like["id"]))
			peer.PostAndSettle(srv, peer.Activity("Undo", mallory, like))
			if n := count(); n != 1 {
				t.Errorf("another has undone it: %d favourites, want 1", n)
			}
			gone := peer.Activity("Undo", bob, undo(peer, like))
			peer.PostAndSettle(srv, gone)
			if n := count(); n != 0 {
				t.Errorf("%d favourites after the Undo, want 0", n)
			}
			apptest.WantList(t, "notifications of alice after the Undo", alice.NotificationTypes())

			// The next Like is not undone by the Undo of the first.
			peer.PostAndSettle(srv, peer.Activity("Like", bob, st.Str("uri")))
			peer.PostAndSettle(srv, gone)
			if n := count(); n != 1 {
				t.Errorf("%d favourites after the second Like, want 1", n)
			}
		})
	}
}

// TestReusedActivityIDs checks servers that use one id for every Like or Announce of the same post: it is possible again after an Undo.
// An exact duplicate is ignored.
func TestReusedActivityIDs(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	srv.FetchActor(bob)
	st := alice.Publish("a post")
	for _, tt := range []struct {
		verb  string
		more  apptest.Doc
		count func(*apptest.Object) int
	}{
		{"Like", nil, func(o *apptest.Object) int { return o.Int("favourites_count") }},
		{"EmojiReact", apptest.Doc{"content": "🔥"}, func(o *apptest.Object) int { return len(o.At("svc.emoji_reactions").([]any)) }},
		{"Announce", apptest.Doc{"to": []any{apptest.Public}}, func(o *apptest.Object) int { return o.Int("reblogs_count") }},
	} {
		t.Run(tt.verb, func(t *testing.T) {
			id := peer.NewID("activities")
			for i := range 3 {
				activity := peer.Activity(tt.verb, bob, st.Str("uri"), tt.more, apptest.Doc{"id": id, "published": apptest.FromNow(time.Duration(i-10) * time.Second)})
				for _, step := range []struct {
					what string
					doc  apptest.Doc
					want int
				}{
					{"done", activity, 1},
					{"done twice", activity, 1},
					{"undone", peer.Activity("Undo", bob, activity, apptest.Doc{"id": id + "/undo"}), 0},
					{"done late", activity, 0},
				} {
					peer.PostAndSettle(srv, step.doc)
					if n := tt.count(alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object()); n != step.want {
						t.Errorf("round %d, %s: %d, want %d", i+1, step.what, n, step.want)
					}
				}
			}
		})
	}
}

// TestUndoBeforeActivity checks that an Undo that precedes its activity is respected if it is by the same actor (case 94).
func TestUndoBeforeActivity(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob, mallory := peer.AddActor("bob"), peer.AddActor("mallory")
	srv.FetchActor(bob)
	srv.FetchActor(mallory)
	st := alice.Publish("a post")
	for _, tt := range []struct {
		verb   string
		object string
		more   apptest.Doc
		there  func() bool
	}{
		{"Like", st.Str("uri"), nil, func() bool { return alice.Get("/api/v1/statuses/"+st.ID()).Object().Int("favourites_count") > 0 }},
		{"EmojiReact", st.Str("uri"), apptest.Doc{"content": "🔥"}, func() bool { return reactionSummary(alice, st.ID()) != "" }},
		{"Announce", st.Str("uri"), apptest.Doc{"to": []any{apptest.Public}}, func() bool { return alice.Get("/api/v1/statuses/"+st.ID()).Object().Int("reblogs_count") > 0 }},
		{"Follow", alice.URI(), nil, func() bool { return alice.Relationship(srv.KnownID(bob)).Bool("followed_by") }},
		{"Block", alice.URI(), nil, func() bool { return alice.Relationship(srv.KnownID(bob)).Bool("blocked_by") }},
	} {
		for _, embedded := range []bool{true, false} {
			activity := peer.Activity(tt.verb, bob, tt.object, tt.more)
			var undone any = activity["id"]
			if embedded {
				undone = activity
			}
			peer.PostAndSettle(srv, peer.Activity("Undo", bob, undone))
			peer.PostAndSettle(srv, activity)
			if tt.there() {
				t.Errorf("a %s was undone first (embedded: %v), and is done", tt.verb, embedded)
			}
		}
		activity := peer.Activity(tt.verb, bob, tt.object, tt.more)
		peer.PostAndSettle(srv, peer.Activity("Undo", mallory, activity["id"]))
		peer.PostAndSettle(srv, activity)
		if !tt.there() {
			t.Errorf("a %s was undone by another, and is not done", tt.verb)
		}
	}
}

// TestIncomingReactions covers the forms of reactions (cases 87, 88, 89, federation 4.7).
func TestIncomingReactions(t *testing.T) {
	apptest.SkipIfShort(t)
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	tag := func(name string) apptest.Doc {
		return apptest.Doc{"type": "Emoji", "id": nil, "name": name, "icon": apptest.Doc{"type": "Image", "url": peer.URL + "/cat.png"}}
	}
	host := peer.Host
	for _, tt := range []struct {
		name, verb string
		more       apptest.Doc
		reactions  string
		favourites int
	}{
		{"a unicode emoji", "EmojiReact", apptest.Doc{"content": "🔥"}, "🔥 1", 0},
		{"without its variation selector", "EmojiReact", apptest.Doc{"content": "❤"}, "❤️ 1", 0},
		{"a Like with content", "Like", apptest.Doc{"content": "🔥", "_misskey_reaction": "🔥"}, "🔥 1", 0},
		{"a Like with a reaction only", "Like", apptest.Doc{"_misskey_reaction": "🎉"}, "🎉 1", 0},
		{"a word", "Like", apptest.Doc{"_misskey_reaction": "love"}, "❤️ 1", 0},
		{"another word", "Like", apptest.Doc{"content": "pudding"}, "🍮 1", 0},
		{"an old name of the type", "EmojiReaction", apptest.Doc{"content": "🔥"}, "🔥 1", 0},
		{"a custom one", "EmojiReact", apptest.Doc{"content": ":cat:", "tag": []any{tag(":cat:")}}, "cat@" + host + " 1", 0},
		{"a custom one, its tag alone and without colons", "Like", apptest.Doc{"content": ":cat:", "tag": tag("cat")}, "cat@" + host + " 1", 0},
		{"a custom one of a third server", "Like", apptest.Doc{"content": ":cat@third.example:", "tag": tag(":cat@third.example:")}, "cat@" + host + " 1", 0},
		{"a custom one without a tag", "Like", apptest.Doc{"content": ":cat:"}, "", 1},
		{"a custom one with the tag of another", "Like", apptest.Doc{"content": ":cat:", "tag": tag(":dog:")}, "", 1},
		{"a custom one with a picture at no address", "Like", apptest.Doc{"content": ":cat:", "tag": apptest.Doc{"type": "Emoji", "name": ":cat:", "icon": apptest.Doc{"url": "javascript:1"}}}, "", 1},
		{"a custom one with a path for a name", "Like", apptest.Doc{"content": ":../x:", "tag": tag(":../x:")}, "", 1},
		{"text", "EmojiReact", apptest.Doc{"content": "hi"}, "", 0},
		{"text with a Like", "Like", apptest.Doc{"content": "hi"}, "", 1},
		{"two emoji", "EmojiReact", apptest.Doc{"content": "🔥🔥"}, "", 0},
		{"a custom one without a tag, and no Like", "EmojiReact", apptest.Doc{"content": ":cat:"}, "", 0},
		{"nothing", "EmojiReact", nil, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := alice.Publish("a post")
			react := peer.Activity(tt.verb, bob, st.Str("uri"), tt.more)
			peer.PostAndSettle(srv, react)
			peer.PostAndSettle(srv, peer.Activity(tt.verb, bob, st.Str("uri"), tt.more))
			if got := reactionSummary(alice, st.ID()); got != tt.reactions {
				t.Errorf("reactions: got %q, want %q", got, tt.reactions)
			}
			if n := alice.Get("/api/v1/statuses/" + st.ID()).Object().Int("favourites_count"); n != tt.favourites {
				t.Errorf("%d favourites, want %d", n, tt.favourites)
			}
			notified := []string{}
			if tt.reactions != "" {
				notified = []string{"svc:emoji_reaction"}
			} else if tt.favourites > 0 {
				notified = []string{"favourite"}
			}
			apptest.WantList(t, "notifications of alice", alice.NotificationTypes(), notified...)
			// by the pair: the second had another id
			peer.PostAndSettle(srv, peer.Activity("Undo", bob, peer.Activity(tt.verb, bob, st.Str("uri"), tt.more)))
			if got := reactionSummary(alice, st.ID()); got != "" {
				t.Errorf("reactions after the Undo: %q", got)
			}
			if n := alice.Get("/api/v1/statuses/" + st.ID()).Object().Int("favourites_count"); n != 0 {
				t.Errorf("%d favourites after the Undo", n)
			}
			apptest.WantList(t, "notifications of alice after the Undo", alice.NotificationTypes())
		})
	}

	// Three count as three, in the order of first use; the Undo of one emoji leaves the other.
	st := alice.Publish("a post")
	var first apptest.Doc
	for _, nick := range []string{"one", "two", "three"} {
		actor := peer.AddActor(nick)
		first = peer.Activity("EmojiReact", actor, st.Str("uri"), apptest.Doc{"content": "🔥"})
		peer.PostAndSettle(srv, first)
		peer.PostAndSettle(srv, peer.Activity("EmojiReact", actor, st.Str("uri"), apptest.Doc{"content": "❤️"}))
	}
	if got := reactionSummary(alice, st.ID()); got != "🔥 3, ❤️ 3" {
		t.Errorf("reactions of three: %q", got)
	}
	peer.PostAndSettle(srv, peer.Activity("Undo", first["actor"].(string), first["id"]))
	if got := reactionSummary(alice, st.ID()); got != "🔥 2, ❤️ 3" {
		t.Errorf("reactions after an Undo: %q", got)
	}
	alice.Get("/api/v1/svc/statuses/" + st.ID() + "/reactions/" + url.PathEscape("🔥")).Want(200)
}

// TestLikeOfInvisiblePost checks that a Like needs a visible post whose author does not block the actor, and that unknown posts are not
// fetched (case 95).
func TestLikeOfInvisiblePost(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, wary, barred := srv.SignUp("alice"), srv.SignUp("wary"), srv.SignUp("barred")
	bob := peer.AddActor("bob")
	id := srv.FetchActor(bob)
	wary.Post("/api/v1/domain_blocks", "domain", peer.Host).Want(200)
	barred.AccountAction(id, "block")
	for name, st := range map[string]*apptest.Object{
		"private":                    alice.Publish("secret", "visibility", "private"),
		"direct":                     alice.Publish("secret", "visibility", "direct"),
		"local":                      alice.Publish("here only", "visibility", "local"),
		"of one who blocks bob":      barred.Publish("a post"),
		"of one who blocks his host": wary.Publish("a post"),
	} {
		for _, d := range []apptest.Doc{{"type": "Like"}, {"type": "EmojiReact", "content": "🔥"}, {"type": "Like", "content": "🔥"}} {
			peer.PostAndSettle(srv, peer.Activity("", bob, st.Str("uri"), d))
		}
		for _, m := range []*apptest.User{alice, wary, barred} {
			if got := m.NotificationTypes(); len(got) > 0 {
				t.Errorf("%s: notifications of %s: %q", name, m.Nickname, got)
			}
		}
	}
	poll := wary.PublishPoll([]string{"yes", "no"})
	for _, d := range []apptest.Doc{peer.Activity("Announce", bob, poll.Str("uri"), apptest.Doc{"to": []any{apptest.Public}}), sendVote(peer, bob, poll, wary, "yes")} {
		peer.PostAndSettle(srv, d)
	}
	if got := wary.Get("/api/v1/statuses/" + poll.ID()).Object(); got.Int("reblogs_count") != 0 || got.Int("poll.votes_count") != 0 {
		t.Errorf("an account of a blocked domain has made %d boosts and %d votes", got.Int("reblogs_count"), got.Int("poll.votes_count"))
	}
	for _, table := range []string{"favourites", "reactions"} {
		if got, err := srv.HasRow(`SELECT 1 FROM ` + table); got || err != nil {
			t.Errorf("there are %s: %v", table, err)
		}
	}
	before := peer.AllFetches()
	peer.PostAndSettle(srv, peer.Activity("Like", bob, peer.URL+"/notes/unknown"))
	peer.PostAndSettle(srv, peer.Activity("Like", bob, srv.URL+"/objects/unknown"))
	if n := peer.AllFetches() - before; n > 0 {
		t.Errorf("%d requests because of a Like", n)
	}

	// An accepted follower sees private posts.
	secret := alice.Publish("for followers", "visibility", "private")
	peer.PostAndSettle(srv, peer.Activity("Follow", bob, alice.URI()))
	peer.PostAndSettle(srv, peer.Activity("Like", bob, secret.Str("uri")))
	apptest.WantList(t, "notifications of alice", alice.NotificationTypes(), "favourite", "follow")
}
