package text

import (
	"regexp"
	"slices"
	"strings"

	"github.com/microcosm-cc/bluemonday"
)

// Sanitize returns safe HTML for any HTML: allowed tags and attributes, links of known schemes only, no images (their alt text stays),
// no styles, everything closed and bounded in depth. Links except mentions and hashtags open a new window and are nofollow. Output of
// Render is unchanged.
func Sanitize(html string) string { return sanitize(html, fullMode) }

// SanitizeStrict is Sanitize for viewers who want no formatting: it keeps only paragraphs, line breaks and links.
func SanitizeStrict(html string) string { return sanitize(html, strictMode) }

// SanitizeLinksOnly is Sanitize for profile fields: one line with links as the only markup. Links keep rel "me".
func SanitizeLinksOnly(html string) string { return sanitize(html, linksMode) }

// SanitizeForeign is Sanitize for remote posts, whose classes could make a link pass for a mention: it keeps the classes of mentions on
// links to mentioned accounts only, and removes those of the lines that this server adds.
func SanitizeForeign(html string, isMention func(href string) bool) string {
	if !strings.Contains(html, "mention") && !strings.Contains(html, "-inline") {
		return html
	}
	t := normalizer{builder: newBuilder(postLink), mode: fullMode, isMention: isMention}
	t.run(policy.Sanitize(normalizeInput(html)))
	return string(t.trimmedBytes())
}

func sanitize(html string, m *mode) string {
	html = normalizeInput(html)
	if !strings.ContainsAny(html, "<&>") {
		return strings.ReplaceAll(joinLines(strings.Trim(html, htmlSpace)), "\n", " ")
	}
	t := normalizer{builder: newBuilder(postLink), mode: m}
	t.run(policy.Sanitize(html))
	return string(t.trimmedBytes())
}

// html adds HTML to the document.
func (c *builder) html(source string) {
	t := normalizer{builder: c, mode: fullMode, linkify: true, isMention: func(string) bool { return false }}
	t.run(policy.Sanitize(source))
}

// policy filters all HTML. It allows more than any mode, because normalizer replaces headings, block elements and pictures.
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
	p.AllowAttrs("data-tag").Matching(regexp.MustCompile(`^[\p{L}\p{Nd}\p{M}_·・〜\x{200c}]+$`)).OnElements("a")
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

// hrefPattern matches absolute URLs of the known schemes. URLs are not rewritten, because clients compare them with those of mentioned
// accounts.
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
