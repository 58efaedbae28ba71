package remote

import (
	"html"
	"slices"
	"strings"

	"svc/internal/activity"
	"svc/internal/text"
	"svc/store"
)

// titledTypes are those whose name is a title, and whose summary is not a content warning.
var titledTypes = []string{"Article", "Page", "Event", "Video", "Audio", "Image"}

// readContent reads the content as HTML, and the content warning.
func (n *Note) readContent(r *Reader, o activity.Object) {
	content, language := o.TextAndLanguage("content")
	n.Language = noteLanguage(o, language)
	kind := mediaTypeOf(o)
	content = truncateBytes(content, maxNoteSource)
	switch kind {
	case "text/markdown":
		content = text.Parse(content, text.Markdown).Render(r.Settings.BaseURL, nil).HTML
	case "text/plain":
		content = text.Parse(content, text.PlainText).Render(r.Settings.BaseURL, nil).HTML
	default:
		// The class marks a fallback for software without quotes. It is kept on spans only.
		content = strings.Replace(content, `<p class="quote-inline">`, `<p><span class="quote-inline">`, 1)
		content = text.Sanitize(content)
	}
	summary, _ := o.TextAndLanguage("summary")
	summary = truncateBytes(summary, 4*maxNoteSpoiler)
	if kind == "text/plain" {
		summary = html.EscapeString(summary)
	}
	n.Sensitive, _ = o.Bool("sensitive")
	title, _ := o.TextAndLanguage("name")
	title = singleLine(title, maxNoteTitle) // plain text (ActivityStreams 2.0, name)
	switch {
	case !slices.Contains(titledTypes, n.ObjectType):
		if summary == "\u200b" { // an empty warning
			summary = "…"
		}
		n.SpoilerText = singleLine(text.HTMLToText(summary), maxNoteSpoiler)
		content = n.untitledHeading(title, content) + content
	case n.ObjectType == "Article" || n.ObjectType == "Page":
		content = heading(title, n.URL) + content
	default:
		content = heading(title, n.URL) + eventLine(o) + paragraph(summary) + content
	}
	n.Content = store.CutRemoteHTML(content, n.URL) // what follows reads it again
}

// untitledHeading returns the title above the text of a status that has one although its type needs none, unless the text begins with it.
func (n *Note) untitledHeading(title, content string) string {
	switch {
	case title == "" || strings.HasPrefix(text.OneLine(text.HTMLToText(content)), title):
		return ""
	case n.ObjectType == "Question":
		return heading(title, "")
	}
	return heading(title, n.URL)
}

// noteLanguage returns the language of a status: that of its content, or the one that it declares (Lemmy, PeerTube, schema.org).
func noteLanguage(o activity.Object, ofContent string) string {
	if language := text.Language(ofContent); language != "" {
		return language
	}
	for _, key := range []string{"language", "inLanguage"} {
		declared := o.Text(key)
		if named := o.Object(key); named != nil {
			declared = named.Text("identifier")
		}
		if language := text.Language(declared); language != "" {
			return language
		}
	}
	return ""
}

// heading returns a title above a text.
func heading(title, link string) string {
	title = html.EscapeString(title)
	switch {
	case title == "":
		return ""
	case link == "":
		return text.Sanitize("<p><b>" + title + "</b></p>")
	}
	return text.Sanitize(`<p><b><a href="` + html.EscapeString(link) + `">` + title + `</a></b></p>`)
}

// paragraph returns an abstract above a text.
func paragraph(abstract string) string {
	abstract = text.Sanitize(abstract)
	if abstract == "" || strings.HasPrefix(abstract, "<p>") {
		return abstract
	}
	return text.Sanitize("<p>" + abstract + "</p>")
}

// eventLine returns the time and place of an event.
func eventLine(o activity.Object) string {
	var parts []string
	for _, key := range []string{"startTime", "endTime"} {
		if t := o.Time(key); !t.IsZero() {
			parts = append(parts, t.Format("2006-01-02 15:04 MST"))
		}
	}
	line := strings.Join(parts, " – ")
	if place := o.Object("location"); place != nil {
		name := place.Text("name")
		if address := place.Object("address"); address != nil {
			name = strings.Trim(name+", "+address.Text("addressLocality"), ", ")
		} else if address := place.Text("address"); address != "" && address != name {
			name = strings.Trim(name+", "+address, ", ")
		}
		line = strings.Trim(line+", "+singleLine(name, maxNoteTitle), ", ")
	}
	if line == "" {
		return ""
	}
	return text.Sanitize("<p>" + html.EscapeString(line) + "</p>")
}
