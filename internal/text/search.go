package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxSearchable = 64 << 10 // bytes of a text
	maxSearchWord = 64       // bytes of a word
)

// Searchable returns the words of a text as they are indexed for search, separated by spaces: lower case, NFKC, without accents. In
// scripts without spaces between words, each character and symbol is a word, so that a run of them is found as a phrase. Only the
// beginning of a very long text is indexed.
//
// The result consists of letters, digits, marks, symbols and single spaces, so it has no special meaning for the index.
func Searchable(s string) string {
	if len(s) > maxSearchable {
		s = s[:maxSearchable]
	}
	s = foldSearch(s)
	b := make([]byte, 0, len(s)+len(s)/4)
	const outside, inWord, afterSingle = 0, 1, 2
	state, start := outside, 0 // start of the current word
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

// foldSearch returns one form for spellings that readers consider equal: lower case, NFKC, without accents of Latin and Greek letters.
func foldSearch(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	s = norm.NFKD.String(strings.ToValidUTF8(s, " "))
	plain := make([]byte, 0, len(s))
	accented := false // the preceding letter is of a script whose accents are dropped
	io := false       // the preceding letter is the Cyrillic е, of which ё is a spelling
	for _, r := range s {
		if r >= 0x300 && r <= 0x36F {
			if accented || io && r == '\u0308' {
				continue
			}
		} else {
			accented = r < 0x250 || unicode.In(r, unicode.Latin, unicode.Greek)
			io = r == 'е' || r == 'Е'
		}
		r = unicode.ToLower(r)
		if base := baseLetters(r); base != "" {
			plain = append(plain, base...)
		} else {
			plain = utf8.AppendRune(plain, r)
		}
	}
	return norm.NFC.String(string(plain))
}

// baseLetters returns how people write a letter without its stroke or ligature if their keyboard lacks it, for letters that Unicode does not
// decompose, or "".
func baseLetters(r rune) string {
	if r < 'ß' || r > 'σ' {
		return ""
	}
	switch r {
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'þ':
		return "th"
	case 'đ', 'ð':
		return "d"
	case 'ħ':
		return "h"
	case 'ı':
		return "i"
	case 'ł':
		return "l"
	case 'ŋ':
		return "n"
	case 'ø':
		return "o"
	case 'ŧ':
		return "t"
	case 'ς':
		return "σ"
	}
	return ""
}

// FoldedLetters is a GLOB pattern of SQLite for texts of which versions before schema 6 indexed another form for search: they kept letters with
// strokes, ligatures, and ё.
const FoldedLetters = "*[ßẞæÆǽǼǣǢœŒþÞđĐðÐħĦıłŁŋŊøØǿǾŧŦёЁ\u0308]*"

// ignoredInSearch returns whether a character is optional in writing: soft hyphens, variation selectors, vowel points of Hebrew and
// Arabic.
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

// unspacedScripts are the scripts without spaces between words, and Korean, whose words are joined with suffixes.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	unicode.Tibetan, unicode.Yi,
}

// isSingleCharWord returns whether a character is a word of its own.
func isSingleCharWord(r rune) bool {
	switch {
	case r < 0xA6, r == utf8.RuneError:
		return false
	case unicode.Is(unicode.So, r), r == 'ー':
		return true
	}
	return r >= 0xE00 && unicode.IsLetter(r) && unicode.In(r, unspacedScripts...)
}
