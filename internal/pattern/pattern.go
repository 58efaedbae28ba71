// Package pattern finds and replaces patterns of the operator in texts of remote accounts: plain texts or regular expressions. The time
// is linear in the length of the text (RE2).
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

// Pattern is a plain text or a regular expression. It is immutable.
type Pattern struct {
	source string
	regexp *regexp.Regexp
}

// Parse reads a pattern. "~r/…/flags" is a regular expression, delimited by / | " ' or brackets, with the flags i, s, m, u and U (admin
// API 7.2). Any other pattern is a plain text that ignores case. A pattern that matches the empty text is an error.
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
		return nil, fmt.Errorf("%q is not a valid regular expression: %w", s, err)
	}
	if re.MatchString("") {
		return nil, fmt.Errorf("%q matches every text", s)
	}
	return &Pattern{s, re}, nil
}

const delimiters = `/|"'([{<`

// splitRegexp splits the part after ~r into expression and flags.
func splitRegexp(body string) (inner, flags string, err error) {
	end := body[0]
	if i := strings.IndexByte("([{<", end); i >= 0 {
		end = ")]}>"[i]
	}
	last := strings.LastIndexByte(body, end)
	if last == 0 {
		return "", "", fmt.Errorf("the regular expression ~r%s has no closing delimiter", body)
	}
	set := ""
	for _, f := range body[last+1:] {
		switch f {
		case 'i', 's', 'm', 'U':
			set += string(f)
		case 'u': // always on
		default:
			return "", "", fmt.Errorf("the regular expression ~r%s has the unknown flag %q", body, f)
		}
	}
	if set != "" {
		flags = "(?" + set + ")"
	}
	return body[1:last], flags, nil
}

// String returns the pattern as it was written.
func (p *Pattern) String() string { return p.source }

// Matches returns whether a text contains the pattern.
func (p *Pattern) Matches(s string) bool { return p.regexp.MatchString(s) }

// Replace replaces each match by a literal text.
func (p *Pattern) Replace(s, by string) string { return p.regexp.ReplaceAllLiteralString(s, by) }

// List is a list of patterns.
type List []*Pattern

// FirstMatch returns the first pattern that one of the texts contains, nil if there is none.
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
