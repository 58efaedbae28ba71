package web

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// sentences are texts of a catalogue by which sentences that the server wrote are recognised, with their arguments.
type sentences struct {
	keys     map[string]string // by their text, of those without arguments
	patterns []sentencePattern // of the others, those with most words first
}

type sentencePattern struct {
	key  string
	text *regexp.Regexp
	size int
}

// minPattern is how long a text with arguments is at least: "%s: %s" would match anything.
const minPattern = 10

// placeholders replaces the arguments of a text by what matches them.
var placeholders = strings.NewReplacer("%d", `([0-9]+)`, "%s", `(.*)`)

// indexSentences returns the texts of a catalogue whose keys have a prefix.
func indexSentences(m *Messages, prefix string) *sentences {
	s := &sentences{keys: make(map[string]string)}
	for key, text := range m.texts {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		s.keys[text] = key
		if strings.Contains(text, "%") && len(text) >= minPattern {
			pattern := placeholders.Replace(regexp.QuoteMeta(text))
			s.patterns = append(s.patterns, sentencePattern{key, regexp.MustCompile("(?s)^" + pattern + "$"), len(text)})
		}
	}
	slices.SortFunc(s.patterns, func(a, b sentencePattern) int { return cmp.Or(b.size-a.size, strings.Compare(a.key, b.key)) })
	return s
}

// sentence is a text of the catalogue with its arguments.
type sentence struct {
	key       string
	arguments []any
}

// find returns the text that a sentence was made of.
func (s *sentences) find(text string) (sentence, bool) {
	if key, ok := s.keys[text]; ok {
		return sentence{key: key}, true
	}
	for _, p := range s.patterns {
		found := p.text.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		arguments := make([]any, len(found)-1)
		for i, argument := range found[1:] {
			arguments[i] = argument
		}
		return sentence{p.key, arguments}, true
	}
	return sentence{}, false
}

// translate returns a sentence in another language, and the sentence itself and false if it is made of none of the texts.
func (s *sentences) translate(m *Messages, text string) (translated string, ok bool) {
	found, ok := s.find(text)
	if !ok {
		return text, false
	}
	format := m.Text(found.key)
	if len(found.arguments) == 0 {
		return format, true
	}
	return fmt.Sprintf(strings.ReplaceAll(format, "%d", "%s"), found.arguments...), true
}
