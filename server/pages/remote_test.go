package pages_test

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestRemotePages opens an account and a post of another server. Users see them with links to their origin, visitors are led there.
func TestRemotePages(t *testing.T) {
	here, there, alice, bob, _ := apptest.StartTwo(t)
	post := bob.Publish("seen from afar #tea")
	apptest.Settle(here, there)
	acct := bob.Nickname + "@" + there.Settings.Host()
	found := alice.Get("/api/v1/timelines/home").Want(200).List()
	if len(found) != 1 {
		t.Fatalf("%d posts arrived", len(found))
	}
	user, visitor := alice.SignedIn(), here.Browser()
	profile, permalink := "/@"+acct, "/@"+acct+"/"+found[0].ID()
	for path, tt := range map[string]struct {
		origin string
		shows  []string
	}{
		profile:                     {there.URL + "/@bob", []string{"seen from afar", "This account is on another server.", "Unfollow"}},
		profile + "/with_replies":   {there.URL + "/@bob", []string{"seen from afar"}},
		profile + "/media":          {there.URL + "/@bob", []string{"There are no posts here yet."}},
		permalink:                   {post.Str("url"), []string{"seen from afar"}},
		permalink + "/favourites":   {post.Str("url"), []string{"Favourited by"}},
		"/web" + profile:            {there.URL + "/@bob", []string{"seen from afar"}},
		"/web" + permalink:          {post.Str("url"), []string{"seen from afar"}},
		profile + "/followers":      {there.URL + "/@bob", nil},
		permalink + "/boosts":       {post.Str("url"), []string{"Boosted by"}},
		"/web" + profile + "/media": {there.URL + "/@bob", nil},
	} {
		user.Get(path).Want(200, tt.shows...)
		refused := visitor.Get(path).Want(200, "This page comes from another server.", "Open it on its own server")
		body := string(refused.Body)
		if !strings.Contains(body, `href="`+tt.origin+`" rel="noopener noreferrer nofollow"`) || strings.Contains(body, "seen from afar") {
			t.Errorf("%s shows visitors %s", path, body)
		}
		if !strings.Contains(body, `content="noindex"`) || !strings.Contains(body, "/web/sign_in?back=") {
			t.Errorf("%s can be indexed or does not lead to the sign-in: %s", path, body)
		}
	}
	if body := string(user.Get(profile).Body); !strings.Contains(body, `href="`+there.URL+`/@bob"`) || strings.Contains(body, "Follow from another server") {
		t.Errorf("the profile does not link to its origin: %s", body)
	}
	more := user.Get("/web/statuses/"+found[0].ID()+"/more").Want(200, "Open it on its own server")
	if !strings.Contains(string(more.Body), post.Str("url")) {
		t.Errorf("the post does not link to its origin: %s", more.Body)
	}
	// A local account is not shown under its full handle.
	if to, _ := user.Get("/@alice@" + here.Settings.Host()).Location(); to != "/@alice" {
		t.Errorf("the full handle of a local account leads to %s", to)
	}
	for _, path := range []string{"/@nobody@" + there.Settings.Host(), profile + "/none"} {
		if got := user.Get(path).Status; got != 404 {
			t.Errorf("%s: %d", path, got)
		}
	}
	for _, end := range []string{".rss", ".atom"} {
		if got := user.Get(profile + end).Status; got != 404 {
			t.Errorf("the feed of a remote account: %d", got)
		}
	}
	user.Get(profile).Press("Unfollow").Follow().Want(200)
	if alice.Relationship(alice.FindRemote(bob)).Bool("following") {
		t.Error("the remote account is still followed")
	}
}

