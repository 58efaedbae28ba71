package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxSearchable = 64 << 10 // bytes of a text that can be found
	maxSearchWord = 64       // bytes of a word by which it is told from others
)

// Searchable returns the words of a text in the form in which a text index compares them, with a space between each two: lower case,
// compatible forms made one (NFKC), without accents. Where a script writes no spaces between words, each character is a word of its own,
// as is each symbol; so a run of them is found as a phrase, wherever in a sentence it stands. Of a very long text only the beginning
// counts.
//
// The result consists of letters, digits, marks, symbols and single spaces only: nothing of it can mean something to the index.
func Searchable(s string) string {
	if len(s) > maxSearchable {
		s = s[:maxSearchable]
	}
	s = foldSearch(s)
	b := make([]byte, 0, len(s)+len(s)/4)
	const outside, inWord, afterSingle = 0, 1, 2
	state, start := outside, 0 // start is where the present word begins
	begin := func(next int) {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		state, start = next, len(b)
	}
	for _, r := range s {
		switch {
		case ignoredInSearch(r):
			continue
		case unicode.IsMark(r):
			if state == outside {
				continue
			}
		case isSingleCharWord(r):
			begin(afterSingle)
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if state != inWord {
				begin(inWord)
			}
		default:
			state = outside
			continue
		}
		if len(b)-start+utf8.RuneLen(r) <= maxSearchWord {
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}

// foldSearch makes one form of those that readers take for the same.
func foldSearch(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	s = norm.NFKD.String(strings.ToValidUTF8(s, " "))
	plain := make([]byte, 0, len(s))
	accented := false // the letter before is one whose accents do not count
	for _, r := range s {
		if r >= 0x300 && r <= 0x36F {
			if accented {
				continue
			}
		} else {
			accented = r < 0x250 || unicode.In(r, unicode.Latin, unicode.Greek)
		}
		if r = unicode.ToLower(r); r == 'ς' {
			r = 'σ'
		}
		plain = utf8.AppendRune(plain, r)
	}
	return norm.NFC.String(string(plain))
}

// ignoredInSearch tells of what is written or left out at will: soft hyphens, variants of symbols, the vowel points of Hebrew and Arabic.
func ignoredInSearch(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case r == 0xAD, r == 0x640, r == 0x670, r >= 0x591 && r <= 0x5C7 && r != 0x5BE && r != 0x5C0 && r != 0x5C3, r >= 0x64B && r <= 0x65F,
		r >= 0xFE00 && r <= 0xFE0F:
		return true
	}
	return false
}

// Scripts that write no spaces between words, and the Korean one, whose words run together with what follows them.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	unicode.Tibetan, unicode.Yi,
}

// isSingleCharWord tells whether a character is a word of its own.
func isSingleCharWord(r rune) bool {
	switch {
	case r < 0xA6, r == utf8.RuneError:
		return false
	case unicode.Is(unicode.So, r), r == 'ー':
		return true
	}
	return r >= 0xE00 && unicode.IsLetter(r) && unicode.In(r, unspacedScripts...)
}

// HasLink tells whether HTML has a link that is neither a mention nor a hashtag.
func HasLink(source string) bool {
	for {
		i := strings.Index(source, "<a ")
		if i < 0 {
			return false
		}
		source = source[i+len("<a "):]
		tag := source[:strings.IndexByte(source+">", '>')]
		if !strings.Contains(tag, "mention") && !strings.Contains(tag, "hashtag") {
			return true
		}
	}
}
