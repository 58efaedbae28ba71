package text

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const base = "https://example.org"

// Expected markup of links to accounts, hashtags and URLs.
const (
	bobLink   = `<span class="h-card"><a class="u-url mention" data-user="B1" href="https://example.org/@bob" rel="ugc">@<span>bob</span></a></span>`
	carolLink = `<span class="h-card"><a class="u-url mention" data-user="C1" href="https://example.com/u?id=carol&amp;x=1" rel="ugc">@<span>carol</span></a></span>`
)

var accounts = map[string]Account{
	"bob":               {ID: "B1", Username: "bob", Acct: "bob", URL: "https://example.org/@bob"},
	"bob@example.org":   {ID: "B1", Username: "bob", Acct: "bob", URL: "https://example.org/@bob"},
	"carol@example.com": {ID: "C1", Username: "carol", Acct: "carol@example.com", URL: "https://example.com/u?id=carol&x=1"},
}

// contentTypes are all formats.
var contentTypes = []ContentType{PlainText, HTML, Markdown, BBCode}

func tagLink(name, written string) string {
	return fmt.Sprintf(`<a class="hashtag" data-tag="%s" href="%s" rel="tag ugc">#%s</a>`, name, TagURL(base, name), written)
}

func link(href, label string) string {
	return fmt.Sprintf(`<a href="%s" rel="nofollow noopener noreferrer ugc" target="_blank">%s</a>`, href, label)
}

// ownLink is a link written as markup.
func ownLink(href, label string) string {
	return fmt.Sprintf(`<a href="%s" rel="nofollow noopener noreferrer" target="_blank">%s</a>`, href, label)
}

