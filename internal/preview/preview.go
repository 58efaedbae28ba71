// Package preview reads web pages: the metadata for a preview card (title, description, image), from OpenGraph, Twitter cards and the title
// element, and the links by which a page says that a profile is its author's.
//
// Pages are not trusted: results are plain text of bounded length and checked URLs, never markup, and the time is linear in the length
// of the page. Fetching the page is up to the caller.
//
// Limits: 1 MiB of a page, 50 properties, 8 KiB of properties.
package preview

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// MaxPage is the number of bytes of a page that are read. Metadata is at its beginning.
const MaxPage = 1 << 20

// Limits of texts in characters, unless noted.
const (
	maxTitle           = 300
	maxDescription     = 1000
	maxAlt             = 1500
	maxNameLength      = 100
	maxCreator         = 500
	maxValueLength     = 1000
	maxProperties      = 50
	maxPropertiesBytes = 8 << 10 // bytes, of all properties
	maxURLLength       = 2048    // bytes
	maxPixels          = 100_000
	maxContentType     = 1024 // bytes of the header: many parameters take long
)

// Page is the metadata of a page. Missing fields are empty.
type Page struct {
	Title       string
	Description string
	Image       string // https URL
	ImageAlt    string // description of the image
	Width       int    // of the image
	Height      int
	Creator     string            // handle of the author, as in the page (fediverse:creator)
	Properties  map[string]string // as in the page, by name without prefix: og:title is title
}

// Read reads a page with a Content-Type header. URLs in it are relative to base. An incomplete page is read as far as it goes.
func Read(page io.Reader, contentType string, base *url.URL) (*Page, error) {
	z, err := tokenize(page, contentType)
	if err == io.EOF { // empty page
		return &Page{}, nil
	}
	if err != nil {
		return nil, err
	}
	h := head{og: make(map[string]string), twitter: make(map[string]string)}
	if err := h.read(z); err != nil && len(h.og)+len(h.twitter) == 0 && h.title == "" {
		return nil, fmt.Errorf("read page: %w", err)
	}
	return h.page(base), nil
}

// tokenize returns a tokenizer of the first MaxPage bytes of a page, and io.EOF if that is empty.
func tokenize(page io.Reader, contentType string) (*html.Tokenizer, error) {
	if len(contentType) > maxContentType {
		contentType = ""
	}
	decoded, err := charset.NewReader(io.LimitReader(page, MaxPage), contentType)
	switch err {
	case nil:
		return html.NewTokenizer(io.LimitReader(decoded, 3*MaxPage)), nil
	case io.EOF:
		return nil, err
	}
	return nil, fmt.Errorf("read page: %w", err)
}

// head is the metadata of a page, which belongs into its head.
type head struct {
	title       string // of the title element
	description string // of the meta element
	creator     string // of the meta element
	og, twitter map[string]string
}

// read reads the head, and if that has no title of a card, properties of cards in the body, where generators of pages put them by mistake. Of two
// properties with one name the first counts.
func (h *head) read(z *html.Tokenizer) error {
	inTitle, inSVG, inBody := false, false, false
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF {
				return err
			}
			return nil
		case html.TextToken:
			if inTitle && h.title == "" {
				h.title = oneLine(string(z.Text()), maxTitle)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, hasAttrs := z.TagName()
			switch string(name) {
			case "body":
				if inBody = true; h.hasTitle() {
					return nil
				}
			case "title":
				inTitle = !inSVG && !inBody
			case "svg":
				inSVG = true
			case "meta":
				if hasAttrs {
					h.meta(z, inBody)
				}
			}
		case html.EndTagToken:
			switch name, _ := z.TagName(); string(name) {
			case "head":
				if inBody = true; h.hasTitle() {
					return nil
				}
			case "title":
				inTitle = false
			case "svg":
				inSVG = false
			}
		}
	}
}

// hasTitle returns whether a property has the title of a card.
func (h *head) hasTitle() bool { return h.og["title"] != "" || h.twitter["title"] != "" }

