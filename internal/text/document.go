// Package text turns what users write into HTML, and HTML of other servers into safe HTML.
//
// Parse reads a post of any content type and finds its mentions, hashtags, links and shortcodes. The caller looks up the mentioned
// accounts and passes them to Render, which writes the HTML. HTML of other servers goes through Sanitize, SanitizeStrict or
// SanitizeLinksOnly. Nicknames, handles, domains, hashtags and language tags are normalised here, so that they have one form
// everywhere.
//
// Nothing here fails: any input results in safe output, in time linear in its length. The package knows neither accounts nor the
// database. All functions are safe for concurrent use.
//
// Limits: 100 distinct mentions, hashtags and shortcodes each per text; markup over 64 KiB is shown as plain text.
package text

import (
	"net/url"
	"strings"
)

// ContentType is the format of a post.
type ContentType string

// Content types of posts.
const (
	PlainText ContentType = "text/plain"
	HTML      ContentType = "text/html"
	Markdown  ContentType = "text/markdown"
	BBCode    ContentType = "text/bbcode"
)

// Distinct mentions, hashtags and shortcodes per text. Further ones stay plain text.
const (
	MaxMentions   = 100
	MaxTags       = 100
	MaxShortcodes = 100
)

// maxSlots is the number of mentions and hashtags in a text that become links, with repetitions.
const maxSlots = 500

// maxMarkup is the size in bytes above which markup is shown as plain text.
const maxMarkup = 64 << 10

// Mention is a handle in a text. Domain is normalised, and empty if the handle has none.
type Mention struct {
	Nick   string
	Domain string
}

// Key returns the normalised handle: "nick" or "nick@domain", as NickKey has it.
func (m Mention) Key() string {
	if m.Domain == "" {
		return NickKey(m.Nick)
	}
	return NickKey(m.Nick) + "@" + m.Domain
}

// Tag is a hashtag without "#": its normalised name, and its first spelling in the text.
type Tag struct {
	Name    string
	Written string
}

// Account is the data of a known account for its mentions.
type Account struct {
	ID       string
	Username string // nickname without domain
	Acct     string // with domain, if the account is remote
	URL      string // of the profile page, used unchanged as href
}

// Document is a parsed text, before the mentioned accounts are known. It is immutable.
type Document struct {
	html        string // without the slots
	slots       []slot
	mentions    []Mention
	tags        []Tag
	shortcodes  []string
	fullHandles bool
}

// slot is a position in the HTML for a mention or hashtag.
type slot struct {
	at      int // offset in html
	kind    tokenKind
	key     string // the mention's key or the tag's name
	written string
}

// Rendered is a Document rendered with its links.
type Rendered struct {
	HTML       string
	Tags       []string  // distinct names, in order of appearance
	Mentions   []Account // distinct known accounts, in order of appearance
	Shortcodes []string  // distinct, without colons, whether or not the emoji exists
}

// Parse parses a post. An unknown content type is parsed as plain text.
func Parse(source string, t ContentType) *Document {
	source = strings.TrimSpace(normalizeInput(source))
	c := newBuilder(postLink)
	if len(source) > maxMarkup {
		t = PlainText
	}
	switch t {
	case HTML:
		c.html(source)
	case Markdown:
		if tooComplex(source) {
			c.plain(source)
			break
		}
		c.html(markdownToHTML(source))
	case BBCode:
		c.html(bbcodeToHTML(source))
	default:
		c.plain(source)
	}
	return c.finish()
}

// ParseChat parses a chat message: plain text without paragraphs, whose line breaks are kept (extension API 11.3).
func ParseChat(message string) *Document {
	c := newBuilder(postLink)
	for i, line := range strings.Split(strings.TrimSpace(normalizeInput(message)), "\n") {
		if i > 0 {
			c.raw("<br/>")
			c.prev = '\n'
		}
		c.text(strings.TrimRight(line, " \t"), true)
	}
	return c.finish()
}

// ParseBio parses the bio of an account: plain text in which mentions show the full handle.
func ParseBio(note string) *Document {
	c := newBuilder(postLink)
	c.doc.fullHandles = true
	c.plain(strings.TrimSpace(normalizeInput(note)))
	return c.finish()
}

// ParseField parses the value of a profile field: one line of plain text, whose links have rel "me".
func ParseField(value string) *Document {
	c := newBuilder(profileLink)
	c.doc.fullHandles = true
	c.text(strings.Join(strings.Fields(normalizeInput(value)), " "), true)
	return c.finish()
}

// Mentions returns the distinct handles in the text, in order of appearance, except those in links and code.
func (d *Document) Mentions() []Mention { return d.mentions }

// Tags returns the hashtags in the text that differ in their keys, in order of appearance.
func (d *Document) Tags() []Tag { return d.tags }

// Render returns the text as HTML. accounts maps Mention.Key to accounts; other mentions stay text. base is the URL of this server, for
// the links of hashtags.
func (d *Document) Render(base string, accounts map[string]Account) Rendered {
	r := Rendered{Shortcodes: d.shortcodes}
	for _, t := range d.tags {
		r.Tags = append(r.Tags, t.Name)
	}
	seen := make(map[string]bool, len(d.mentions))
	for _, m := range d.mentions {
		if a, ok := accounts[m.Key()]; ok && !seen[a.ID] {
			seen[a.ID] = true
			r.Mentions = append(r.Mentions, a)
		}
	}
	if len(d.slots) == 0 {
		r.HTML = d.html
		return r
	}
	out := make([]byte, 0, len(d.html)+len(d.slots)*160)
	last := 0
	for _, s := range d.slots {
		out = append(out, d.html[last:s.at]...)
		last = s.at
		if s.kind == hashtagToken {
			out = appendHashtag(out, base, s)
		} else if a, ok := accounts[s.key]; ok {
			out = appendMention(out, a, d.fullHandles)
		} else {
			out = appendText(out, s.written)
		}
	}
	r.HTML = string(append(out, d.html[last:]...))
	return r
}

// TagURL returns the URL of the page of a hashtag on the server at base.
func TagURL(base, name string) string {
	return base + "/tags/" + url.PathEscape(name)
}

func appendMention(out []byte, a Account, full bool) []byte {
	out = append(out, `<span class="h-card"><a class="u-url mention" data-user="`...)
	out = appendAttr(out, a.ID)
	out = append(out, `" href="`...)
	out = appendAttr(out, a.URL)
	out = append(out, `" rel="ugc">@<span>`...)
	if full {
		out = appendText(out, a.Acct)
	} else {
		out = appendText(out, a.Username)
	}
	return append(out, `</span></a></span>`...)
}

func appendHashtag(out []byte, base string, s slot) []byte {
	out = append(out, `<a class="hashtag" data-tag="`...)
	out = appendAttr(out, s.key)
	out = append(out, `" href="`...)
	out = appendAttr(out, TagURL(base, s.key))
	out = append(out, `" rel="tag ugc">`...)
	out = appendText(out, s.written)
	return append(out, `</a>`...)
}
