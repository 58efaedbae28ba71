package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// markupSeeds are starting points for everything that reads markup.
var markupSeeds = []string{
	"",
	"hello @bob and @carol@example.com:8080, see https://example.com/a_(b)?c=d&e#f. #Tag #日本語 :cat: example.org/x",
	"#a/#b ＃c @d:matrix.org #e:matrix.org #f〜 #か〜な www.example.comは 見てwww.example.org/a https://🍕.ws/*g* https://u:p@example.comは H~2~O README.md",
	"a\n\n  b\r\nc \n\n\n\td @bob@\n",
	"# h\n\n- a\n- b **c** _@d_e_ `f`\n\n> q\n\n```go\nx\n```\n[l](https://example.com \"t\") ![i](x) <b>r</b>\n***\n1. x",
	"[b]x[/b] [url=example.com]y[/url] [url]https://example.com[/url] [quote=z]q[/quote][list=1][*]a[*]b[/list][code]\n<c>\n[/code]",
	`<p>a<p>b<div>c</div>d<h2>e</h2><ul><li>f<li>g</ul><pre> h
 i</pre><table><tr><td>j<td>k</table><img alt=":l:"><br/>m`,
	`<a href="javascript:x">a</a><a href=" HTTPS://example.com/" class="mention x u-url" rel="me tag x">b</a><a class="hashtag" href="https://example.com/é">#c</a>`,
	`<script>alert(1)</script><style>x</style><svg><style><img src=x onerror=alert(1)></svg><math><mi//xlink:href="data:x,<script>">`,
	`<b><i><p>x</b></i></p></blockquote><ruby>a<rt>b<rt>c</ruby><a href="https://example.com"><a href="https://example.com">x</a>`,
	"&lt;b&gt; &amp;amp; &#0; &#1; &#13;&#10; &nbsp;x\u00a0 &#xD800; \xff\x00",
	strings.Repeat("<blockquote>", 60) + "x" + strings.Repeat("</blockquote>", 60),
	"<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\"></noscript><textarea><b></textarea><plaintext><b>",
	"<!-- <a href=x> --> <![CDATA[ x ]]> <? y ?> <!doctype html>",
}

var fuzzAccounts = map[string]Account{
	"bob":               {ID: "1", Username: "bob", Acct: "bob", URL: "https://example.org/@bob"},
	"carol@example.com": {ID: "2", Username: "carol", Acct: "carol@example.com", URL: "https://example.com/u?a=1&b=\"2"},
}

func FuzzParse(f *testing.F) {
	for _, s := range markupSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, ct := range contentTypes {
			d := Parse(source, ct)
			r := d.Render("https://example.org", fuzzAccounts)
			wantSafe(t, r.HTML)
			if again := Sanitize(r.HTML); again != r.HTML {
				t.Errorf("%s: rendered %q\nsanitised %q", ct, r.HTML, again)
			}
			if len(d.Mentions()) > MaxMentions || len(r.Tags) > MaxTags || len(r.Shortcodes) > MaxShortcodes {
				t.Errorf("%s: more than the most mentions, tags or shortcodes", ct)
			}
			for _, name := range r.Tags {
				if TagName(name) != name {
					t.Errorf("%s: tag %q is not in its own form %q", ct, name, TagName(name))
				}
			}
			for _, m := range d.Mentions() {
				if nick, domain, ok := SplitHandle(m.Key()); !ok || nick != strings.ToLower(m.Nick) || domain != m.Domain {
					t.Errorf("%s: mention %q is no handle", ct, m.Key())
				}
			}
		}
		wantSafe(t, ParseBio(source).Render("https://example.org", fuzzAccounts).HTML)
		wantSafe(t, strings.ReplaceAll(ParseChat(source).Render("https://example.org", fuzzAccounts).HTML, "<br/>", "<br>"))
		wantSafe(t, ParseField(source).Render("https://example.org", fuzzAccounts).HTML)
	})
}

func FuzzSanitize(f *testing.F) {
	for _, s := range markupSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for name, sanitize := range map[string]func(string) string{"full": Sanitize, "strict": SanitizeStrict, "links": SanitizeLinksOnly} {
			once := sanitize(source)
			wantSafe(t, once)
			if twice := sanitize(once); twice != once {
				t.Errorf("%s: once %q\ntwice %q", name, once, twice)
			}
		}
	})
}

