package text

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// FirstLink returns the first address in sanitised HTML to a page of the web that is wanted, as it stands there, and "" if there is
// none. Mentions and hashtags are no such addresses.
func FirstLink(source string, wanted func(*url.URL) bool) string {
	if !strings.Contains(source, "<a ") {
		return ""
	}
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			name, hasAttrs := z.TagName()
			if string(name) != "a" || !hasAttrs {
				continue
			}
			href, plain := anchor(z)
			if !plain {
				continue
			}
			u, err := url.Parse(href)
			if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && wanted(u) {
				return href
			}
		}
	}
}

// anchor reads the attributes of a link. It is plain if it is neither a mention nor a hashtag.
func anchor(z *html.Tokenizer) (href string, plain bool) {
	plain = true
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		words := strings.Fields(string(value))
		switch string(key) {
		case "href":
			href = strings.Trim(string(value), htmlSpace)
		case "class":
			plain = plain && !slices.Contains(words, "mention") && !slices.Contains(words, "hashtag")
		case "rel":
			plain = plain && !slices.Contains(words, "tag")
		}
	}
	return href, plain
}
