package text

import (
	"strings"
	"testing"
)

func TestSanitize(t *testing.T) {
	for _, tt := range []struct {
		name   string
		source string
		want   string
	}{
		{"plain text", "  a <\n b & c ", "a &lt; b &amp; c"},
		{"allowed", `<p lang="de">a<br>b <em>c</em> <code class="inline">d</code></p>`, `<p lang="de">a<br>b <em>c</em> <code class="inline">d</code></p>`},
		{"scripts and styles", `a<script>alert(1)</script><style>b{}</style><iframe src="https://example.com">c</iframe>d`, "ad"},
		{"comments and declarations", "a<!-- b --><!doctype html><?c?>d", "ad"},
		{"unknown elements", `<x-a>b</x-a><font color="red">c</font><form><input value="d">e</form><object>f</object>`, "bc<br>e<br>f"},
		{"event handlers, styles and ids", `<b onclick="a" style="b" id="c" data-x="d">e</b>`, "<b>e</b>"},
		{"unknown classes", `<p class="a">b</p><span class="h-card x">c</span><span class="invisible">d</span>`, `<p>b</p><span class="h-card">c</span><span>d</span>`},
		{"svg and math", `<svg><a xlink:href="javascript:x">a</a><style><img src=x onerror=y></style></svg><math><mtext>b`, "ab"},
		{"hidden in raw text", `<noscript><p title="</noscript><img src=x onerror=alert(1)>">`, `"&gt;`},
		{"pictures", `<img src="https://example.com/a.png" alt="b &amp; &lt;c>">`, "b &amp; &lt;c&gt;"},
		{"headings", "<h1>a</h1><p>b<h3>c</h3>d", "<p><strong>a</strong></p><p>b</p><p><strong>c</strong></p>d"},
		{"divisions", "<div>a</div><div><div>b</div></div>c<div><p>d</p></div>e", "a<br>b<br>c<p>d</p>e"},
		{"tables", "<table><tr><th>a</th><th>b</th></tr><tr><td>c<td>d</table>e", "a b<br>c d<br>e"},
		{"blanks of the source", "<p>\n  a\n  b  c\n</p>\n\n<p>d<br>\n e</p>\n", "<p>a b  c </p><p>d<br>e</p>"},
		{"preformatted", "<pre>\n a\n\n  b</pre>", "<pre>\n a\n\n  b</pre>"},
		{"left open", "<p><b>a", "<p><b>a</b></p>"},
		{"closed too often", "a</p></b></div></blockquote>b", "a<br>b"},
		{"crossing", "<b><i>a</b>b</i>", "<b><i>a</i></b>b"},
		{"paragraphs end by themselves", "<p>a<p>b<ul><li>c<li>d<ul><li>e</ul></ul>", "<p>a</p><p>b</p><ul><li>c</li><li>d<ul><li>e</li></ul></li></ul>"},
		{"links in links", `<a href="https://example.com">a<a href="https://example.org">b</a>`, ownLink("https://example.com", "a") + ownLink("https://example.org", "b")},
		{"ruby", "<ruby>a<rt>b<rp>c</ruby>", "<ruby>a<rt>b</rt><rp>c</rp></ruby>"},

		{"links", `<a href="https://example.com/a?b=1;c=é%20&amp;d#e" target="_top">f</a>`, ownLink("https://example.com/a?b=1;c=é%20&amp;d#e", "f")},
		{"link with blanks around", "<a href=\" https://example.com\n\">a</a>", ownLink("https://example.com", "a")},
		{"the first of two attributes counts", `<a href="https://example.com" href="https://example.org">a</a>`, ownLink("https://example.com", "a")},
		{"bad schemes", `<a href="javascript:a">b</a><a href="JaVa&#9;Script:a">c</a><a href="data:text/html,d">e</a><a href="/f">g</a><a href="//h">i</a><a href="https:j">k</a><a>l</a>`, "bcegikl"},
		{"a scheme after blanks and controls", "<a href=\"\x01javascript:a\">b</a><a href=\"&#1;javascript:a\">c</a>", "bc"},
		{"known schemes", `<a href="xmpp:a@example.com">a</a><a href="gemini://example.com">b</a>`, ownLink("xmpp:a@example.com", "a") + ownLink("gemini://example.com", "b")},
		{"rel and class", `<a href="https://example.com" rel="me x UGC opener" class="y u-url">a</a>`,
			`<a class="u-url" href="https://example.com" rel="nofollow noopener noreferrer ugc" target="_blank">a</a>`},
		{"remote mention", `<span class="h-card" translate="no"><a href="https://example.com/@a" class="u-url mention">@<span>a</span></a></span>`,
			`<span class="h-card"><a class="u-url mention" href="https://example.com/@a">@<span>a</span></a></span>`},
		{"remote hashtag", `<a href="https://example.com/tags/a" class="mention hashtag" rel="tag">#<span>a</span></a>`,
			`<a class="mention hashtag" href="https://example.com/tags/a" rel="tag">#<span>a</span></a>`},
		{"our links", bobLink + tagLink("a", "A") + link("https://example.com", "b"), bobLink + tagLink("a", "A") + link("https://example.com", "b")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Sanitize(tt.source)
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if again := Sanitize(got); again != got {
				t.Errorf("changes once more: %s", again)
			}
		})
	}
}