// meta reads a meta element. Pages use property and name interchangeably. Of one in the body, only properties of cards count.
func (h *head) meta(z *html.Tokenizer, inBody bool) {
	var key, content string
	for more := true; more; {
		var k, v []byte
		k, v, more = z.TagAttr()
		switch string(k) {
		case "property", "name":
			if key == "" || string(k) == "property" {
				key = strings.ToLower(strings.TrimSpace(string(v[:min(len(v), 4*maxNameLength)])))
			}
		case "content":
			content = string(v)
		}
	}
	if name, ok := strings.CutPrefix(key, "og:"); ok {
		setProperty(h.og, name, content)
	} else if name, ok := strings.CutPrefix(key, "twitter:"); ok {
		setProperty(h.twitter, name, content)
	} else if key == "description" && h.description == "" && !inBody {
		h.description = oneLine(content, maxDescription)
	} else if key == "fediverse:creator" && h.creator == "" && !inBody {
		h.creator = oneLine(content, maxCreator)
	}
}

func setProperty(properties map[string]string, name, value string) {
	name, value = oneLine(name, maxNameLength), cutText(value, max(maxValueLength, maxURLLength))
	if _, there := properties[name]; there || name == "" || value == "" || len(properties) >= maxProperties {
		return
	}
	properties[name] = value
}

// page returns the metadata with URLs relative to base.
func (h *head) page(base *url.URL) *Page {
	find := func(names ...string) string {
		for _, name := range names {
			for _, properties := range []map[string]string{h.og, h.twitter} {
				if v := properties[name]; strings.TrimSpace(v) != "" {
					return v
				}
			}
		}
		return ""
	}
	p := &Page{
		Title:       cmp.Or(oneLine(find("title"), maxTitle), h.title),
		Description: cmp.Or(oneLine(find("description"), maxDescription), h.description),
		Image:       imageURL(find("image:secure_url", "image", "image:url", "image:src"), base),
		Creator:     h.creator,
		Properties:  h.properties(),
	}
	if p.Image != "" {
		p.ImageAlt = oneLine(find("image:alt"), maxAlt)
		p.Width, p.Height = parsePixels(find("image:width")), parsePixels(find("image:height"))
		if p.Width == 0 || p.Height == 0 {
			p.Width, p.Height = 0, 0
		}
	}
	return p
}

// properties returns all properties, those of OpenGraph first, up to maxProperties and maxPropertiesBytes, because a page of statuses
// may have a card for each.
func (h *head) properties() map[string]string {
	all, left := make(map[string]string, len(h.og)+len(h.twitter)), maxPropertiesBytes
	for _, properties := range []map[string]string{h.og, h.twitter} {
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			value := cutText(properties[name], maxValueLength)
			if size := len(name) + len(value); size <= left {
				setProperty(all, name, value)
				left -= size
			}
		}
	}
	return all
}

// imageURL returns the https URL of an image, "" if there is none. An http URL becomes https, as browsers do.
func imageURL(address string, base *url.URL) string {
	if len(address) > 2*maxURLLength {
		return ""
	}
	u, err := base.Parse(strings.TrimSpace(address))
	if err != nil || address == "" {
		return ""
	}
	if u.Scheme == "http" && u.Port() == "" {
		u.Scheme = "https"
	}
	if s := u.String(); u.Scheme == "https" && u.Hostname() != "" && u.User == nil && len(s) <= maxURLLength {
		return s
	}
	return ""
}

// parsePixels returns a number of pixels, 0 if it is invalid.
func parsePixels(text string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), "px"))
	if err != nil || n < 0 || n > maxPixels {
		return 0
	}
	return n
}

// oneLine returns text on one line, without control characters, cut to max characters.
func oneLine(text string, max int) string {
	return cutText(strings.Join(strings.Fields(cutText(text, 4*max)), " "), max)
}

// cutText returns text without control characters, cut to max characters.
func cutText(text string, max int) string {
	if len(text) > max*utf8.UTFMax {
		text = text[:max*utf8.UTFMax]
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return -1
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // bidirectional controls
			return -1
		}
		return r
	}, text)
	n, last := 0, 0 // number of characters, start of the latest
	for i := range text {
		if n++; n > max {
			return strings.TrimSpace(text[:last]) + "…"
		}
		last = i
	}
	return text
}
