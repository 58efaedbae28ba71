package text

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestHostileInput parses inputs that are designed to take long. A time that is quadratic in the length exceeds the limit by far.
func TestHostileInput(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const size, limit = 100_000, 5 * time.Second
	readers := map[string]func(string){
		"sanitize": func(s string) { Sanitize(s) },
		"links":    func(s string) { SanitizeLinksOnly(s) },
		"plain":    func(s string) { HTMLToText(s) },
		"field":    func(s string) { ParseField(s) },
		"length":   func(s string) { Length(s, s); Truncate(s, 140) },
		"names":    func(s string) { SplitHandle("a@" + s); TagName(s); Language(s) },
	}
	for _, as := range contentTypes {
		readers[string(as)] = func(s string) { Parse(s[:min(len(s), maxMarkup)], as).Render(base, accounts) }
	}
	for _, piece := range []string{
		"@a", "@a@", "@a@b", "@a@b.c", "@a@xn--a.b ", "#a", "#1", "#a·", ":a", ":a:", "http:", "http://", "http://a(", "(http://[", "a.com", "a.",
		"http://a.あ", "http://🍕", "http://a@", "https://a*", "(://", "a://", "www.", "www.a.com/", "あwww.", "あwww.a.com", "@a:b.com", "#a:b.com ", "#a-", "#a/", "＃a", "#あ〜", "~",
		"mailto:", "(mailto:a", "magnet:?", "あ.", "a\u0301", "\u0301", "👨‍", ")", "(((", ">", "> ", "- ", "1. ", "- a\n", "    a\n", "[", "[a](",
		"[a](<b", "![", "[a]: b\n", "*a ", "*a_ ", "a* *", "~~a ", "`a``", "```\n", "\\", "<a:", "<a@a",
		"<", "<a ", "<a href=", "<b>", "</b>", "<b></i>", "<b> ", "<p>", "<li>", "<ul><li>", "<div>", "<span>", "<pre>", "<object>", "<script>", "<rt>", "<!--",
		"<![CDATA[", "<?", "&", "&#", "&#1;", "<br> ", "<img alt=a>", "<td>", "<a href=http://a>",
		"[b]", "[/b]", "[b][/i]", "[b][i][/b]", "[url]", "[url]a", "[url=http://a]", "[code]", "[/code]", "[code][/code]", "[list]", "[list][*]", "[quote=",
		"\n", " \n", " ",
	} {
		s := strings.Repeat(piece, size/len(piece))
		for name, read := range readers {
			start := time.Now()
			read(s)
			if took := time.Since(start); took > limit {
				t.Errorf("%s: %q takes %v", name, piece, took)
			}
		}
	}
}

// TestRandomMarkup combines markup at random: the output is always safe, well-formed and stable.
func TestRandomMarkup(t *testing.T) {
	pieces := []string{
		"@bob", "@carol@example.com", "#tag", "#a·b·", ":cat:", "https://example.com/a_b", "example.org", "\n", "\n\n", " ",
		"\t", "a", "é", "あ", "_", "*", "**", "~~", "`", "```\n", "> ", "- ", "1. ", "# ", "[", "](https://example.com)", ")", "!",
		"\\", "&", "&lt;", "&#10;", "&#32;", "&nbsp;", "&#1;", "<", ">", "\"", "<p>", "</p>", "<b>", "</b>", "<i>", "</i>",
		`<a href="https://example.com/é">`, "<a class='mention' href='https://x.example/?a=1&amp;b'>", "<a rel=tag class=x>",
		"</a>", "<br>", "<hr>", "<div>", "</div>", "<table><tr><td>", "</td>", "</table>", "<ul>", "</ul>", "<li>", "</li>",
		"<ol start=3 reversed>", "<blockquote>", "</blockquote>", "<pre>", "</pre>", "<code class='inline x'>", "</code>",
		"<span>", `<span class="h-card y">`, "</span>", "<h1>", "</h1>", "</h2>", "<img alt=' x '>", "<img alt='\n:a:'>",
		"<wbr>", "<ruby>", "<rt>", "<rp>", "</ruby>", "<script>", "</script>", "<object>", "<textarea>", "<!--", "-->", "<svg>",
		"<abbr title='a\nb'>", "[b]", "[/b]", "[i]", "[/i]", "[url]", "[/url]", "[url=https://example.com/x]", "[code]", "[/code]",
		"[quote=a&b]", "[/quote]", "[list]", "[*]", "[/list]", "[x]", "\u200c", "❤️", "\u0301", "\u00a0", "\r", "\x01", "\xff",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var source strings.Builder
		few := make([]string, 2+random.IntN(8)) // the same pieces again and again meet more often
		for i := range few {
			few[i] = pieces[random.IntN(len(pieces))]
		}
		for range 1 + random.IntN(14) {
			source.WriteString(few[random.IntN(len(few))])
		}
		for _, as := range contentTypes {
			html := Parse(source.String(), as).Render(base, accounts).HTML
			wantSafe(t, html)
			if again := Sanitize(html); again != html {
				t.Errorf("%s: rendered %q\nsanitised %q", as, html, again)
			}
		}
		for name, sanitize := range map[string]func(string) string{"full": Sanitize, "strict": SanitizeStrict, "links": SanitizeLinksOnly} {
			once := sanitize(source.String())
			wantSafe(t, once)
			if twice := sanitize(once); twice != once {
				t.Errorf("%s: once %q\ntwice %q", name, once, twice)
			}
		}
		if t.Failed() {
			t.Fatalf("source: %q", source.String())
		}
	}
}

// TestConcurrentUse is for the race detector: parsers and policies are shared.
func TestConcurrentUse(t *testing.T) {
	d := Parse("@bob #a <b>b</b>", Markdown)
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for _, s := range markupSeeds {
				for _, as := range contentTypes {
					HTMLToText(SanitizeStrict(Parse(s, as).Render(base, accounts).HTML))
				}
				NormalizeDomain(s)
				d.Render(base, accounts)
			}
		})
	}
}
