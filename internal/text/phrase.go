package text

import (
	"math/bits"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Folded is text that phrases can be looked for in, whatever their case and form: folded, compatibility characters replaced
// (NFKC), without what cannot be seen, each run of blanks one space.
type Folded struct {
	text    string
	bigrams [bigramBits / 64]uint64 // which pairs of bytes there are: most phrases are ruled out by that

	once         sync.Once
	wordInterior []uint64 // which bytes neither begin a word nor come after one; made when words are looked for first
}

// String returns the text in the form in which it is compared.
func (t *Folded) String() string { return t.text }

const bigramBits = 1024

// bigramBit is the bit of Folded.pairs for the pair of bytes that begins at s[i].
func bigramBit(s string, i int) uint16 { return (uint16(s[i])<<5 ^ uint16(s[i+1])) % bigramBits }

// maxFolded bounds, in bytes, how much of a text phrases are looked for in. Posts made here are shorter.
const maxFolded = 32 << 10

// Fold makes one text of several. No phrase is found across two of them.
func Fold(parts ...string) *Folded {
	var b strings.Builder
	for _, part := range parts {
		folded := fold(part)
		if folded == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(folded)
		if b.Len() > maxFolded {
			break
		}
	}
	s := b.String()
	t := &Folded{text: strings.ToValidUTF8(s[:min(len(s), maxFolded)], "")}
	for i := range len(t.text) - 1 {
		bit := bigramBit(t.text, i)
		t.bigrams[bit/64] |= 1 << (bit % 64)
	}
	return t
}

// findWordBoundaries finds out where words begin and end.
func (t *Folded) findWordBoundaries() {
	t.wordInterior = make([]uint64, len(t.text)/64+1)
	before := false
	for i, r := range t.text {
		word := joinsWord(r)
		if before && word {
			t.wordInterior[i/64] |= 1 << (i % 64)
		}
		for j := i + 1; j < i+utf8.RuneLen(r); j++ {
			t.wordInterior[j/64] |= 1 << (j % 64)
		}
		before = word
	}
}

// insideWord tells whether a place is between two characters of one word.
func (t *Folded) insideWord(i int) bool { return t.wordInterior[i/64]>>(i%64)&1 != 0 }

// nextBoundary returns the next place, from i on, that is not within a word.
func (t *Folded) nextBoundary(i int) int {
	for i < len(t.text) {
		if n := bits.TrailingZeros64(^(t.wordInterior[i/64] >> (i % 64))); n < 64-i%64 {
			return i + n
		}
		i = (i/64 + 1) * 64
	}
	return len(t.text)
}

// fold returns the form in which texts are compared.
func fold(s string) string {
	s = s[:min(len(s), 2*maxFolded)]
	if isASCII(s) {
		return strings.Join(strings.FieldsFunc(strings.ToLower(s), isSpaceOrControl), " ")
	}
	s = strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, validUTF8(s))
	s = foldCase(norm.NFKC.String(s))
	if !norm.NFKC.IsNormalString(s) { // what was folded may be composed again, and then be foldable once more
		s = norm.NFKC.String(foldCase(norm.NFKC.String(s)))
	}
	return strings.Join(strings.FieldsFunc(s, isSpaceOrControl), " ")
}

// foldCase folds case. Of Cherokee the capitals are the folded form (Unicode 5.18), which the library swaps with the others.
func foldCase(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x13A0 && unicode.Is(unicode.Cherokee, r) {
			return unicode.ToUpper(r)
		}
		return r
	}, cases.Fold().String(s))
}

func isSpaceOrControl(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// isInvisible tells of characters that nobody sees, and that may stand within a word: soft hyphens, joiners, marks of direction,
// selectors of a variant.
func isInvisible(r rune) bool {
	return r >= 0xAD && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Phrase is a word, or several, to look for.
type Phrase struct {
	folded     string
	begin, end bool      // must be the beginning of a word, the end of one
	period     int       // of folded, where that matters
	bigrams    [4]uint16 // some of the bits that a text with the phrase has; for one of a single byte, none are asked
}

// NewPhrase makes a phrase of what somebody typed. With wholeWord it is found at the boundaries of words only, where a boundary is
// looked for only at an end that is a character of a word (client API 3.14). In scripts that put no blanks between words, all
// characters stand for themselves. What has nothing to be seen in it is found nowhere.
func NewPhrase(typed string, wholeWord bool) *Phrase {
	p := &Phrase{folded: fold(typed)}
	if wholeWord {
		p.begin, p.end = startsWithWord(p.folded), endsWithWord(p.folded)
		p.period = period(p.folded)
	}
	for i := range p.bigrams {
		if n := len(p.folded) - 1; n > 0 {
			p.bigrams[i] = bigramBit(p.folded, i*n/len(p.bigrams))
		}
	}
	return p
}

// Empty tells whether there is nothing to look for.
func (p *Phrase) Empty() bool { return p.folded == "" }

// Matches tells whether the phrase is in a text. However the two are made, the time that takes grows with the length of the text only:
// strangers write the one, and who has an account here the other.
func (p *Phrase) Matches(t *Folded) bool {
	switch {
	case p.folded == "" || len(p.folded) > 1 && !p.mayMatch(t):
		return false
	case !p.begin && !p.end:
		return strings.Contains(t.text, p.folded)
	}
	t.once.Do(t.findWordBoundaries)
	for from := 0; ; {
		i := strings.Index(t.text[from:], p.folded)
		if i < 0 {
			return false
		}
		for from += i; ; from += p.period { // the phrase, and as often as it comes again before it has ended
			end := from + len(p.folded)
			if !(p.begin && t.insideWord(from)) && !(p.end && t.insideWord(end)) {
				return true
			}
			if !strings.HasPrefix(t.text[end:], p.folded[len(p.folded)-p.period:]) {
				break
			}
		}
		if from++; p.begin {
			from = t.nextBoundary(from)
		}
	}
}

// period returns the smallest distance at which s can stand in a text twice: its length, unless its end is its beginning too.
func period(s string) int {
	borders := make([]int, len(s)+1) // of each prefix, the longest end that is its beginning
	borders[0] = -1
	for i, n := 0, -1; i < len(s); i++ {
		for n >= 0 && s[n] != s[i] {
			n = borders[n]
		}
		n++
		borders[i+1] = n
	}
	return len(s) - borders[len(s)]
}

// mayMatch tells whether the phrase can be in a text.
func (p *Phrase) mayMatch(t *Folded) bool {
	for _, bit := range p.bigrams {
		if t.bigrams[bit/64]>>(bit%64)&1 == 0 {
			return false
		}
	}
	return true
}

// endsWithWord tells whether s ends with a character of a word, startsWithWord whether it begins with one.
func endsWithWord(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	return size > 0 && joinsWord(r)
}

func startsWithWord(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size > 0 && joinsWord(r)
}

// firstUnspacedScript is the first character of the scripts that put no blanks between words: of Thai.
const firstUnspacedScript = 0x0E00

// joinsWord tells whether a character makes one word with its like beside it.
func joinsWord(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiWord(byte(r))
	}
	if r >= firstUnspacedScript && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)) {
		return false
	}
	return isWord(r) || unicode.Is(unicode.Pc, r)
}
