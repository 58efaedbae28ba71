package text

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// element is how normalizer treats a tag.
type element uint8

const (
	removed      element = iota // only its content is kept
	inline                      // inline content
	block                       // block element
	void                        // void element
	heading                     // becomes a bold paragraph
	plainHeading                // becomes a paragraph
	division                    // removed, the following content starts a new line
	cell                        // table cell: removed, leaves a space
	picture                     // replaced by its alt text
)

// elements are the tags that the policy allows.
var elements = map[string]element{
	"a": inline, "abbr": inline, "acronym": inline, "b": inline, "bdi": inline, "bdo": inline, "big": inline,
	"cite": inline, "code": inline, "del": inline, "dfn": inline, "em": inline, "i": inline, "ins": inline,
	"kbd": inline, "q": inline, "rb": inline, "rp": inline, "rt": inline, "rtc": inline, "ruby": inline, "s": inline,
	"samp": inline, "small": inline, "span": inline, "strong": inline, "sub": inline, "sup": inline, "tt": inline,
	"u": inline, "var": inline,
	"blockquote": block, "li": block, "ol": block, "p": block, "pre": block, "ul": block,
	"br": void, "hr": void, "wbr": void,
	"h1": heading, "h2": heading, "h3": heading, "h4": heading, "h5": heading, "h6": heading,
	"address": division, "article": division, "aside": division, "caption": division, "center": division,
	"dd": division, "details": division, "div": division, "dl": division, "dt": division, "fieldset": division,
	"figcaption": division, "figure": division, "footer": division, "form": division, "header": division,
	"main": division, "nav": division, "section": division, "summary": division, "table": division, "tr": division,
	"td": cell, "th": cell,
	"img": picture,
}

// mode is the extent of markup that is kept.
type mode struct {
	elements  map[string]element
	lineBreak string // between removed blocks
	spans     bool   // keep spans without class
	me        bool   // keep rel "me"
}

var (
	fullMode   = &mode{elements: elements, lineBreak: "<br>", spans: true}
	strictMode = &mode{elements: only("a", "br", "p", "span"), lineBreak: "<br>"}
	linksMode  = &mode{elements: only("a"), lineBreak: " ", me: true}
)

// only returns elements with all that are not in keep removed or replaced.
func only(keep ...string) map[string]element {
	m := make(map[string]element, len(elements))
	for name, kind := range elements {
		switch {
		case slices.Contains(keep, name), kind == division, kind == cell, kind == picture:
			m[name] = kind
		case kind == heading && slices.Contains(keep, "p"):
			m[name] = plainHeading
		case kind == inline, name == "wbr":
			m[name] = removed
		default:
			m[name] = division
		}
	}
	return m
}

// maxDepth is the maximum nesting; deeper elements are removed.
const maxDepth = 48

// htmlSpace is the white space of HTML in normalised input.
const htmlSpace = " \t\n"

// normalizer writes HTML that has passed the policy as well-formed HTML: no paragraphs within paragraphs, and every element closed
// once. Its output does not change if it is normalised again.
type normalizer struct {
	*builder
	mode      *mode
	isMention func(href string) bool // nil: classes are trusted
	linkify   bool

	tokenizer    *html.Tokenizer
	open         []openTag
	skippedDepth int    // open elements beyond maxDepth
	verbatim     int    // open pre
	code         int    // open code and pre, in which no links are detected
	links        int    // open a, in which no links are added
	removedPre   int    // open pre that the mode removes; line breaks are kept
	midLine      bool   // text was written since the last block or line break
	pendingBreak bool   // a removed block has ended; content that follows needs a line break
	indent       string // white space at the start of a line, written when content follows
}

// openTag is an open element with its closing tag.
type openTag struct {
	name    string
	kind    element
	closing string
}

