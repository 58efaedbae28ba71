package text

import "strings"

// bbTags are the supported tags and their HTML. Size and colour are dropped.
var bbTags = map[string]struct{ open, close string }{
	"b":     {"<b>", "</b>"},
	"i":     {"<i>", "</i>"},
	"u":     {"<u>", "</u>"},
	"s":     {"<s>", "</s>"},
	"quote": {"<blockquote>", "</blockquote>"},
	"list":  {"<ul>", "</ul>"},
	"url":   {"", "</a>"},
	"code":  {"", ""},
	"*":     {"<li>", ""},
	"size":  {"", ""},
	"color": {"", ""},
}

const (
	maxBBDepth = 32
	maxBBTag   = 2048 // bytes from "[" to "]"
)

// bbTag is "[name]", "[name=value]" or "[/name]".
type bbTag struct {
	name, value string
	closing     bool
	end         int // offset after the tag
}

// bbParser writes HTML in pieces. A tag is text until its closing tag is found.
type bbParser struct {
	source string
	lower  string // source in lower case (ASCII), to find closing tags
	pieces []string
	open   []bbOpen
	counts map[string]int // of open, by name
	code   int            // offset of the last "[/code]"
}

// bbOpen is an open tag.
type bbOpen struct {
	tag   bbTag
	piece int
	items []int // pieces with a "[*]" of this list
}

// bbcodeToHTML returns HTML that is not sanitised. Unknown and unclosed tags stay text.
func bbcodeToHTML(source string) string {
	p := &bbParser{source: source, lower: lowerASCII(source), counts: make(map[string]int)}
	p.code = strings.LastIndex(p.lower, "[/code]")
	text := 0 // start of unwritten text
	for i := 0; i < len(source); {
		next := strings.IndexByte(source[i:], '[')
		if next < 0 {
			break
		}
		i += next
		tag, ok := p.tagAt(i)
		if !ok {
			i++
			continue
		}
		before := source[text:i]
		if bbBlock(tag.name) {
			before = strings.TrimSuffix(before, "\n")
		}
		p.text(before)
		i = p.tag(i, tag)
		if bbBlock(tag.name) && i < len(source) && source[i] == '\n' {
			i++
		}
		text = i
	}
	p.text(source[text:])
	return strings.Join(p.pieces, "")
}

func bbBlock(name string) bool {
	return name == "quote" || name == "list" || name == "*" || name == "code"
}

// tagAt reads the tag at "[" if it is a supported one.
func (p *bbParser) tagAt(i int) (bbTag, bool) {
	rest := p.source[i+1 : min(len(p.source), i+maxBBTag)]
	end := strings.IndexAny(rest, "[]\n")
	if end < 0 || rest[end] != ']' {
		return bbTag{}, false
	}
	t := bbTag{name: p.lower[i+1 : i+1+end], end: i + 1 + end + 1}
	if name, ok := strings.CutPrefix(t.name, "/"); ok {
		t.name, t.closing = name, true
	} else if name, value, ok := strings.Cut(rest[:end], "="); ok {
		t.name, t.value = lowerASCII(name), strings.Trim(value, `"' `)
	}
	_, known := bbTags[t.name]
	return t, known
}

// tag writes the tag at offset i and returns the offset to continue at.
func (p *bbParser) tag(i int, t bbTag) int {
	literal := p.source[i:t.end]
	switch {
	case t.closing:
		if !p.close(t) {
			p.text(literal)
		}
	case t.name == "code" && p.code >= t.end:
		return p.verbatim(t)
	case t.name == "url" && t.value == "":
		if end, ok := p.bareURL(t); ok {
			return end
		}
		p.text(literal)
	case t.name == "*":
		p.text(literal)
		for k := len(p.open) - 1; k >= 0; k-- {
			if p.open[k].tag.name == "list" {
				p.open[k].items = append(p.open[k].items, len(p.pieces)-1)
				break
			}
		}
	default:
		p.text(literal)
		if len(p.open) < maxBBDepth && t.name != "code" && !(t.name == "url" && (p.counts["url"] > 0 || linkTarget(t.value) == "")) {
			p.open = append(p.open, bbOpen{tag: t, piece: len(p.pieces) - 1})
			p.counts[t.name]++
		}
	}
	return t.end
}

// close replaces the tag that t closes, and t, by HTML. Tags opened in between stay text.
func (p *bbParser) close(t bbTag) bool {
	if p.counts[t.name] == 0 {
		return false
	}
	for {
		o := p.open[len(p.open)-1]
		p.open = p.open[:len(p.open)-1]
		p.counts[o.tag.name]--
		if o.tag.name != t.name {
			continue
		}
		markup := bbTags[t.name]
		switch {
		case t.name == "url":
			markup.open = string(appendAttr([]byte(`<a href="`), linkTarget(o.tag.value))) + `">`
		case t.name == "list" && o.tag.value != "":
			markup.open, markup.close = "<ol>", "</ol>"
		case t.name == "quote" && o.tag.value != "":
			markup.open += "<cite>" + string(appendText(nil, o.tag.value)) + "</cite><br>"
		}
		p.pieces[o.piece] = markup.open
		for _, item := range o.items {
			p.pieces[item] = bbTags["*"].open
		}
		p.pieces = append(p.pieces, markup.close)
		return true
	}
}

// verbatim writes the code from the opening tag t to the next closing tag, which must exist.
func (p *bbParser) verbatim(t bbTag) (end int) {
	length := strings.Index(p.lower[t.end:], "[/code]")
	code := p.source[t.end : t.end+length]
	escaped := string(appendText(nil, strings.Trim(code, "\n")))
	if strings.Contains(code, "\n") {
		p.pieces = append(p.pieces, "<pre><code>", escaped, "</code></pre>")
	} else {
		p.pieces = append(p.pieces, "<code>", escaped, "</code>")
	}
	return t.end + length + len("[/code]")
}

// bareURL writes a link whose text is its URL.
func (p *bbParser) bareURL(t bbTag) (end int, ok bool) {
	window := p.lower[t.end:min(len(p.lower), t.end+maxBBTag)]
	length := strings.Index(window, "[/url]")
	if length < 0 || p.counts["url"] > 0 {
		return 0, false
	}
	address := strings.TrimSpace(p.source[t.end : t.end+length])
	href := linkTarget(address)
	if href == "" {
		return 0, false
	}
	link := appendAttr([]byte(`<a href="`), href)
	link = appendText(append(link, `">`...), address)
	p.pieces = append(p.pieces, string(append(link, "</a>"...)))
	return t.end + length + len("[/url]"), true
}

// text adds text as one piece.
func (p *bbParser) text(s string) {
	p.pieces = append(p.pieces, strings.ReplaceAll(string(appendText(nil, s)), "\n", "<br>"))
}

// linkTarget returns the href for a URL written by a user, or "" if it is not valid.
func linkTarget(address string) string {
	if address == "" || strings.ContainsFunc(address, endsURL) {
		return ""
	}
	t := tokenAt(address, 0, '\n')
	if t.kind != linkToken {
		if t, _ = hostAt(address, 0, hostEnd(address, 0)); t.kind != linkToken {
			return ""
		}
	}
	return encodeQuery(t.href + address[t.end:])
}

// lowerASCII lowers ASCII letters, so that offsets do not change.
func lowerASCII(s string) string {
	b := []byte(s)
	for i := range b {
		if 'A' <= b[i] && b[i] <= 'Z' {
			b[i] |= 0x20
		}
	}
	return string(b)
}
