package text

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestPhrase(t *testing.T) {
	for _, tt := range []struct {
		phrase, text string
		within, word bool // found anywhere, as a whole word
	}{
		{"cat", "a cat sat", true, true},
		{"cat", "CAT", true, true},
		{"cat", "concatenate", true, false},
		{"cat", "cats and dogs", true, false},
		{"cat", "tomcat", true, false},
		{"cat", "concatenate the cat", true, true},
		{"cat", "cat_food", true, false},
		{"cat", "cat2", true, false},
		{"cat", "cat-food", true, true},
		{"cat", "(cat)", true, true},
		{"cat", "dog", false, false},
		{"cat", "", false, false},
		{"cat dog", "cat\n\n dog", true, true},
		{" cat\t dog ", "a cat dog", true, true},
		{"cat dog", "cat, dog", false, false},
		{"#cat", "see #cats", true, false},
		{"#cat", "no#cat", true, true},                    // a boundary is only tested beside a character of a word
		{"#cat", "https://example.org/#cat", true, false}, // the fragment of a URL
		{"#cat", "https://example.org/a?b#cat example.org/#cat", true, false},
		{"#cat", "https://example.org/#cat #cat", true, true},
		{"#cat", "(https://example.org/#cat) #cat", true, true},
		{"＃CAT", "HTTPS://example.org/#cat", true, false},
		{"#猫", "https://example.org/#猫", true, false},
		{"#cat", "#dog/#cat", true, true},
		{"#标签", "看https://e.org/a，#标签", true, true}, // behind what ends a URL, whatever it is when it is folded
		{"#标签", "看https://e.org/a,#标签", true, false},
		{"#cat", "https://e.org/a（#cat）", true, true},
		{"#cat", "https://e.org/a\u200b#cat", true, true},
		{"#cat", "https://e.org/a—#cat", true, true},
		{"#cat", "https://e.org/a！#cat", true, true},
		{"#cat", "https://e.org/a；＃cat", true, true},
		{"#cat", "https://e.org/é#cat", true, false},
		{"#cat", "https://e.org/a，#dog https://e.org/é#cat", true, false},
		{"#cat", "\ufdd0https://e.org/é#cat", true, false}, // a mark of its own
		{"текст", "https://e.comтекст", true, true},        // a URL ends where no host can go on
		{"текст", "текстhttps://e.com/a", true, true},
		{"тек", "https://e.comтекст", true, false},
		{"cat", "https://e.org/a\u200bcat", true, true},
		{"cat", "https://e.org/acat", true, false},
		{"cat", "https://example.org/#cat", true, true},
		{"c++", "c++11", true, true},
		{"c++", "abc++", true, false},
		{"++", "a++b", true, true},
		{"Straße", "STRASSE", true, true},
		{"ΣΊΣΥΦΟΣ", "σίσυφος", true, true},
		{"café", "cafe\u0301", true, true},
		{"caf", "café", true, false},
		{"e", "e\u0301", false, false},
		{"mäh", "MÄHEN", true, false},
		{"москва", "в Москве, МОСКВА!", true, true},
		{"ᎣᏏᏲ", "ꭳꮟᏺ", true, true},
		{"fancy", "𝓕𝓪𝓷𝓬𝔂", true, true},
		{"full", "ＦＵＬＬ", true, true},
		{"hidden", "hid\u00ad\u200bden", true, true},
		{"hid\u200dden", "hidden", true, true},
		{"日本", "私は日本人です", true, true}, // no blanks between words: characters stand for themselves
		{"スター", "ポップスターの", true, true},
		{"ｽﾀｰ", "スター", true, true},
		{"カ\u3099", "ガ", true, true},
		{"cat", "猫cat猫", true, true},
		{"ภาษา", "ภาษาไทย", true, true},
		{"고양", "고양이", true, false},
		{"❤️", "I ❤ this", true, true},
		{"👩‍💻", "a 👩‍💻 b", true, true},
		{"", "anything", false, false},
		{" \u200b", "any thing", false, false},
		{"a", "A", true, true},
		{"a", "ba", true, false},
		{"aa", "aaa aa", true, true},
		{"a a", "ba a a", true, true},
	} {
		if got := NewPhrase(tt.phrase, false).Matches(Fold(tt.text)); got != tt.within {
			t.Errorf("%q is in %q: %v, want %v", tt.phrase, tt.text, got, tt.within)
		}
		if got := NewPhrase(tt.phrase, true).Matches(Fold(tt.text)); got != tt.word {
			t.Errorf("%q is a word in %q: %v, want %v", tt.phrase, tt.text, got, tt.word)
		}
	}
}

