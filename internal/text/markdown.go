package text

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown passes HTML through, because the result is sanitised.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Strikethrough),
	goldmark.WithParserOptions(parser.WithInlineParsers(
		// Runs first, so that "_" or "*" within a handle or URL is not emphasis. The parsers of code, links, "<" and emphasis have other
		// triggers.
		util.Prioritized(tokenParser{}, 50),
	)),
	goldmark.WithRendererOptions(html.WithUnsafe(), html.WithHardWraps()),
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

// tokenParser keeps mentions, hashtags, shortcodes and URLs as written. They become links later.
type tokenParser struct{}

// Trigger includes the space, which goldmark also uses for the start of a line and after other inline markup.
func (tokenParser) Trigger() []byte { return []byte{' ', '(', '"', '@', '#', ':'} }

func (tokenParser) Parse(parent ast.Node, block gtext.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	prev, skip := block.PrecendingCharacter(), 0
	if b := line[0]; b == ' ' || b == '(' || b == '"' {
		prev, skip = rune(b), 1
	}
	if skip == len(line) {
		return nil
	}
	t := tokenAt(util.BytesToReadOnlyString(line), skip, prev)
	if t.kind == literal || t.kind == linkToken && pc.IsInLinkLabel() {
		return nil
	}
	if skip > 0 {
		ast.MergeOrAppendTextSegment(parent, segment.WithStop(segment.Start+skip))
	}
	block.Advance(t.end)
	kept := ast.NewTextSegment(gtext.NewSegment(segment.Start+skip, segment.Start+t.end))
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
