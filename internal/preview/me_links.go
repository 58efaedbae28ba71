package preview

import (
	"io"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// HasMeLink returns true if a page has a link with rel "me" (a or link element) to a URL that is accepted. URLs in the page are relative to base.
// Links after MaxPage bytes do not count.
func HasMeLink(page io.Reader, contentType string, base *url.URL, accept func(*url.URL) bool) (bool, error) {
	z, err := tokenize(page, contentType)
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF {
				return false, err
			}
			return false, nil
		case html.StartTagToken, html.SelfClosingTagToken:
			name, hasAttrs := z.TagName()
			if hasAttrs && (string(name) == "a" || string(name) == "link") && acceptsMeLink(z, base, accept) {
				return true, nil
			}
		}
	}
}

// acceptsMeLink returns true if the current tag has rel "me" and a URL that is accepted. Of two attributes with one name the first counts.
func acceptsMeLink(z *html.Tokenizer, base *url.URL, accept func(*url.URL) bool) bool {
	var rel, href *string
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch {
		case string(key) == "rel" && rel == nil:
			rel = new(string(value))
		case string(key) == "href" && href == nil:
			href = new(string(value))
		}
	}
	return rel != nil && href != nil && IsMeLink(*rel, *href, base, accept)
}

// IsMeLink returns true if a link has rel "me", among other words and in any case, and a URL that is accepted.
func IsMeLink(rel, href string, base *url.URL, accept func(*url.URL) bool) bool {
	if len(href) > maxURLLength || !slices.Contains(strings.Fields(strings.ToLower(rel)), "me") {
		return false
	}
	to, err := base.Parse(strings.TrimSpace(href))
	return err == nil && accept(to)
}

// IsLinkTo returns true if a URL leads to a page: the host may differ in case, the path in a slash at the end, and http stands for https, because
// servers redirect it. Fragments do not count.
func IsLinkTo(page, u *url.URL) bool {
	path := func(u *url.URL) string { return strings.TrimRight(u.EscapedPath(), "/") }
	scheme := strings.EqualFold(u.Scheme, page.Scheme) || strings.EqualFold(u.Scheme, "http") && strings.EqualFold(page.Scheme, "https")
	return scheme && strings.EqualFold(hostOf(u), hostOf(page)) && path(u) == path(page) && u.RawQuery == page.RawQuery
}

// hostOf returns the host of a URL with its port, unless that is the default one.
func hostOf(u *url.URL) string {
	if strings.EqualFold(u.Scheme, "https") {
		return strings.TrimSuffix(u.Host, ":443")
	}
	return strings.TrimSuffix(u.Host, ":80")
}
