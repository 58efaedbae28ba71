package text_test

import (
	"net/url"
	"strings"
	"testing"

	"svc/internal/text"
)

func TestFirstLink(t *testing.T) {
	bob := map[string]text.Account{"bob": {ID: "b", Username: "bob", Acct: "bob", URL: "https://example.org/@bob"}}
	for _, tt := range []struct {
		source, want string
	}{
		{"no link", ""},
		{"see https://example.com/a?b=1&c=2#d, and https://example.com/b", "https://example.com/a?b=1&c=2#d"},
		{"@bob #tag https://example.com/", "https://example.com/"},
		{"@bob #tag", ""},
		{"example.com/path", "http://example.com/path"},
		{"https://skipped.example/ https://example.com/", "https://example.com/"},
		{"mailto:a@example.com gemini://example.com xmpp:a@example.com", ""},
		{"https://user:secret@example.com/ https://example.com/", "https://example.com/"},
	} {
		content := text.Parse(tt.source, text.PlainText).Render("https://example.org", bob).HTML
		got := text.FirstLink(content, func(u *url.URL) bool { return u.Hostname() != "skipped.example" })
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.source, got, tt.want)
		}
	}
	for source, want := range map[string]string{
		`<a href="https://a.example/" class="u-url mention">@a</a><a rel="nofollow tag" href="https://b.example/">#b</a><a href='https://c.example/'>c</a>`: "https://c.example/",
		`<a class="hashtag" href="https://a.example/">#a</a>`: "",
		`<a>x</a><a href="">y</a><a href="http://">z</a>`:     "",
		`<a href="https://a.example/`:                         "",
		`&lt;a href="https://a.example/"&gt;`:                 "",
	} {
		if got := text.FirstLink(source, func(*url.URL) bool { return true }); got != want {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
}

func FuzzFirstLink(f *testing.F) {
	f.Add(`<p><a href="https://example.com/?a&amp;b" rel="tag">x</a><a href=" http://[::1]:80/">`)
	f.Fuzz(func(t *testing.T, source string) {
		link := text.FirstLink(text.Sanitize(source), func(*url.URL) bool { return true })
		if link == "" {
			return
		}
		u, err := url.Parse(link)
		if err != nil || u.Hostname() == "" || u.User != nil || !strings.HasPrefix(u.Scheme, "http") {
			t.Errorf("%q has the link %q", source, link)
		}
	})
}

func TestOnlyLink(t *testing.T) {
	long := "https://example.com/" + strings.Repeat("a", 60)
	for source, want := range map[string]string{
		text.ParseField("https://example.com/me").Render("https://svc.example", nil).HTML:       "https://example.com/me",
		text.ParseField("https://example.com/?a=1&b=ä").Render("https://svc.example", nil).HTML: "https://example.com/?a=1&b=%C3%A4",
		text.ParseField("me: https://example.com/me").Render("https://svc.example", nil).HTML:   "",
		text.ParseField("https://a.example https://b.example").Render("x", nil).HTML:            "",
		text.ParseField("example.com").Render("https://svc.example", nil).HTML:                  "",
		text.SanitizeLinksOnly(`<a href="` + long + `" rel="me nofollow" target="_blank" translate="no"><span class="invisible">https://</span><span class="ellipsis">` +
			long[8:38] + `</span><span class="invisible">` + long[38:] + `</span></a>`): long,
		`<a href="https://example.com/">https://example.com</a>`:                                   "https://example.com/",
		`<a href="https://example.com/a?b&amp;c">https://example.com/a?b&amp;c</a>`:                "https://example.com/a?b&c",
		`<a href="https://evil.example/">https://example.com/</a>`:                                 "",
		`<a href="https://example.com/">me</a>`:                                                    "",
		`<a href="https://example.com/"></a>`:                                                      "",
		`<a href="https://example.com/">https://example.com/</a> `:                                 "",
		`<a href="https://a.example/">https://a.example/</a><a href="https://a.example/"></a>`:     "",
		`<a href="ftp://example.com/">ftp://example.com/</a>`:                                      "",
		`<a href="https://u:p@example.com/">https://u:p@example.com/</a>`:                          "",
		`<a href="https://example.com/` + strings.Repeat("a", 3000) + `">https://example.com/</a>`: "",
		`<a class="mention" href="https://example.com/">https://example.com/</a>`:                  "",
		"https://example.com/": "",
		"":                     "",
	} {
		if got := text.OnlyLink(source); got != want {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
}

func TestLocalHashtags(t *testing.T) {
	for source, want := range map[string]string{
		`<p>no links</p>`: `<p>no links</p>`,
		`<p>a <a href="https://old.example/tags/cats" class="mention hashtag" rel="tag">#<span>Cats</span></a> &amp; b</p>`: `<p>a <a href="https://here.example/tags/Cats" class="mention hashtag" rel="tag">#<span>Cats</span></a> &amp; b</p>`,
		`<a class="hashtag" href="https://old.example/tag/%E7%8C%AB">#猫</a>`:                                                `<a class="hashtag" href="https://here.example/tags/%E7%8C%AB">#猫</a>`,
		`<a class="hashtag" href="https://old.example/tags/dogs">#dogs</a>`:                                                 `<a class="hashtag" href="https://old.example/tags/dogs">#dogs</a>`,
		`<a href="https://old.example/tags/cats">the hashtag cats</a>`:                                                      `<a href="https://old.example/tags/cats">the hashtag cats</a>`,
		`<a class="hashtag">#cats</a>`:                            `<a class="hashtag">#cats</a>`,
		`<a class="hashtag" href="https://old.example">#cats</a>`: `<a class="hashtag" href="https://old.example">#cats</a>`,
	} {
		if got := text.LocalHashtags(source, "https://here.example", []string{"Cats", "猫"}); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", source, got, want)
		}
	}
}
