package text

import (
	"math/bits"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Folded is a text in which phrases can be found regardless of case and form: case-folded, NFKC, without invisible characters, white
// space collapsed.
type Folded struct {
	text    string
	bigrams [bigramBits / 64]uint64 // set of byte pairs in the text, which excludes most phrases quickly

	parts []string // the lines of the text as they are written

	once         sync.Once // sets the following, in the first search for a whole word
	wordInterior []uint64  // bit set of bytes within words
	links        []span    // URLs
}

// String returns the folded text.
func (t *Folded) String() string { return t.text }

const bigramBits = 1024

// bigramBit returns the bit of Folded.bigrams for the byte pair at s[i].
func bigramBit(s string, i int) uint16 { return (uint16(s[i])<<5 ^ uint16(s[i+1])) % bigramBits }

// maxFolded bounds the searched text in bytes. Local posts are shorter.
const maxFolded = 32 << 10

// Fold folds several texts into one. A phrase does not match across two of them.
func Fold(parts ...string) *Folded {
	var b strings.Builder
	t := &Folded{parts: make([]string, 0, len(parts))}
	for _, part := range parts {
		folded := fold(part)
		if folded == "" {
			continue
		}
		t.parts = append(t.parts, part)
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(folded)
		if b.Len() > maxFolded {
			break
		}
	}
	s := b.String()
	t.text = strings.ToValidUTF8(s[:min(len(s), maxFolded)], "")
	for i := range len(t.text) - 1 {
		bit := bigramBit(t.text, i)
		t.bigrams[bit/64] |= 1 << (bit % 64)
	}
	return t
}

// findWordBoundaries computes wordInterior and links. A URL is a word of its own, whatever it is written next to.
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
	t.findLinks()
	for _, link := range t.links {
		for _, i := range []int{link.start, link.end} {
			t.wordInterior[i/64] &^= 1 << (i % 64)
		}
	}
}

// insideLink returns whether a position is within a URL.
func (t *Folded) insideLink(i int) bool {
	n := sort.Search(len(t.links), func(k int) bool { return t.links[k].end > i })
	return n < len(t.links) && t.links[n].start < i
}

// insideWord returns whether a position is between two characters of one word.
func (t *Folded) insideWord(i int) bool { return t.wordInterior[i/64]>>(i%64)&1 != 0 }

// nextBoundary returns the first position from i on that is not within a word.
func (t *Folded) nextBoundary(i int) int {
	for i < len(t.text) {
		if n := bits.TrailingZeros64(^(t.wordInterior[i/64] >> (i % 64))); n < 64-i%64 {
			return i + n
		}
		i = (i/64 + 1) * 64
	}
	return len(t.text)
}

// fold returns the folded form of a text.
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
	if !norm.NFKC.IsNormalString(s) { // folding may result in text that is not NFKC, which may fold again
		s = norm.NFKC.String(foldCase(norm.NFKC.String(s)))
	}
	return strings.Join(strings.FieldsFunc(s, isSpaceOrControl), " ")
}

// foldCase folds case. The capitals of Cherokee are its folded form (Unicode 5.18), which the library gets the wrong way round.
func foldCase(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x13A0 && unicode.Is(unicode.Cherokee, r) {
			return unicode.ToUpper(r)
		}
		return r
	}, cases.Fold().String(s))
}

func isSpaceOrControl(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// isInvisible returns whether a character is invisible and may be within a word: soft hyphens, joiners, direction marks, variation
// selectors.
func isInvisible(r rune) bool {
	return r >= 0xAD && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Phrase is one or several words to find.
type Phrase struct {
	folded     string
	begin, end bool      // must be at the start of a word, at the end of one
	hashtag    bool      // must not be in a URL, whose fragment begins with the same sign
	period     int       // of folded, if one of these
	bigrams    [4]uint16 // some bits that a text with the phrase has; unused for a single byte
}

// NewPhrase returns the phrase for a user's input. With wholeWord it matches only at word boundaries, at each end that is a word
// character (client API 3.14), and a hashtag not in the fragment of a URL. In scripts without spaces between words, each character is a word.
// An empty phrase never matches.
func NewPhrase(typed string, wholeWord bool) *Phrase {
	p := &Phrase{folded: fold(typed)}
	if wholeWord {
		p.begin, p.end = startsWithWord(p.folded), endsWithWord(p.folded)
		p.hashtag = strings.HasPrefix(p.folded, "#")
		p.period = period(p.folded)
	}
	for i := range p.bigrams {
		if n := len(p.folded) - 1; n > 0 {
			p.bigrams[i] = bigramBit(p.folded, i*n/len(p.bigrams))
		}
	}
	return p
}

// Empty returns whether the phrase is empty after folding.
func (p *Phrase) Empty() bool { return p.folded == "" }

// Matches returns whether a text contains the phrase. The time is linear in the length of the text, because remote accounts write the
// text and local ones the phrase.
func (p *Phrase) Matches(t *Folded) bool {
	switch {
	case p.folded == "" || len(p.folded) > 1 && !p.mayMatch(t):
		return false
	case !p.begin && !p.end && !p.hashtag:
		return strings.Contains(t.text, p.folded)
	}
	return p.matchesWhole(t)
}

// matchesWhole returns whether a text contains the phrase at word boundaries.
func (p *Phrase) matchesWhole(t *Folded) bool {
	t.once.Do(t.findWordBoundaries)
	for from := 0; ; {
		i := strings.Index(t.text[from:], p.folded)
		if i < 0 {
			return false
		}
		for from += i; ; from += p.period { // overlapping occurrences of the phrase
			end := from + len(p.folded)
			if !(p.begin && t.insideWord(from)) && !(p.end && t.insideWord(end)) && !(p.hashtag && t.insideLink(from)) {
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

// period returns the smallest distance between two overlapping occurrences of s: its length, unless a prefix of s is also its suffix.
func period(s string) int {
	borders := make([]int, len(s)+1) // per prefix, the length of its longest border
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

// mayMatch returns false if the text lacks a byte pair of the phrase.
func (p *Phrase) mayMatch(t *Folded) bool {
	for _, bit := range p.bigrams {
		if t.bigrams[bit/64]>>(bit%64)&1 == 0 {
			return false
		}
	}
	return true
}

// endsWithWord returns whether s ends with a word character.
func endsWithWord(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	return size > 0 && joinsWord(r)
}

// startsWithWord returns whether s begins with a word character.
func startsWithWord(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size > 0 && joinsWord(r)
}

// firstUnspacedScript is the first character of the scripts without spaces between words: Thai.
const firstUnspacedScript = 0x0E00

// joinsWord returns whether a character forms a word with equal neighbours.
func joinsWord(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiWord(byte(r))
	}
	if r >= firstUnspacedScript && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)) {
		return false
	}
	return isWord(r) || unicode.Is(unicode.Pc, r)
}