func FuzzPlain(f *testing.F) {
	for _, s := range markupSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if got := HTMLToText(source); !utf8.ValidString(got) {
			t.Errorf("Plain(%q) = %q, not UTF-8", source, got)
		}
		// Plain text can be restored from its HTML, except for extra white space and blank lines.
		r := Parse(source, PlainText).Render("https://example.org", fuzzAccounts)
		r.HTML = strings.ReplaceAll(r.HTML, "@<span>carol</span>", "@carol@example.com")
		got, want := collapseSpace(HTMLToText(r.HTML)), collapseSpace(normalizeInput(source))
		if !strings.EqualFold(got, want) && !strings.Contains(strings.ToLower(want), "carol") {
			t.Errorf("Plain(Parse(%q)) = %q, want %q", source, got, want)
		}
	})
}

// collapseSpace returns s without white space that HTML does not show: around lines, repeated spaces, repeated blank lines.
func collapseSpace(s string) string {
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.Join(strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' }), " ")
		if line != "" || len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{
		"@bob", "bob@Example.COM.", "@a.b@bücher.example:8080", "@x@[::1]:80", "a@b@c", "#Straße", "İstanbul", "ﷺ", "ẞ",
		"xn--bcher-kva.example", "zh-Hant-TW", "en-x-y", "ǅ", "ΐ", "각", "e\u0301\u0345",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, form := range map[string]func(string) string{
			"NormalizeDomain": NormalizeDomain, "FoldKey": FoldKey, "TagName": TagName, "TagKey": TagKey, "NormalizeAddress": NormalizeAddress, "Language": Language,
		} {
			once := form(s)
			if twice := form(once); twice != once {
				t.Errorf("%s(%q) = %q, and of that %q", name, s, once, twice)
			}
		}
		if nick, domain, ok := SplitHandle(s); ok {
			n, d, ok := SplitHandle("@" + strings.TrimSuffix(nick+"@"+domain, "@"))
			if !ok || n != nick || d != domain {
				t.Errorf("SplitHandle(%q) = %q, %q, and of that %q, %q", s, nick, domain, n, d)
			}
		}
	})
}

func FuzzLength(f *testing.F) {
	for _, s := range []string{"", "abc", "e\u0301", "👨‍👩‍👧 x", "🇩🇪🇫🇷", "a\r\nb", strings.Repeat("\u0301", 100)} {
		f.Add(s, 5)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		if n := Length(s, s); n > 2*len(s) || n == 0 && strings.TrimSpace(s) != "" {
			t.Errorf("Length(%q) twice = %d", s, n)
		}
		limit = limit % 200
		cut := Truncate(s, limit)
		clusters := 0
		for rest := cut; rest != ""; clusters++ {
			rest = rest[clusterLen(rest):]
		}
		if clusters > max(limit, 0) {
			t.Errorf("Truncate(%q, %d) = %q, %d characters", s, limit, cut, clusters)
		}
	})
}

// wantSafe checks that markup is well-formed and contains only what the extension API 16.3 and its links allow.
func wantSafe(t *testing.T, markup string) {
	t.Helper()
	if !utf8.ValidString(markup) {
		t.Errorf("not UTF-8: %q", markup)
	}
	var open []string
	z := html.NewTokenizer(strings.NewReader(markup))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("%v left open: %q", open, markup)
			}
			return
		case html.StartTagToken:
			tok := z.Token()
			kind := elements[tok.Data]
			if kind != inline && kind != block && kind != void {
				t.Errorf("element %s: %q", tok.Data, markup)
			}
			for _, a := range tok.Attr {
				wantSafeAttr(t, tok.Data, a, markup)
			}
			if kind != void {
				open = append(open, tok.Data)
			}
			if len(open) > maxDepth {
				t.Errorf("too deep: %q", markup)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(name) {
				t.Errorf("</%s> closes nothing: %q", name, markup)
				return
			}
			open = open[:len(open)-1]
		case html.CommentToken, html.DoctypeToken, html.SelfClosingTagToken:
			t.Errorf("unwanted %s: %q", z.Raw(), markup)
		}
	}
}

func wantSafeAttr(t *testing.T, element string, a html.Attribute, markup string) {
	t.Helper()
	ok := false
	switch a.Key {
	case "href":
		scheme, _, found := strings.Cut(a.Val, ":")
		_, known := linkSchemes[strings.ToLower(scheme)]
		ok = element == "a" && found && known
	case "class":
		for _, class := range strings.Fields(a.Val) {
			ok = slices.Contains(allowedClasses[element], class)
		}
	case "rel":
		for _, rel := range strings.Fields(a.Val) {
			ok = slices.Contains(allowedRels, rel)
		}
	case "target":
		ok = a.Val == "_blank"
	case "data-user", "data-tag", "name", "title", "dir", "start", "reversed", "value", "lang":
		ok = true
	}
	if !ok {
		t.Errorf("attribute %s=%q of %s: %q", a.Key, a.Val, element, markup)
	}
}
