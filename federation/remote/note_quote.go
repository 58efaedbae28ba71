package remote

import (
	"strings"

	"svc/internal/activity"
	"svc/internal/text"
)

// quoteKeys are the members that name the quoted status, in order of preference (federation 4.15).
var quoteKeys = []string{"quote", "quoteUrl", "quoteUri", "quoteURL", "_misskey_quote"}

// readQuote reads the quoted status. It removes the fallback link above or below the text.
func (n *Note) readQuote(r *Reader, o activity.Object) {
	for _, key := range quoteKeys {
		if ref := o.Ref(key); n.QuoteURI == "" && r.isObjectURL(ref) && ref != n.URI {
			n.QuoteURI = ref
		}
	}
	if n.QuoteURI == "" {
		n.QuoteURI = r.objectLink(o)
	}
	if n.QuoteURI == "" {
		return
	}
	if by := o.Ref("quoteAuthorization"); activity.SameHost(by, n.QuoteURI, r.AllowLoopback) {
		n.QuoteAuthorization = by
	}
	if content, found := withoutQuoteLink(n.Content); found {
		n.Content, n.QuoteLinkRemoved = text.Sanitize(content), true // closes open elements
	}
}

// withoutQuoteLink removes the link to the quoted status from the start or end of the content.
func withoutQuoteLink(content string) (rest string, found bool) {
	const begin, end = `<span class="quote-inline">`, "</span>"
	if above, rest, ok := strings.Cut(content, "</p>"); ok && strings.HasPrefix(above, "<p>"+begin) && strings.HasSuffix(above, end) {
		return rest, true
	}
	i := strings.LastIndex(content, begin)
	below, paragraph := strings.CutSuffix(content, "</p>")
	if i < 0 || !strings.HasSuffix(below, end) {
		return "", false
	}
	if rest = content[:i]; paragraph {
		rest = strings.TrimSuffix(rest+"</p>", "<p></p>")
	}
	return rest, true
}

// objectLink returns the quoted object of a link in the tags (FEP-e232).
func (r *Reader) objectLink(o activity.Object) string {
	for _, tag := range o.Objects("tag", 1000) {
		href := tag.Text("href")
		kind := tag.Text("mediaType")
		if !tag.Is("Link") || !r.isObjectURL(href) || href == o.ID() {
			continue
		}
		quoting := strings.HasPrefix(tag.Text("name"), "RE: ")
		for _, v := range tag.Values("rel") {
			rel, _ := v.(string)
			quoting = quoting || strings.Contains(strings.ToLower(rel), "quote")
		}
		if quoting && (strings.HasPrefix(kind, activity.MediaType) || strings.HasPrefix(kind, activity.LDMediaType)) {
			return href
		}
	}
	return ""
}
