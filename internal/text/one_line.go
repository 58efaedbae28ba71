package text

import (
	"strings"
	"unicode"
)

// OneLine returns a text on one line, with single spaces, and without control characters and those that Visible removes.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(Visible(s), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// Visible removes characters that are not seen, with which one name can pass for another: those that change the direction of writing, have
// no width, or are tags. Joiners stay between characters beyond ASCII, where scripts and emoji need them.
func Visible(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	runes := []rune(s)
	flag := false // a black flag is before, whose tags name a region
	for i, r := range runes {
		flag = r == blackFlag || flag && isTag(r)
		switch {
		case flag && isTag(r):
		case r == '\u200c' || r == '\u200d':
			if i == 0 || i+1 == len(runes) || !joins(runes[i-1]) || !joins(runes[i+1]) {
				continue
			}
		case isHidden(r) || isTag(r):
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// joins returns true if a character can be joined with the next.
func joins(r rune) bool {
	return r > unicode.MaxASCII && r != '\u200c' && r != '\u200d' && !isHidden(r) && !unicode.IsSpace(r)
}

// isHidden returns true for the controls of bidirectional text, for other characters without width, and for tags.
func isHidden(r rune) bool {
	switch {
	case r == '\u00ad', r == '\u034f', r == '\u061c', r == '\u180e', r == '\ufeff', r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0':
		return true
	case r >= '\u200b' && r <= '\u200f', r >= '\u202a' && r <= '\u202e', r >= '\u2060' && r <= '\u206f', r >= '\ufff9' && r <= '\ufffb':
		return r != '\u200c' && r != '\u200d'
	}
	return false
}

const blackFlag = '\U0001f3f4'

func isTag(r rune) bool { return r >= 0xE0000 && r <= 0xE007F }