func TestSanitizeDepth(t *testing.T) {
	got := Sanitize(strings.Repeat("<blockquote>", 49) + "a" + strings.Repeat("</blockquote>", 49) + "b")
	want := strings.Repeat("<blockquote>", 48) + "a" + strings.Repeat("</blockquote>", 48) + "b"
	if got != want {
		t.Errorf("got %s", got)
	}
}

const formatted = `<h2>a</h2><p><b>b</b><br>` + bobLink + ` <span class="x">c</span></p><ul><li>d</li><li>e</li></ul><pre><code>f
g</code></pre><blockquote>h</blockquote><hr>`

func TestStrict(t *testing.T) {
	want := `<p>a</p><p>b<br><span class="h-card"><a class="u-url mention" data-user="B1" href="https://example.org/@bob" rel="ugc">@bob</a></span> c</p>d<br>e<br>f<br>g<br>h`
	if got := SanitizeStrict(formatted); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLinksOnly(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{formatted, `a b <a class="u-url mention" data-user="B1" href="https://example.org/@bob" rel="ugc">@bob</a> c d e f g h`},
		{`<a href="https://example.com" rel="me noopener">a</a>`, `<a href="https://example.com" rel="me nofollow noopener noreferrer" target="_blank">a</a>`},
		{`<a href="javascript:x" rel="me">a</a>`, "a"},
		{"a & b", "a &amp; b"},
	} {
		if got := SanitizeLinksOnly(tt.source); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestSanitizeForeign(t *testing.T) {
	isMention := func(href string) bool { return href == "https://example.org/@bob" }
	for _, tt := range []struct{ name, source, want string }{
		{"a mention", `<p><a class="u-url mention" href="https://example.org/@bob" rel="ugc">@bob</a></p>`,
			`<p><a class="u-url mention" href="https://example.org/@bob" rel="ugc">@bob</a></p>`},
		{"another link", `<p><a class="u-url mention" href="https://evil.example/" rel="ugc">@bob</a></p>`,
			`<p><a href="https://evil.example/" rel="nofollow noopener noreferrer ugc" target="_blank">@bob</a></p>`},
		{"a hashtag of Mastodon", `<a class="mention hashtag" href="https://example.org/tags/x" rel="tag">#x</a>`,
			`<a class="mention hashtag" href="https://example.org/tags/x" rel="tag">#x</a>`},
		{"an own line", `<p>a<span class="quote-inline"> b</span><span class="h-card recipients-inline">c</span></p>`,
			`<p>a<span> b</span><span class="h-card">c</span></p>`},
		{"nothing to remove", `<p>a</p>`, `<p>a</p>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := SanitizeForeign(Sanitize(tt.source), isMention); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
