package text

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// jsonSize returns the size of a text in the JSON of the API, without its quotes.
func jsonSize(t testing.TB, s string) int {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	return b.Len() - len("\"\"\n")
}

const original = `https://remote.example/notes/1?a=1&b="2"`

// wantCut checks a text that was cut to a number of bytes.
func wantCut(t *testing.T, source, got string, limit int) {
	t.Helper()
	fits := jsonSize(t, source) <= limit
	switch {
	case fits && got != source:
		t.Errorf("%q fits into %d bytes and became %q", source, limit, got)
	case jsonSize(t, got) > limit:
		t.Errorf("cut to %d bytes of %d: %q", jsonSize(t, got), limit, got)
	case !utf8.ValidString(got) && utf8.ValidString(source):
		t.Errorf("%q has half a character", got)
	}
}

func FuzzCut(f *testing.F) {
	for _, s := range markupSeeds {
		f.Add(s, 200)
	}
	f.Fuzz(func(t *testing.T, source string, limit int) {
		limit = max(limit, 0) % (len(source) + 300)
		if JSONSize(source) != jsonSize(t, source) {
			t.Errorf("JSONSize(%q) is %d, want %d", source, JSONSize(source), jsonSize(t, source))
		}
		wantCut(t, source, CutJSON(source, limit), limit)
		html := Sanitize(source)
		for _, link := range []string{"", original} {
			got := CutHTML(html, limit, link)
			wantCut(t, html, got, limit)
			wantSafe(t, got)
			if got != html && link == "" && Sanitize(got) != got {
				t.Errorf("cut %q\nsanitised %q", got, Sanitize(got))
			}
		}
	})
}

// TestCutAtEachLength cuts random markup at every length: it stays safe, well-formed, within the bytes, and ends with the link.
func TestCutAtEachLength(t *testing.T) {
	pieces := []string{
		"<p>", "</p>", "<blockquote>", "</blockquote>", "<b>", "</b>", `<a href="https://x.example/?a=1&amp;b=2">`, "</a>", "<ul><li>", "</li></ul>", "<br>", "<pre>", "</pre>",
		"&amp;", "&lt;", "&#34;", "\"", "\\", "é", "日本", "👨‍👩‍👧", "word ", "\n", "\u2028", ":cat:", `<span class="h-card">`, "</span>", "<wbr>", "<hr>",
	}
	link := Sanitize(`<p>… <a href="https://remote.example/notes/1?a=1&amp;b=&#34;2&#34;">https://remote.example/notes/1?a=1&amp;b=&#34;2&#34;</a></p>`)
	random := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		var source strings.Builder
		for range 40 {
			source.WriteString(pieces[random.IntN(len(pieces))])
		}
		html := Sanitize(source.String())
		for limit := 0; limit <= jsonSize(t, html); limit += 1 + random.IntN(5) {
			got := CutHTML(html, limit, original)
			wantCut(t, html, got, limit)
			wantSafe(t, got)
			if limit >= jsonSize(t, link) && got != html && !strings.HasSuffix(got, link) {
				t.Fatalf("cut to %d bytes does not end with the link: %q", limit, got)
			}
		}
	}
}

func TestCutJSON(t *testing.T) {
	for _, tt := range []struct {
		source string
		max    int
		want   string
	}{
		{"hello", 5, "hello"},
		{"hello!", 5, "he…"},
		{"\x01\x01", 12, "\x01\x01"},
		{"\x01\x01", 11, "\x01…"},
		{"\"\"\"\"", 7, "\"\"…"},
		{"日本語日本語", 10, "日本…"},
		{"hello", 2, ""},
	} {
		if got := CutJSON(tt.source, tt.max); got != tt.want {
			t.Errorf("CutJSON(%q, %d) is %q, want %q", tt.source, tt.max, got, tt.want)
		}
	}
}
