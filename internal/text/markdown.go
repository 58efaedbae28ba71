package text

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown passes HTML through, because the result is sanitised.
var markdown = goldmark.New(
	goldmark.WithParserOptions(parser.WithInlineParsers(
		util.Prioritized(strikethroughParser{extension.NewStrikethroughParser()}, 500),
		// Runs first, so that "_" or "*" within a handle or URL is not emphasis. The parsers of code, links, "<" and emphasis have other
		// triggers.
		util.Prioritized(tokenParser{}, 50),
	)),
	goldmark.WithRendererOptions(html.WithUnsafe(), html.WithHardWraps(), renderer.WithNodeRenderers(
		util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
	)),
)

// markdownToHTML returns HTML that is not sanitised.
func markdownToHTML(source string) string {
	var out bytes.Buffer
	if err := markdown.Convert([]byte(source), &out); err != nil {
		// Writing to a buffer does not fail, so the error is one of the parser.
		return string(appendText(nil, source))
	}
	return out.String()
}

// strikethroughParser strikes out text between two tildes each. Between single ones, formulas have subscripts.
type strikethroughParser struct{ parser.InlineParser }

func (p strikethroughParser) Parse(parent ast.Node, block gtext.Reader, pc parser.Context) ast.Node {
	if line, _ := block.PeekLine(); !bytes.HasPrefix(line, []byte("~~")) {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// tokenParser keeps mentions, hashtags, shortcodes and URLs as written. They become links later.
type tokenParser struct{}

// Trigger includes the space, which goldmark also uses for the start of a line and after other inline markup.
func (tokenParser) Trigger() []byte { return []byte{' ', '(', '"', '@', '#', ':'} }

func (tokenParser) Parse(parent ast.Node, block gtext.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if bytes.HasPrefix(line, []byte("://")) {
		return restOfURL(block, segment, pc)
	}
	prev, skip := block.PrecendingCharacter(), 0
	if b := line[0]; b == ' ' || b == '(' || b == '"' {
		prev, skip = rune(b), 1
	}
	if skip == len(line) {
		return nil
	}
	s := util.BytesToReadOnlyString(line)
	t := tokenAt(s, skip, prev)
	if t.kind == literal || t.kind == linkToken && pc.IsInLinkLabel() {
		return nil
	}
	for t.kind == hashtagToken && isBetweenHashtags(s[t.end:]) {
		next := tokenAt(s, t.end+1, ' ')
		if next.kind != hashtagToken {
			break
		}
		t = next
	}
	if skip > 0 {
		ast.MergeOrAppendTextSegment(parent, segment.WithStop(segment.Start+skip))
	}
	return keep(block, segment.Start+skip, segment.Start+t.end, t.end)
}

// restOfURL keeps a URL from the colon behind its scheme on, where no space or bracket is before the scheme.
func restOfURL(block gtext.Reader, segment gtext.Segment, pc parser.Context) ast.Node {
	if pc.IsInLinkLabel() {
		return nil
	}
	s, colon := util.BytesToReadOnlyString(block.Source()[:segment.Stop]), segment.Start
	start := schemeStart(s, 0, colon)
	prev, _ := utf8.DecodeLastRuneInString(s[:start])
	t := schemeAt(s, start, colon, prev)
	if t.kind != linkToken {
		return nil
	}
	return keep(block, colon, t.end, t.end-colon)
}

// keep returns a part of the source as it is written, and advances behind it.
func keep(block gtext.Reader, start, end, advance int) ast.Node {
	block.Advance(advance)
	kept := ast.NewTextSegment(gtext.NewSegment(start, end))
	kept.SetRaw(true)
	return kept
}

// Limits above which a Markdown parser may take more than linear time. Normal posts do not reach them.
const (
	maxMarkdownNesting    = 32   // quotes and lists opened by one line
	maxMarkdownDelimiters = 1000 // emphasis, brackets and similar between two blank lines
)

// tooComplex returns whether Markdown exceeds the limits.
func tooComplex(source string) bool {
	delimiters := 0
	for line := range strings.SplitSeq(source, "\n") {
		if containerMarkers(line) > maxMarkdownNesting {
			return true
		}
		if strings.TrimSpace(line) == "" {
			delimiters = 0
		}
		for i := range len(line) {
			if strings.IndexByte("*_~[]!<`", line[i]) >= 0 && (i == 0 || line[i] != line[i-1] || line[i] == '[' || line[i] == ']') {
				delimiters++
			}
		}
		if delimiters > maxMarkdownDelimiters {
			return true
		}
	}
	return false
}

// containerMarkers counts the quotes and list items that a line may open.
func containerMarkers(line string) int {
	n := 0
	for i := 0; i < len(line); i++ {
		switch b := line[i]; {
		case b == ' ' || b == '\t':
		case b == '>':
			n++
		case b == '-' || b == '*' || b == '+' || b == '.' || b == ')':
			if i+1 < len(line) && line[i+1] != ' ' && line[i+1] != '\t' {
				return n
			}
			n++
		case isDigit(b):
		default:
			return n
		}
	}
	return n
}
