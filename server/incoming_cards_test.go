package server_test

import (
	"strings"
	"testing"
	"time"

	"svc/internal/config"
)

// Case 70: what a page of another server is about has a card, whatever else is linked to in its text, and an edit can be about something
// else.
func TestIncomingCard(t *testing.T) {
	site := startSite(t)
	srv, peer := startWithPeer(t, func(c *config.Config) { c.Cards.IgnoredHosts = []string{"localhost"} })
	alice := srv.signUp("alice")
	bob := peer.actor("bob")
	alice.follows(bob)
	looked := func() {
		t.Helper()
		srv.insert(`UPDATE jobs SET run_at = 1000 WHERE kind = 'fetch_card'`)
		settle(srv)
	}
	link := func(href string) []any {
		return []any{doc{"type": "Link", "href": href, "mediaType": "text/html; charset=utf-8"}}
	}
	other := `<p>see <a href="` + site.URL + `/other">here</a></p>`
	for _, tt := range []struct {
		name string
		note doc
		want string // the title of the card
	}{
		{"a page about a link", doc{"type": "Page", "name": "News", "content": other, "attachment": link(site.URL + "/page")}, "Café <b>ä"},
		{"a note with a link", doc{"content": other, "attachment": doc{"type": "Page", "url": site.URL + "/page"}}, "Café <b>ä"},
		{"a page about nothing", doc{"type": "Page", "name": "News", "content": other}, "Other"},
		{"a page about itself", doc{"type": "Page", "name": "News", "id": peer.url + "/post/1", "url": peer.url + "/p/1", "attachment": link(peer.url + "/p/1")}, ""},
		{"a page about something here", doc{"type": "Page", "name": "News", "attachment": link(srv.url + "/about")}, ""},
		{"a page about what is not looked at", doc{"type": "Page", "name": "News", "attachment": link(strings.Replace(site.URL, "127.0.0.1", "localhost", 1) + "/page")}, ""},
		{"a page for followers", doc{"type": "Page", "name": "News", "to": []any{bob + "/followers"}, "cc": nil, "attachment": link(site.URL + "/page")}, ""},
		{"a picture", doc{"type": "Page", "name": "News", "attachment": []any{doc{"type": "Link", "href": site.URL + "/page", "mediaType": "image/png"}}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.note(bob, "", tt.note)
			peer.receive(srv, peer.create(note))
			looked()
			if got := cardTitle(alice.wantPost(note["id"])); got != tt.want {
				t.Errorf("got the card of %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("an edit", func(t *testing.T) {
		note := peer.note(bob, "", doc{"type": "Page", "name": "News", "published": fromNow(-time.Hour), "attachment": link(site.URL + "/page")})
		peer.receive(srv, peer.create(note))
		looked()
		peer.receive(srv, peer.activity("Update", bob, with(note, doc{"attachment": link(site.URL + "/other"), "updated": fromNow(-time.Minute)})))
		looked()
		if got := alice.wantPost(note["id"]); cardTitle(got) != "Other" || got.at("edited_at") == nil {
			t.Errorf("after an edit there is the card of %q, edited %v", cardTitle(got), got.at("edited_at"))
		}
	})
}
