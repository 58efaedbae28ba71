package web

import (
	"errors"
	"html/template"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"svc/internal/text"
)

// content prepares HTML of a post or a profile for a page. It sanitizes it once more, because on a page it would run with the origin of
// this server, replaces custom emojis, and points links to mentioned accounts and hashtags to the pages of this server. st is nil for
// profiles; base is the Base of the frame.
func content(source string, emojis []Emoji, st *Status, base string) template.HTML {
	clean := text.Sanitize(source)
	if !strings.Contains(clean, "<a ") && (len(emojis) == 0 || !strings.Contains(clean, ":")) {
		return template.HTML(clean)
	}
	var b strings.Builder
	grown := 0 // by pictures of emojis
	tokens := html.NewTokenizer(strings.NewReader(clean))
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return template.HTML(b.String())
		case html.TextToken:
			text := insertEmojis(string(tokens.Raw()), emojis)
			if grown += len(text) - len(tokens.Raw()); grown > maxEmojiBytes {
				emojis = nil
			}
			b.WriteString(text)
		case html.StartTagToken:
			raw := string(tokens.Raw()) // Token overwrites it
			if t := tokens.Token(); t.DataAtom == atom.A && redirectLink(&t, st, base) {
				raw = t.String()
			}
			b.WriteString(raw)
		default:
			b.Write(tokens.Raw())
		}
	}
}

// redirectLink points the link of a mention or a hashtag to a page of this server. It returns false if the link is another one.
func redirectLink(t *html.Token, st *Status, base string) bool {
	if st == nil {
		return false
	}
	for i := range t.Attr {
		a := &t.Attr[i]
		if a.Key != "href" {
			continue
		}
		for _, m := range st.Mentions {
			if m.URL == a.Val {
				a.Val = base + "/@" + m.Acct
				return true
			}
		}
		if tag := linkedTag(t, a.Val); tag != "" {
			a.Val = base + "/tags/" + url.PathEscape(tag)
			return true
		}
	}
	return false
}

// linkedTag returns the hashtag that a link leads to, "" if it is no link to a hashtag.
func linkedTag(t *html.Token, href string) string {
	for _, a := range t.Attr {
		if a.Key == "class" && strings.Contains(a.Val, "hashtag") || a.Key == "rel" && strings.Contains(a.Val, "tag") {
			u, err := url.Parse(href)
			if err != nil {
				return ""
			}
			return u.Path[strings.LastIndexByte(u.Path, '/')+1:]
		}
	}
	return ""
}

// emojified returns plain text as HTML with custom emojis.
func emojified(plain string, emojis []Emoji) template.HTML {
	return template.HTML(insertEmojis(template.HTMLEscapeString(plain), emojis))
}

// insertEmojis replaces :shortcode: in escaped text.
func insertEmojis(escaped string, emojis []Emoji) string {
	if len(emojis) == 0 || !strings.Contains(escaped, ":") {
		return escaped
	}
	pairs := make([]string, 0, 2*len(emojis))
	for _, e := range emojis {
		code := ":" + template.HTMLEscapeString(e.Shortcode) + ":"
		pairs = append(pairs, code, `<img class="emoji" src="`+template.HTMLEscapeString(e.URL)+`" alt="`+code+`" title="`+code+`" width="20" height="20" loading="lazy">`)
	}
	b := &boundedBuilder{left: len(escaped) + maxEmojiBytes}
	if _, err := strings.NewReplacer(pairs...).WriteString(b, escaped); err != nil {
		return escaped
	}
	return b.String()
}

// maxEmojiBytes is how much longer a text may get by pictures of its emojis. Others show their names, because a short name can stand for a long
// address, as often as its author likes.
const maxEmojiBytes = 64 << 10

// boundedBuilder is a strings.Builder for so many bytes.
type boundedBuilder struct {
	strings.Builder
	left int
}

func (b *boundedBuilder) Write(p []byte) (int, error) { return b.WriteString(string(p)) }

func (b *boundedBuilder) WriteString(s string) (int, error) {
	if b.left -= len(s); b.left < 0 {
		return 0, errTooManyEmojis
	}
	return b.Builder.WriteString(s)
}

var errTooManyEmojis = errors.New("the pictures of the emojis are too large")
