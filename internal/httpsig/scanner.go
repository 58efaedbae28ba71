package httpsig

import "strings"

// scanner reads a header value sequentially.
type scanner struct {
	text string
	pos  int
}

func (s *scanner) atEnd() bool { return s.pos == len(s.text) }

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.atEnd() {
		return 0
	}
	return s.text[s.pos]
}

func (s *scanner) accept(c byte) bool {
	if s.atEnd() || s.text[s.pos] != c {
		return false
	}
	s.pos++
	return true
}

// takeWhile reads bytes as long as they are allowed.
func (s *scanner) takeWhile(allowed func(c byte) bool) string {
	start := s.pos
	for !s.atEnd() && allowed(s.text[s.pos]) {
		s.pos++
	}
	return s.text[start:s.pos]
}

// skipOWS skips optional white space (RFC 9110, 5.6.3).
func (s *scanner) skipOWS() {
	s.takeWhile(func(c byte) bool { return c == ' ' || c == '\t' })
}

// token reads a token (RFC 9110, 5.6.2), which may be empty.
func (s *scanner) token() string { return s.takeWhile(isTokenByte) }

// value reads a token or a quoted string (RFC 9110, 5.6.4).
func (s *scanner) value() (string, bool) {
	if s.peek() == '"' {
		return s.quoted(func(byte) bool { return true })
	}
	t := s.token()
	return t, t != ""
}

// quoted reads a quoted string. A backslash escapes the next byte if that is escapable.
func (s *scanner) quoted(escapable func(c byte) bool) (string, bool) {
	if !s.accept('"') {
		return "", false
	}
	plain := s.takeWhile(func(c byte) bool { return c != '"' && c != '\\' && isPrintable(c) })
	if s.accept('"') { // no escapes
		return plain, true
	}
	var b strings.Builder
	b.WriteString(plain)
	for !s.atEnd() {
		c := s.text[s.pos]
		s.pos++
		switch {
		case c == '"':
			return b.String(), true
		case c == '\\':
			if c = s.peek(); s.atEnd() || !isPrintable(c) || !escapable(c) {
				return "", false
			}
			s.pos++
		case !isPrintable(c):
			return "", false
		}
		b.WriteByte(c)
	}
	return "", false
}

func isPrintable(c byte) bool { return c >= 0x20 && c <= 0x7e }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

func isAlpha(c byte) bool { return isLower(c) || c >= 'A' && c <= 'Z' }

func isTokenByte(c byte) bool {
	return isAlpha(c) || isDigit(c) || c != 0 && strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
