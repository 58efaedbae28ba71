package activity

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// repair returns JSON whose texts can be read although they break the rules of JSON (RFC 8259 7, 8.1): without a byte order mark before the
// document, with line breaks and tabs in strings escaped, and with U+FFFD for other control characters in them. The parser itself replaces
// invalid UTF-8 and halves of surrogate pairs. Bytes between strings stay as they are.
func repair(document []byte) []byte {
	document = bytes.TrimPrefix(document, byteOrderMark)
	b := make([]byte, 0, len(document)+len(document)/16)
	inString, escaped := false, false
	for _, c := range document {
		switch {
		case inString && c < ' ':
			if escaped {
				b = b[:len(b)-1] // a backslash before it escapes nothing
			}
			b = appendControl(b, c)
			escaped = false
			continue
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		}
		b = append(b, c)
	}
	return b
}

func appendControl(b []byte, c byte) []byte {
	switch c {
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return utf8.AppendRune(b, utf8.RuneError)
}

// IsBroken returns whether a text has a control character or the mark of a repair, so that it cannot be an id, a URL or a name: such text
// would be that of another object after its repair.
func IsBroken(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c == 0x7f:
			return true
		case c >= utf8.RuneSelf:
			return strings.ContainsFunc(s[i:], func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) })
		}
	}
	return false
}

// withoutControls returns a text with U+FFFD for control characters other than line breaks and tabs.
func withoutControls(s string) string {
	if !IsBroken(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// unbroken returns a text, "" if it is broken.
func unbroken(s string) string {
	if IsBroken(s) {
		return ""
	}
	return s
}
