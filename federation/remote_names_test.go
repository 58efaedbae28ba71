package federation_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"svc/app/apptest"
)

// addNamed serves an actor with a nickname, at an address that does not have it.
func addNamed(peer *apptest.FakeServer, path, nick string) string {
	id := peer.AddActor(path, apptest.Doc{"preferredUsername": nick})
	peer.AddWebFinger(nick, id)
	return id
}

// TestRemoteNicknames checks that accounts of other servers may have any name that their servers allow (RFC 7565), and are found, mentioned and
// shown by it.
func TestRemoteNicknames(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	for i, tt := range []struct{ nick, shown, other string }{
		{"bär", "bär", "BÄR"},
		{"ba\u0308er", "bäer", "BÄER"}, // decomposed
		{"日本", "日本", "日本"},
		{"a+b", "a+b", "A+B"},
		{"naïve.user", "naïve.user", "Naïve.User"},
		{"a~b", "a~b", "A~B"},
		{"straße", "straße", "STRASSE"},
		{"Ελληνικός", "Ελληνικός", "ΕΛΛΗΝΙΚΌΣ"},
		{"हिन्दी", "हिन्दी", "हिन्दी"},
		{strings.Repeat("ä", 64), strings.Repeat("ä", 64), strings.Repeat("Ä", 64)},
	} {
		t.Run(tt.nick, func(t *testing.T) {
			path := "a" + string(rune('a'+i))
			id := addNamed(peer, path, tt.nick)
			acct := tt.shown + "@" + peer.Host
			peer.PostAndSettle(srv, peer.Activity("Follow", id, srv.URL+"/users/"+alice.ID))
			if got := alice.Get("/api/v1/accounts/lookup?acct=" + url.QueryEscape(acct)).Want(200).Object().Str("acct"); got != acct {
				t.Fatalf("looked up as %q, want %q", got, acct)
			}
			for _, handle := range []string{acct, "@" + tt.other + "@" + peer.Host, tt.nick + "@" + peer.Host} {
				found := alice.Get("/api/v2/search?type=accounts&resolve=true&q=" + url.QueryEscape(handle)).Want(200).Object()
				if got := found.Find("accounts.0.acct"); got != acct {
					t.Errorf("search for %q finds %v, want %q", handle, got, acct)
				}
			}
			peer.ClearDelivered()
			post := alice.Publish("Hello @" + tt.other + "@" + peer.Host + "!")
			apptest.Settle(srv)
			if got := post.Find("mentions.0.acct"); got != acct {
				t.Errorf("mentions %v, want %q: %s", got, acct, post.Str("content"))
			}
			if d := peer.OneDelivered("Create"); d == nil {
				t.Error("the post was not delivered")
			}
			if page := srv.As(nil).Get("/@" + url.PathEscape(acct)); page.Status != http.StatusOK || !strings.Contains(string(page.Body), peer.URL+"/@"+path) {
				t.Errorf("page: %d", page.Status)
			}
		})
	}
	t.Run("one key a domain", func(t *testing.T) {
		peer.AddActor("twin", apptest.Doc{"preferredUsername": "BÄR"})
		id := addNamed(peer, "twin", "BÄR")
		peer.Deliver(srv, "/inbox", id, peer.Activity("Follow", id, srv.URL+"/users/"+alice.ID))
		apptest.Settle(srv)
		if n := srv.Count(`SELECT count(*) FROM accounts WHERE nickname_key = 'bär'`); n != 1 {
			t.Errorf("%d accounts are called bär", n)
		}
	})
	for _, nick := range []string{"a@b", "a/b", "a?b", "a#b", "a:b", "a b", "ä b", "ä/b", "\u202ebär", "b\u200där", ".bär", "bär.", "~~~", strings.Repeat("ä", 65), strings.Repeat("a", 300)} {
		t.Run("refuses "+nick, func(t *testing.T) {
			id := addNamed(peer, "refused"+url.QueryEscape(strings.NewReplacer("/", "_", "?", "_", "#", "_", "%", "_").Replace(nick)), nick)
			got := peer.Deliver(srv, "/inbox", id, peer.Activity("Follow", id, srv.URL+"/users/"+alice.ID))
			if got.Status != http.StatusBadRequest || !strings.Contains(string(got.Body), "preferredUsername") {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
	}
}

// TestRemoteShortcodes checks that custom emoji of other servers may have letters of all scripts, in texts and reactions.
func TestRemoteShortcodes(t *testing.T) {
	srv, peer := apptest.StartWithFake(t)
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	st := alice.Publish("hello")
	for _, code := range []string{"鹅", "a.b", "blåhaj", "blob_cat", "x+1"} {
		tag := apptest.Doc{"type": "Emoji", "id": peer.NewID("emojis"), "name": ":" + code + ":", "icon": apptest.Doc{"type": "Image", "mediaType": "image/png", "url": peer.URL + "/e.png"}}
		peer.PostAndSettle(srv, peer.Create(peer.Note(bob, "<p>look :"+code+": and :other:</p>", apptest.Doc{"tag": []any{tag}})))
		if got := alice.Get("/api/v1/timelines/home?limit=1").Want(200).List()[0].Find("emojis.0.shortcode"); got != code {
			t.Errorf("emoji of the post is %v, want %q", got, code)
		}
		peer.PostAndSettle(srv, peer.Activity("EmojiReact", bob, st.Str("uri"), apptest.Doc{"content": ":" + code + ":", "tag": []any{tag}}))
		list := alice.Get("/api/v1/svc/statuses/" + st.ID() + "/reactions").Want(200).List()
		if len(list) == 0 || !strings.Contains(string(apptest.MustJSON(list[len(list)-1].Fields)), code+"@"+peer.Host) {
			t.Errorf("reaction %q is lost: %v", code, list)
		}
		name := code + "@" + peer.Host
		alice.React("PUT", st.ID(), name).Want(200)
		alice.React("DELETE", st.ID(), name).Want(200)
	}
	for _, code := range []string{"a b", "a:b", "../x", "<b>", "\u202ea", "~", strings.Repeat("鹅", 65)} {
		tag := apptest.Doc{"type": "Emoji", "name": ":" + code + ":", "icon": apptest.Doc{"type": "Image", "url": peer.URL + "/e.png"}}
		peer.PostAndSettle(srv, peer.Create(peer.Note(bob, "look", apptest.Doc{"tag": []any{tag}})))
		if got := alice.Get("/api/v1/timelines/home?limit=1").Want(200).List()[0].Find("emojis.0.shortcode"); got != nil {
			t.Errorf("emoji of the post is %v", got)
		}
	}
}
