// Package preview reads what a web page tells of itself, for the card that is shown below a link to it: its title, what it is
// about, a picture. It goes by OpenGraph, by the cards of others that are made alike, and by the plain title of the page.
//
// Pages are strangers' writing: all that is returned is plain text of bounded length and checked addresses, never markup, and
// reading takes time that grows with the length of the page only. Where a page comes from is its caller's business.
package preview

import (
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

// MaxPage is how many bytes of a page are read. What a page tells of itself stands at its beginning.
const MaxPage = 1 << 20

// The longest texts that are kept, in characters, and the most of them.
const (
	maxTitle           = 300
	maxDescription     = 1000
	maxAlt             = 1500
	maxNameLength      = 100
	maxValueLength     = 1000
	maxProperties      = 50
	maxPropertiesBytes = 8 << 10 // bytes of all properties
	maxURLLength       = 2048    // bytes
	maxPixels          = 100_000
)

// Page is what a page tells of itself. What it does not tell is empty.
type Page struct {
	Title       string
	Description string
	Image       string // https address
	ImageAlt    string // what the picture shows
	Width       int    // of the picture
	Height      int
	Properties  map[string]string // as they stand in the page, by name: og:title is title
}

// Read reads a page. contentType is the header it came with, and at its address, which others in it may start from. A page that
// breaks off is read as far as it came.
func Read(page io.Reader, contentType string, at *url.URL) (*Page, error) {
	page = io.LimitReader(page, MaxPage)
	decoded, err := charset.NewReader(page, contentType)
	if err == io.EOF { // there is nothing
		return &Page{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read page: %w", err)
	}
	h := head{og: make(map[string]string), twitter: make(map[string]string)}
	if err := h.read(html.NewTokenizer(io.LimitReader(decoded, 3*MaxPage))); err != nil && len(h.og)+len(h.twitter) == 0 && h.title == "" {
		return nil, fmt.Errorf("read page: %w", err)
	}
	return h.page(at), nil
}

// head is what stands in the head of a page.
type head struct {
	title       string // of the title element
	description string // of the meta element
	og, twitter map[string]string
}

// read reads up to where the body begins. Of two properties of one name the first counts.
func (h *head) read(z *html.Tokenizer) error {
	inTitle, drawing := false, false
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
				return nil
			case "title":
				inTitle = !drawing
			case "svg":
				drawing = true
			case "meta":
				if hasAttrs {
					h.meta(z)
				}
			}
		case html.EndTagToken:
			switch name, _ := z.TagName(); string(name) {
			case "head":
				return nil
			case "title":
				inTitle = false
			case "svg":
				drawing = false
			}
		}
	}
}

// meta notes a meta element. Pages mix up property and name.
func (h *head) meta(z *html.Tokenizer) {
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
	} else if key == "description" && h.description == "" {
		h.description = oneLine(content, maxDescription)
	}
}

func setProperty(properties map[string]string, name, value string) {
	name, value = oneLine(name, maxNameLength), cutText(value, max(maxValueLength, maxURLLength))
	if _, there := properties[name]; there || name == "" || value == "" || len(properties) >= maxProperties {
		return
	}
	properties[name] = value
}

// page makes sense of what was read.
func (h *head) page(at *url.URL) *Page {
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
		Title:       oneLine(find("title"), maxTitle),
		Description: oneLine(find("description"), maxDescription),
		Image:       imageURL(find("image:secure_url", "image", "image:url", "image:src"), at),
		Properties:  h.properties(),
	}
	if p.Title == "" {
		p.Title = h.title
	}
	if p.Description == "" {
		p.Description = h.description
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

// properties returns all properties under one roof, at most so many; those of OpenGraph come first. What is too much for a page of
// statuses, each with a card, is left out.
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

// imageURL returns the address of a picture, "" if browsers should not ask for it. Pages of today show pictures of http by https.
func imageURL(address string, at *url.URL) string {
	u, err := at.Parse(strings.TrimSpace(address))
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

// parsePixels reads a number of pixels, 0 if it is none.
func parsePixels(text string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), "px"))
	if err != nil || n < 0 || n > maxPixels {
		return 0
	}
	return n
}

// oneLine returns text on one line, without control characters and others that nobody sees, cut where it is too long.
func oneLine(text string, most int) string {
	return cutText(strings.Join(strings.Fields(cutText(text, 4*most)), " "), most)
}

// cutText returns text without control characters, cut to so many characters.
func cutText(text string, most int) string {
	if len(text) > most*utf8.UTFMax {
		text = text[:most*utf8.UTFMax]
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return -1
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // the latter turn the direction of what follows
			return -1
		}
		return r
	}, text)
	n, last := 0, 0 // characters, and where the last of those that fit begins
	for i := range text {
		if n++; n > most {
			return strings.TrimSpace(text[:last]) + "…"
		}
		last = i
	}
	return text
}
