package remote

import (
	"testing"
	"unicode/utf8"

	"svc/internal/activity"
	"svc/internal/text"
	"svc/store"
)

// FuzzNote parses arbitrary statuses: nothing panics, and the result is safe and within limits.
func FuzzNote(f *testing.F) {
	for _, seed := range []string{
		`{"id":"http://127.0.0.1:9/n/1","type":"Note","attributedTo":"http://127.0.0.1:9/u","content":"<p>hi</p>","to":"as:Public","tag":{"type":"Mention","href":"http://127.0.0.1:9/u/2"}}`,
		`{"id":"http://127.0.0.1:9/n/1","type":["x","Question"],"attributedTo":[{"type":"Group","id":"g"},{"type":"Person","id":"http://127.0.0.1:9/u"}],"oneOf":[{"name":"a","replies":{"totalItems":1e99}},{"name":"a"}],"closed":true,"votersCount":-1}`,
		`{"id":"http://127.0.0.1:9/n/1","type":"Article","name":"<b>","summary":"<script>","attributedTo":"http://127.0.0.1:9/u","url":[{"href":"javascript:x()"},{"type":"Link","mediaType":"text/html","href":"http://127.0.0.1:9/p"}]}`,
		`{"id":"http://127.0.0.1:9/n/1","type":"Video","attributedTo":"http://127.0.0.1:9/u","url":[{"mediaType":"application/x-mpegURL","href":"http://127.0.0.1:9/m","tag":[{"mediaType":"video/mp4","href":"http://127.0.0.1:9/v"}]}],"content":"*a*","mediaType":"text/markdown"}`,
		`{"id":"http://127.0.0.1:9/n/1","type":"Event","attributedTo":"http://127.0.0.1:9/u","startTime":"2020-01-01","location":{"name":"x","address":{"addressLocality":"y"}},"name":"z"}`,
		`{"id":"http://127.0.0.1:9/n/1","type":"Note","attributedTo":"http://127.0.0.1:9/u","content":"<p>a</p><p class=\"quote-inline\">RE: <a href=\"x\">b</a></p>","quoteUrl":"http://127.0.0.1:9/n/2","context":{"id":"http://127.0.0.1:9/c"}}`,
		`{"id":"http://127.0.0.1:9/n/1","type":"Note","attributedTo":"http://127.0.0.1:9/u","summary":"\u200b","contentMap":{"de":"x","en":1},"attachment":[null,{"type":"Image","url":[{"href":"data:"},"http://127.0.0.1:9/a.png"]},{"type":"Link","href":"http://127.0.0.1:9/l"}],"replies":{"first":{"id":"http://127.0.0.1:9/r"}}}`,
	} {
		f.Add([]byte(seed), "", "")
	}
	const plain = `{"id":"http://127.0.0.1:9/n/1","type":"Note","attributedTo":"http://127.0.0.1:9/u","quoteUrl":"http://127.0.0.1:9/n/2"}`
	f.Add([]byte(plain), `<p>a</p><span class="quote-inline"><br><br>RE: <a href="https://example.org">b</a></span>`, "cw")
	f.Add([]byte(plain), `<p>a<p class="quote-inline"><span class="quote-inline">RE: </p></span></p>`, "<b>")
	f.Add([]byte(plain), `<p>a<img src="/a.png" alt="b" width="40" height=50><IMG class="emoji" src=//127.0.0.1:9/b><img src="javascript:x()"><img`, "")
	s := newHarness(f)
	f.Fuzz(func(t *testing.T, b []byte, content, summary string) {
		o, err := activity.Parse(b)
		if err != nil {
			return
		}
		if content != "" {
			o["content"] = content
		}
		if summary != "" {
			o["summary"], o["name"] = summary, summary
		}
		by := activity.Object{"type": "Create", "actor": "http://127.0.0.1:9/u", "to": o["to"], "object": map[string]any(o)}
		for _, by := range []activity.Object{nil, by} {
			n, err := s.Reader.ReadNote(o, by)
			if err != nil {
				continue
			}
			if again := text.Sanitize(n.Content); again != n.Content {
				t.Errorf("sanitizing changes the content %q to %q", n.Content, again)
			}
			if len(n.Media) > MaxAttachments {
				t.Errorf("%d attachments", len(n.Media))
			}
			for _, m := range n.Media {
				if !s.Reader.isPublicURL(m.RemoteURL) || m.Mime == "" || m.Type == "" {
					t.Errorf("attachment %+v", m)
				}
			}
			for _, address := range []string{n.URI, n.URL, n.AuthorURI} {
				if !activity.SameHost(address, n.URI, true) {
					t.Errorf("the address %q is not of the host of %q", address, n.URI)
				}
			}
			if n.Visibility < store.Public || n.Visibility > store.ListOnly || n.Visibility == store.Local {
				t.Errorf("visibility %v", n.Visibility)
			}
			if n.Published.After(s.db.Now()) || n.Published.Year() < 1970 || n.Updated.After(s.db.Now()) {
				t.Errorf("published %v, updated %v", n.Published, n.Updated)
			}
			if len(n.Tags) > maxNoteTags || len(n.Mentions) > maxNoteMentions || len(n.Media) > MaxAttachments+1 || len(n.Audience) > MaxAddressees ||
				utf8.RuneCountInString(n.SpoilerText) > maxNoteSpoiler {
				t.Error("a limit is exceeded")
			}
			if n.Poll != nil && (len(n.Poll.Options.V) == 0 || len(n.Poll.Options.V) > maxPollOptions) {
				t.Errorf("%d options", len(n.Poll.Options.V))
			}
		}
	})
}
