package federation_test

import (
	"strings"
	"testing"
	"time"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestIncomingCard checks that a Page of another server has the card of its attachment, whatever its text links to, and that an edit
// changes it (case 70).
func TestIncomingCard(t *testing.T) {
	apptest.SkipIfShort(t)
	site := apptest.StartSite(t)
	srv, peer := apptest.StartWithFake(t, func(c *config.Config) { c.Cards.IgnoredHosts = []string{"localhost"} })
	alice := srv.SignUp("alice")
	bob := peer.AddActor("bob")
	alice.FollowRemote(bob)
	settle := func() {
		t.Helper()
		srv.Exec(`UPDATE jobs SET run_at = 1000 WHERE kind = 'fetch_card'`)
		apptest.Settle(srv)
	}
	link := func(href string) []any {
		return []any{apptest.Doc{"type": "Link", "href": href, "mediaType": "text/html; charset=utf-8"}}
	}
	other := `<p>see <a href="` + site.URL + `/other">here</a></p>`
	for _, tt := range []struct {
		name string
		note apptest.Doc
		want string // the title of the card
	}{
		{"a page about a link", apptest.Doc{"type": "Page", "name": "News", "content": other, "attachment": link(site.URL + "/page")}, "Café <b>ä"},
		{"a note with a link", apptest.Doc{"content": other, "attachment": apptest.Doc{"type": "Page", "url": site.URL + "/page"}}, "Café <b>ä"},
		{"a page about nothing", apptest.Doc{"type": "Page", "name": "News", "content": other}, "Other"},
		{"a page about itself", apptest.Doc{"type": "Page", "name": "News", "id": peer.URL + "/post/1", "url": peer.URL + "/p/1", "attachment": link(peer.URL + "/p/1")}, ""},
		{"a page about a local address", apptest.Doc{"type": "Page", "name": "News", "attachment": link(srv.URL + "/about")}, ""},
		{"a page about an address that is not fetched", apptest.Doc{"type": "Page", "name": "News", "attachment": link(strings.Replace(site.URL, "127.0.0.1", "localhost", 1) + "/page")}, ""},
		{"a page for followers", apptest.Doc{"type": "Page", "name": "News", "to": []any{bob + "/followers"}, "cc": nil, "attachment": link(site.URL + "/page")}, ""},
		{"a picture", apptest.Doc{"type": "Page", "name": "News", "attachment": []any{apptest.Doc{"type": "Link", "href": site.URL + "/page", "mediaType": "image/png"}}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			note := peer.Note(bob, "", tt.note)
			peer.PostAndSettle(srv, peer.Create(note))
			settle()
			if got := apptest.CardTitle(alice.WantPost(note["id"])); got != tt.want {
				t.Errorf("got the card of %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("a quote of an unknown status", func(t *testing.T) { // whose address is the link in the text
		quoted := peer.Note(bob, "quoted")
		peer.Serve(quoted)
		id := quoted["id"].(string)
		note := peer.Note(bob, `see <p>RE: <a href="`+id+`">`+id+`</a></p>`, apptest.Doc{"quoteUrl": id})
		peer.PostAndSettle(srv, peer.Create(note))
		if n := srv.Count(`SELECT count(*) FROM jobs WHERE kind = 'fetch_card'`); n != 0 || !alice.WantPost(note["id"]).Bool("svc.quote_visible") {
			t.Errorf("%d cards are fetched, want only the quote", n)
		}
	})
	t.Run("an edit", func(t *testing.T) {
		note := peer.Note(bob, "", apptest.Doc{"type": "Page", "name": "News", "published": apptest.FromNow(-time.Hour), "attachment": link(site.URL + "/page")})
		peer.PostAndSettle(srv, peer.Create(note))
		settle()
		peer.PostAndSettle(srv, peer.Activity("Update", bob, apptest.With(note, apptest.Doc{"attachment": link(site.URL + "/other"), "updated": apptest.FromNow(-time.Minute)})))
		settle()
		if got := alice.WantPost(note["id"]); apptest.CardTitle(got) != "Other" || got.At("edited_at") == nil {
			t.Errorf("after an edit there is the card of %q, edited %v", apptest.CardTitle(got), got.At("edited_at"))
		}
	})
}
