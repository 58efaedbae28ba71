package httpsig

import (
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
)

// Structured fields (RFC 9651), as far as signatures and digests need them: dictionaries of items and inner lists. Duplicate keys are
// an error, where the RFC takes the last one, because they would make signatures ambiguous. Dates and display strings are not
// supported.

var errStructured = errors.New("not a structured field")

// sfToken is a token, as opposed to a string.
type sfToken string

// sfMember is a member of a dictionary. The value is int64, float64, string, sfToken, []byte, bool or, for an inner list,
// []sfItem.
type sfMember struct {
	name   string
	value  any
	params []sfParam
	raw    string // value and parameters as in the field
}

// sfItem is an item of an inner list.
type sfItem struct {
	value  any
	params []sfParam
}

// sfParam is a parameter of an item or inner list.
type sfParam struct {
	name  string
	value any
}

// parseDictionary reads a dictionary (RFC 9651, 4.2.2).
func parseDictionary(text string) ([]sfMember, error) {
	if len(text) > maxHeader {
		return nil, errStructured
	}
	s := &scanner{text: text}
	s.skipSpaces()
	var members []sfMember
	for !s.atEnd() {
		m, err := s.member()
		if err != nil {
			return nil, err
		}
		if len(members) == maxSignatures || slices.ContainsFunc(members, func(o sfMember) bool { return o.name == m.name }) {
			return nil, errStructured
		}
		members = append(members, m)
		if s.skipOWS(); s.atEnd() {
			break
		}
		if !s.accept(',') {
			return nil, errStructured
		}
		if s.skipOWS(); s.atEnd() { // trailing comma
			return nil, errStructured
		}
	}
	return members, nil
}

// skipSpaces skips spaces, the only white space within a structured field.
func (s *scanner) skipSpaces() { s.takeWhile(func(c byte) bool { return c == ' ' }) }

func (s *scanner) member() (m sfMember, err error) {
	if m.name = s.key(); m.name == "" {
		return m, errStructured
	}
	if !s.accept('=') {
		m.value = true
		m.params, err = s.params()
		return m, err
	}
	start := s.pos
	if s.peek() == '(' {
		m.value, err = s.innerList()
	} else {
		m.value, err = s.bareItem()
	}
	if err == nil {
		m.params, err = s.params()
	}
	m.raw = s.text[start:s.pos]
	return m, err
}

func (s *scanner) innerList() ([]sfItem, error) {
	s.accept('(')
	list := []sfItem{}
	for {
		s.skipSpaces()
		if s.accept(')') {
			return list, nil
		}
		if len(list) == maxComponents {
			return nil, errStructured
		}
		var item sfItem
		var err error
		if item.value, err = s.bareItem(); err != nil {
			return nil, err
		}
		if item.params, err = s.params(); err != nil {
			return nil, err
		}
		if c := s.peek(); c != ' ' && c != ')' {
			return nil, errStructured
		}
		list = append(list, item)
	}
}

func (s *scanner) params() ([]sfParam, error) {
	var params []sfParam
	for s.accept(';') {
		s.skipSpaces()
		p := sfParam{name: s.key(), value: true}
		if p.name == "" || len(params) == maxParams {
			return nil, errStructured
		}
		if s.accept('=') {
			var err error
			if p.value, err = s.bareItem(); err != nil {
				return nil, err
			}
		}
		if slices.ContainsFunc(params, func(o sfParam) bool { return o.name == p.name }) {
			return nil, errStructured
		}
		params = append(params, p)
	}
	return params, nil
}

func (s *scanner) key() string {
	if c := s.peek(); !isLower(c) && c != '*' {
		return ""
	}
	return s.takeWhile(func(c byte) bool { return isLower(c) || isDigit(c) || c == '_' || c == '-' || c == '.' || c == '*' })
}

func (s *scanner) bareItem() (any, error) {
	switch c := s.peek(); {
	case c == '"':
		text, ok := s.quoted(func(c byte) bool { return c == '"' || c == '\\' })
		if !ok {
			return nil, errStructured
		}
		return text, nil
	case c == ':':
		return s.bytes()
	case c == '?':
		s.pos++
		if s.accept('1') {
			return true, nil
		}
		if s.accept('0') {
			return false, nil
		}
		return nil, errStructured
	case c == '-' || isDigit(c):
		return s.number()
	case c == '*' || isAlpha(c):
		return sfToken(s.takeWhile(func(c byte) bool { return isTokenByte(c) || c == ':' || c == '/' })), nil
	}
	return nil, errStructured
}

func (s *scanner) bytes() ([]byte, error) {
	s.accept(':')
	text := s.takeWhile(func(c byte) bool { return isAlpha(c) || isDigit(c) || c == '+' || c == '/' || c == '=' })
	if !s.accept(':') {
		return nil, errStructured
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errStructured
	}
	return data, nil
}

// number reads an integer of up to 15 digits, or a decimal of up to 12 and 3 (RFC 9651, 4.2.4).
func (s *scanner) number() (any, error) {
	start := s.pos
	s.accept('-')
	whole := s.takeWhile(isDigit)
	if whole == "" || len(whole) > 15 {
		return nil, errStructured
	}
	if !s.accept('.') {
		return strconv.ParseInt(s.text[start:s.pos], 10, 64)
	}
	fraction := s.takeWhile(isDigit)
	if len(whole) > 12 || fraction == "" || len(fraction) > 3 {
		return nil, errStructured
	}
	return strconv.ParseFloat(s.text[start:s.pos], 64)
}
