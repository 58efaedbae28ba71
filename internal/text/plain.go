package text

import (
	"strings"

	"golang.org/x/net/html"
)

// Plain returns the text of HTML: without tags, with entities decoded. Paragraphs are separated by a blank line, other
// blocks and line breaks by a line feed. Links to one of the mentioned accounts become "@acct", since the host is not
// in their text.
func Plain(source string, mentions ...Account) string {
	source = clean(source)
	if !strings.ContainsAny(source, "<&") {
		return strings.TrimSpace(source)
	}
	p := plainer{mentions: mentions}
	p.run(html.NewTokenizer(strings.NewReader(source)))
	return strings.TrimSpace(p.out.String())
}

// plainer writes the text of HTML.
type plainer struct {
	mentions []Account
	out      strings.Builder
	breaks   int    // line feeds to write before more text
	skip     string // element whose content is left out
	verbatim bool   // in pre
}

func (p *plainer) run(z *html.Tokenizer) {
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			if p.skip == "" {
				p.text(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, hasAttrs := z.TagName()
			p.start(z, string(name), hasAttrs)
		case html.EndTagToken:
			name, _ := z.TagName()
			p.end(string(name))
		}
	}
}

func (p *plainer) start(z *html.Tokenizer, name string, hasAttrs bool) {
	switch name {
	case "br":
		p.breaks++
	case "script", "style":
		p.skip = name
	case "pre":
		p.verbatim = true
		p.breakLine(1)
	case "a":
		var class, href string
		for hasAttrs {
			var key, value []byte
			key, value, hasAttrs = z.TagAttr()
			switch string(key) {
			case "class":
				class = string(value)
			case "href":
				href = string(value)
			}
		}
		if !strings.Contains(class, "mention") || p.skip != "" {
			break
		}
		for _, a := range p.mentions {
			if a.URL == href {
				p.text("@" + a.Acct)
				p.skip = name
				break
			}
		}
	default:
		p.block(name)
	}
}

func (p *plainer) end(name string) {
	if name == p.skip {
		p.skip = ""
	}
	if name == "pre" {
		p.verbatim = false
		p.breakLine(1)
		return
	}
	p.block(name)
}

// block starts a new line where an element that is a block starts or ends.
func (p *plainer) block(name string) {
	switch kind := elements[name]; {
	case name == "p" || kind == heading:
		p.breakLine(2)
	case kind == block || kind == division || name == "hr":
		p.breakLine(1)
	default:
		return
	}
	if p.skip == "a" {
		p.skip = ""
	}
}

func (p *plainer) breakLine(n int) { p.breaks = max(p.breaks, n) }

func (p *plainer) text(s string) {
	trailing := 0
	if p.verbatim {
		code := strings.TrimRight(s, "\n")
		trailing = len(s) - len(code)
		s = code
	} else {
		s = joinLines(s)
		if p.breaks > 0 || p.out.Len() == 0 {
			s = strings.TrimPrefix(s, "\n")
			if strings.Trim(s, blanks) == "" {
				return
			}
		}
		s = strings.ReplaceAll(s, "\n", " ")
	}
	if s == "" {
		return
	}
	if p.out.Len() > 0 {
		p.out.WriteString(strings.Repeat("\n", p.breaks))
	}
	p.breaks = trailing
	p.out.WriteString(clean(s))
}
