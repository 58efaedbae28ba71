package remote

import (
	"strings"
	"testing"

	"svc/internal/activity"
)

// TestNoteContent checks what of the texts of statuses is shown, in the forms in which programs send them.
func TestNoteContent(t *testing.T) {
	a := newHarness(t)
	const host = "http://127.0.0.1:9"
	const quoted = host + "/n/2"
	link := `<a href="` + quoted + `">` + quoted + `</a>`
	for _, tt := range []struct {
		name    string
		note    activity.Object
		content string // without the attributes that sanitizing adds
		spoiler string
		lang    string
	}{
		{"plain text", activity.Object{"content": "a <b>\nc & d\n\ne", "mediaType": "text/plain"}, "<p>a &lt;b&gt;<br>c &amp; d</p><p>e</p>", "", ""},
		{"plain text with a parameter", activity.Object{"content": "<p>", "summary": "<i>x</i>", "mediaType": "Text/Plain; charset=utf-8"}, "<p>&lt;p&gt;</p>", "<i>x</i>", ""},
		{"HTML with a parameter", activity.Object{"content": "<p>a</p>", "summary": "<i>x</i>", "mediaType": "text/html; charset=utf-8"}, "<p>a</p>", "x", ""},
		{"Markdown with a parameter", activity.Object{"content": "*a*", "mediaType": "text/markdown; variant=GFM"}, "<p><em>a</em></p>", "", ""},
		{"a title", activity.Object{"content": "<p>text</p>", "name": "Title <b>"}, `<p><b><a href="` + host + `/n/1">Title &lt;b&gt;</a></b></p><p>text</p>`, "", ""},
		{"a title that the text has", activity.Object{"content": "<p>Title and more</p>", "name": "Title"}, "<p>Title and more</p>", "", ""},
		{"a title and no text", activity.Object{"name": "Title"}, `<p><b><a href="` + host + `/n/1">Title</a></b></p>`, "", ""},
		{"a language of Lemmy", activity.Object{"content": "a", "language": map[string]any{"identifier": "pt-BR", "name": "x"}}, "a", "", "pt-BR"},
		{"a language as text", activity.Object{"content": "a", "language": "de"}, "a", "", "de"},
		{"a language of schema.org", activity.Object{"content": "a", "inLanguage": "fr"}, "a", "", "fr"},
		{"a language of schema.org as an object", activity.Object{"content": "a", "inLanguage": map[string]any{"identifier": "fr"}}, "a", "", "fr"},
		{"the language of the content first", activity.Object{"contentMap": map[string]any{"es": "a"}, "inLanguage": "fr"}, "a", "", "es"},
		{"no language", activity.Object{"content": "a", "inLanguage": "klingon?", "language": 5.0}, "a", "", ""},
		{"a quote in a paragraph", activity.Object{"content": "<p>a</p><p>RE: " + link + "</p>", "quoteUrl": quoted}, "<p>a</p>", "", ""},
		{"a quote after line breaks", activity.Object{"content": "<p>a<br><br>RE: " + link + "</p>", "quoteUrl": quoted}, "<p>a</p>", "", ""},
		{"a quote in spans", activity.Object{"content": `<p>a</p><p><span>RE: </span>` + link + `</p>`, "quoteUrl": quoted}, "<p>a</p>", "", ""},
		{"a quote with another page", activity.Object{"content": `<p>a</p><p>RE: <a href="` + host + `/@b/2">` + host + `/@b/2</a></p>`, "quoteUrl": quoted}, "<p>a</p>", "", ""},
		{"a quote above", activity.Object{"content": "<p>RE: " + link + "</p><p>a</p>", "quoteUrl": quoted}, "<p>a</p>", "", ""},
		{"a quote without a link", activity.Object{"content": "<p>a</p><p>RE: " + quoted + "</p>", "quoteUrl": quoted}, "<p>a</p>", "", ""},
		{"a quote with its class", activity.Object{"content": `<p>a<span class="quote-inline"><br><br>RE: ` + link + `</span></p>`, "quoteUrl": quoted}, "<p>a</p>", "", ""},
		{"RE: and another link", activity.Object{"content": `<p>a</p><p>RE: <a href="https://example.org/">https://example.org/</a></p>`, "quoteUrl": quoted}, `<p>a</p><p>RE: <a href="https://example.org/">https://example.org/</a></p>`, "", ""},
		{"RE: and more text", activity.Object{"content": "<p>a</p><p>RE: " + link + " see there</p>", "quoteUrl": quoted}, "<p>a</p><p>RE: " + link + " see there</p>", "", ""},
		{"RE: without a quote", activity.Object{"content": "<p>a</p><p>RE: " + link + "</p>"}, "<p>a</p><p>RE: " + link + "</p>", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := activity.Object{"id": host + "/n/1", "type": "Note", "attributedTo": host + "/u", "to": activity.Public}
			for key, v := range tt.note {
				o[key] = v
			}
			n, err := a.Reader.ReadNote(o, nil)
			if err != nil {
				t.Fatal(err)
			}
			content := strings.NewReplacer(` rel="nofollow noopener noreferrer"`, "", ` target="_blank"`, "").Replace(n.Content)
			if content != tt.content || n.SpoilerText != tt.spoiler || n.Language != tt.lang {
				t.Errorf("got %q, %q in %q, want %q, %q in %q", content, n.SpoilerText, n.Language, tt.content, tt.spoiler, tt.lang)
			}
		})
	}
}
