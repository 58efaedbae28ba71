package fetch

import (
	"iter"
	"strings"
)

// Links returns the targets and parameters of the links in Link headers (RFC 8288). Links of another resource than the page (anchor) are left out.
func Links(values []string) iter.Seq2[string, map[string]string] {
	return func(yield func(string, map[string]string) bool) {
		for _, v := range values {
			for {
				_, rest, ok := strings.Cut(v, "<")
				if !ok {
					break
				}
				target, rest, ok := strings.Cut(rest, ">")
				if !ok {
					break
				}
				params := make(map[string]string)
				v = readLinkParams(rest, params)
				if _, other := params["anchor"]; !other && !yield(target, params) {
					return
				}
			}
		}
	}
}

// readLinkParams reads the parameters of a link, up to the comma before the next one, and returns the rest. Of two with one name the first counts.
func readLinkParams(s string, params map[string]string) (rest string) {
	for {
		s = strings.TrimLeft(s, " \t;")
		if s == "" || s[0] == ',' {
			return s
		}
		end := strings.IndexAny(s, "=;,")
		if end < 0 {
			end = len(s)
		}
		name, value := strings.ToLower(strings.TrimSpace(s[:end])), ""
		if s = s[end:]; strings.HasPrefix(s, "=") {
			value, s = readLinkValue(strings.TrimLeft(s[1:], " \t"))
		}
		if _, known := params[name]; !known {
			params[name] = value
		}
	}
}

// readLinkValue reads a token or a quoted string.
func readLinkValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, ";,")
		if end < 0 {
			end = len(s)
		}
		return strings.TrimSpace(s[:end]), s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}
