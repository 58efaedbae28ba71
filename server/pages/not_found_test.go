package pages_test

import (
	"encoding/xml"
	"net/http"
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestUnknownAddresses opens addresses without a page. Visitors and users find the navigation there; API clients get JSON.
func TestUnknownAddresses(t *testing.T) {
	srv := apptest.Start(t)
	user := srv.SignUp("alice").SignedIn()
	german := srv.Browser()
	german.Language = "de"
	for _, path := range []string{"/no/such/page", "/web/no_such_page", "/no.html"} {
		for name, tt := range map[string]struct {
			browser *apptest.Browser
			texts   []string
		}{
			"a visitor": {srv.Browser(), []string{"There is no page at this address.", `href="/about"`, `href="/web/sign_in"`}},
			"a user":    {user, []string{"There is no page at this address.", `href="/web/notifications"`, "@alice"}},
			"in German": {german, []string{"Unter dieser Adresse gibt es keine Seite.", `href="/about"`, "Anmelden"}},
		} {
			tt.browser.Accept = "text/html"
			if body := string(tt.browser.Get(path).Want(http.StatusNotFound).Body); !containsAll(body, tt.texts) {
				t.Errorf("%s, %s: %q is missing in %s", path, name, tt.texts, body)
			}
		}
		srv.As(nil).Get(path).WantError(http.StatusNotFound, "Record not found")
	}
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// TestFeedLinksToReplies reads a reply from the feeds of a hashtag. Its link opens at the reply; its id stays the address.
func TestFeedLinksToReplies(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	root := alice.Publish("a question #tea")
	reply := alice.Publish("an answer #tea", "in_reply_to_id", root.ID())
	var rss struct {
		Items []struct {
			Link string `xml:"link"`
			GUID string `xml:"guid"`
		} `xml:"channel>item"`
	}
	var atom struct {
		Entries []struct {
			Links []struct {
				Href string `xml:"href,attr"`
			} `xml:"link"`
		} `xml:"entry"`
	}
	for end, dst := range map[string]any{".rss": &rss, ".atom": &atom} {
		if err := xml.Unmarshal(srv.Browser().Get("/tags/tea"+end).Want(200).Body, dst); err != nil {
			t.Fatal(err)
		}
	}
	if len(rss.Items) != 2 || len(atom.Entries) != 2 {
		t.Fatalf("the feeds are %+v and %+v", rss, atom)
	}
	for i, want := range []string{reply.Str("url") + "#p" + reply.ID(), root.Str("url")} {
		if rss.Items[i].Link != want || strings.Contains(rss.Items[i].GUID, "#") || atom.Entries[i].Links[0].Href != want {
			t.Errorf("the links are %+v and %+v, want %s", rss.Items[i], atom.Entries[i].Links, want)
		}
	}
}
