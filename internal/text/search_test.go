package text_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"svc/internal/text"
)

func TestSearchable(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"  ?!  ", ""},
		{"Hello, World!", "hello world"},
		{"don't #Foo_bar @nick@example.org", "don t foo bar nick example org"},
		{"CAFÉ Cafe\u0301 ÅNGSTRÖM ﬁne ＷＩＤＥ", "cafe cafe angstrom fine wide"},
		{"Ὀδυσσεύς ΟΔΥΣΣΕΥΣ", "οδυσσευσ οδυσσευσ"},
		{"мой мои Ёж Её", "мой мои еж ее"},
		{"Łódź Đ Øre ILIK ılık Straße ẞ ÆSIR œuvre Þór ð Ħal ŧ ŋ", "lodz d ore ilik ilik strasse ss aesir oeuvre thor d hal t n"},
		{"東京タワーへ行く", "東 京 タ ワ ー へ 行 く"},
		{"iPhoneを買う 2024年", "iphone を 買 う 2024 年"},
		{"ﾊﾟﾝ パン", "パ ン パ ン"},
		{"서울에서", "서 울 에 서"},
		{"ภาษาไทย ที่", "ภ า ษ า ไ ท ย ที่"},
		{"हिन्दी भाषा", "हिन्दी भाषा"},
		{"שָׁלוֹם שלום", "שלום שלום"},
		{"كِتَاب كتاب", "كتاب كتاب"},
		{"می\u200cخواهم", "می خواهم"},
		{"train🚆ride ❤️ ❤", "train 🚆 ride ❤ ❤"},
		{"soft\u00adhyphen zero\u200bwidth", "softhyphen zero width"},
		{"a\x00b \xff c", "a b c"},
		{"\u0301lonely", "lonely"},
		{strings.Repeat("a", 100), strings.Repeat("a", 64)},
	} {
		if got := text.Searchable(tt.in); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzSearchable(f *testing.F) {
	for _, s := range []string{"Hello \"World\" OR NEAR(", "東京 서울 ไทย", "\xff\x00*^:{}", "ﷺ\u0301\u0300", "ẞ İ ǅ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := text.Searchable(s)
		if !utf8.ValidString(got) || strings.TrimSpace(got) != got || strings.Contains(got, "  ") {
			t.Fatalf("%q becomes %q", s, got)
		}
		for _, r := range got {
			if r < utf8.RuneSelf && r != ' ' && (!unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsUpper(r)) {
				t.Fatalf("%q becomes %q, with %q", s, got, r)
			}
		}
		for word := range strings.SplitSeq(got, " ") {
			if len(word) > 64 {
				t.Fatalf("%q has a word of %d bytes", s, len(word))
			}
		}
	})
}

func TestHasLink(t *testing.T) {
	for in, want := range map[string]bool{
		"":                                     false,
		"<p>plain</p>":                         false,
		`<a href="https://example.org/">x</a>`: true,
		`<span class="h-card"><a class="u-url mention" href="https://example.org/@a">@a</a></span>`:                  false,
		`<a class="hashtag" href="https://example.org/tags/a">#a</a> <a href="https://example.org/" rel="ugc">x</a>`: true,
		`<a `: true,
	} {
		if got := text.HasLink(in); got != want {
			t.Errorf("%q: got %v, want %v", in, got, want)
		}
	}
}
