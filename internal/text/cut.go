package text

import (
	"html"
	"strings"
	"unicode/utf8"

	tokenizer "golang.org/x/net/html"
)

// MaxEscape is how many bytes of JSON one byte of a text takes at most: a control character is \u0001, an invalid byte \ufffd.
const MaxEscape = 6

// JSONSize returns how many bytes a text takes between the quotes of a JSON string, as encoding/json writes it without escaping HTML.
func JSONSize(s string) int {
	size := 0
	for i := 0; i < len(s); {
		n, width := jsonSizeAt(s, i)
		size += n
		i += width
	}
	return size
}

// FitsJSON returns whether a text takes at most a number of bytes of JSON. For most texts that is one comparison.
func FitsJSON(s string, max int) bool {
	return MaxEscape*len(s) <= max || len(s) <= max && JSONSize(s) <= max
}

// jsonSizeAt returns the size in JSON of the character at an index of a text, and its width in the text.
func jsonSizeAt(s string, i int) (size, width int) {
	switch c := s[i]; {
	case c == '"', c == '\\', c >= '\b' && c <= '\r' && c != '\v':
		return 2, 1
	case c < ' ':
		return MaxEscape, 1
	case c < utf8.RuneSelf:
		return 1, 1
	}
	r, width := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError && width == 1 || r == '\u2028' || r == '\u2029' {
		return MaxEscape, width
	}
	return width, width
}

// prefixInJSON returns the longest prefix of whole characters that takes at most a number of bytes of JSON.
func prefixInJSON(s string, max int) string {
	left := max
	for i := 0; i < len(s); {
		n, width := jsonSizeAt(s, i)
		if left -= n; left < 0 {
			return s[:i]
		}
		i += width
	}
	return s
}

// CutJSON returns a plain text cut to a number of bytes of JSON, with "…" at the end if it was longer. Texts that fit are unchanged.
func CutJSON(s string, max int) string {
	if FitsJSON(s, max) {
		return s
	}
	if max < len("…") {
		return ""
	}
	return strings.TrimRight(prefixInJSON(s, max-len("…")), " \n") + "…"
}

// maxShownLink is how many characters of a URL are shown as the text of the link to an original.
const maxShownLink = 100

// CutHTML returns sanitised HTML cut to a number of bytes of JSON, followed by a paragraph with a link to the original, or by "…" if link
// is "". Open elements are closed. HTML that fits is unchanged; without room for more than the link, only that remains.
func CutHTML(source string, max int, link string) string {
	if FitsJSON(source, max) {
		return source
	}
	end := "…"
	if link != "" {
		link = html.EscapeString(link)
		end = Sanitize(`<p>… <a href="` + link + `">` + html.EscapeString(Shorten(html.UnescapeString(link), maxShownLink)) + `</a></p>`)
	}
	c := cutter{left: max - JSONSize(end)}
	switch {
	case c.left < 0 && link == "":
		return ""
	case c.left < 0:
		return CutHTML(end, max, "")
	}
	c.run(source[:min(len(source), max)]) // the rest does not fit, and may be long
	return c.out.String() + end
}

// cutter copies sanitised HTML as long as it fits, together with the end tags that its open elements need.
type cutter struct {
	out  strings.Builder
	open []string
	left int // bytes of JSON
}

func (c *cutter) run(source string) {
	z := tokenizer.NewTokenizer(strings.NewReader(source))
	for c.token(z) {
	}
	for i := len(c.open) - 1; i >= 0; i-- {
		c.out.WriteString("</" + c.open[i] + ">")
	}
}

// token copies a token, and returns false at the first one that does not fit.
func (c *cutter) token(z *tokenizer.Tokenizer) bool {
	kind := z.Next()
	raw := string(z.Raw())
	size := JSONSize(raw)
	switch kind {
	case tokenizer.ErrorToken:
		return false
	case tokenizer.TextToken:
		if size > c.left {
			c.out.WriteString(withoutPartialEntity(prefixInJSON(raw, c.left)))
			return false
		}
	case tokenizer.StartTagToken:
		name, _ := z.TagName()
		if elements[string(name)] == void {
			break
		}
		if size+len("</>")+len(name) > c.left {
			return false
		}
		c.left -= len("</>") + len(name)
		c.open = append(c.open, string(name))
	case tokenizer.EndTagToken:
		name, _ := z.TagName()
		last := len(c.open) - 1
		if last < 0 || c.open[last] != string(name) {
			return true // not sanitised
		}
		c.open = c.open[:last]
		c.out.WriteString(raw) // its room was taken with the start tag
		return true
	}
	if size > c.left {
		return false
	}
	c.left -= size
	c.out.WriteString(raw)
	return true
}

// maxEntity is the length of the longest character reference in sanitised HTML.
const maxEntity = len("&#1114111;")

// withoutPartialEntity returns HTML without a character reference that was cut.
func withoutPartialEntity(s string) string {
	tail := s[max(0, len(s)-maxEntity):]
	if at := strings.LastIndexByte(tail, '&'); at >= 0 && !strings.Contains(tail[at:], ";") {
		return s[:len(s)-len(tail)+at]
	}
	return s
}
