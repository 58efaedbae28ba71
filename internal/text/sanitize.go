package text

import (
	"regexp"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
)

// Sanitize makes HTML from anywhere fit to be shown: a list of allowed tags and attributes, links to known schemes
// only, no images (their description stays, as text), no styles, everything closed and not too deep. Links other than
// mentions and hashtags open a new window and do not vouch for their target. What Render made comes back as it is.
func Sanitize(html string) string { return sanitize(html, fullMode) }

// SanitizeStrict is Sanitize for people who want no formatting: paragraphs, line breaks and links are all that is left.
func SanitizeStrict(html string) string { return sanitize(html, strictMode) }

// SanitizeLinksOnly is Sanitize for the values of profile fields: one line, with links as the only markup. A link keeps the
// rel "me".
func SanitizeLinksOnly(html string) string { return sanitize(html, linksMode) }

func sanitize(html string, m *mode) string {
	html = normalizeInput(html)
	if !strings.ContainsAny(html, "<&>") {
		return strings.ReplaceAll(joinLines(strings.Trim(html, htmlSpace)), "\n", " ")
	}
	t := normalizer{builder: newBuilder(postLink), mode: m}
	t.run(policy.Sanitize(html))
	return string(t.trimmedBytes())
}

// html reads HTML into the document.
func (c *builder) html(source string) {
	t := normalizer{builder: c, mode: fullMode, linkify: true}
	t.run(policy.Sanitize(source))
}

// policy is the gate for everything: what it does not let through is in no output. It is wider than any mode, since
// tidier makes something allowed of headings, block elements and pictures.
var policy = newPolicy()

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	for name := range elements {
		p.AllowNoAttrs().OnElements(name)
		p.AllowElements(name)
	}
	p.AllowElementsContent("object", "frameset")

	p.AllowAttrs("href").Matching(hrefPattern()).OnElements("a")
	p.AllowAttrs("class").OnElements("a", "span", "code")
	p.AllowAttrs("rel").OnElements("a")
	p.AllowAttrs("data-user").Matching(regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)).OnElements("a")
	p.AllowAttrs("data-tag").Matching(regexp.MustCompile(`^[\p{L}\p{Nd}\p{M}_·・\x{200c}]{1,128}$`)).OnElements("a")
	p.AllowAttrs("name").Matching(regexp.MustCompile(`^[\w-]{1,64}$`)).OnElements("a")
	p.AllowAttrs("title").OnElements("a", "abbr", "acronym")
	p.AllowAttrs("dir").Matching(regexp.MustCompile(`^(?i:ltr|rtl|auto)$`)).OnElements("bdo")
	number := regexp.MustCompile(`^-?[0-9]{1,9}$`)
	p.AllowAttrs("start").Matching(number).OnElements("ol")
	p.AllowAttrs("reversed").OnElements("ol")
	p.AllowAttrs("value").Matching(number).OnElements("li")
	p.AllowAttrs("alt").OnElements("img")
	p.AllowAttrs("lang").Matching(regexp.MustCompile(`^[A-Za-z0-9-]{1,35}$`)).Globally()
	return p
}

// hrefPattern matches absolute addresses of the known schemes. The addresses are not rewritten: clients compare them,
// byte for byte, with those of mentioned accounts.
func hrefPattern() *regexp.Regexp {
	var starts []string
	for scheme, hasHost := range linkSchemes {
		if hasHost {
			starts = append(starts, scheme+`://[^/?#\x00-\x20\x7f]`)
		} else {
			starts = append(starts, scheme+`:`)
		}
	}
	slices.Sort(starts)
	return regexp.MustCompile(`^[ \t\n]*(?i:` + strings.Join(starts, "|") + `)[^\x00-\x20\x7f]*[ \t\n]*$`)
}
