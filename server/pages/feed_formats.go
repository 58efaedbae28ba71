package pages

import (
	"cmp"
	"encoding/xml"
	"mime"
	"path"
	"strings"
	"time"

	"svc/server/web"
)

// rssFeed is RSS 2.0 with the link to itself that the RSS Advisory Board asks for.
type rssFeed struct {
	XMLName xml.Name   `xml:"rss"`
	Version string     `xml:"version,attr"`
	Atom    string     `xml:"xmlns:atom,attr"`
	Dublin  string     `xml:"xmlns:dc,attr"`
	Channel rssChannel `xml:"channel"`
}

type rssChannel struct {
	Title       string    `xml:"title"`
	Link        string    `xml:"link"`
	Description string    `xml:"description"`
	Self        atomLink  `xml:"atom:link"`
	Updated     string    `xml:"lastBuildDate,omitempty"`
	Image       *rssImage `xml:"image"`
	Items       []rssItem `xml:"item"`
}

type rssImage struct {
	URL   string `xml:"url"`
	Title string `xml:"title"`
	Link  string `xml:"link"`
}

type rssItem struct {
	Title       string         `xml:"title"`
	Link        string         `xml:"link"`
	GUID        string         `xml:"guid"` // the URL, which does not change
	Published   string         `xml:"pubDate"`
	Creator     string         `xml:"dc:creator"`
	Categories  []string       `xml:"category"`
	Enclosures  []rssEnclosure `xml:"enclosure"`
	Description string         `xml:"description"` // HTML
}

type rssEnclosure struct {
	URL    string `xml:"url,attr"`
	Length int    `xml:"length,attr"` // 0: unknown
	Type   string `xml:"type,attr"`
}

func (f *feed) rss(p *page) rssFeed {
	c := rssChannel{Title: f.title, Link: f.page, Description: f.summary, Self: atomLink{Rel: "self", Type: rssType, URL: f.address}}
	if at := f.updated(); !at.IsZero() {
		c.Updated = at.UTC().Format(time.RFC1123Z)
	}
	if f.picture != "" {
		c.Image = &rssImage{f.picture, f.title, f.page}
	}
	for _, s := range f.posts {
		item := rssItem{
			Title: postTitle(p, &s), Link: feedLink(&s), GUID: s.URL, Published: s.CreatedAt.UTC().Format(time.RFC1123Z), Creator: p.handle(&s.Account),
			Categories: tagNames(&s), Description: postHTML(p, &s),
		}
		for _, m := range s.MediaAttachments {
			item.Enclosures = append(item.Enclosures, rssEnclosure{URL: m.URL, Type: mediaType(&m)})
		}
		c.Items = append(c.Items, item)
	}
	return rssFeed{Version: "2.0", Atom: "http://www.w3.org/2005/Atom", Dublin: "http://purl.org/dc/elements/1.1/", Channel: c}
}

// atomFeed is Atom (RFC 4287).
type atomFeed struct {
	XMLName  xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID       string      `xml:"id"`
	Title    string      `xml:"title"`
	Subtitle string      `xml:"subtitle,omitempty"`
	Updated  string      `xml:"updated"`
	Icon     string      `xml:"icon,omitempty"`
	Author   atomAuthor  `xml:"author"`
	Links    []atomLink  `xml:"link"`
	Entries  []atomEntry `xml:"entry"`
}

type atomAuthor struct {
	Name string `xml:"name"`
	URI  string `xml:"uri,omitempty"`
}

type atomLink struct {
	Rel   string `xml:"rel,attr"`
	Type  string `xml:"type,attr,omitempty"`
	URL   string `xml:"href,attr"`
	Title string `xml:"title,attr,omitempty"`
}

type atomEntry struct {
	ID         string         `xml:"id"`
	Title      string         `xml:"title"`
	Published  string         `xml:"published"`
	Updated    string         `xml:"updated"`
	Author     atomAuthor     `xml:"author"`
	Links      []atomLink     `xml:"link"`
	Categories []atomCategory `xml:"category"`
	Content    atomContent    `xml:"content"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

type atomContent struct {
	Type     string `xml:"type,attr"`
	Language string `xml:"xml:lang,attr,omitempty"`
	HTML     string `xml:",chardata"`
}

func (f *feed) atom(p *page) atomFeed {
	a := atomFeed{
		ID: f.address, Title: f.title, Subtitle: f.summary, Updated: f.updated().UTC().Format(time.RFC3339), Icon: f.picture, Author: atomAuthor{Name: f.host, URI: p.Settings.BaseURL + "/"},
		Links: []atomLink{{Rel: "alternate", Type: "text/html", URL: f.page}, {Rel: "self", Type: atomType, URL: f.address}},
	}
	if f.author != nil {
		a.Author = authorOf(f.author)
	}
	for _, s := range f.posts {
		e := atomEntry{
			ID: s.URI, Title: postTitle(p, &s), Published: s.CreatedAt.UTC().Format(time.RFC3339), Updated: changedAt(&s).UTC().Format(time.RFC3339),
			Author: authorOf(&s.Account), Links: []atomLink{{Rel: "alternate", Type: "text/html", URL: feedLink(&s)}},
			Content: atomContent{Type: "html", Language: s.Language, HTML: postHTML(p, &s)},
		}
		for _, m := range s.MediaAttachments {
			e.Links = append(e.Links, atomLink{Rel: "enclosure", Type: mediaType(&m), URL: m.URL, Title: m.Description})
		}
		for _, name := range tagNames(&s) {
			e.Categories = append(e.Categories, atomCategory{name})
		}
		a.Entries = append(a.Entries, e)
	}
	return a
}

// feedLink returns the URL of a status. That of a local reply opens at the reply, below the posts that it answers.
func feedLink(s *web.Status) string {
	if strings.Contains(s.Account.Acct, "@") {
		return s.URL
	}
	return s.URL + s.Fragment()
}

func authorOf(a *web.Account) atomAuthor {
	return atomAuthor{Name: cmp.Or(a.DisplayName, a.Username), URI: a.URL}
}

func tagNames(s *web.Status) []string {
	var names []string
	for _, t := range s.Tags {
		names = append(names, t.Name)
	}
	return names
}

// mediaType returns the content type of a file: by the end of its URL, else by what kind of media it is.
func mediaType(m *web.Media) string {
	name, _, _ := strings.Cut(m.URL, "?")
	if t := mime.TypeByExtension(strings.ToLower(path.Ext(name))); t != "" {
		return t
	}
	switch m.Type {
	case "image":
		return "image/jpeg"
	case "audio":
		return "audio/mpeg"
	case "video", "gifv":
		return "video/mp4"
	}
	return "application/octet-stream"
}
