package text

import (
	"strings"
	"unicode/utf8"
)

// span is a part of a text, by offsets.
type span struct{ start, end int }

// linkMark stands before and behind URLs while a text is folded. It is no character, and folding does not change it.
const linkMark = "\uFDD0"

// findLinks computes links. Each line of the folded text is one of the parts.
func (t *Folded) findLinks() {
	start := 0
	for _, part := range t.parts {
		if start > len(t.text) { // the end of the text is cut off
			return
		}
		line, _, _ := strings.Cut(t.text[start:], "\n")
		for _, link := range foldedLinks(part, line) {
			t.links = append(t.links, span{start + link.start, start + link.end})
		}
		start += len(line) + len("\n")
	}
}

// foldedLinks returns where the URLs of a text are in its folded form. They are found in the text as it is written, because folding removes or
// replaces some of the characters that end a URL: a full-width comma becomes one that does not.
func foldedLinks(written, folded string) []span {
	if isASCII(written) {
		return linksIn(folded)
	}
	written = validUTF8(written[:min(len(written), 2*maxFolded)])
	links := linksIn(written)
	if len(links) == 0 {
		return nil
	}
	var b strings.Builder
	last := 0
	for _, link := range links {
		b.WriteString(written[last:link.start])
		b.WriteString(linkMark)
		b.WriteString(written[link.start:link.end])
		b.WriteString(linkMark)
		last = link.end
	}
	b.WriteString(written[last:])
	plain, links := cutMarks(fold(b.String()))
	if !strings.HasPrefix(plain, folded) { // a text with marks of its own, or too long with marks
		return linksIn(folded)
	}
	for i, link := range links {
		if link.end > len(folded) {
			return links[:i]
		}
	}
	return links
}

// linksIn returns the URLs of a text.
func linksIn(s string) (links []span) {
	for i, prev := 0, ' '; i < len(s); {
		t := tokenAt(s, i, prev)
		if t.kind == linkToken {
			links = append(links, span{i, t.end})
		}
		i = t.end
		prev, _ = utf8.DecodeLastRuneInString(s[:i])
	}
	return links
}

// cutMarks returns a text without its marks, and the parts between each two of them.
func cutMarks(s string) (plain string, between []span) {
	var b strings.Builder
	pieces := strings.Split(s, linkMark)
	for i, piece := range pieces {
		start := b.Len()
		b.WriteString(piece)
		if i%2 == 1 && i+1 < len(pieces) {
			between = append(between, span{start, b.Len()})
		}
	}
	return b.String(), between
}
