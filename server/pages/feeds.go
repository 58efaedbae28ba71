package pages

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"net/url"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/rest"
	"svc/server/web"
)

// The content types of feeds.
const (
	rssType  = "application/rss+xml"
	atomType = "application/atom+xml"
)

// feedTypes are the content types of feeds by the end of their paths.
var feedTypes = map[string]string{".rss": rssType, ".atom": atomType}

// feedsOf returns the links to the feeds of a page.
func feedsOf(page, title string) []web.Feed {
	return []web.Feed{{Type: rssType, URL: page + ".rss", Title: title}, {Type: atomType, URL: page + ".atom", Title: title}}
}

// OrFeed answers with a feed if the last part of the path asks for one, else with the page.
func (h *Handlers) OrFeed(page rest.Handler) rest.Handler {
	return func(r *rest.Request) (any, error) {
		name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		for end := range feedTypes {
			if subject, ok := strings.CutSuffix(name, end); ok && subject != "" {
				r.Viewer, r.User = nil, nil // a feed has what anyone may see
				return h.feed(r, subject, end)
			}
		}
		return page(r)
	}
}

// feed serves the latest posts of an account, as in @alice, or with a hashtag.
func (h *Handlers) feed(r *rest.Request, subject, end string) (any, error) {
	p, err := h.newPage(r)
	if err != nil {
		return nil, err
	}
	return p.current(func() (any, error) { return p.showFeed(subject, end) })
}

func (p *page) showFeed(subject, end string) (any, error) {
	f := feed{page: p.Settings.BaseURL + "/tags/" + url.PathEscape(subject), title: "#" + subject, host: p.Settings.Host}
	path, query := "/api/v1/timelines/tag/"+url.PathEscape(subject), url.Values{"local": {"true"}, "limit": {postsPerPage}}
	if name, ok := strings.CutPrefix(subject, "@"); ok {
		var a web.Account
		if err := p.get("/api/v1/accounts/lookup", url.Values{"acct": {name}}, &a); err != nil {
			return nil, feedError(err)
		}
		if !a.Local() {
			return nil, errNoPage
		}
		f.page, f.title, f.author, f.picture = a.URL, cmp.Or(a.DisplayName, a.Username)+" ("+p.handle(&a)+")", &a, a.AvatarStatic
		f.summary = text.HTMLToText(a.Note)
		path, query = "/api/v1/accounts/"+a.ID+"/statuses", url.Values{"exclude_reblogs": {"true"}, "exclude_replies": {"true"}, "limit": {postsPerPage}}
	} else if _, err := p.fetch("/api/v1/tags/"+url.PathEscape(subject), nil); err != nil { // not a hashtag
		return nil, feedError(err)
	}
	answer, err := p.fetch(path, query)
	if err != nil {
		return nil, feedError(err)
	}
	return p.kept(feedTypes[end]+"; charset=utf-8", func() ([]byte, error) {
		if err := p.decode(answer.Value, &f.posts); err != nil {
			return nil, err
		}
		f.address = f.page + end
		f.summary = cmp.Or(f.summary, p.text("feed.description", f.title))
		if end == ".rss" {
			return marshalFeed(f.rss(p))
		}
		return marshalFeed(f.atom(p))
	})
}

// feedError tells viewers of a private instance that there is no feed, because they cannot sign in.
func feedError(err error) error {
	if e := forUser(err); e != nil && e.Status == 401 {
		return errs.Forbidden("The posts of this server are shown to signed-in people only.")
	}
	return err
}

func marshalFeed(document any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	err := xml.NewEncoder(&b).Encode(document)
	return b.Bytes(), err
}

// feed is what both formats have in common.
type feed struct {
	title, summary string
	page, address  string // URLs of the page and of the feed
	picture        string // URL; "": none
	host           string
	author         *web.Account // nil: posts of several accounts
	posts          []web.Status
}

// updated returns when the feed last changed.
func (f *feed) updated() time.Time {
	var last time.Time
	for _, s := range f.posts {
		if at := changedAt(&s); at.After(last) {
			last = at
		}
	}
	if last.IsZero() && f.author != nil {
		return f.author.CreatedAt
	}
	return last
}

func changedAt(s *web.Status) time.Time {
	if s.EditedAt != nil {
		return *s.EditedAt
	}
	return s.CreatedAt
}

// postTitle returns the warning of a status, or the beginning of its text.
func postTitle(p *page, s *web.Status) string {
	plain := strings.Join(strings.Fields(text.HTMLToText(s.Content)), " ")
	return excerpt(cmp.Or(s.SpoilerText, plain, p.text("feed.untitled", s.CreatedAt.UTC().Format(time.DateOnly))), 80)
}

// postHTML returns the text of a status and links to its media. Of one with a warning, viewers see the warning first.
func postHTML(p *page, s *web.Status) string {
	var b strings.Builder
	escape := xmlText
	if s.SpoilerText != "" {
		b.WriteString("<p><strong>" + escape(s.SpoilerText) + "</strong></p>")
	}
	b.WriteString(text.Sanitize(s.Content))
	for _, m := range s.MediaAttachments {
		b.WriteString(`<p><a href="` + escape(m.URL) + `">` + escape(cmp.Or(m.Description, p.text("post.attachment"))) + "</a></p>")
	}
	return b.String()
}

func xmlText(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a Builder accepts everything
	return b.String()
}
