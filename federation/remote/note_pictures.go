package remote

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"svc/internal/activity"
	"svc/internal/text"
	"svc/store"
)

const (
	maxEmojiSide     = 32   // pixels of a picture that is an emoji, a smiley or a counter of views
	maxPictureSource = 4096 // bytes of the URL of a picture in a text
)

// addTextPictures appends the pictures in the text of a status to its attachments, because the text is shown without them. Blogs have theirs only
// there. Pictures that are attached already, and those of emoji, are left out.
func (r *Reader) addTextPictures(media []*store.Media, o activity.Object, n *Note) []*store.Media {
	content, _ := o.TextAndLanguage("content")
	content = truncateBytes(content, maxNoteSource)
	base, err := url.Parse(n.URL)
	if err != nil || !strings.Contains(strings.ToLower(content), "<img") || o.Text("mediaType") == "text/markdown" {
		return media
	}
	skip := make(map[string]bool) // URLs of pictures that are not added, without the query
	for _, m := range media {
		skip[withoutQuery(m.RemoteURL)] = true
	}
	for _, e := range n.Emojis {
		skip[withoutQuery(e.URL)] = true
	}
	z := html.NewTokenizer(strings.NewReader(content))
	for len(media) < MaxAttachments {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		name, more := z.TagName()
		if string(name) != "img" || !more {
			continue
		}
		m := r.textPicture(readAttributes(z), base)
		if m != nil && !skip[withoutQuery(m.RemoteURL)] {
			skip[withoutQuery(m.RemoteURL)] = true
			media = append(media, m)
		}
	}
	return media
}

// readAttributes returns the attributes of the tag that was read. Of two with one name the first counts.
func readAttributes(z *html.Tokenizer) map[string]string {
	attributes := make(map[string]string)
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, known := attributes[string(key)]; !known {
			attributes[string(key)] = string(value)
		}
	}
	return attributes
}

// textPicture returns the row of a picture in a text, nil if it has no public URL or is an emoji.
func (r *Reader) textPicture(attributes map[string]string, base *url.URL) *store.Media {
	source := strings.TrimSpace(attributes["src"])
	if source == "" || len(source) > maxPictureSource || isEmojiClass(attributes["class"]) {
		return nil
	}
	width, hasWidth := parseSide(attributes["width"])
	height, hasHeight := parseSide(attributes["height"])
	if hasWidth && width <= maxEmojiSide || hasHeight && height <= maxEmojiSide {
		return nil
	}
	u, err := base.Parse(source)
	if err != nil || !r.isPublicURL(u.String()) {
		return nil
	}
	m := remoteMedia(u.String(), "", "Image")
	if m.Type != "image" {
		return nil
	}
	if hasWidth && hasHeight && width < maxMediaSide && height < maxMediaSide {
		m.Width, m.Height = width, height
	}
	if alt := text.Shorten(strings.TrimSpace(truncateBytes(attributes["alt"], 4*maxAltText)), maxAltText); !isFileName(alt) {
		m.Description = alt
	}
	return m
}

// isEmojiClass returns whether the class of a picture is that of an emoji or a smiley: WordPress, Discourse, Friendica and others mark theirs.
func isEmojiClass(class string) bool {
	class = strings.ToLower(class)
	return strings.Contains(class, "emoji") || strings.Contains(class, "smiley")
}

// parseSide returns a width or height that is a plain number.
func parseSide(s string) (n int, ok bool) {
	v, err := strconv.ParseUint(strings.TrimSpace(s), 10, 31)
	return int(v), err == nil
}