func TestFold(t *testing.T) {
	if got := Fold("A", "", " b\nC ", "\u200b").String(); got != "a\nb c" {
		t.Errorf("got %q", got)
	}
	if NewPhrase("a b", false).Matches(Fold("a", "b")) {
		t.Error("a phrase is found across two texts")
	}
	if !NewPhrase("end", true).Matches(Fold("the end", "ending")) {
		t.Error("the end of a text is no boundary")
	}
	long := Fold(strings.Repeat("ö", maxFolded), "end")
	if n := len(long.String()); n > maxFolded || n < maxFolded-2 || !utf8.ValidString(long.String()) {
		t.Errorf("a long text has %d bytes", n)
	}
	for _, s := range []string{"\xff", "a\xffb", "\xe3\x81"} {
		if got := Fold(s).String(); !utf8.ValidString(got) {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}

// TestPhraseTime searches for phrases that occur often in long texts, but never as a word. That must not take longer than three passes
// over the text by character.
func TestPhraseTime(t *testing.T) {
	for _, tt := range []struct{ phrase, text string }{
		{strings.Repeat("a", 256), "a"},
		{strings.Repeat("é", 256), "é"},
		{strings.Repeat("ab ", 85) + "a", "ab "},
		{strings.Repeat("!ab", 85) + "!a", "!ab"},
		{"b " + strings.Repeat("ab ", 84) + "a", "ab "},
		{"é", "é"},
	} {
		phrase, text := NewPhrase(tt.phrase, true), Fold(strings.Repeat(tt.text, maxFolded/len(tt.text)))
		if phrase.Matches(text) {
			t.Fatalf("%.10q… is a word in %q…", tt.phrase, tt.text)
		}
		looking, reading := minDuration(func() { phrase.Matches(text) }), minDuration(text.findWordBoundaries)
		if looking > 3*reading {
			t.Errorf("%.10q… in %q… takes %v, reading %v", tt.phrase, tt.text, looking, reading)
		}
	}
}

// minDuration returns the shortest of several runs of fn, to exclude the influence of other processes.
func minDuration(fn func()) time.Duration {
	least := time.Hour
	for range 50 {
		start := time.Now()
		fn()
		least = min(least, time.Since(start))
	}
	return least
}

// naiveMatches is Matches without optimisation: it checks each occurrence by character.
func naiveMatches(phrase string, text *Folded, wholeWord bool) bool {
	p, s := []rune(phrase), []rune(text.text)
	if len(p) == 0 {
		return false
	}
	word := func(i int) bool {
		if i < 0 || i >= len(s) {
			return false
		}
		for _, script := range []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar} {
			if unicode.Is(script, s[i]) {
				return false
			}
		}
		return s[i] != 'ー' && (unicode.IsLetter(s[i]) || unicode.Is(unicode.Nd, s[i]) || unicode.Is(unicode.Pc, s[i]) ||
			(unicode.Is(unicode.Mn, s[i]) || unicode.Is(unicode.Mc, s[i])) && !unicode.Is(unicode.Variation_Selector, s[i]))
	}
	text.once.Do(text.findWordBoundaries)
	inside, edge := make([]bool, len(text.text)+1), make([]bool, len(text.text)+1) // of links, by byte
	for _, l := range text.links {
		edge[l.start], edge[l.end] = true, true
		for i := l.start + 1; i < l.end; i++ {
			inside[i] = true
		}
	}
	at := []int{0} // offsets of the characters
	for _, r := range s {
		at = append(at, at[len(at)-1]+utf8.RuneLen(r))
	}
	boundary := func(i int) bool { return edge[at[i]] || !word(i) || !word(i-1) }
	for i := 0; i+len(p) <= len(s); i++ {
		if string(s[i:i+len(p)]) != phrase {
			continue
		}
		if wholeWord && p[0] == '#' && inside[at[i]] {
			continue
		}
		if !wholeWord || boundary(i) && boundary(i+len(p)) {
			return true
		}
	}
	return false
}

// checkPhrase compares Matches with naiveMatches, and checks invariants.
func checkPhrase(t *testing.T, phrase, text string) {
	t.Helper()
	folded := Fold(text)
	for _, wholeWord := range []bool{false, true} {
		p := NewPhrase(phrase, wholeWord)
		if got, want := p.Matches(folded), naiveMatches(p.folded, folded, wholeWord); got != want {
			t.Errorf("%q in %q (whole words: %v) is %v, want %v", phrase, text, wholeWord, got, want)
		}
		if p.Empty() != (p.folded == "") || p.Empty() && p.Matches(folded) {
			t.Errorf("%q is empty: %v", phrase, p.Empty())
		}
		// A phrase matches itself with any distant surroundings and in any case.
		for _, around := range []string{phrase, "x, " + phrase + " ,y", strings.ToLower(strings.ToUpper(phrase)), norm.NFD.String(phrase)} {
			if len(phrase) < maxFolded/8 && utf8.ValidString(phrase) && stable(phrase) && !p.Empty() && !p.Matches(Fold(around)) {
				t.Errorf("%q is not in %q (whole words: %v)", phrase, around, wholeWord)
			}
		}
	}
	last := 0
	for _, l := range folded.links {
		if l.start < last || l.end <= l.start || l.end > len(folded.text) {
			t.Errorf("%q has the links %v", text, folded.links)
		}
		last = l.end
	}
	if again := fold(folded.text); strings.Join(strings.Fields(folded.text), " ") != again && len(text) < maxFolded/8 {
		t.Errorf("%q folded is %q, and again %q", text, folded.text, again)
	}
}

// stable excludes phrases that change with the preceding text, or when their case changes back and forth.
func stable(phrase string) bool {
	folded := fold(phrase)
	return folded == fold(strings.ToLower(strings.ToUpper(phrase))) && fold("x, "+phrase+" ,y") == "x, "+folded+" ,y"
}

// TestPhraseAgainstNaive compares Matches with naiveMatches on random texts of few characters, in which phrases occur often.
func TestPhraseAgainstNaive(t *testing.T) {
	alphabets := [][]rune{
		[]rune("ab "), []rune("aAbB _1#+"), []rune("aäÄa\u0308 ßsS"), []rune("日本ーカガ\u3099ｶaー "), []rune("σςΣ İiıI\u0307"), []rune("a\u200b\u00ad\ufe0f❤👩💻\u200d "),
		[]rune("กาa\u200b ไ"), []rune("한ᄒ\u1161\u11ab a"), []rune("a://，#\u200bт.\ufdd0 "),
	}
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(alphabet []rune, most int) string {
		var b strings.Builder
		for range rng.IntN(most + 1) {
			b.WriteRune(alphabet[rng.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 20_000 {
		a := alphabets[rng.IntN(len(alphabets))]
		checkPhrase(t, random(a, 5), random(a, 40))
	}
}

func FuzzPhrase(f *testing.F) {
	f.Add("#a", "https://a.org/#a www.a.org#a #a")
	f.Add("#a", "https://a.org/é，#a\u200b #a\ufdd0www.a.org\ufdd0")
	for _, s := range []string{"cat", "Straße", "日本", "e\u0301", "#tag", "İ", "ΐ", "ﬃ", "\u0345", "\xff", "ǰ\u0323", "각", "👩‍💻"} {
		f.Add(s, "the "+s+" of words")
		f.Add(s, "x"+s+"y "+s)
	}
	f.Fuzz(checkPhrase)
}

func BenchmarkPhrase(b *testing.B) {
	text := Fold(strings.Repeat("post number 12 of the river and the lamp in the quiet orange garden. ", 4))
	p := NewPhrase("unwanted", true)
	b.ReportAllocs()
	for b.Loop() {
		if p.Matches(text) {
			b.Fatal("found")
		}
	}
}
