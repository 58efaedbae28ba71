package text

import "testing"

// aPost has 200 characters, with a mention and a hashtag.
const aPost = "Good morning @bob, the weather is fine and we go out to the lake with all who have said they wanted to come " +
	"along, see you there at about ten, bring some food & drink and don't forget the dog. #Lakeside"

func BenchmarkRenderPlain(b *testing.B)    { benchmarkRender(b, PlainText) }
func BenchmarkRenderMarkdown(b *testing.B) { benchmarkRender(b, Markdown) }
func BenchmarkRenderHTML(b *testing.B)     { benchmarkRender(b, HTML) }
func BenchmarkRenderBBCode(b *testing.B)   { benchmarkRender(b, BBCode) }

func benchmarkRender(b *testing.B, as ContentType) {
	b.ReportAllocs()
	for b.Loop() {
		Parse(aPost, as).Render(base, accounts)
	}
}

func benchmarkString[T any](b *testing.B, s string, f func(string) T) {
	b.ReportAllocs()
	for b.Loop() {
		f(s)
	}
}

var aPostHTML = Parse(aPost, PlainText).Render(base, accounts).HTML

func BenchmarkSanitize(b *testing.B) { benchmarkString(b, aPostHTML, Sanitize) }

func BenchmarkPlain(b *testing.B) {
	benchmarkString(b, aPostHTML, func(s string) string { return HTMLToText(s) })
}

func BenchmarkLength(b *testing.B) {
	benchmarkString(b, aPost, func(s string) int { return Length(s, "") })
}
