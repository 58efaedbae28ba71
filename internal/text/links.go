package text

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

const (
	maxLinksTried = 100  // links that FirstLink asks about
	maxLinkBytes  = 2048 // of a link that it returns
)

// FirstLink returns the first http or https URL in sanitised HTML that is accepted, unchanged, or "" if there is none. It skips
// mentions and hashtags.
func FirstLink(source string, accept func(*url.URL) bool) string {
	if !strings.Contains(source, "<a ") {
		return ""
	}
	z := html.NewTokenizer(strings.NewReader(source))
	for tried := 0; tried < maxLinksTried; {
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
			if tried++; len(href) > maxLinkBytes {
				continue
			}
			u, err := url.Parse(href)
			if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && accept(u) {
				return href
			}
		}
	}
	return ""
}

// OnlyLink returns the http or https URL of sanitised HTML that is nothing but one link with its URL as the text, else "". Escapes and a
// slash at the end are no difference.
func OnlyLink(source string) string {
	if !strings.HasPrefix(source, "<a ") || !strings.HasSuffix(source, "</a>") || strings.Count(source, "<a ") != 1 {
		return ""
	}
	href := FirstLink(source, func(*url.URL) bool { return true })
	if writtenURL(HTMLToText(source)) != writtenURL(href) {
		return ""
	}
	return href
}

// writtenURL returns a URL as it is shown: not escaped, and without a slash at the end.
func writtenURL(address string) string {
	if written, err := url.PathUnescape(address); err == nil {
		address = written
	}
	return strings.TrimSuffix(address, "/")
}

// HasLink returns whether HTML has a link other than mentions and hashtags.
func HasLink(source string) bool {
	for {
		i := strings.Index(source, "<a ")
		if i < 0 {
			return false
		}
		source = source[i+len("<a "):]
		tag := source[:strings.IndexByte(source+">", '>')]
		if !strings.Contains(tag, "mention") && !strings.Contains(tag, "hashtag") {
			return true
		}
	}
}

// anchor reads the attributes of a link. plain is false for mentions and hashtags.
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

// LocalHashtags makes the hashtags in sanitised HTML lead to the pages of the server at base, instead of those of another server. Their names are
// the last segments of their URLs; others than tags are left.
func LocalHashtags(source, base string, tags []string) string {
	if !strings.Contains(source, "hashtag") {
		return source
	}
	names := make(map[string]string, len(tags))
	for _, name := range tags {
		names[TagKey(name)] = name
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		kind := z.Next()
		if kind == html.ErrorToken { // the end
			return b.String()
		}
		raw := string(z.Raw())
		if t := z.Token(); kind == html.StartTagToken && t.Data == "a" && localHashtag(&t, base, names) {
			raw = t.String()
		}
		b.WriteString(raw)
	}
}

// localHashtag changes the href of a link if it is a hashtag with one of the names.
func localHashtag(t *html.Token, base string, names map[string]string) bool {
	isHashtag, href := false, -1
	for i, a := range t.Attr {
		switch a.Key {
		case "class":
			isHashtag = slices.Contains(strings.Fields(a.Val), "hashtag")
		case "href":
			href = i
		}
	}
	if !isHashtag || href < 0 {
		return false
	}
	u, err := url.Parse(t.Attr[href].Val)
	if err != nil {
		return false
	}
	name, known := names[TagKey(u.Path[strings.LastIndexByte(u.Path, '/')+1:])]
	if known {
		t.Attr[href].Val = TagURL(base, name)
	}
	return known
}
