package text

import (
	"errors"
	"mime"
	"strings"
)

// Limits of a media type or a Content-Disposition, because parsing takes time and memory for each parameter.
const (
	maxMediaType       = 4096 // bytes
	maxMediaTypeParams = 16
)

var errMediaType = errors.New("the media type is too long")

// ParseMediaType is mime.ParseMediaType for text that others send: a long one, and one of many parameters, is an error.
func ParseMediaType(v string) (mediaType string, params map[string]string, err error) {
	if len(v) > maxMediaType || countParams(v) > maxMediaTypeParams {
		return "", nil, errMediaType
	}
	return mime.ParseMediaType(v)
}

// DeclaredType returns the media type that others declare, in lower case without parameters. Of text that is malformed it is the beginning, so
// that "text/html, image/png" is a page.
func DeclaredType(v string) string {
	if t, _, err := ParseMediaType(v); err == nil {
		return t
	}
	const maxBytes = 100
	v = strings.TrimSpace(v)
	if i := strings.IndexAny(v, ";, \t\r\n"); i >= 0 {
		v = v[:i]
	}
	return strings.ToLower(v[:min(len(v), maxBytes)])
}

// countParams counts the semicolons outside of quoted strings.
func countParams(v string) (n int) {
	quoted := false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && c == ';':
			n++
		}
	}
	return n
}
