package web

import (
	"strings"
	"unicode/utf8"

	"svc/internal/text"
)

// visibilityIcons are the icons of visibilities other than public.
var visibilityIcons = map[string]string{"unlisted": "moon", "private": "lock", "direct": "mail", "local": "home", "list": "list"}

// VisibilityIcon returns the name of the icon of the status's visibility.
func (s *Status) VisibilityIcon() string { return visibilityIcons[s.Visibility] }

// A post is folded if it has more lines than that, in lines of so many characters.
const (
	foldedLines  = 20
	charsPerLine = 75
)

// Long returns true if the text of the status is folded in lists. The lines are estimated.
func (s *Status) Long() bool {
	if len(s.Content) < foldedLines*charsPerLine/2 && strings.Count(s.Content, "<br")+strings.Count(s.Content, "<p") < foldedLines/4 {
		return false // most posts: their HTML need not be read
	}
	lines := 0
	for line := range strings.SplitSeq(text.HTMLToText(s.Content), "\n") {
		if lines += 1 + utf8.RuneCountInString(line)/charsPerLine; lines > foldedLines {
			return true
		}
	}
	return false
}

// excerptLength bounds the characters of an excerpt.
const excerptLength = 160

// Excerpt returns the beginning of the status in one line: its content warning if it has one, else its text, else the description of its
// first file.
func (s *Status) Excerpt() string {
	line := s.SpoilerText
	if line == "" {
		line = text.HTMLToText(s.Content)
	}
	if strings.TrimSpace(line) == "" && len(s.MediaAttachments) > 0 {
		line = s.MediaAttachments[0].Description
	}
	return text.Shorten(strings.Join(strings.Fields(line), " "), excerptLength)
}

// First returns true if no option of the closed or voted poll has more votes than the i-th one.
func (p *Poll) First(i int) bool {
	votes := p.Options[i].VotesCount
	if votes == nil || *votes == 0 {
		return false
	}
	for _, o := range p.Options {
		if o.VotesCount != nil && *o.VotesCount > *votes {
			return false
		}
	}
	return true
}
