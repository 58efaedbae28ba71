package remote

import (
	"cmp"
	"html"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"svc/internal/activity"
	"svc/internal/text"
	"svc/store"
)

// noteMedia returns the attachments of a status, and the URL of the page that it links to, "" if there is none (federation 4.2). A
// sensitive attachment makes the status sensitive.
func (r *Reader) noteMedia(o activity.Object, n *Note) (media []*store.Media, link string) {
	if n.ObjectType == "Video" || n.ObjectType == "Audio" || n.ObjectType == "Image" {
		if m := r.primaryMedia(o, strings.ToLower(n.ObjectType)); m != nil {
			media = append(media, m)
		}
	}
	for _, a := range o.Objects("attachment", MaxAttachments) {
		file, page := r.ParseAttachment(a)
		if link == "" {
			link = page
		}
		if file == nil || len(media) == MaxAttachments {
			continue
		}
		if sensitive, _ := a.Bool("sensitive"); sensitive {
			n.Sensitive = true
		}
		media = append(media, file)
	}
	if picture := r.pictureURL(o, "image"); len(media) == 0 && picture != "" && n.ObjectType != "Note" && n.ObjectType != "Question" {
		media = append(media, remoteMedia(picture, "", "Image"))
	}
	return r.addTextPictures(media, o, n), link
}

// showLink adds a paragraph with the link of a status, if its text does not have it: most clients show the link only in the card, which exists only
// if the page can be fetched and has a title.
func (n *Note) showLink() {
	if n.Link == "" || n.Link == n.URL || n.Link == n.URI || n.Link == n.QuoteURI || hasLinkTo(n.Content, n.Link) {
		return
	}
	const maxShown = 100 // characters of the URL
	_, shown, _ := strings.Cut(strings.TrimSuffix(n.Link, "/"), "://")
	end := text.Sanitize(`<p><a href="` + html.EscapeString(n.Link) + `">` + html.EscapeString(text.Shorten(shown, maxShown)) + `</a></p>`)
	n.Content = text.CutHTML(n.Content, store.MaxRemoteContent-text.JSONSize(end), n.URL) + end
}

// hasLinkTo returns whether HTML has a link to an address, with or without a slash at its end.
func hasLinkTo(content, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	address = strings.TrimSuffix(u.String(), "/")
	return text.FirstLink(content, func(u *url.URL) bool { return strings.TrimSuffix(u.String(), "/") == address }) != ""
}

// ParseAttachment returns the file of an attachment, or the URL of the page that it links to; neither if it is not valid.
func (r *Reader) ParseAttachment(a activity.Object) (file *store.Media, page string) {
	address, kind := r.attachmentURL(a)
	switch {
	case address == "", a.Is("PropertyValue", "Note") && kind == "":
		return nil, ""
	case a.Is("Link", "Page") && !strings.HasPrefix(kind, "image/"):
		return nil, address
	}
	file = remoteMedia(address, kind, a.Type("Image", "Video", "Audio"), a.Text("name"))
	file.Description = altText(a)
	r.readMediaProperties(file, a)
	return file, ""
}

// primaryMedia returns the file of a Video, Audio or Image object.
func (r *Reader) primaryMedia(o activity.Object, kind string) *store.Media {
	var links []activity.Object
	for _, link := range o.Objects("url", 200) {
		links = append(links, link)
		links = append(links, link.Objects("tag", 200)...) // files of a stream
	}
	for _, link := range links {
		href := link.Text("href")
		if m := remoteMedia(href, mediaTypeOf(link), ""); m.Type == kind && r.isPublicURL(href) {
			if name := singleLine(o.Text("name"), maxNoteTitle); !isFileName(name) {
				m.Description = name
			}
			r.readMediaProperties(m, o)
			if m.Width == 0 {
				r.readMediaProperties(m, link)
			}
			return m
		}
	}
	return nil
}

// attachmentURL returns the URL of an attachment, "" if it is not valid, and its media type if it is known.
func (r *Reader) attachmentURL(a activity.Object) (address, kind string) {
	kind = mediaTypeOf(a)
	for _, v := range append(a.Values("url"), a.Values("href")...) {
		switch v := v.(type) {
		case string:
			address = v
		case map[string]any:
			address = activity.Object(v).Text("href")
			if t := mediaTypeOf(v); kind == "" || !slices.Contains(vagueTypes, t) {
				kind = t
			}
		}
		if r.isPublicURL(address) {
			return address, kind
		}
	}
	return "", ""
}

// remoteMedia returns the row of a remote file. names are names of the file.
func remoteMedia(address, declared, objectType string, names ...string) *store.Media {
	m := &store.Media{RemoteURL: address}
	m.Mime, m.Type = typeOfFile(declared, objectType, address, names...)
	m.Type = cmp.Or(m.Type, "unknown")
	return m
}

// altText returns the description of an attachment, which servers put into different members. A title or the name of the file may be in name.
func altText(a activity.Object) string {
	for _, key := range []string{"summary", "name", "content"} {
		description, _ := a.TextAndLanguage(key)
		description = truncateBytes(description, 4*maxAltText)
		if key != "name" {
			description = text.HTMLToText(description)
		}
		description = text.Shorten(strings.TrimSpace(description), maxAltText)
		if description != "" && !(key == "name" && isFileName(description)) {
			return description
		}
	}
	return ""
}