func TestRender(t *testing.T) {
	for _, tt := range []struct {
		name   string
		as     ContentType
		source string
		want   string
	}{
		{"empty", PlainText, "", ""},
		{"blank", PlainText, " \n\t\n ", ""},
		{"paragraphs", PlainText, " one\ntwo\r\n\r\n \n\nthree \n", "<p>one<br>two</p><p>three</p>"},
		{"indentation stays", PlainText, "a\n  b\n\n  c", "<p>a<br>  b</p><p>  c</p>"},
		{"escaping", PlainText, `<b> & "it's"`, `<p>&lt;b&gt; &amp; "it's"</p>`},
		{"control characters and broken UTF-8", PlainText, "a\x00b\x1b\xffc", "<p>ab\uFFFDc</p>"},
		{"mentions", PlainText, "@bob @Carol@Example.COM. @nobody", "<p>" + bobLink + " " + carolLink + ". @nobody</p>"},
		{"a local mention with host", PlainText, "@bob@example.org", "<p>" + bobLink + "</p>"},
		{"hashtag", PlainText, "#FooBar!", "<p>" + tagLink("foobar", "FooBar") + "!</p>"},
		{"hashtags with a slash between them", PlainText, "#a/#b", "<p>" + tagLink("a", "a") + "/" + tagLink("b", "b") + "</p>"},
		{"a full-width hashtag", PlainText, "＃a", "<p>" + strings.Replace(tagLink("a", "a"), "#", "＃", 1) + "</p>"},
		{"file names are no links", PlainText, "README.md done.So", "<p>README.md done.So</p>"},
		{"hashtag of another script", PlainText, "#日本語", "<p>" + tagLink("日本語", "日本語") + "</p>"},
		{"link", PlainText, "see https://example.com/?a=1&b=2.", "<p>see " + link("https://example.com/?a=1&amp;b=2", "https://example.com/?a=1&amp;b=2") + ".</p>"},
		{"a query beyond ASCII", PlainText, "https://example.com/ä?q=ü&ö#é www.example.com?日#日", "<p>" +
			link("https://example.com/ä?q=%C3%BC&amp;%C3%B6#é", "https://example.com/ä?q=ü&amp;ö#é") + " " + link("http://www.example.com?%E6%97%A5#日", "www.example.com?日#日") + "</p>"},
		{"a query of a magnet link", PlainText, "magnet:?dn=ü", "<p>" + link("magnet:?dn=%C3%BC", "magnet:?dn=ü") + "</p>"},
		{"a question mark in a fragment", PlainText, "https://example.com/#?ü", "<p>" + link("https://example.com/#?ü", "https://example.com/#?ü") + "</p>"},
		{"html: a query beyond ASCII", HTML, `<a href="https://example.com/?q=ü">ü</a>`, ownLink("https://example.com/?q=%C3%BC", "ü")},
		{"markdown: a query beyond ASCII", Markdown, "https://example.com/?q=ü [ü](https://example.com/?q=ü)",
			"<p>" + link("https://example.com/?q=%C3%BC", "https://example.com/?q=ü") + " " + ownLink("https://example.com/?q=%C3%BC", "ü") + "</p>"},
		{"bbcode: a query beyond ASCII", BBCode, "[url]https://example.com/?q=ü[/url] [url=example.com?ü.]ü[/url]",
			ownLink("https://example.com/?q=%C3%BC", "https://example.com/?q=ü") + " " + ownLink("http://example.com?%C3%BC.", "ü")},
		{"link without scheme", PlainText, "(example.com/a)", "<p>(" + link("http://example.com/a", "example.com/a") + ")</p>"},
		{"a quote in an address ends it", PlainText, `https://example.com/"onclick=x`, "<p>" + link("https://example.com/", "https://example.com/") + `"onclick=x</p>`},
		{"shortcodes stay text", PlainText, ":cat:", "<p>:cat:</p>"},
		{"markup in plain text", PlainText, "**a** [b]c[/b] <i>d</i>", "<p>**a** [b]c[/b] &lt;i&gt;d&lt;/i&gt;</p>"},
		{"an unknown type is plain text", "text/x-other", "**a**\nb", "<p>**a**<br>b</p>"},

		{"html", HTML, `<p>hi @bob</p><script>alert(1)</script><b onclick="x">b</b>`, "<p>hi " + bobLink + "</p><b>b</b>"},
		{"html: nothing becomes a link in a, code and pre", HTML,
			`<a href="https://example.com">@bob #a</a> <code>@bob</code><pre>#a example.com</pre>`,
			ownLink("https://example.com", "@bob #a") + " <code>@bob</code><pre>#a example.com</pre>"},
		{"html: tags do not separate, blocks do", HTML, "a@<i>bob</i> <p>@bob</p>", "a@<i>bob</i> <p>" + bobLink + "</p>"},
		{"html: pictures are their description", HTML, `<img src="https://example.com/x.png" alt="@bob's <cat>">`, "@bob's &lt;cat&gt;"},

		{"markdown", Markdown, "# T\n\na *b* **c** ~~d~~ `e`\nf\n\n> g\n\n- h\n- i\n\n***",
			"<p><strong>T</strong></p><p>a <em>b</em> <strong>c</strong> <del>d</del> <code>e</code><br>f</p>" +
				"<blockquote><p>g</p></blockquote><ul><li>h</li><li>i</li></ul><hr>"},
		{"markdown: fenced code", Markdown, "```go\n@bob < *a*\n```", "<pre><code>@bob &lt; *a*\n</code></pre>"},
		{"markdown: lists keep their numbers", Markdown, "3. a\n4. b", `<ol start="3"><li>a</li><li>b</li></ol>`},
		{"markdown: HTML", Markdown, "<u>a</u> <script>b</script>", "<p><u>a</u> </p>"},
		{"markdown: links", Markdown, "[a](https://example.com) [b](javascript:c) <https://example.com>",
			"<p>" + ownLink("https://example.com", "a") + " b " + ownLink("https://example.com", "https://example.com") + "</p>"},
		{"markdown: handles are not emphasis", Markdown, "**@bob** and *@carol@example.com* @_a_b_ @c_", "<p><strong>" + bobLink + "</strong> and <em>" + carolLink + "</em> @_a_b_ @c_</p>"},
		{"markdown: hashtags are not emphasis", Markdown, "#_a_ #b_c_", "<p>" + tagLink("_a_", "_a_") + " " + tagLink("b_c_", "b_c_") + "</p>"},
		{"markdown: shortcodes are not emphasis", Markdown, ":_a_: :b_:", "<p>:_a_: :b_:</p>"},
		{"markdown: hashtags with a slash between them", Markdown, "#a/#_b_", "<p>" + tagLink("a", "a") + "/" + tagLink("_b_", "_b_") + "</p>"},
		{"markdown: one tilde strikes nothing out", Markdown, "H~2~O ~~a~b~~ ~c~", "<p>H~2~O <del>a~b</del> ~c~</p>"},
		{"markdown: addresses anywhere are not emphasis", Markdown, "見てhttps://example.com/*a* “https://example.com/_b_c_” *https://example.com/*",
			"<p>見て" + link("https://example.com/*a*", "https://example.com/*a*") + " “" + link("https://example.com/_b_c_", "https://example.com/_b_c_") + "” <em>" +
				link("https://example.com/", "https://example.com/") + "</em></p>"},
		{"markdown: addresses are not emphasis", Markdown, "https://example.com/_a_*b* (example.com/_c_)",
			"<p>" + link("https://example.com/_a_*b*", "https://example.com/_a_*b*") + " (" + link("http://example.com/_c_", "example.com/_c_") + ")</p>"},
		{"markdown: an address as the text of a link", Markdown, "[https://example.com](https://example.org)", "<p>" + ownLink("https://example.org", "https://example.com") + "</p>"},
		{"markdown: made to keep the parser busy", Markdown, strings.Repeat("> ", 33) + "*a*", "<p>" + strings.Repeat("&gt; ", 33) + "*a*</p>"},

		{"bbcode", BBCode, "[b]a[/b] [I]b[/I] [u]c[/u] [s]d[/s]\n<e>", "<b>a</b> <i>b</i> <u>c</u> <s>d</s><br>&lt;e&gt;"},
		{"bbcode: links", BBCode, "[url]https://example.com/a_b[/url] [url=example.com][b]x[/b] @bob[/url]",
			ownLink("https://example.com/a_b", "https://example.com/a_b") + " " + ownLink("http://example.com", "<b>x</b> @bob")},
		{"bbcode: no links to scripts", BBCode, "[url=javascript:x]a[/url] [url]javascript:x[/url]", "[url=javascript:x]a[/url] [url]javascript:x[/url]"},
		{"bbcode: code", BBCode, "[code]a [b]<b>[/b] @bob[/code]\n[code]\nc\n d\n[/code]\ne", "<code>a [b]&lt;b&gt;[/b] @bob</code><pre><code>c\n d</code></pre>e"},
		{"bbcode: quotes", BBCode, "a\n[quote]\nb\n[/quote]\n[quote=bob]c @bob[/quote]", "a<blockquote>b</blockquote><blockquote><cite>bob</cite><br>c " + bobLink + "</blockquote>"},
		{"bbcode: lists", BBCode, "[list]\n[*]a\n[*]b\n[/list]\n[list=1][*]c[/list]", "<ul><li>a</li><li>b</li></ul><ol><li>c</li></ol>"},
		{"bbcode: size and colour are ignored", BBCode, "[size=20]a[/size] [color=red]b[/color]", "a b"},
		{"bbcode: unknown, open and crossing tags are text", BBCode, "[x]a[/x] [b]c [i]d[/b] e[/i] [*] [/b] [", "[x]a[/x] <b>c [i]d</b> e[/i] [*] [/b] ["},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Parse(tt.source, tt.as).Render(base, accounts).HTML
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if again := Sanitize(got); again != got {
				t.Errorf("does not survive Sanitize: %s", again)
			}
		})
	}
}

