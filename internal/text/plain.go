package text

import (
	"strings"

	"golang.org/x/net/html"
)

// HTMLToText returns the text of HTML, without tags and with entities decoded. Paragraphs are separated by a blank line, other blocks
// and line breaks by a line feed. Links to a mentioned account become "@acct", because their text has no domain.
func HTMLToText(source string, mentions ...Account) string {
	source = normalizeInput(source)
	if !strings.ContainsAny(source, "<&") {
		return strings.TrimSpace(source)
	}
	p := plainTextWriter{mentions: mentions}
	p.run(html.NewTokenizer(strings.NewReader(source)))
	return strings.TrimSpace(p.out.String())
}

// plainTextWriter writes the text of HTML.
type plainTextWriter struct {
	mentions []Account
	out      strings.Builder
	breaks   int    // line feeds before the next text
	skip     string // element whose content is skipped
	verbatim bool   // in pre
}

func (p *plainTextWriter) run(z *html.Tokenizer) {
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

func (p *plainTextWriter) start(z *html.Tokenizer, name string, hasAttrs bool) {
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

func (p *plainTextWriter) end(name string) {
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

// block starts a new line at the start or end of a block element.
func (p *plainTextWriter) block(name string) {
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

func (p *plainTextWriter) breakLine(n int) { p.breaks = max(p.breaks, n) }

func (p *plainTextWriter) text(s string) {
	trailing := 0
	if p.verbatim {
		code := strings.TrimRight(s, "\n")
		trailing = len(s) - len(code)
		s = code
	} else {
		s = joinLines(s)
		if p.breaks > 0 || p.out.Len() == 0 {
			s = strings.TrimPrefix(s, "\n")
			if strings.Trim(s, htmlSpace) == "" {
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
	p.out.WriteString(normalizeInput(s))
}
