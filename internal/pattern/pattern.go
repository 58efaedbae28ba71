// Package pattern finds and replaces what the operator has named in texts by strangers: a plain text, or a regular expression. All of
// them take time that grows with the length of the text only (RE2).
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// MaxLength bounds a pattern, in bytes.
const MaxLength = 1000

// Pattern is something to look for. It does not change.
type Pattern struct {
	source string
	regexp *regexp.Regexp
}

// Parse reads a pattern. "~r/…/flags" is a regular expression, with one of / | " ' and the brackets around it and the flags i, s, m, u
// and U (admin API 7.2); everything else is a plain text that is found in whatever case. What would be found everywhere is refused.
func Parse(s string) (*Pattern, error) {
	switch {
	case strings.TrimSpace(s) == "":
		return nil, errors.New("a pattern must not be empty")
	case len(s) > MaxLength:
		return nil, fmt.Errorf("a pattern must have at most %d bytes", MaxLength)
	case !utf8.ValidString(s):
		return nil, errors.New("a pattern must be UTF-8")
	}
	source := "(?i)" + regexp.QuoteMeta(s)
	if body, ok := strings.CutPrefix(s, "~r"); ok && len(body) > 1 && strings.IndexByte(delimiters, body[0]) >= 0 {
		inner, flags, err := splitRegexp(body)
		if err != nil {
			return nil, err
		}
		source = flags + inner
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, fmt.Errorf("%q is no regular expression: %w", s, err)
	}
	if re.MatchString("") {
		return nil, fmt.Errorf("%q is found in every text", s)
	}
	return &Pattern{s, re}, nil
}

const delimiters = `/|"'([{<`

// splitRegexp takes apart what follows ~r.
func splitRegexp(body string) (inner, flags string, err error) {
	end := body[0]
	if i := strings.IndexByte("([{<", end); i >= 0 {
		end = ")]}>"[i]
	}
	last := strings.LastIndexByte(body, end)
	if last == 0 {
		return "", "", fmt.Errorf("the regular expression ~r%s has no end", body)
	}
	set := ""
	for _, f := range body[last+1:] {
		switch f {
		case 'i', 's', 'm', 'U':
			set += string(f)
		case 'u': // it is the only way here
		default:
			return "", "", fmt.Errorf("the regular expression ~r%s has the flag %q, which is not known here", body, f)
		}
	}
	if set != "" {
		flags = "(?" + set + ")"
	}
	return body[1:last], flags, nil
}

// String returns the pattern as it was written.
func (p *Pattern) String() string { return p.source }

// Matches tells whether the pattern is found in a text.
func (p *Pattern) Matches(s string) bool { return p.regexp.MatchString(s) }

// Replace puts another text, taken as it is, wherever the pattern is found.
func (p *Pattern) Replace(s, by string) string { return p.regexp.ReplaceAllLiteralString(s, by) }

// List are several patterns.
type List []*Pattern

// ParseList reads several patterns.
func ParseList(texts []string) (List, error) {
	list := make(List, 0, len(texts))
	for _, s := range texts {
		p, err := Parse(s)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// FirstMatch returns the first of the patterns that is found in one of the texts, nil if none is.
func (l List) FirstMatch(texts ...string) *Pattern {
	for _, p := range l {
		for _, s := range texts {
			if s != "" && p.Matches(s) {
				return p
			}
		}
	}
	return nil
}