// TestFeedEnclosures reads the media of posts from the feeds of an account and of a hashtag.
func TestFeedEnclosures(t *testing.T) {
	srv := apptest.Start(t)
	alice := srv.SignUp("alice")
	first, second := alice.Upload(apptest.PNG(8, 8), apptest.ValuePart("description", "A cup & saucer")), alice.Upload(apptest.PNG(9, 9))
	alice.Publish("two pictures #tea", "media_ids[]", first.ID(), "media_ids[]", second.ID())
	alice.Publish("no picture #tea")
	type enclosure struct {
		URL   string `xml:"url,attr"`
		Href  string `xml:"href,attr"`
		Type  string `xml:"type,attr"`
		Rel   string `xml:"rel,attr"`
		Title string `xml:"title,attr"`
	}
	for _, page := range []string{"/@alice", "/tags/tea"} {
		var rss struct {
			Items []struct {
				Description string      `xml:"description"`
				Enclosures  []enclosure `xml:"enclosure"`
			} `xml:"channel>item"`
		}
		var atom struct {
			Entries []struct {
				Content string      `xml:"content"`
				Links   []enclosure `xml:"link"`
			} `xml:"entry"`
		}
		for end, dst := range map[string]any{".rss": &rss, ".atom": &atom} {
			if err := xml.Unmarshal(srv.Browser().Get(page+end).Want(200).Body, dst); err != nil {
				t.Fatal(err)
			}
		}
		if len(rss.Items) != 2 || len(atom.Entries) != 2 || len(rss.Items[0].Enclosures) > 0 || len(atom.Entries[0].Links) != 1 {
			t.Fatalf("%s: the feeds are %+v and %+v", page, rss, atom)
		}
		got, links := rss.Items[1].Enclosures, atom.Entries[1].Links[1:]
		for i, m := range []*apptest.Object{first, second} {
			if i >= len(got) || got[i].URL != m.Str("url") || got[i].Type != "image/png" {
				t.Errorf("%s.rss: the enclosures are %+v, want %s", page, got, m.Str("url"))
			}
			if i >= len(links) || links[i].Rel != "enclosure" || links[i].Href != m.Str("url") || links[i].Type != "image/png" {
				t.Errorf("%s.atom: the links are %+v, want %s", page, links, m.Str("url"))
			}
			srv.As(nil).Get(m.Str("url")).Want(200)
		}
		if links[0].Title != "A cup & saucer" || !strings.Contains(rss.Items[1].Description, "A cup &amp; saucer</a>") || !strings.Contains(atom.Entries[1].Content, "A cup &amp; saucer</a>") {
			t.Errorf("%s: a description is missing: %+v, %+v", page, rss.Items[1], atom.Entries[1])
		}
	}
}

// TestBlockList shows which servers are blocked, and why, where the settings make it public.
func TestBlockList(t *testing.T) {
	change := func(c *config.Config) {
		c.MRF.Policies = []string{"SimplePolicy"}
		c.MRFSimple.Reject = []config.HostReason{{Host: "spam.example", Reason: "Only <b>spam</b>"}}
		c.MRFSimple.MediaRemoval = []config.HostReason{{Host: "pictures.example"}}
		for i := range 501 {
			c.MRFSimple.AvatarRemoval = append(c.MRFSimple.AvatarRemoval, config.HostReason{Host: fmt.Sprintf("host%d.example", i)})
		}
	}
	page := apptest.Start(t, change).Browser().Get("/about").Want(200, "spam.example Only <b>spam</b>", "pictures.example", "host0.example", "3 more")
	if n := strings.Count(page.Text, ".example"); n != 500 {
		t.Errorf("%d servers are listed, want 500", n)
	}
	for name, hide := range map[string]func(*config.Config){
		"not public": func(c *config.Config) { change(c); c.MRF.Transparency = false },
		"one hidden": func(c *config.Config) {
			change(c)
			c.MRF.TransparencyExclusions = []config.HostReason{{Host: "spam.example"}}
		},
	} {
		if page := apptest.Start(t, hide).Browser().Get("/about").Want(200); strings.Contains(page.Text, "spam.example") {
			t.Errorf("%s: the page names spam.example", name)
		}
	}
}
