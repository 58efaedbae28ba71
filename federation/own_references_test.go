package federation_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestOwnReferences checks that other servers reach local accounts and posts by any of their URLs, and by no URL of another server.
func TestOwnReferences(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice, carl := srv.SignUp("alice"), srv.SignUp("carl")
	st := alice.Publish("hello")
	other := strings.Replace(srv.URL, "http://", "https://", 1)
	accounts := map[string]string{
		"its id": alice.URI(), "a page": srv.URL + "/@alice", "a page in capitals": srv.URL + "/@ALICE", "an address by name": srv.URL + "/users/alice", "an escaped page": srv.URL + "/%40alice",
		"another scheme": strings.Replace(alice.URI(), srv.URL, other, 1), "a page by another scheme": other + "/@alice", "a slash": alice.URI() + "/", "a page with a slash": srv.URL + "/@alice/",
		"a fragment": alice.URI() + "#me", "a page with a fragment": srv.URL + "/@alice#main",
	}
	posts := map[string]string{
		"its id": st.Str("uri"), "its page": srv.URL + "/@alice/" + st.ID(), "an escaped page": srv.URL + "/%40alice/" + st.ID(), "an old page": srv.URL + "/notice/" + st.ID(), "by name": srv.URL + "/users/alice/statuses/" + st.ID(),
		"another scheme": strings.Replace(st.Str("uri"), srv.URL, other, 1), "a slash": st.Str("uri") + "/", "a fragment": st.Str("uri") + "#comments", "a page with a fragment": other + "/@alice/" + st.ID() + "#c",
	}
	nick := 0
	actor := func() string {
		nick++
		return peer.AddActor("bob" + strings.Repeat("b", nick))
	}
	for name, address := range accounts {
		t.Run("account/"+name, func(t *testing.T) {
			for what, a := range map[string]apptest.Doc{
				"follow": peer.Activity("Follow", actor(), address),
				"mention": func() apptest.Doc {
					bob := actor()
					return peer.Create(peer.Note(bob, "<p>hi</p>", apptest.Doc{"to": []any{apptest.Public}, "cc": []any{address}, "tag": []any{apptest.Doc{"type": "Mention", "href": address, "name": "@alice"}}}))
				}(),
				"a mention by its addressing": func() apptest.Doc {
					return peer.Create(peer.Note(actor(), "<p>hi</p>", apptest.Doc{"to": []any{address}, "cc": nil}))
				}(),
			} {
				before := srv.Count(`SELECT count(*) FROM notifications`)
				peer.PostAndSettle(srv, a)
				if got := srv.Count(`SELECT count(*) FROM notifications`); got != before+1 {
					t.Errorf("%s: %d notifications more, want 1; refused: %q", what, got-before, srv.Refusals(a["id"]))
				}
			}
		})
	}
	for name, address := range posts {
		t.Run("post/"+name, func(t *testing.T) {
			for what, a := range map[string]apptest.Doc{
				"like":                peer.Activity("Like", actor(), address),
				"a like of an object": peer.Activity("Like", actor(), apptest.Doc{"id": address, "type": "Note"}),
				"boost":               peer.Activity("Announce", actor(), address, apptest.Doc{"to": []any{apptest.Public}}),
				"reaction":            peer.Activity("EmojiReact", actor(), address, apptest.Doc{"content": "🔥"}),
				"reply":               peer.Create(peer.Note(actor(), "<p>hi</p>", apptest.Doc{"inReplyTo": address, "cc": []any{alice.URI()}, "tag": []any{apptest.Doc{"type": "Mention", "href": alice.URI()}}})),
			} {
				before, replies := srv.Count(`SELECT count(*) FROM notifications`), alice.Get("/api/v1/statuses/"+st.ID()).Want(200).Object().Int("replies_count")
				peer.PostAndSettle(srv, a)
				if got := srv.Count(`SELECT count(*) FROM notifications`); got != before+1 {
					t.Errorf("%s: %d notifications more, want 1; refused: %q", what, got-before, srv.Refusals(a["id"]))
				}
				if got := alice.Get("/api/v1/statuses/" + st.ID()).Want(200).Object().Int("replies_count"); what == "reply" && got != replies+1 {
					t.Errorf("%d replies more, want 1", got-replies)
				}
			}
		})
	}
	host := strings.TrimPrefix(srv.URL, "http://")
	for _, address := range []string{
		"http://" + host + "1/@alice", "http://x" + host + "/@alice", "http://user@" + host + "/@alice", "http://" + host + "/@alice?x=1", "ftp://" + host + "/@alice", "//" + host + "/@alice",
		srv.URL + "/@alice%2Fx", srv.URL + "/@nobody", srv.URL + "/@alice@" + host, srv.URL + "/web/@alice", srv.URL + "/@alice/followers", srv.URL + "/users/alice/outbox", srv.URL + "/x/@alice", peer.URL + "/@alice",
	} {
		before := srv.Count(`SELECT count(*) FROM follows`)
		peer.PostAndSettle(srv, peer.Activity("Follow", actor(), address))
		if got := srv.Count(`SELECT count(*) FROM follows`); got != before {
			t.Errorf("a Follow of %s follows an account", address)
		}
	}
	// The author of an object is never resolved.
	fake := peer.Create(peer.Note(srv.URL+"/@carl", "<p>not mine</p>"), apptest.Doc{"actor": actor()})
	peer.PostAndSettle(srv, fake)
	if got := carl.Get("/api/v1/accounts/" + carl.ID + "/statuses").Want(200).List(); len(got) != 0 {
		t.Errorf("carl has posts: %v", got)
	}
}
