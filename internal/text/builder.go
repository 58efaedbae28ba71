package text

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Attributes after the href of links for plain URLs.
const (
	postLink    = `" rel="nofollow noopener noreferrer ugc" target="_blank">`
	profileLink = `" rel="me nofollow noopener noreferrer" target="_blank">`
)

// builder builds a Document. Markup is added by raw, user text by text or escaped.
type builder struct {
	doc       *Document
	buf       []byte
	linkAttrs string
	prev      rune // last character of text; a line break at the start of a line
	seen      map[string]bool
}

func newBuilder(linkAttrs string) *builder {
	return &builder{doc: &Document{}, linkAttrs: linkAttrs, prev: '\n'}
}

func (c *builder) finish() *Document {
	c.doc.html = string(c.trimmedBytes())
	return c.doc
}

// trimmedBytes returns the HTML without trailing white space.
func (c *builder) trimmedBytes() []byte {
	end := 0
	if n := len(c.doc.slots); n > 0 {
		end = c.doc.slots[n-1].at
	}
	return c.buf[:end+len(bytes.TrimRight(c.buf[end:], htmlSpace))]
}

func (c *builder) raw(markup string) { c.buf = append(c.buf, markup...) }

func (c *builder) escaped(s string) {
	if s != "" {
		c.buf = appendText(c.buf, s)
		c.prev, _ = utf8.DecodeLastRuneInString(s)
	}
}

// plain adds plain text: a blank line starts a new paragraph, a single line break becomes <br>.
func (c *builder) plain(s string) {
	c.buf = make([]byte, 0, len(s)+len(s)/2+32)
	open := false
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRight(line, " \t")
		switch {
		case line == "":
			if open {
				c.raw("</p>")
				open = false
			}
			continue
		case open:
			c.raw("<br>")
		default:
			c.raw("<p>")
			open = true
		}
		c.prev = '\n'
		c.text(line, true)
	}
	if open {
		c.raw("</p>")
	}
}

// text adds text and records its shortcodes. If links is set, it turns URLs, mentions and hashtags into links.
func (c *builder) text(s string, links bool) {
	written, prev := 0, c.prev
	for i := 0; i < len(s); {
		if s[i] == ' ' { // every other token
			i++
			prev = ' '
			continue
		}
		t := tokenAt(s, i, prev)
		end := t.end
		switch {
		case t.kind == literal:
		case t.kind == shortcodeToken:
			if c.addName(':', t.name, len(c.doc.shortcodes) < MaxShortcodes) {
				c.doc.shortcodes = append(c.doc.shortcodes, t.name)
			}
		case links:
			c.escaped(s[written:i])
			written = i
			if c.token(t, s[i:end]) {
				written = end
			}
		}
		i = end
		if t.kind == hashtagToken && isBetweenHashtags(s[i:]) {
			i++
			prev = ' '
			continue
		}
		prev, _ = utf8.DecodeLastRuneInString(s[:i])
	}
	c.escaped(s[written:])
	c.prev = prev
}

// token adds a link. It returns false if there are too many already.
func (c *builder) token(t token, written string) bool {
	if t.kind != linkToken && len(c.doc.slots) == maxSlots {
		return false
	}
	switch t.kind {
	case linkToken:
		c.raw(`<a href="`)
		c.buf = appendAttr(c.buf, t.href)
		c.raw(c.linkAttrs)
		c.buf = appendText(c.buf, written)
		c.raw("</a>")
	case mentionToken:
		key := t.mention.Key()
		if c.addName('@', key, len(c.doc.mentions) < MaxMentions) {
			c.doc.mentions = append(c.doc.mentions, t.mention)
		}
		if !c.seen["@"+key] {
			return false
		}
		c.doc.slots = append(c.doc.slots, slot{at: len(c.buf), kind: t.kind, key: key, written: written})
	case hashtagToken:
		key := TagKey(t.name) // of further spellings, only the links differ
		if c.addName('#', key, len(c.doc.tags) < MaxTags) {
			c.doc.tags = append(c.doc.tags, Tag{Name: t.name, Written: trimHash(written)})
		}
		if !c.seen["#"+key] {
			return false
		}
		c.doc.slots = append(c.doc.slots, slot{at: len(c.buf), kind: t.kind, key: t.name, written: written})
	}
	return true
}

// addName records a name. It returns false if the name is known or the list is full.
func (c *builder) addName(sign byte, name string, room bool) bool {
	key := string(sign) + name
	if !room || c.seen[key] {
		return false
	}
	if c.seen == nil {
		c.seen = make(map[string]bool)
	}
	c.seen[key] = true
	return true
}

// appendText appends s as escaped character data, without control characters.
func appendText(out []byte, s string) []byte { return appendEscaped(out, s, false) }

// appendAttr appends s as an escaped attribute value for double quotes, without control characters.
func appendAttr(out []byte, s string) []byte { return appendEscaped(out, s, true) }

func appendEscaped(out []byte, s string, attribute bool) []byte {
	last := 0
	for i := range len(s) {
		var entity string
		switch b := s[i]; {
		case b == '&':
			entity = "&amp;"
		case b == '<':
			entity = "&lt;"
		case b == '>':
			entity = "&gt;"
		case b == '"' && attribute:
			entity = "&#34;"
		case isControl(b), attribute && (b == '\n' || b == '\t'):
		default:
			continue
		}
		out = append(out, s[last:i]...)
		out = append(out, entity...)
		last = i + 1
	}
	return append(out, s[last:]...)
}

// normalizeInput returns valid UTF-8 with LF line ends and without control characters.
func normalizeInput(s string) string {
	dirty := !utf8.ValidString(s)
	for i := 0; i < len(s) && !dirty; i++ {
		dirty = isControl(s[i])
	}
	if !dirty {
		return s
	}
	s = validUTF8(s)
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && isControl(byte(r)) {
			return -1
		}
		return r
	}, s)
}

// isControl returns whether b is an ASCII control character other than line feed and tab.
func isControl(b byte) bool {
	return b < ' ' && b != '\n' && b != '\t' || b == 0x7f
}