func (t *normalizer) run(source string) {
	t.tokenizer = html.NewTokenizer(strings.NewReader(source))
	for {
		switch t.tokenizer.Next() {
		case html.ErrorToken:
			t.closeTo(0)
			return
		case html.TextToken:
			t.characters(string(t.tokenizer.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			name, hasAttrs := t.tokenizer.TagName()
			t.start(string(name), hasAttrs)
		case html.EndTagToken:
			name, _ := t.tokenizer.TagName()
			t.end(string(name))
		}
	}
}

// characters adds text of the source.
func (t *normalizer) characters(s string) {
	s = normalizeInput(s)
	if t.removedPre == 0 {
		t.line(s)
		return
	}
	for i, line := range strings.Split(s, "\n") {
		t.pendingBreak = t.pendingBreak || i > 0
		t.line(line)
	}
}

// line adds text. Outside of pre, line breaks are white space.
func (t *normalizer) line(s string) {
	if t.verbatim == 0 {
		s = joinLines(s)
		if !t.midLine || t.pendingBreak {
			s = strings.TrimPrefix(s, "\n")
		}
		s = strings.ReplaceAll(s, "\n", " ")
		if len(t.buf) == 0 {
			s = strings.TrimLeft(s, htmlSpace)
		}
		if strings.Trim(s, htmlSpace) == "" {
			switch {
			case !t.midLine:
				if t.indent == "" {
					t.indent = s
				}
				return
			case t.pendingBreak:
				return
			}
		}
	}
	if s == "" {
		return
	}
	t.startInline()
	t.midLine = true
	if t.linkify && t.code == 0 {
		t.text(s, t.links == 0)
	} else {
		t.escaped(s)
	}
}

// joinLines replaces each run of white space that contains a line feed by one line feed.
func joinLines(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	last := len(lines) - 1
	out := lines[:0]
	for i, line := range lines {
		if i > 0 {
			line = strings.TrimLeft(line, " \t")
		}
		if i < last {
			line = strings.TrimRight(line, " \t")
		}
		if line != "" || i == 0 || i == last {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// startInline is called before inline content is written.
func (t *normalizer) startInline() {
	if t.pendingBreak && t.midLine {
		t.raw(t.mode.lineBreak)
		t.startLine()
	}
	t.pendingBreak = false
	t.raw(t.indent)
	t.indent = ""
}

// startLine is called after the end of a line is written.
func (t *normalizer) startLine() {
	t.pendingBreak, t.midLine, t.indent, t.prev = false, false, "", '\n'
}

func (t *normalizer) start(name string, hasAttrs bool) {
	switch kind := t.mode.elements[name]; kind {
	case removed:
	case division:
		t.pendingBreak = true
		if name == "pre" {
			t.removedPre++
		}
	case cell:
		if t.midLine {
			t.characters(" ")
		}
	case picture:
		a := t.attributes(name, hasAttrs)
		t.links++
		t.characters(a[attrAlt].value)
		t.links--
	case void:
		t.startVoid(name)
	default:
		t.closeImplied(name, kind)
		if len(t.open) == maxDepth {
			t.skippedDepth++
			return
		}
		t.push(name, kind, hasAttrs)
	}
}

func (t *normalizer) startVoid(name string) {
	switch name {
	case "br":
		t.raw("<br>")
		t.startLine()
	case "hr":
		t.closeImplied(name, block)
		t.raw("<hr>")
		t.startLine()
	default:
		t.startInline()
		t.raw("<" + name + ">")
	}
}

func (t *normalizer) push(name string, kind element, hasAttrs bool) {
	tag := openTag{name: name, kind: kind, closing: "</" + name + ">"}
	a := t.attributes(name, hasAttrs)
	switch {
	case kind == heading:
		t.startLine()
		t.raw("<p><strong>")
		tag.closing = "</strong></p>"
	case kind == plainHeading:
		t.startLine()
		t.raw("<p>")
		tag.closing = "</p>"
	case kind == block:
		t.startLine()
		t.writeTag(name, &a)
	case name == "a" && !a[attrHref].set, name == "span" && !a[attrClass].set && !t.mode.spans:
		tag.closing = "" // only the content stays
	default:
		t.startInline()
		t.writeTag(name, &a)
	}
	t.open = append(t.open, tag)
	t.count(tag, 1)
}

// count updates the counters of open elements by n, 1 or -1.
func (t *normalizer) count(tag openTag, n int) {
	switch tag.name {
	case "pre":
		t.verbatim += n
		t.code += n
	case "code":
		t.code += n
	case "a":
		t.links += n
	}
}

func (t *normalizer) end(name string) {
	switch t.mode.elements[name] {
	case division:
		t.pendingBreak = true
		if name == "pre" {
			t.removedPre = max(t.removedPre-1, 0)
		}
	case inline, block, heading, plainHeading:
		if t.skippedDepth > 0 {
			t.skippedDepth--
			return
		}
		if i := t.lastOpen(func(o openTag) bool { return o.name == name }); i >= 0 {
			t.closeTo(i)
		}
	}
}

// closeImplied closes elements that end implicitly where the element starts, by the rules of HTML.
func (t *normalizer) closeImplied(name string, kind element) {
	at := -1
	switch {
	case name == "li":
		at = t.lastOpen(func(o openTag) bool {
			return o.name == "li" || o.name == "ul" || o.name == "ol" || o.name == "blockquote"
		})
		if at >= 0 && t.open[at].name != "li" {
			at = -1
		}
	case name == "a":
		at = t.lastOpen(func(o openTag) bool { return o.name == "a" })
	case isRubyText(name):
		at = t.lastOpen(func(o openTag) bool { return o.closing != "" })
		if at >= 0 && !isRubyText(t.open[at].name) {
			at = -1
		}
	}
	if at >= 0 {
		t.closeTo(at)
	}
	if kind != inline {
		if at := t.lastOpen(func(o openTag) bool { return o.name == "p" || o.kind == heading || o.kind == plainHeading }); at >= 0 {
			t.closeTo(at)
		}
	}
}

func isRubyText(name string) bool {
	return name == "rb" || name == "rt" || name == "rtc" || name == "rp"
}

// lastOpen returns the index of the innermost open element that matches, or -1.
func (t *normalizer) lastOpen(is func(openTag) bool) int {
	for i := len(t.open) - 1; i >= 0; i-- {
		if is(t.open[i]) {
			return i
		}
	}
	return -1
}

// closeTo closes the innermost elements until n are open.
func (t *normalizer) closeTo(n int) {
	for len(t.open) > n {
		tag := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		t.count(tag, -1)
		t.raw(tag.closing)
		if tag.kind != inline {
			t.startLine()
		}
	}
}
