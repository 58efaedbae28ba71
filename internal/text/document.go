// Package text turns what people write into what is shown, and what strangers send into what is safe to show.
//
// A post is read once: Parse finds its mentions, hashtags, links and shortcodes, whatever the content type. The caller
// looks up the mentioned accounts and hands them to Render, which writes the HTML. HTML from elsewhere goes through
// Sanitize, Strict or SanitizeLinksOnly. Names, handles, domains and language tags are checked here too, so that they have one
// form everywhere.
//
// Nothing here fails: any input, however broken, becomes some safe output, in time that grows with its length only.
// The package knows neither accounts nor the database. All functions may be called at the same time.
package text

import (
	"net/url"
	"strings"
)

// ContentType is the format in which a post was written.
type ContentType string

// The formats in which posts can be written.
const (
	PlainText ContentType = "text/plain"
	HTML      ContentType = "text/html"
	Markdown  ContentType = "text/markdown"
	BBCode    ContentType = "text/bbcode"
)

// The most distinct mentions, hashtags and shortcodes of one text; further ones stay plain text.
const (
	MaxMentions   = 100
	MaxTags       = 100
	MaxShortcodes = 100
)

// maxSlots is how many mentions and hashtags of one text become links, counting repetitions.
const maxSlots = 500

// maxMarkup is the size in bytes above which markup is not interpreted but shown as it is.
const maxMarkup = 64 << 10

// Mention is a handle found in a text. Domain is normalised, and empty if the text names no host.
type Mention struct {
	Nick   string
	Domain string
}

// Key is the same for all ways to write the handle: "nick" or "nick@domain" in lower case.
func (m Mention) Key() string {
	if m.Domain == "" {
		return strings.ToLower(m.Nick)
	}
	return strings.ToLower(m.Nick) + "@" + m.Domain
}

// Tag is a hashtag: the name by which it is found, and the form in which it was first written. Neither has the "#".
type Tag struct {
	Name    string
	Written string
}

// Account is what a mention of a known account shows of it.
type Account struct {
	ID       string
	Username string // the part before the host
	Acct     string // with the host, if the account is not local
	URL      string // of the profile page; the link's href, byte for byte
}

// Document is a text that has been read and awaits the accounts it mentions. It does not change any more.
type Document struct {
	html        string // without the slots
	slots       []slot
	mentions    []Mention
	tags        []Tag
	shortcodes  []string
	fullHandles bool
}

// slot is a place in the HTML where a mention or a hashtag goes.
type slot struct {
	at      int // offset in html
	kind    tokenKind
	key     string // the mention's key or the tag's name
	written string
}

// Rendered is a Document with its links.
type Rendered struct {
	HTML       string
	Tags       []string  // names, each once, in order of appearance
	Mentions   []Account // the known accounts, each once, in order of appearance
	Shortcodes []string  // without colons, each once, whether or not there is such an emoji
}

// Parse reads a post. An unknown content type is read as plain text.
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

// ParseChat reads a message of a chat: plain text, in one piece, whose line breaks stay (extension API 11.3).
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

// Mentions returns the handles in the text, each once, in order of appearance. Those in links and code do not count.
func (d *Document) Mentions() []Mention { return d.mentions }

// Tags returns the hashtags in the text, each once, in order of appearance.
func (d *Document) Tags() []Tag { return d.tags }

// Render writes the text as HTML. Accounts are found by Mention.Key; a mention without account stays text. Base is
// the address of this server, to which the links of hashtags go.
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

// TagURL is the page of the hashtag with the given name on the server at base.
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
	out = append(out, `" rel="tag ugc">#`...)
	out = appendText(out, s.written)
	return append(out, `</a>`...)
}
