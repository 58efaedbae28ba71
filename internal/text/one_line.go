package text

import (
	"strings"
	"unicode"
)

// OneLine returns a text on one line, with single spaces and without control characters.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}