// isFileName returns whether the name of an attachment is that of a file: one line that ends like a picture, video or sound.
func isFileName(name string) bool {
	const maxFileName = 255 // bytes
	return len(name) <= maxFileName && !strings.ContainsAny(name, "\r\n") && typesByExtension[strings.ToLower(path.Ext(name))] != ""
}

// readPoll parses the poll of a Question.
func readPoll(o activity.Object, now time.Time) (*store.Poll, error) {
	options := o.Objects("oneOf", maxPollOptions)
	p := new(store.Poll)
	if any := o.Objects("anyOf", maxPollOptions); len(options) == 0 && len(any) > 0 {
		options, p.Multiple = any, true
	}
	if len(options) == 0 {
		return nil, Refuse("poll has no options")
	}
	votes := 0
	for _, option := range options {
		title, _ := option.TextAndLanguage("name")
		if title == "" {
			title, _ = option.TextAndLanguage("content")
		}
		title = text.Shorten(printable(truncateBytes(title, 8*maxOptionLength)), maxOptionLength) // votes must name it exactly
		n := 0
		if replies := option.Object("replies"); replies != nil {
			n = replies.Count("totalItems")
		}
		votes += n
		same := func(known store.PollOption) bool { return known.Title == title }
		if i := slices.IndexFunc(p.Options.V, same); i >= 0 {
			p.Options.V[i].Votes += n
			continue
		}
		p.Options.V = append(p.Options.V, store.PollOption{Title: title, Votes: n})
	}
	if o["votersCount"] != nil {
		voters := o.Count("votersCount")
		p.VotersCount = &voters
	} else if !p.Multiple {
		p.VotersCount = &votes
	}
	end := o.Time("endTime")
	if closed, _ := o.Bool("closed"); closed {
		if end.IsZero() || end.After(now) {
			end = now
		}
	} else if at := o.Time("closed"); !at.IsZero() {
		end = at
	}
	if !end.IsZero() {
		at := store.At(end)
		p.ExpiresAt = &at
	}
	at := store.At(now)
	p.FetchedAt = &at
	return p, nil
}

// quoteKeys are the members that name the quoted status, in order of preference (federation 4.15).
var quoteKeys = []string{"quote", "quoteUrl", "quoteUri", "quoteURL", "_misskey_quote"}

// readQuote reads the quoted status. It removes the fallback link above or below the text.
func (n *Note) readQuote(r *Reader, o activity.Object) {
	for _, key := range quoteKeys {
		if ref := o.Ref(key); n.QuoteURI == "" && r.isPublicURL(ref) && ref != n.URI {
			n.QuoteURI = ref
		}
	}
	if n.QuoteURI == "" {
		n.QuoteURI = r.objectLink(o)
	}
	if n.QuoteURI == "" {
		return
	}
	if by := o.Ref("quoteAuthorization"); activity.SameHost(by, n.QuoteURI, r.Settings.AllowLoopback) {
		n.QuoteAuthorization = by
	}
	if content, found := withoutQuoteLink(n.Content, n.QuoteURI); found {
		n.Content, n.QuoteLinkRemoved = text.Sanitize(content), true // closes open elements
	}
}

// withoutQuoteLink removes the link to the quoted status from the start or end of the content.
func withoutQuoteLink(content, quote string) (rest string, found bool) {
	if rest, found = withoutMarkedLink(content); found {
		return rest, true
	}
	return withoutPlainLink(content, quote)
}

// withoutPlainLink removes "RE:" and a link to the host of the quoted status, whatever its markup is.
func withoutPlainLink(content, quote string) (rest string, found bool) {
	if above, rest, ok := strings.Cut(content, "</p>"); ok && isQuoteLink(above, quote) {
		return rest, true
	}
	i := strings.LastIndex(content, "RE:")
	if i < 0 || !isQuoteLink(content[i:], quote) {
		return "", false
	}
	rest = content[:i]
	for open := strings.LastIndexByte(rest, '<'); strings.HasSuffix(rest, ">") && open >= 0 && rest[open+1] != '/'; open = strings.LastIndexByte(rest, '<') {
		rest = strings.TrimRight(rest[:open], " \n") // an element that has nothing but the link, or a line break
	}
	return rest, true
}

// isQuoteLink returns whether the text of markup is "RE:" and a URL, and all links in it lead to the host of the quoted status.
func isQuoteLink(markup, quote string) bool {
	const maxMarkup = 8000 // bytes
	if len(markup) > maxMarkup {
		return false
	}
	words := strings.Fields(text.HTMLToText(markup))
	if len(words) != 2 || words[0] != "RE:" {
		return false
	}
	elsewhere := func(u *url.URL) bool { return !activity.SameHost(u.String(), quote, true) }
	return text.HasLink(markup) && text.FirstLink(markup, elsewhere) == "" || activity.SameHost(words[1], quote, true)
}

// withoutMarkedLink removes a link that is marked as that to the quoted status by its class.
func withoutMarkedLink(content string) (rest string, found bool) {
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
		if !tag.Is("Link") || !r.isPublicURL(href) || href == o.ID() {
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