func TestRenderLists(t *testing.T) {
	source := "@carol@example.com @bob @nobody #B #a @BOB @bob@example.org #b :x: :y: :x: `@dave` `#c` `:z:`"
	d := Parse(source, Markdown)
	r := d.Render(base, accounts)

	wantMentions := []Mention{{"carol", "example.com"}, {"bob", ""}, {"nobody", ""}, {"bob", "example.org"}}
	if !slices.Equal(d.Mentions(), wantMentions) {
		t.Errorf("Mentions() = %v, want %v", d.Mentions(), wantMentions)
	}
	wantTags := []Tag{{"b", "B"}, {"a", "a"}}
	if !slices.Equal(d.Tags(), wantTags) {
		t.Errorf("Tags() = %v, want %v", d.Tags(), wantTags)
	}
	want := Rendered{
		HTML:       r.HTML,
		Tags:       []string{"b", "a"},
		Mentions:   []Account{accounts["carol@example.com"], accounts["bob"]},
		Shortcodes: []string{"x", "y"},
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("Render = %+v, want %+v", r, want)
	}
}

func TestRenderLimits(t *testing.T) {
	var source strings.Builder
	for i := range 101 {
		fmt.Fprintf(&source, "@user%d #tag%d :code%d: ", i, i, i)
	}
	source.WriteString("@user0 #tag0")
	everyone := make(map[string]Account)
	for i := range 101 {
		name := fmt.Sprintf("user%d", i)
		everyone[name] = Account{ID: name, Username: name, Acct: name, URL: base + "/@" + name}
	}
	for _, as := range contentTypes {
		r := Parse(source.String(), as).Render(base, everyone)
		if len(r.Mentions) != MaxMentions || len(r.Tags) != MaxTags || len(r.Shortcodes) != MaxShortcodes {
			t.Errorf("%s: %d mentions, %d tags, %d shortcodes", as, len(r.Mentions), len(r.Tags), len(r.Shortcodes))
		}
		if !strings.Contains(r.HTML, " @user100 #tag100 ") {
			t.Errorf("%s: mention and tag above the limit are not plain text", as)
		}
		if n := strings.Count(r.HTML, `data-user="user0"`); n != 2 {
			t.Errorf("%s: an early mention has %d links, want 2", as, n)
		}
	}
}

