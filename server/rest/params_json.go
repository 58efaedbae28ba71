package rest

import (
	"encoding/json"
	"unicode/utf8"

	"svc/internal/errs"
)

var errMalformedJSON = errs.BadRequest("The request body is not valid JSON")

// addJSON adds the members of a JSON object. An empty body and null have none.
func (p *params) addJSON(doc []byte) error {
	if doc = trimSpace(doc); len(doc) == 0 || string(doc) == "null" {
		return nil
	}
	if !json.Valid(doc) {
		return errMalformedJSON
	}
	if !utf8.Valid(doc) { // encoding/json accepts it
		return errEncoding
	}
	if doc[0] != '{' {
		return errs.BadRequest("The request body is not a JSON object")
	}
	switch depth, values := measure(doc); {
	case depth > maxDepth:
		return errTooDeep
	case values > maxValues:
		return errTooMany
	}
	p.doc = doc
	top := jsonValue(doc)
	if err := p.expand(top); err != nil {
		return err
	}
	for k, v := range top.object {
		k = p.canonical(k)
		if p.fields == nil {
			p.fields = make(map[string]*value)
		}
		p.fields[k] = v
	}
	return nil
}

// jsonValue returns the node of a valid document. Lists and objects are expanded on demand, because most large ones are stored
// unread.
func jsonValue(doc json.RawMessage) *value {
	v := &value{raw: doc}
	switch doc[0] {
	case '"':
		v.kind, v.text = textValue, unquote(doc)
	case '{':
		v.kind = objectValue
	case '[':
		v.kind = listValue
	case 't', 'f':
		v.kind, v.text = boolValue, string(doc)
	case 'n':
	default:
		v.kind, v.text = numberValue, string(doc)
	}
	return v
}

// expand decodes one level of a list or an object that was sent as JSON.
func (p *params) expand(v *value) error {
	if v.raw == nil || v.object != nil || v.list != nil || v.kind != listValue && v.kind != objectValue {
		return nil
	}
	if v.kind == objectValue {
		v.object = make(map[string]*value)
	}
	rest := trimSpace(v.raw[1:])
	for rest[0] != '}' && rest[0] != ']' {
		if p.keys++; p.keys > maxKeys {
			return errTooMany
		}
		var key string
		if v.kind == objectValue {
			n := valueLength(rest)
			key = unquote(rest[:n])
			rest = trimSpace(trimSpace(rest[n:])[1:]) // the colon
		}
		n := valueLength(rest)
		element := jsonValue(rest[:n:n])
		if v.kind == objectValue {
			v.object[key] = element
		} else {
			v.list = append(v.list, element)
		}
		if rest = trimSpace(rest[n:]); rest[0] == ',' {
			rest = trimSpace(rest[1:])
		}
	}
	return nil
}

// valueLength returns the length of the value at the beginning of a valid document.
func valueLength(doc []byte) int {
	nested := 0
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			i += stringLength(doc[i:]) - 1
			if nested == 0 {
				return i + 1
			}
		case '{', '[':
			nested++
		case '}', ']':
			if nested == 0 { // the end of the list or object around a number or a literal
				return i
			}
			if nested--; nested == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if nested == 0 {
				return i
			}
		}
	}
	return len(doc)
}

// stringLength returns the length of the string, with its quotes, at the beginning of a valid document.
func stringLength(doc []byte) int {
	for i := 1; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}

// measure returns the nesting of lists and objects in a valid document, and an upper bound of its values.
func measure(doc []byte) (depth, values int) {
	now := 0
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			i += stringLength(doc[i:]) - 1
		case '{', '[':
			now++
			values++
			depth = max(depth, now)
		case '}', ']':
			now--
		case ',':
			values++
		}
	}
	return depth, values
}

// unquote returns the text of a JSON string. Most have no escapes.
func unquote(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	for _, c := range inner {
		if c == '\\' || c >= utf8.RuneSelf {
			var s string
			if json.Unmarshal(quoted, &s) != nil {
				return ""
			}
			return s
		}
	}
	return string(inner)
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }
