package emoji_test

import (
	"os"
	"strings"
	"testing"

	"svc/emoji"
)

func TestCanonical(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "🔥", "🔥"},
		{"with a selector too many", "🔥\uFE0F", "🔥"},
		{"a heart", "❤\uFE0F", "❤\uFE0F"},
		{"a heart without its selector", "❤", "❤\uFE0F"},
		{"a sign", "©", "©\uFE0F"},
		{"a skin tone", "👍🏽", "👍🏽"},
		{"a skin tone in place of the selector", "☝🏿", "☝🏿"},
		{"a skin tone after the selector", "☝\uFE0F🏿", "☝🏿"},
		{"a skin tone alone", "🏽", "🏽"},
		{"a family", "👨\u200d👩\u200d👧\u200d👦", "👨\u200d👩\u200d👧\u200d👦"},
		{"two skin tones", "🧑🏻\u200d🤝\u200d🧑🏿", "🧑🏻\u200d🤝\u200d🧑🏿"},
		{"joined, fully qualified", "👁\uFE0F\u200d🗨\uFE0F", "👁\uFE0F\u200d🗨\uFE0F"},
		{"joined, half qualified", "👁\uFE0F\u200d🗨", "👁\uFE0F\u200d🗨\uFE0F"},
		{"joined, unqualified", "👁\u200d🗨", "👁\uFE0F\u200d🗨\uFE0F"},
		{"a flag of colours", "🏳\u200d🌈", "🏳\uFE0F\u200d🌈"},
		{"the flag of a country", "🇩🇪", "🇩🇪"},
		{"the flag of a part of a country", "🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", "🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F"},
		{"a regional indicator", "🇦", "🇦"},
		{"the last regional indicator", "🇿", "🇿"},
		{"a keycap", "#\uFE0F⃣", "#\uFE0F⃣"},
		{"a keycap without its selector", "1⃣", "1\uFE0F⃣"},
		{"one of 2024", "🫩", "🫩"},

		{"nothing", "", ""},
		{"a selector alone", "\uFE0F", ""},
		{"a joiner alone", "\u200d", ""},
		{"a letter", "a", ""},
		{"a digit", "1", ""},
		{"a digit with a selector", "1\uFE0F", ""},
		{"a word", "hello", ""},
		{"a shortcode", ":cat:", ""},
		{"a letter of another script", "ж", ""},
		{"two emoji", "🔥🔥", ""},
		{"an emoji and a space", "🔥 ", ""},
		{"an emoji and a letter", "🔥a", ""},
		{"the form in black and white", "❤\uFE0E", ""},
		{"a flag of no country", "🇽🇽", ""},
		{"two flags", "🇩🇪🇫🇷", ""},
		{"a family that nobody draws", "🔥\u200d👩", ""},
		{"a skin tone on an emoji without skin", "🔥🏽", ""},
		{"a joiner at the end", "👩\u200d", ""},
		{"no UTF-8", "\xf0\x9f\x94", ""},
		{"very much", strings.Repeat("🔥", 1000), ""},
		{"a heart with very many selectors", "❤" + strings.Repeat("\uFE0F", 1000), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := emoji.Canonical(tt.text)
			if got != tt.want || ok != (tt.want != "") {
				t.Errorf("%+q is %+q, %v, want %+q", tt.text, got, ok, tt.want)
			}
		})
	}
}

// Each emoji of the table is its own canonical form, and differs from others without selectors.
func TestTableOfEmoji(t *testing.T) {
	table, err := os.ReadFile("rgi.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for e := range strings.FieldsSeq(string(table)) {
		n++
		for _, form := range []string{e, strings.ReplaceAll(e, "\uFE0F", "")} {
			if got, ok := emoji.Canonical(form); got != e || !ok {
				t.Errorf("%+q is %+q, %v, want %+q", form, got, ok, e)
			}
		}
	}
	if n < 3900 {
		t.Errorf("only %d emoji", n)
	}
}