func TestRenderRepetitions(t *testing.T) {
	html := Parse(strings.Repeat("@bob #a ", 251), PlainText).Render(base, accounts).HTML
	if n := strings.Count(html, "<a "); n != maxSlots {
		t.Errorf("%d links, want %d", n, maxSlots)
	}
	if !strings.HasSuffix(html, " @bob #a</p>") {
		t.Error("mention and tag above the limit are not plain text")
	}
}

func TestMarkupThatIsTooLong(t *testing.T) {
	long := strings.Repeat("a ", maxMarkup/2)
	if got := Parse("**b** "+long, Markdown).Render(base, nil).HTML; !strings.HasPrefix(got, "<p>**b** a") {
		t.Errorf("markup is interpreted: %.40s", got)
	}
}

func TestChatMessage(t *testing.T) {
	for source, want := range map[string]string{
		"":                                   "",
		" \n ":                               "",
		" a \r\n\nb\n":                       "a<br/><br/>b",
		"<b>:cat:\x00</b>":                   "&lt;b&gt;:cat:&lt;/b&gt;",
		"*a* _b_ `c` @carol@example.com\n#A": "*a* _b_ `c` " + carolLink + "<br/>" + tagLink("a", "A"),
		"one\nhttps://example.com":           "one<br/>" + link("https://example.com", "https://example.com"),
	} {
		if got := ParseChat(source).Render(base, accounts).HTML; got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", source, got, want)
		}
	}
}

func TestProfile(t *testing.T) {
	got := ParseBio("I am @carol@example.com\nhttps://example.com #A\n\n<b>").Render(base, accounts).HTML
	full := strings.Replace(carolLink, "<span>carol</span>", "<span>carol@example.com</span>", 1)
	want := "<p>I am " + full + "<br>" + link("https://example.com", "https://example.com") + " " + tagLink("a", "A") + "</p><p>&lt;b&gt;</p>"
	if got != want {
		t.Errorf("bio:\ngot  %s\nwant %s", got, want)
	}

	got = ParseField(" https://example.com/me\n@carol@example.com ").Render(base, accounts).HTML
	me := `<a href="https://example.com/me" rel="me nofollow noopener noreferrer" target="_blank">https://example.com/me</a>`
	if want := me + " " + full; got != want {
		t.Errorf("field:\ngot  %s\nwant %s", got, want)
	}
	if clean := SanitizeLinksOnly(got); !strings.HasPrefix(clean, me) {
		t.Errorf("a field's link does not survive LinksOnly: %s", clean)
	}
}
